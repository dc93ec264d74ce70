// SPDX-License-Identifier: LGPL-2.1-or-later
/* The lines that say what a dump is of. */
#include <errno.h>
#include <string.h>

#include "lib/text/parse.h"
#include "shared/macro.h"

#define NUMBERS_MAX 4 /* with one that is left out */

typedef int take_fn(struct gp_text *text, const int64_t *numbers, int arg);

static int add_queue(struct gp_text *text, enum gp_text_type type, int64_t gpu_id)
{
	const struct gp_text_process *process = gp_text_last(text, processes);
	struct gp_text_queue *queue = gp_text_add(text, queues);

	if (!queue)
		return -ENOMEM;
	queue->type = type;
	queue->file = text->file;
	queue->line = text->lines.number;
	queue->gpu_id = gpu_id;
	queue->pid = text->have_process ? process->pid : GPREEMPT_UNKNOWN;
	queue->pasid = text->have_process ? process->pasid : GPREEMPT_UNKNOWN;
	/* Of the processes, until the join numbers the contexts. */
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
	return 0;
}

static struct gp_text_queue *last_queue(struct gp_text *text)
{
	return gp_text_last(text, queues);
}

static int take_process(struct gp_text *text, const int64_t *numbers, int is_pasid)
{
	struct gp_text_process *process = gp_text_add(text, processes);

	if (!process)
		return -ENOMEM;
	process->file = text->file;
	process->pid = numbers[0];
	/* From Linux 6.16 on, if not before, it is the first thread. */
	process->pasid = is_pasid ? numbers[1] : GPREEMPT_UNKNOWN;
	text->have_process = true;
	text->have_node = false;
	text->data.mqds_seen = true;
	text->block = GP_BLOCK_NONE;
	return 0;
}

static int take_queue(struct gp_text *text, const int64_t *numbers, int type)
{
	return add_queue(text, type, numbers[0]);
}

static int take_queue_elsewhere(struct gp_text *text, const int64_t *numbers, int type)
{
	(void)numbers;
	if (add_queue(text, type, GPREEMPT_UNKNOWN))
		return -ENOMEM;
	return gp_text_problem(text, text->lines.number,
			       "the GPU of this queue has no id that is known");
}

static int take_weird(struct gp_text *text, const int64_t *numbers, int arg)
{
	(void)numbers;
	(void)arg;
	text->block = GP_BLOCK_NONE;
	return gp_text_problem(text, text->lines.number,
			       "the driver says: neither kernel nor user queue");
}

static int take_node(struct gp_text *text, const int64_t *numbers, int arg)
{
	struct gp_text_node *node = gp_text_add(text, nodes);

	(void)arg;
	if (!node)
		return -ENOMEM;
	node->gpu_id = numbers[0];
	text->have_node = true;
	text->have_process = false;
	text->block = GP_BLOCK_NODE;
	text->xccs = 0;
	text->first_engine = GPREEMPT_UNKNOWN;
	return 0;
}

static int take_note(struct gp_text *text, const int64_t *numbers, int note)
{
	(void)numbers;
	if (text->block != GP_BLOCK_NODE)
		return gp_text_problem(text, text->lines.number,
				       "a line about a node that is not there");
	gp_text_last(text, nodes)->note = note;
	text->data.hqds_seen |= note == GP_TEXT_STOPPED;
	return 0;
}

static int add_slot(struct gp_text *text, enum gp_text_type type, int64_t xcc, int64_t pipe,
		    int64_t number)
{
	const struct gp_text_node *node = gp_text_last(text, nodes);
	bool known = text->have_node;
	struct gp_text_slot *slot = gp_text_add(text, slots);

	if (!slot)
		return -ENOMEM;
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
	return known ? 0 :
		       gp_text_problem(text, text->lines.number,
				       "a slot of a node that is not there");
}

static int add_cp_slot(struct gp_text *text, enum gp_text_type type, int64_t xcc, int64_t pipe,
		       int64_t number)
{
	int ret = add_slot(text, type, xcc, pipe, number);

	if (ret)
		return ret;
	/* The XCCs of a node need not begin with 0, but they come in order. */
	if (!text->xccs || text->last_xcc != xcc)
		text->xccs++;
	text->last_xcc = xcc;
	gp_text_last(text, slots)->nth_xcc = text->xccs - 1;
	return 0;
}

