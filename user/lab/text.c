// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "shared/util.h"
#include "text.h"

/* Mark that some editors put before a text. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define MARK_LEN	3

static void give(struct gp_lines *lines, struct gp_line line)
{
	if (!lines->within) {
		lines->number++;
		lines->count++;
		if (lines->number == 1 && line.len >= MARK_LEN &&
		    !memcmp(line.at, BYTE_ORDER_MARK, MARK_LEN)) {
			line.at += MARK_LEN;
			line.len -= MARK_LEN;
		}
	}
	lines->take(lines->data, line);
}

static void carry(struct gp_lines *lines, const char *data, size_t len)
{
	if (!lines->carry)
		lines->carry = shr_must(malloc(GP_LINE_MAX));
	if (len > GP_LINE_MAX - lines->carried) {
		len = GP_LINE_MAX - lines->carried;
		lines->too_long = true;
	}
	memcpy(lines->carry + lines->carried, data, len);
	lines->carried += len;
}

static void give_carried(struct gp_lines *lines, bool cut)
{
	struct gp_line line = {
		lines->carry,
		lines->carried,
		cut || lines->too_long,
		lines->too_long,
	};

	lines->carried = 0;
	lines->too_long = false;
	give(lines, line);
}

static void give_whole(struct gp_lines *lines, const char *data, size_t len)
{
	bool too_long = len > GP_LINE_MAX;

	give(lines, (struct gp_line){ data, too_long ? GP_LINE_MAX : len, too_long, too_long });
}

/* Take a line, or the part of it up to a carriage return; @end is behind it. */
static void take_piece(struct gp_lines *lines, const char *data, const char *end)
{
	if (lines->carried) {
		carry(lines, data, end - data);
		give_carried(lines, false);
	} else if (end > data || !lines->within || *end == '\r') {
		give_whole(lines, data, end - data);
	}
	lines->within = *end == '\r';
}

void gp_lines_feed(struct gp_lines *lines, const char *data, size_t len)
{
	const char *stop = data + len, *line_end = NULL, *end;

	for (; data < stop; data = end + 1) {
		if (!line_end || line_end < data)
			line_end = memchr(data, '\n', stop - data) ?: stop;
		end = memchr(data, '\r', line_end - data) ?: line_end;
		if (end == stop) {
			carry(lines, data, stop - data);
			return;
		}
		take_piece(lines, data, end);
	}
}

void gp_lines_end(struct gp_lines *lines)
{
	if (lines->carried)
		give_carried(lines, true);
	lines->number = 0;
	lines->within = false;
}

void gp_lines_free(struct gp_lines *lines)
{
	free(lines->carry);
}

bool gp_line_number(const char **at, const char *end, unsigned int base, uint64_t max,
		    uint64_t *out)
{
	const char *start = *at;
	uint64_t value = 0;
	unsigned int digit;

	for (; *at < end; (*at)++) {
		if (**at >= '0' && **at <= '9')
			digit = **at - '0';
		else if (base == 16 && isxdigit((unsigned char)**at))
			digit = (**at | 0x20) - 'a' + 10;
		else
			break;
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value) || value > max)
			return false;
	}
	*out = value;
	return *at > start;
}

/* Do queues and slots add up? */

static const char *const type_names[] = {
	[GP_TEXT_COMPUTE] = "compute", [GP_TEXT_SDMA] = "sdma",	  [GP_TEXT_DIQ] = "diq",
	[GP_TEXT_HIQ] = "hiq",	       [GP_TEXT_OTHER] = "other",
};

const char *gp_text_type_name(enum gp_text_type type)
{
	return type_names[type];
}

/* Sums for an XCC, of MQDs and slots. */
struct entry {
	int64_t gpu_id;
	int64_t xcc;
	int64_t mqds;
	int64_t slots;
	int64_t unreadable; /* slots without registers */
	int64_t active;
	int64_t without_owner;
};

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return (x->xcc > y->xcc) - (x->xcc < y->xcc);
}

static void add(struct entry *to, const struct entry *from)
{
	to->mqds += from->mqds;
	to->slots += from->slots;
	to->unreadable += from->unreadable;
	to->active += from->active;
	to->without_owner += from->without_owner;
}

