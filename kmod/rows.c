// SPDX-License-Identifier: GPL-2.0-only
/* Prints records, by the column lists of include/gpreempt/view.h. */

#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include <gpreempt/view.h>

#include "rows.h"
#include "snapshot.h"
#include "summary.h"
#include "topology.h"

/* Longest name in a cell, each character as four. */
#define NAME_LEN (4 * TASK_COMM_LEN + 1)

#define WORD_OF(name, word) word,
static const char *const type_words[] = { GP_VIEW_QUEUE_TYPES(WORD_OF) };
static const char *const hardware_words[] = { GP_VIEW_HARDWARE(WORD_OF) };
static const char *const scheduler_words[] = { GP_VIEW_SCHEDULERS(WORD_OF) };
static const char *const state_words[] = { GP_VIEW_QUEUE_STATES(WORD_OF) };

/* By bit; that of a code is one less than the code. */
/* clang-format off */
#define CODE_OF(name, code, word) \
	[(code) - 1] = (word),
/* clang-format on */
static const char *const exception_words[] = { GP_VIEW_EXCEPTIONS(CODE_OF) };

/* Out of a list of words; a negative number is not known. */
#define WORD(words, i) ((i) < 0 ? NULL : (words)[i])

/*
 * A cell of a row. Not known are a negative decimal number or flag, -1 in
 * hexadecimal and as a set, and a NULL word. A set has a bit for each word.
 */
union cell {
	s64 number;
	const char *word;
	u64 set;
};

#define CELL_DEC(name)	   s64 name;
#define CELL_BIG(name)	   s64 name;
#define CELL_HEX(name)	   s64 name;
#define CELL_ADDR(name)	   s64 name;
#define CELL_FLAG(name)	   s64 name;
#define CELL_WORD(name)	   const char *name;
#define CELL_SET(name)	   u64 name;
#define CELL_CODES(name)   u64 name;
#define CELL(name, kind)   CELL_##kind(name)
#define COLUMN(name, kind) { #name, sizeof(#name) - 1, GP_VIEW_##kind },

struct column {
	const char *name;
	int width;
	enum gp_view_kind kind;
};

/* Room for a cell, so that all stand below their names: what is larger is rare. */
static const int widths[] = {
	[GP_VIEW_DEC] = 5,   [GP_VIEW_BIG] = 10,   [GP_VIEW_HEX] = 6,
	[GP_VIEW_ADDR] = 14, [GP_VIEW_FLAG] = 1,   [GP_VIEW_WORD] = 11,
	[GP_VIEW_SET] = 17,  [GP_VIEW_CODES] = 11,
};

