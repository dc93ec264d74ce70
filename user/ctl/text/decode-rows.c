// SPDX-License-Identifier: GPL-2.0-only
/* A text's queues, slots and problems as rows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/text/decode.h"
#include "shared/macro.h"

#define QUEUE(member, title, what, ...) \
	OUT_FIELD(struct decode_queue, member, title, what, __VA_ARGS__)

static const struct out_field queue_fields[] = {
	QUEUE(pid, "PID", OUT_DEC),
	QUEUE(queue_id, "QID", OUT_DEC),
	QUEUE(gpu_id, "GPU", OUT_HEX),
	QUEUE(type, "TYPE", OUT_TEXT),
	QUEUE(priority, "PRIO", OUT_DEC),
	QUEUE(slots_active, "ACTIVE", OUT_DEC),
	QUEUE(slots_expected, "SLOTS", OUT_DEC),
	QUEUE(where, "PIPE.QUEUE", OUT_LIST),
	QUEUE(mqd, "MQD", OUT_HEX),
	QUEUE(ring, "RING", OUT_HEX),
	QUEUE(ring_size, NULL, OUT_DEC),
	QUEUE(rptr, "RPTR", OUT_DEC),
	QUEUE(wptr, "WPTR", OUT_DEC),
	QUEUE(doorbell, NULL, OUT_HEX),
	QUEUE(vmid, NULL, OUT_DEC),
	QUEUE(cwsr, NULL, OUT_HEX),
	QUEUE(cwsr_size, NULL, OUT_DEC),
	QUEUE(context, NULL, OUT_DEC),
	QUEUE(pasid, NULL, OUT_HEX),
	QUEUE(is_active, NULL, OUT_FLAG),
	QUEUE(older, NULL, OUT_FLAG),
	QUEUE(known, NULL, OUT_FLAG),
	QUEUE(file, NULL, OUT_TEXT),
	QUEUE(line, NULL, OUT_DEC),
};

const struct out_table decode_queues = {
	.name = "queues",
	.fields = queue_fields,
	.n_fields = ARRAY_SIZE(queue_fields),
	.row_size = sizeof(struct decode_queue),
};

/* A slot; the members are the keys of JSON. */
struct decode_slot {
	int64_t gpu_id;
	int64_t xcc;
	int64_t pipe;
	int64_t queue;
	int64_t active;
	int64_t pid;
	int64_t queue_id;
	int64_t mqd;
	int64_t vmid;
	int64_t doorbell;
	int64_t rptr;
	int64_t wptr;
};

#define SLOT(member, what) OUT_FIELD(struct decode_slot, member, NULL, what)

static const struct out_field slot_fields[] = {
	SLOT(gpu_id, OUT_HEX),	 SLOT(xcc, OUT_DEC),	 SLOT(pipe, OUT_DEC),
	SLOT(queue, OUT_DEC),	 SLOT(active, OUT_FLAG), SLOT(pid, OUT_DEC),
	SLOT(queue_id, OUT_DEC), SLOT(mqd, OUT_HEX),	 SLOT(vmid, OUT_DEC),
	SLOT(doorbell, OUT_HEX), SLOT(rptr, OUT_DEC),	 SLOT(wptr, OUT_DEC),
};

static const struct out_table cp_slots =
	OUT_TABLE("slots", slot_fields, struct decode_slot);

static const struct out_field sdma_fields[] = {
	SLOT(gpu_id, OUT_HEX),
	OUT_NAMED("engine", struct decode_slot, pipe, NULL, OUT_DEC),
	OUT_NAMED("rlc", struct decode_slot, queue, NULL, OUT_DEC),
	SLOT(active, OUT_FLAG),
	SLOT(pid, OUT_DEC),
	SLOT(queue_id, OUT_DEC),
	SLOT(rptr, OUT_DEC),
	SLOT(wptr, OUT_DEC),
};

static const struct out_table sdma_slots =
	OUT_TABLE("sdma_slots", sdma_fields, struct decode_slot);

struct decode_problem {
	const char *file;
	int64_t line;
	const char *what;
};

#define PROBLEM(member, title, what_kind) \
	OUT_FIELD(struct decode_problem, member, title, what_kind)

static const struct out_field problem_fields[] = {
	PROBLEM(file, "FILE", OUT_TEXT),
	PROBLEM(line, "LINE", OUT_DEC),
	PROBLEM(what, "PROBLEM", OUT_TEXT),
};

static const struct out_table problems_table =
	OUT_TABLE("problems", problem_fields, struct decode_problem);

#define CHECK(member, title, what) \
	OUT_FIELD(struct gp_text_check, member, title, what)