static size_t collect(const struct gp_text_data *d, int64_t pid, struct entry *out)
{
	bool all = pid <= 0;
	struct entry *at = out;
	size_t i;

	for (i = 0; i < d->n_mqds; i++) {
		const struct gp_text_queue *queue = d->queues + d->mqds[i].queue;

		if (queue->type == GP_TEXT_COMPUTE && (all || queue->pid == pid))
			*at++ = (struct entry){
				.gpu_id = queue->gpu_id,
				.xcc = d->mqds[i].xcc,
				.mqds = 1,
			};
	}
	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *slot = d->slots + i;
		bool active = slot->regs.active == 1;
		bool owned = slot->owner >= 0;

		if (slot->type == GP_TEXT_COMPUTE)
			*at++ = (struct entry){
				.gpu_id = slot->gpu_id,
				.xcc = slot->nth_xcc,
				.slots = 1,
				.unreadable = slot->regs.active == GPREEMPT_UNKNOWN,
				.active = active &&
					  (all || (owned && d->queues[slot->owner].pid == pid)),
				.without_owner = active && all && !owned,
			};
	}
	return at - out;
}

/* Sort the entries, and sum up those of each XCC. Returns how many are left. */
static size_t sum_up(struct entry *entries, size_t count)
{
	size_t i, kept = 0;

	qsort(entries, count, sizeof(*entries), compare);
	for (i = 0; i < count; i++) {
		if (kept && !compare(entries + kept - 1, entries + i))
			add(entries + kept - 1, entries + i);
		else
			entries[kept++] = entries[i];
	}
	return kept;
}

/* Make the check from the sums. A number that is not known is not 0. */
static struct gp_text_check judge(const struct gp_text_data *d, int64_t pid,
				  const struct entry *entry, bool slots_known)
{
	bool mqds_known = d->mqds_seen && !d->several_moments;

	/* A text of several moments has slots twice: do not count them. */
	slots_known &= !d->several_moments;
	if (pid > 0)
		slots_known &= mqds_known;
	return (struct gp_text_check){
		.gpu_id = entry->gpu_id,
		.xcc = entry->xcc,
		.queues = mqds_known ? entry->mqds : GPREEMPT_UNKNOWN,
		.slots_expected = mqds_known ? entry->mqds : GPREEMPT_UNKNOWN,
		.slots_active = slots_known ? entry->active : GPREEMPT_UNKNOWN,
		.slots_without_owner = slots_known && mqds_known ? entry->without_owner :
								   GPREEMPT_UNKNOWN,
	};
}

/* Are MQDs missing? Without them the number of XCCs of a queue is unknown. */
static bool mqds_are_missing(const struct gp_text_data *d, int64_t pid)
{
	size_t i;

	for (i = 0; i < d->n_queues; i++)
		if (d->queues[i].type == GP_TEXT_COMPUTE && !d->queues[i].n_mqds &&
		    (pid <= 0 || d->queues[i].pid == pid))
			return true;
	return false;
}

static int64_t count_queues(const struct gp_text_data *d, int64_t pid)
{
	int64_t count = 0;
	size_t i;

	for (i = 0; i < d->n_queues; i++)
		count += d->queues[i].type == GP_TEXT_COMPUTE &&
			 (pid <= 0 || d->queues[i].pid == pid);
	return count;
}

void gp_text_check(struct gp_text *text, int64_t pid, struct gp_text_check *sum,
		   struct gp_text_check **by_xcc, size_t *count)
{
	const struct gp_text_data *d = gp_text_get(text);
	struct entry all = { .gpu_id = GPREEMPT_UNKNOWN, .xcc = GPREEMPT_UNKNOWN };
	struct gp_text_check *out;
	struct entry *entries;
	bool all_known = d->hqds_seen;
	size_t i, n;