static int take_cp_slot(struct gp_text *text, const int64_t *numbers, int type)
{
	return add_cp_slot(text, type, numbers[0], numbers[1], numbers[2]);
}

/* Up to Linux 6.4 there is only one XCC, and it is not named. */
static int take_cp_slot_one(struct gp_text *text, const int64_t *numbers, int type)
{
	return add_cp_slot(text, type, 0, numbers[0], numbers[1]);
}

static int take_sdma_slot(struct gp_text *text, const int64_t *numbers, int arg)
{
	int ret = add_slot(text, GP_TEXT_SDMA, GPREEMPT_UNKNOWN, numbers[0], numbers[1]);
	struct gp_text_slot *slot;

	(void)arg;
	if (ret)
		return ret;
	/* The driver's own numbers begin with 0 on each node. */
	if (text->first_engine == GPREEMPT_UNKNOWN)
		text->first_engine = numbers[0];
	slot = gp_text_last(text, slots);
	slot->nth_xcc = numbers[0] - text->first_engine;
	return 0;
}

/* The older text: a summary of it may have no "Compute queue" lines. */
static int take_old_id(struct gp_text *text, const int64_t *numbers, int arg)
{
	int ret = 0;

	(void)arg;
	if (text->block != GP_BLOCK_QUEUE || last_queue(text)->qid != GPREEMPT_UNKNOWN)
		ret = add_queue(text, GP_TEXT_OTHER, GPREEMPT_UNKNOWN);
	if (!ret) {
		last_queue(text)->older = true;
		last_queue(text)->qid = numbers[0];
	}
	return ret;
}

/* What the older text says of a queue. */
enum old {
	OLD_PROCESS,
	OLD_ACTIVE,
	OLD_NOT_ACTIVE,
	OLD_PRIORITY,
};

static int take_old(struct gp_text *text, const int64_t *numbers, int what)
{
	struct gp_text_queue *queue = last_queue(text);

	if (text->block != GP_BLOCK_QUEUE)
		return gp_text_problem(text, text->lines.number,
				       "a line about a queue that is not there");
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
	return 0;
}

static int take_remark(struct gp_text *text, const int64_t *numbers, int arg)
{
	(void)text;
	(void)numbers;
	(void)arg;
	return 0;
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

/* A block's head said more than what came below it. */
static int end_block(struct gp_text *text)
{
	const struct gp_text_queue *queue;
	const struct gp_text_slot *slot;
	int ret = gp_text_end_dump(text);

	if (ret)
		return ret;
	if (text->block == GP_BLOCK_SLOT) {
		slot = gp_text_last(text, slots);
		if (!text->dumped)
			return gp_text_problem(text, slot->line, "no registers below this line");
	} else if (text->block == GP_BLOCK_QUEUE) {
		queue = last_queue(text);
		if (!queue->n_mqds && !queue->older && queue->type != GP_TEXT_OTHER)
			ret = gp_text_problem(text, queue->line, "no MQD below this line");
		if (!ret && queue->pid == GPREEMPT_UNKNOWN && !queue->older)
			ret = gp_text_problem(text, queue->line, "a queue without a process");
	}
	return ret;
}

int gp_text_end_block(struct gp_text *text)
{
	int ret = end_block(text);

	text->block = GP_BLOCK_NONE;
	return ret;
}

int gp_text_head(struct gp_text *text, struct gp_line line)
{
	const char *p = line.at, *end = p + line.len;
	int64_t numbers[NUMBERS_MAX];
	const struct head *head;
	int ret;

	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	if (p == end)
		return 0;
	for (head = heads; head < heads + ARRAY_SIZE(heads); head++) {
		if (!matches(head->pattern, p, end, numbers))
			continue;
		ret = head->within ? gp_text_end_dump(text) : end_block(text);
		text->garbled = false;
		text->orphans_told = false;
		text->data.known_lines++;
		text->content |= head->take != take_remark;
		return ret ? ret : head->take(text, numbers, head->arg);
	}
	text->garbled = true;
	text->content = true;
	return gp_text_problem(text, text->lines.number, "not a line that the driver prints");
}