static const struct out_field check_fields[] = {
	CHECK(gpu_id, NULL, OUT_HEX),
	CHECK(xcc, NULL, OUT_DEC),
	CHECK(slots_expected, NULL, OUT_DEC),
	CHECK(slots_active, NULL, OUT_DEC),
	CHECK(slots_without_owner, NULL, OUT_DEC),
};

static const struct out_table check_table =
	OUT_TABLE("by_xcc", check_fields, struct gp_text_check);

static bool same_place(const struct gp_text_slot *a,
		       const struct gp_text_slot *b)
{
	return a->owner == b->owner && a->pipe == b->pipe &&
	       a->queue == b->queue;
}

/* "0.2", or each place that it is in, if they differ between XCCs. */
static char *find_where(const struct gp_text_data *d, size_t queue)
{
	const struct gp_text_slot *slot, *before, *first = NULL;
	char *text = NULL, *more;
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		slot = &d->slots[i];
		if (slot->owner != (ssize_t)queue)
			continue;
		if (!first)
			first = slot;
		for (before = first; before < slot; before++)
			if (same_place(before, slot))
				break;
		if (before < slot)
			continue;
		if (asprintf(&more, "%s%s%" PRId64 ".%" PRId64,
			     text ? text : "", text ? "," : "", slot->pipe,
			     slot->queue) < 0)
			abort();
		free(text);
		text = more;
	}
	return text;
}

/*
 * The VMID that its slots have; they differ: none. That of the MQD is what it
 * had when it was last saved.
 */
static int64_t find_vmid(const struct gp_text_data *d, size_t queue,
			 int64_t saved)
{
	int64_t vmid = saved;
	bool found = false;
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		if (d->slots[i].owner != (ssize_t)queue)
			continue;
		if (found && vmid != d->slots[i].regs.vmid)
			return GPREEMPT_UNKNOWN;
		vmid = d->slots[i].regs.vmid;
		found = true;
	}
	return vmid;
}

static void fill_queue(const struct ctl_text *text, size_t i,
		       struct decode_queue *row)
{
	const struct gp_text_data *d = text->data;
	const struct gp_text_queue *q = d->queues + i;
	static const struct gp_text_regs none = {
		.known = 0,
		.mqd = GPREEMPT_UNKNOWN,
		.vmid = GPREEMPT_UNKNOWN,
		.ring = GPREEMPT_UNKNOWN,
		.ring_size = GPREEMPT_UNKNOWN,
		.rptr = GPREEMPT_UNKNOWN,
		.wptr = GPREEMPT_UNKNOWN,
		.doorbell = GPREEMPT_UNKNOWN,
		.cwsr = GPREEMPT_UNKNOWN,
		.cwsr_size = GPREEMPT_UNKNOWN,
	};
	const struct gp_text_regs *regs = q->n_mqds ? &d->mqds[q->mqds].regs :
						      &none;

	*row = (struct decode_queue){
		.pid = q->pid,
		.queue_id = q->qid,
		.gpu_id = q->gpu_id,
		.type = gp_text_type_name(q->type),
		.priority = q->priority,
		.slots_active = q->slots_active,
		.slots_expected = q->slots_expected,
		.where = find_where(d, i),
		.mqd = regs->mqd,
		.ring = regs->ring,
		.ring_size = regs->ring_size,
		.rptr = regs->rptr,
		.wptr = regs->wptr,
		.doorbell = regs->doorbell,
		.vmid = find_vmid(d, i, regs->vmid),
		.cwsr = regs->cwsr,
		.cwsr_size = regs->cwsr_size,
		.context = q->context,
		.pasid = q->pasid,
		.is_active = q->is_active,
		.older = q->older,
		.known = regs->known,
		.file = text->files[q->file],
		.line = q->line,
	};
}

struct decode_queue *decode_make_queues(const struct ctl_text *text,
					int64_t pid, size_t *count)
{
	struct decode_queue *rows =
		shr_must(calloc(text->data->n_queues + 1, sizeof(*rows)));
	size_t i;

	*count = 0;
	for (i = 0; i < text->data->n_queues; i++)
		if (!pid || text->data->queues[i].pid == pid)
			fill_queue(text, i, rows + (*count)++);
	return rows;
}

void decode_free(struct decode_queue *queues, size_t count)
{
	while (count)
		free(queues[--count].where);
	free(queues);
}

int64_t decode_adds_up(const struct gp_text_check *sum)
{
	if (sum->slots_expected == GPREEMPT_UNKNOWN ||
	    sum->slots_active == GPREEMPT_UNKNOWN ||
	    sum->slots_without_owner == GPREEMPT_UNKNOWN)
		return GPREEMPT_UNKNOWN;
	return sum->slots_expected == sum->slots_active &&
	       !sum->slots_without_owner;
}

