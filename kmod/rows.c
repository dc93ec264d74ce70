// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints records, by the column lists of include/gpreempt/view.h.
 */

#include <linux/bitops.h>
#include <linux/ctype.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include <gpreempt/view.h>

#include "gpus.h"
#include "rows.h"
#include "snapshot.h"
#include "summary.h"
#include "topology.h"

/* Longest name in a cell, each character as four. */
#define NAME_LEN (4 * TASK_COMM_LEN + 1)

#define TYPE_ENTRY(name, word) [GP_VIEW_QUEUE_##name] = word,
static const char *const type_words[] = { GP_VIEW_QUEUE_TYPES(TYPE_ENTRY) };

#define HARDWARE_ENTRY(name, word) [GP_VIEW_HARDWARE_##name] = word,
static const char *const hardware_words[] = { GP_VIEW_HARDWARE(HARDWARE_ENTRY) };

#define SCHEDULER_ENTRY(name, word) [GP_VIEW_SCHEDULER_##name] = word,
static const char *const scheduler_words[] = {
	GP_VIEW_SCHEDULERS(SCHEDULER_ENTRY)
};

#define STATE_ENTRY(name, word) [GP_VIEW_STATE_##name] = word,
static const char *const state_words[] = { GP_VIEW_QUEUE_STATES(STATE_ENTRY) };

/* Out of a list of words; a negative number is not known. */
#define WORD(words, i) ((i) < 0 ? NULL : (words)[i])

/*
 * The cells of a row. Not known are a negative decimal number or flag, -1 in
 * hexadecimal, a NULL word and an empty set, which is a bit for each word of
 * state_words.
 */
#define CELL_DEC(name)	 s64 name;
#define CELL_HEX(name)	 s64 name;
#define CELL_FLAG(name)	 s64 name;
#define CELL_WORD(name)	 const char *name;
#define CELL_SET(name)	 unsigned long name;
#define CELL(name, kind) CELL_##kind(name)

struct queue_row {
	GP_VIEW_QUEUES_ALL_COLUMNS(CELL)
};

struct slot_row {
	GP_VIEW_HQDS_COLUMNS(CELL)
};

struct gpu_row {
	GP_VIEW_GPUS_COLUMNS(CELL)
};

struct summary_row {
	GP_VIEW_PROCESSES_COLUMNS(CELL)
};

struct node_row {
	GP_VIEW_NODES_COLUMNS(CELL)
};

static void put_number(struct seq_file *m, const char *format, bool known,
		       s64 value)
{
	if (known)
		seq_printf(m, format, value);
	else
		seq_puts(m, GP_VIEW_UNKNOWN);
}

static void put_set(struct seq_file *m, unsigned long set)
{
	const char *sep = "";
	unsigned int i;

	if (!set)
		seq_puts(m, GP_VIEW_UNKNOWN);
	for_each_set_bit(i, &set, GP_VIEW_STATE_COUNT) {
		seq_puts(m, sep);
		seq_puts(m, state_words[i]);
		sep = ",";
	}
}

#define PUT_DEC(m, cell)  put_number(m, "%llu", (cell) >= 0, cell)
#define PUT_HEX(m, cell)  put_number(m, "0x%llx", (cell) != -1, cell)
#define PUT_FLAG(m, cell) PUT_DEC(m, cell)
#define PUT_WORD(m, cell) seq_puts(m, (cell) ?: GP_VIEW_UNKNOWN)
#define PUT_SET(m, cell)  put_set(m, cell)
/* Print one cell of row to m, after sep. */
#define PUT(name, kind)                  \
	do {                             \
		seq_puts(m, sep);        \
		PUT_##kind(m, row.name); \
		sep = " ";               \
	} while (0);

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
	if (!q->percent)
		set |= BIT(GP_VIEW_STATE_PERCENT);
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
		set = q->active ? BIT(GP_VIEW_STATE_ACTIVE) :
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
	const struct gp_queue *q = record;
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
		.percent = q->percent,
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
	};
	const char *sep = "";

	GP_VIEW_QUEUES_ALL_COLUMNS(PUT)
	seq_putc(m, '\n');
}

void gp_rows_slot(struct seq_file *m, const void *record)
{
	const struct gp_slot *s = record;
	const struct slot_row row = {
		.gpu_id = s->gpu_id,
		.type = WORD(type_words, s->type),
		.xcc = s->xcc,
		.pipe = s->pipe,
		.queue = s->queue,
		.engine = s->engine,
		.rlc = s->rlc,
		.qid = s->qid,
		.active = 1,
		.vmid = s->vmid,
		.rptr = s->rptr,
		.wptr = s->wptr,
		.unit = unit_of(s->type),
		.doorbell = s->doorbell,
		.age_ms = s->age_ms,
	};
	const char *sep = "";

	GP_VIEW_HQDS_COLUMNS(PUT)
	seq_putc(m, '\n');
}

void gp_rows_gpu(struct seq_file *m, const void *record)
{
	const struct gp_gpu *g = record;
	const struct gpu_row row = {
		.gpu_id = g->gpu_id,
		.vm = g->vm,
		.context = g->context,
	};
	const char *sep = "";

	GP_VIEW_GPUS_COLUMNS(PUT)
	seq_putc(m, '\n');
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
	const struct gp_summary *s = record;
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
	const char *sep = "";

	GP_VIEW_PROCESSES_COLUMNS(PUT)
	seq_putc(m, '\n');
}

void gp_rows_node(struct seq_file *m, const void *record)
{
	const struct gp_host_node *h = record;
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
	const char *sep = "";

	GP_VIEW_NODES_COLUMNS(PUT)
	seq_putc(m, '\n');
}