/* A row of that name: its cells, each with the size of a union cell, and their columns. */
#define DEFINE_ROW(name, columns)                                          \
	struct name {                                                      \
		columns(CELL)                                              \
	};                                                                 \
	static const struct column name##_columns[] = { columns(COLUMN) }; \
	static_assert(sizeof(struct name) ==                               \
		      ARRAY_SIZE(name##_columns) * sizeof(union cell))

DEFINE_ROW(queue_row, GP_VIEW_QUEUES_COLUMNS);
DEFINE_ROW(slot_row, GP_VIEW_HQDS_COLUMNS);
DEFINE_ROW(gpu_row, GP_VIEW_GPUS_COLUMNS);
DEFINE_ROW(usage_row, GP_VIEW_USAGE_COLUMNS);
DEFINE_ROW(summary_row, GP_VIEW_PROCESSES_COLUMNS);
DEFINE_ROW(node_row, GP_VIEW_NODES_COLUMNS);

static void print_set(struct seq_file *m, const char *const *words, u32 n,
		      unsigned long set)
{
	const char *sep = "";
	u32 i;

	for_each_set_bit(i, &set, BITS_PER_LONG) {
		if (i < n && words[i])
			seq_printf(m, "%s%s", sep, words[i]);
		else
			seq_printf(m, "%s" GP_VIEW_CODE "%u", sep, i + 1);
		sep = ",";
	}
	if (!set)
		seq_puts(m, GP_VIEW_NONE);
}

#define PRINT_SET(m, words, set) print_set(m, words, ARRAY_SIZE(words), set)

static void print_cell(struct seq_file *m, enum gp_view_kind kind,
		       const union cell *cell)
{
	bool is_dec = kind == GP_VIEW_DEC || kind == GP_VIEW_BIG ||
		      kind == GP_VIEW_FLAG;

	if (kind == GP_VIEW_WORD ? !cell->word :
	    is_dec		 ? cell->number < 0 :
				   cell->number == -1)
		seq_puts(m, GP_VIEW_UNKNOWN);
	else if (kind == GP_VIEW_WORD)
		seq_puts(m, cell->word);
	else if (kind == GP_VIEW_SET)
		PRINT_SET(m, state_words, cell->set);
	else if (kind == GP_VIEW_CODES)
		PRINT_SET(m, exception_words, cell->set);
	else
		seq_printf(m, is_dec ? "%llu" : "0x%llx", cell->number);
}

/* The names of the columns, when row is NULL. */
static void print_row(struct seq_file *m, const void *row,
		      const struct column *columns, size_t n)
{
	const union cell *cells = row;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct column *c = &columns[i];
		bool last = i + 1 == n;

		seq_setwidth(m, last ? 0 : max(c->width, widths[c->kind]));
		if (cells)
			print_cell(m, c->kind, &cells[i]);
		else
			seq_printf(m, "%s%s", i ? "" : "# ", c->name);
		seq_pad(m, last ? '\n' : ' ');
	}
}

#define PRINT_ROW(m, name, row) \
	print_row(m, row, name##_columns, ARRAY_SIZE(name##_columns))

/* Why a queue is off, as far as the driver's facts say. */
static unsigned long reasons(const struct gp_queue *q)
{
	unsigned long set = 0;

	if (q->suspended > 0)
		set |= BIT(GP_VIEW_STATE_SUSPENDED);
	if (q->evicted)
		set |= BIT(GP_VIEW_STATE_EVICTED);
	if (q->reset > 0)
		set |= BIT(GP_VIEW_STATE_RESET);
	if (q->evicted && q->paused > 0)
		set |= BIT(GP_VIEW_STATE_PAUSED);
	if (!q->wants)
		set |= BIT(GP_VIEW_STATE_WANTS);
	if (!q->ring || !q->ring_size)
		set |= BIT(GP_VIEW_STATE_NO_RING);
	return set;
}

static unsigned long state_of(const struct gp_queue *q)
{
	unsigned long set = reasons(q);

	if (!set && !q->wanted)
		set = BIT(GP_VIEW_STATE_INACTIVE);
	if (!set)
		set = q->active < 0 ? BIT(GP_VIEW_STATE_WANTED) :
		      q->active	    ? BIT(GP_VIEW_STATE_ACTIVE) :
				      BIT(GP_VIEW_STATE_UNMAPPED);
	if (q->suspended > 0 && q->active > 0)
		set |= BIT(GP_VIEW_STATE_STUCK);
	if (q->destroying > 0)
		set |= BIT(GP_VIEW_STATE_DESTROYING);
	return set;
}

static const char *unit_of(int type)
{
	if (type < 0)
		return NULL;
	return gp_queue_is_cp(type) ? "dwords" : "bytes";
}

void gp_rows_queue(struct seq_file *m, const void *record)
{
	static const struct gp_queue none;
	const struct gp_queue *q = record ?: &none;
	const struct queue_row row = {
		.qid = q->qid,
		.gpu_id = q->gpu_id,
		.type = WORD(type_words, q->type),
		.priority = q->priority,
		.suspended = q->suspended,
		.evicted = q->evicted,
		.active = q->active,
		.slots = q->slots,
		.age_ms = q->age_ms,
		.hardware = WORD(hardware_words, q->hardware),
		.state = state_of(q),
		.wants = q->wants,
		.doorbell = q->doorbell,
		.engine = q->sdma_engine,
		.rlc = q->sdma_rlc,
		.rptr = q->rptr,
		.wptr = q->wptr,
		.unit = unit_of(q->type),
		.ring = q->ring,
		.ring_size = q->ring_size,
		.rptr_addr = q->rptr_addr,
		.wptr_addr = q->wptr_addr,
		.mqd = q->mqd_addr,
		.cwsr = q->cwsr,
		.cwsr_size = q->cwsr_size,
		.exception = q->exception,
		.context = q->context,
		.waves = q->waves,
	};

	PRINT_ROW(m, queue_row, record ? &row : NULL);
}

void gp_rows_slot(struct seq_file *m, const void *record)
{
	static const struct gp_slot none;
	const struct gp_slot *s = record ?: &none;
	const struct slot_row row = {
		.gpu_id = s->gpu_id,
		.type = WORD(type_words, s->type),
		.xcc = s->xcc,
		.pipe = s->pipe,
		.queue = s->queue,
		.engine = s->engine,
		.rlc = s->rlc,
		.qid = s->qid,
		.active = s->hardware == GP_VIEW_HARDWARE_READ ? 1 : -1,
		.vmid = s->vmid,
		.rptr = s->rptr,
		.wptr = s->wptr,
		.unit = unit_of(s->type),
		.doorbell = s->doorbell,
		.age_ms = s->age_ms,
		.waves = s->waves,
		.hardware = WORD(hardware_words, s->hardware),
	};

	PRINT_ROW(m, slot_row, record ? &row : NULL);
}

void gp_rows_gpu(struct seq_file *m, const void *record)
{
	static const struct gp_gpu none;
	const struct gp_gpu *g = record ?: &none;
	const struct gpu_row row = {
		.gpu_id = g->gpu_id,
		.vm = g->vm,
		.context = g->context,
	};

	PRINT_ROW(m, gpu_row, record ? &row : NULL);
}

void gp_rows_usage(struct seq_file *m, const void *record)
{
	static const struct gp_gpu none;
	const struct gp_gpu *g = record ?: &none;
	const struct usage_row row = {
		.gpu_id = g->node_id,
		.pid = g->pid,
		.queues = g->queues,
		.suspended = g->suspended,
		.busy = g->busy,
		.context = g->context,
		.hardware = WORD(hardware_words, g->hardware),
		.waves = g->waves,
		.waves_max = g->waves_max ?: -1,
		.evicted_ms = g->evicted_ms,
		.evicted = g->evicted,
		.age_ms = g->age_ms,
	};

	PRINT_ROW(m, usage_row, record ? &row : NULL);
}

/* A name as one cell; NULL when it is empty. A lone "-" is not "not known". */
static const char *cell_name(char out[NAME_LEN], const char *name)
{
	bool lone = !strcmp(name, GP_VIEW_UNKNOWN);
	char *p = out;

	for (; *name && p - out < NAME_LEN - 4; name++) {
		if (isascii(*name) && !lone &&
		    (isalnum(*name) || strchr("._:/+@-", *name)))
			*p++ = *name;
		else
			p += sprintf(p, "\\%03o", (unsigned char)*name);
	}
	*p = '\0';
	return *out ? out : NULL;
}

void gp_rows_summary(struct seq_file *m, const void *record)
{
	static const struct gp_summary none;
	const struct gp_summary *s = record ?: &none;
	bool known = s->queues >= 0;
	char comm[NAME_LEN];
	const struct summary_row row = {
		.pid = s->pid,
		.ns_pid = s->ns_pid,
		.comm = cell_name(comm, s->comm),
		.gpus = s->gpus,
		.queues = s->queues,
		.aql = known ? s->by_type[GP_VIEW_QUEUE_COMPUTE_AQL] : -1,
		.pm4 = known ? s->by_type[GP_VIEW_QUEUE_COMPUTE_PM4] : -1,
		.sdma = known ? s->by_type[GP_VIEW_QUEUE_SDMA] : -1,
		.xgmi = known ? s->by_type[GP_VIEW_QUEUE_SDMA_XGMI] : -1,
		.active = known ? s->active : -1,
		.slots = known ? s->slots : -1,
		.suspended = known ? s->suspended : -1,
		.evicted = known ? s->evicted : -1,
		.debugged = s->debugged,
		.age_ms = s->age_ms,
		.paused = s->paused,
	};

	PRINT_ROW(m, summary_row, record ? &row : NULL);
}

void gp_rows_node(struct seq_file *m, const void *record)
{
	static const struct gp_host_node none;
	const struct gp_host_node *h = record ?: &none;
	const struct node_row row = {
		.gpu_id = h->n.gpu_id,
		.node = h->node,
		.device = h->device[0] ? h->device : NULL,
		.gfx = h->n.gfx,
		.xccs = hweight32(h->n.xcc_mask),
		.xcc_mask = h->n.xcc_mask,
		.scheduler = WORD(scheduler_words, h->scheduler),
		.hardware = WORD(hardware_words, h->hardware),
		.slots_used = h->slots_used,
		.slots = h->slots,
		.hiq = h->hiq,
		.processes = h->processes,
		.queues = h->queues,
		.mapped = h->mapped,
		.oversubscribed = h->oversubscribed,
	};

	PRINT_ROW(m, node_row, record ? &row : NULL);
}