	entries = shr_must(calloc(d->n_mqds + d->n_slots + 1, sizeof(*entries)));
	n = sum_up(entries, collect(d, pid, entries));
	out = shr_must(calloc(n + 1, sizeof(*out)));
	for (i = 0; i < n; i++) {
		bool known = entries[i].slots && !entries[i].unreadable;

		add(&all, entries + i);
		out[i] = judge(d, pid, entries + i, known);
		all_known &= known;
	}
	free(entries);
	*sum = judge(d, pid, &all, all_known);
	/* A queue has an MQD for each XCC, and is one queue. */
	if (sum->queues != GPREEMPT_UNKNOWN)
		sum->queues = count_queues(d, pid);
	if (mqds_are_missing(d, pid))
		sum->slots_expected = GPREEMPT_UNKNOWN;
	if (by_xcc) {
		*by_xcc = out;
		*count = n;
	} else {
		free(out);
	}
}

/* Heads: lines that name the owner of a dump. */

#define NUMBERS_MAX 4 /* with one that is left out */

static void problem_here(struct gp_text *text, const char *what)
{
	gp_text_problem(text, text->lines.number, what);
}

typedef void take_fn(struct gp_text *text, const int64_t *numbers, int arg);

static void add_queue(struct gp_text *text, enum gp_text_type type, int64_t gpu_id)
{
	const struct gp_text_process *process = gp_text_last(text, processes);
	struct gp_text_queue *queue = gp_text_add(text, queues);

	queue->type = type;
	queue->file = text->file;
	queue->line = text->lines.number;
	queue->gpu_id = gpu_id;
	queue->pid = text->have_process ? process->pid : GPREEMPT_UNKNOWN;
	queue->pasid = text->have_process ? process->pasid : GPREEMPT_UNKNOWN;
	/* Index of the process, until the join numbers the contexts. */
	queue->context = text->have_process ? (int64_t)text->data.n_processes - 1 :
					      GPREEMPT_UNKNOWN;
	queue->qid = GPREEMPT_UNKNOWN;
	queue->is_active = GPREEMPT_UNKNOWN;
	queue->priority = GPREEMPT_UNKNOWN;
	queue->slots_expected = GPREEMPT_UNKNOWN;
	queue->slots_active = GPREEMPT_UNKNOWN;
	queue->mqds = text->data.n_mqds;
	text->data.mqds_seen = true;
	text->block = GP_BLOCK_QUEUE;
}

static struct gp_text_queue *last_queue(struct gp_text *text)
{
	return gp_text_last(text, queues);
}

static void take_process(struct gp_text *text, const int64_t *numbers, int is_pasid)
{
	struct gp_text_process *process = gp_text_add(text, processes);

	process->file = text->file;
	process->pid = numbers[0];
	/* The number is the first thread's PID from Linux 6.16 on, if not before. */
	process->pasid = is_pasid ? numbers[1] : GPREEMPT_UNKNOWN;
	text->have_process = true;
	text->have_node = false;
	text->data.mqds_seen = true;
	text->block = GP_BLOCK_NONE;
}

static void take_queue(struct gp_text *text, const int64_t *numbers, int type)
{
	add_queue(text, type, numbers[0]);
}

static void take_queue_elsewhere(struct gp_text *text, const int64_t *numbers, int type)
{
	(void)numbers;
	add_queue(text, type, GPREEMPT_UNKNOWN);
	problem_here(text, "the GPU of this queue has no id that is known");
}

static void take_weird(struct gp_text *text, const int64_t *numbers, int arg)
{
	(void)numbers;
	(void)arg;
	text->block = GP_BLOCK_NONE;
	problem_here(text, "the driver says: neither kernel nor user queue");
}

static void take_node(struct gp_text *text, const int64_t *numbers, int arg)
{
	struct gp_text_node *node = gp_text_add(text, nodes);

	(void)arg;
	node->gpu_id = numbers[0];
	text->have_node = true;
	text->have_process = false;
	text->block = GP_BLOCK_NODE;
	text->xccs = 0;
	text->first_engine = GPREEMPT_UNKNOWN;
}

static void take_note(struct gp_text *text, const int64_t *numbers, int note)
{
	(void)numbers;
	if (text->block != GP_BLOCK_NODE) {
		problem_here(text, "a line about a node that is not there");
		return;
	}
	gp_text_last(text, nodes)->note = note;
	text->data.hqds_seen |= note == GP_TEXT_STOPPED;
}