bool decode_has_pid(const struct ctl_text *text, int64_t pid)
{
	size_t i;

	for (i = 0; i < text->data->n_processes; i++)
		if (text->data->processes[i].pid == pid)
			return true;
	for (i = 0; i < text->data->n_queues; i++)
		if (text->data->queues[i].pid == pid)
			return true;
	for (i = 0; i < text->n_ids; i++)
		if (text->ids[i].pid == pid)
			return true;
	return false;
}

/* With a process given: of the slots those that hold its queues. */
static struct json_object *json_slots(const struct ctl_text *text, int64_t pid,
				      enum gp_text_type type,
				      const struct out_table *table)
{
	const struct gp_text_data *d = text->data;
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *s = d->slots + i;
		const struct gp_text_queue *q =
			s->owner < 0 ? NULL : d->queues + s->owner;
		struct decode_slot row = {
			.gpu_id = s->gpu_id,
			.xcc = s->xcc,
			.pipe = s->pipe,
			.queue = s->queue,
			.active = s->regs.active,
			.pid = q ? q->pid : GPREEMPT_UNKNOWN,
			.queue_id = q ? q->qid : GPREEMPT_UNKNOWN,
			.mqd = s->regs.mqd,
			.vmid = s->regs.vmid,
			.doorbell = s->regs.doorbell,
			.rptr = s->regs.rptr,
			.wptr = s->regs.wptr,
		};

		if (s->type == type && (!pid || row.pid == pid))
			json_object_array_add(array, out_json_row(table, &row));
	}
	return array;
}

static struct json_object *json_check(const struct ctl_text *text, int64_t pid)
{
	struct json_object *object = json_object_new_object();
	struct gp_text_check sum, *by_xcc;
	size_t count;

	if (gp_text_check(text->text, pid, &sum, &by_xcc, &count))
		abort();
	json_object_object_add(object, "queues", out_json_number(sum.queues));
	json_object_object_add(object, "slots_expected",
			       out_json_number(sum.slots_expected));
	json_object_object_add(object, "slots_active",
			       out_json_number(sum.slots_active));
	json_object_object_add(object, "slots_without_owner",
			       out_json_number(sum.slots_without_owner));
	json_object_object_add(object, "adds_up",
			       out_json_flag(decode_adds_up(&sum)));
	json_object_object_add(object, "by_xcc",
			       out_json_rows(&check_table, by_xcc, count));
	free(by_xcc);
	return object;
}

static struct decode_problem *make_problems(const struct ctl_text *text)
{
	const struct gp_text_data *d = text->data;
	struct decode_problem *rows =
		shr_must(calloc(d->kept + 1, sizeof(*rows)));
	size_t i;

	for (i = 0; i < d->kept; i++) {
		rows[i].file = text->files[d->problems[i].file];
		rows[i].line = d->problems[i].line;
		rows[i].what = d->problems[i].what;
	}
	return rows;
}

struct json_object *decode_json(const struct ctl_text *text, int64_t pid)
{
	struct json_object *object = json_object_new_object();
	struct decode_problem *problems = make_problems(text);
	struct decode_queue *queues;
	size_t count;

	queues = decode_make_queues(text, pid, &count);
	json_object_object_add(object, "queues",
			       out_json_rows(&decode_queues, queues, count));
	json_object_object_add(object, "slots",
			       json_slots(text, pid, GP_TEXT_COMPUTE,
					  &cp_slots));
	json_object_object_add(object, "sdma_slots",
			       json_slots(text, pid, GP_TEXT_SDMA,
					  &sdma_slots));
	json_object_object_add(object, "run_list",
			       decode_json_packets(text, pid));
	json_object_object_add(object, "check", json_check(text, pid));
	json_object_object_add(object, "problems",
			       out_json_rows(&problems_table, problems,
					     text->data->kept));
	json_object_object_add(object, "n_problems",
			       json_object_new_int64(text->data->n_problems));
	decode_free(queues, count);
	free(problems);
	return object;
}

void decode_print_problems(enum out_mode mode, const struct ctl_text *text,
			   size_t most)
{
	struct decode_problem *rows = make_problems(text);
	size_t shown = text->data->kept < most ? text->data->kept : most;

	out_rows(mode, &problems_table, rows, shown);
	if (text->data->n_problems > shown)
		ctl_note("and %" PRIu64 " more; --json has the first %zu",
			 text->data->n_problems - shown, text->data->kept);
	free(rows);
}