static void add_slot(struct gp_text *text, enum gp_text_type type, int64_t xcc, int64_t pipe,
		     int64_t number)
{
	const struct gp_text_node *node = gp_text_last(text, nodes);
	bool known = text->have_node;
	struct gp_text_slot *slot = gp_text_add(text, slots);

	slot->type = type;
	slot->file = text->file;
	slot->line = text->lines.number;
	slot->gpu_id = known ? node->gpu_id : GPREEMPT_UNKNOWN;
	slot->xcc = xcc;
	slot->nth_xcc = GPREEMPT_UNKNOWN;
	slot->pipe = pipe;
	slot->queue = number;
	slot->owner = -1;
	text->dumped = false;
	gp_text_no_regs(&slot->regs);
	text->block = GP_BLOCK_SLOT;
	text->data.hqds_seen = true;
	if (!known)
		problem_here(text, "a slot of a node that is not there");
}

static void add_cp_slot(struct gp_text *text, enum gp_text_type type, int64_t xcc, int64_t pipe,
			int64_t number)
{
	add_slot(text, type, xcc, pipe, number);
	/* The XCCs of a node need not begin with 0, but they come in order. */
	if (!text->xccs || text->last_xcc != xcc)
		text->xccs++;
	text->last_xcc = xcc;
	gp_text_last(text, slots)->nth_xcc = text->xccs - 1;
}

static void take_cp_slot(struct gp_text *text, const int64_t *numbers, int type)
{
	add_cp_slot(text, type, numbers[0], numbers[1], numbers[2]);
}

/* Take a slot of Linux up to 6.4, which has only one XCC and does not name it. */
static void take_cp_slot_one(struct gp_text *text, const int64_t *numbers, int type)
{
	add_cp_slot(text, type, 0, numbers[0], numbers[1]);
}

static void take_sdma_slot(struct gp_text *text, const int64_t *numbers, int arg)
{
	(void)arg;
	add_slot(text, GP_TEXT_SDMA, GPREEMPT_UNKNOWN, numbers[0], numbers[1]);
	/* The driver's own numbers begin with 0 on each node. */
	if (text->first_engine == GPREEMPT_UNKNOWN)
		text->first_engine = numbers[0];
	gp_text_last(text, slots)->nth_xcc = numbers[0] - text->first_engine;
}

/* The older text: a summary of it may have no "Compute queue" lines. */
static void take_old_id(struct gp_text *text, const int64_t *numbers, int arg)
{
	(void)arg;
	if (text->block != GP_BLOCK_QUEUE || last_queue(text)->qid != GPREEMPT_UNKNOWN)
		add_queue(text, GP_TEXT_OTHER, GPREEMPT_UNKNOWN);
	last_queue(text)->older = true;
	last_queue(text)->qid = numbers[0];
}

/* Lines about a queue in the older text. */
enum old {
	OLD_PROCESS,
	OLD_ACTIVE,
	OLD_NOT_ACTIVE,
	OLD_PRIORITY,
};

static void take_old(struct gp_text *text, const int64_t *numbers, int what)
{
	struct gp_text_queue *queue = last_queue(text);

	if (text->block != GP_BLOCK_QUEUE) {
		problem_here(text, "a line about a queue that is not there");
		return;
	}
	queue->older = true;
	switch (what) {
	case OLD_PROCESS:
		queue->pid = numbers[0];
		queue->pasid = numbers[1];
		queue->context = GPREEMPT_UNKNOWN;
		break;
	case OLD_PRIORITY:
		queue->priority = numbers[0];
		break;
	default:
		queue->is_active = what == OLD_ACTIVE;
	}
}

static void take_remark(struct gp_text *text, const int64_t *numbers, int arg)
{
	(void)text;
	(void)numbers;
	(void)arg;
}

/*
 * Patterns: %d and %x are numbers, of which %- is left out; a space is one or more
 * of them, * is the rest. Lines are taken without the spaces around them.
 */
static const struct head {
	const char *pattern;
	take_fn *take;
	int arg;
	bool within; /* says more of the block that it is in */
} heads[] = {
	{ "Inst %d, CP Pipe %d, Queue %d", take_cp_slot, GP_TEXT_COMPUTE, false },
	{ "SDMA Engine %d, RLC %d", take_sdma_slot, 0, false },
	{ "Inst %d, HIQ on MEC %- Pipe %d Queue %d", take_cp_slot, GP_TEXT_HIQ, false },
	{ "Node %-, gpu_id %x:", take_node, 0, false },
	{ "CP Pipe %d, Queue %d", take_cp_slot_one, GP_TEXT_COMPUTE, false },
	{ "HIQ on MEC %- Pipe %d Queue %d", take_cp_slot_one, GP_TEXT_HIQ, false },
	{ "Device is stopped", take_note, GP_TEXT_STOPPED, true },
	{ "No active runlist", take_note, GP_TEXT_NO_LIST, true },
	{ "Process %d PASID 0x%x:", take_process, 1, false },
	{ "Process %d PASID %d:", take_process, 0, false },
	{ "Compute queue on device %x", take_queue, GP_TEXT_COMPUTE, false },
	{ "SDMA queue on device %x", take_queue, GP_TEXT_SDMA, false },
	{ "Compute queue on device *", take_queue_elsewhere, GP_TEXT_COMPUTE, false },
	{ "SDMA queue on device *", take_queue_elsewhere, GP_TEXT_SDMA, false },
	{ "DIQ on device %x", take_queue, GP_TEXT_DIQ, false },
	{ "Bad user queue type %- on device %x", take_queue, GP_TEXT_OTHER, false },
	{ "Bad kernel queue type %- on device %x", take_queue, GP_TEXT_OTHER, false },
	{ "Weird: Queue node with neither kernel nor user queue", take_weird, 0, false },
	{ "Queue ID: %d*", take_old_id, 0, true },
	{ "Process: pid %d pasid 0x%x*", take_old, OLD_PROCESS, true },
	{ "is active: yes*", take_old, OLD_ACTIVE, true },
	{ "is active: no*", take_old, OLD_NOT_ACTIVE, true },
	{ "priority: %d*", take_old, OLD_PRIORITY, true },
	{ "=== *", take_remark, 0, true },
};

static bool matches(const char *pattern, const char *p, const char *end, int64_t *numbers)
{
	uint64_t number;

	for (; *pattern; pattern++) {
		if (*pattern == '*')
			return true;
		if (*pattern == '%') {
			pattern++;
			if (!gp_line_number(&p, end, *pattern == 'x' ? 16 : 10, UINT32_MAX,
					    &number))
				return false;
			*numbers = number;
			numbers += *pattern != '-';
			continue;
		}
		if (p == end || *p++ != *pattern)
			return false;
		while (*pattern == ' ' && p < end && *p == ' ')
			p++;
	}
	return p == end;
}

/* End a block, and report words that its head had and no line below it. */
static void end_block(struct gp_text *text)
{
	const struct gp_text_queue *queue;

	gp_text_end_dump(text);
	if (text->block == GP_BLOCK_SLOT && !text->dumped)
		gp_text_problem(text, gp_text_last(text, slots)->line,
				"no registers below this line");
	if (text->block != GP_BLOCK_QUEUE)
		return;
	queue = last_queue(text);
	if (!queue->n_mqds && !queue->older && queue->type != GP_TEXT_OTHER)
		gp_text_problem(text, queue->line, "no MQD below this line");
	if (queue->pid == GPREEMPT_UNKNOWN && !queue->older)
		gp_text_problem(text, queue->line, "a queue without a process");
}

/* End the block at the end of a file, too. */
static void gp_text_end_block(struct gp_text *text)
{
	end_block(text);
	text->block = GP_BLOCK_NONE;
}

/* Take a line that is no dump. */
static void gp_text_head(struct gp_text *text, struct gp_line line)
{
	const char *p = line.at, *end = p + line.len;
	int64_t numbers[NUMBERS_MAX];
	const struct head *head;

	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	if (p == end)
		return;
	for (head = heads; head < heads + ARRAY_SIZE(heads); head++) {
		if (!matches(head->pattern, p, end, numbers))
			continue;
		if (head->within)
			gp_text_end_dump(text);
		else
			end_block(text);
		text->garbled = false;
		text->orphans_told = false;
		text->data.known_lines++;
		text->content |= head->take != take_remark;
		head->take(text, numbers, head->arg);
		return;
	}
	text->garbled = true;
	text->content = true;
	problem_here(text, "not a line that the driver prints");
}

/* Parser of the driver's mqds, hqds and rls: lines, dumps and their owners. */

/* A dump starts: at 0 in mqds and rls, anywhere in hqds. */
static void start_dump(struct gp_text *text, uint64_t offset)
{
	text->first_line = text->lines.number;
	text->next_offset = offset;
	if (offset && text->block != GP_BLOCK_SLOT)
		problem_here(text, "the start of this dump is missing");
}

/*
 * Check an offset. The addresses in a slot's dump may jump, as the registers do. In the others
 * an offset of 0 starts the MQD of the next XCC.
 */
static void check_offset(struct gp_text *text, uint64_t offset)
{
	bool first = !text->words.count;

	if (!first && (offset == text->next_offset || text->block == GP_BLOCK_SLOT))
		return;
	if (offset && !first) {
		problem_here(text, "this dump does not go on where it stopped");
		text->next_offset = offset;
		return;
	}
	gp_text_end_dump(text);
	start_dump(text, offset);
}

/* Is this dump still of the block before the unreadable line, which may have been a head? */
static bool goes_on(const struct gp_text *text, uint64_t offset)
{
	if (text->words.count)
		return offset == text->next_offset;
	return text->block == GP_BLOCK_NODE && !offset;
}

/* Report a dump without a head, once for each head that is missing. */
static void take_orphan(struct gp_text *text)
{
	gp_text_end_block(text);
	if (!text->orphans_told)
		problem_here(text, "a dump without a line that says of what");
	text->orphans_told = true;
}

static void take_words(struct gp_text *text, size_t count, uint64_t offset)
{
	bool lost = text->block == GP_BLOCK_NONE || (text->garbled && !goes_on(text, offset));

	text->garbled = false;
	text->content = true;
	if (lost) {
		take_orphan(text);
		return;
	}
	text->data.known_lines++;
	check_offset(text, offset);
	text->next_offset = offset + count * sizeof(uint32_t);
	text->words.count += count;
}

static void take_line(void *data, struct gp_line line)
{
	struct gp_text *text = data;
	uint64_t offset;
	size_t count;

	if (shr_array_room(&text->words.items, text->words.count, 8, sizeof(uint32_t)))
		abort();
	count = gp_text_hex(text, line, &offset);
	if (count)
		take_words(text, count, offset);
	else
		gp_text_head(text, line);
	if (line.cut)
		problem_here(text,
			     line.too_long ? "too long a line" : "the file ends within this line");
}

struct gp_text *gp_text_new(void)
{
	struct gp_text *text = shr_must(calloc(1, sizeof(*text)));

	text->lines.take = take_line;
	text->lines.data = text;
	return text;
}

void gp_text_free(struct gp_text *text)
{
	if (!text)
		return;
	free(text->data.processes);
	free(text->data.queues);
	free(text->data.mqds);
	free(text->data.nodes);
	free(text->data.slots);
	free(text->data.packets);
	free(text->data.problems);
	free(text->words.items);
	gp_lines_free(&text->lines);
	free(text);
}

void gp_text_feed(struct gp_text *text, const char *data, size_t len)
{
	gp_lines_feed(&text->lines, data, len);
}

void gp_text_end(struct gp_text *text)
{
	gp_lines_end(&text->lines);
	gp_text_end_block(text);
	/* An idle driver's is empty; hqds and rls name each node at least. */
	text->data.mqds_seen |= !text->content;
	text->content = false;
	text->garbled = false;
	text->have_process = false;
	text->have_node = false;
	text->orphans_told = false;
	text->file++;
}

const struct gp_text_data *gp_text_get(const struct gp_text *text)
{
	return &text->data;
}
