// SPDX-License-Identifier: GPL-2.0-only
/* A text's queues, slots and problems as rows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/text/decode.h"
#include "shared/macro.h"

/* A queue, with its first MQD. */
struct queue_row {
	struct gp_text_queue q;
	struct gp_text_regs regs;
	const char *type;
	char *where; /* pipe.queue of its slots */
	int64_t vmid;
	const char *file;
};

#define QUEUE(key, member, title, what, ...) \
	OUT_NAMED(key, struct queue_row, member, title, what, __VA_ARGS__)

static const struct out_field queue_fields[] = {
	QUEUE("pid", q.pid, "PID", OUT_DEC),
	QUEUE("queue_id", q.qid, "QID", OUT_DEC),
	QUEUE("gpu_id", q.gpu_id, "GPU", OUT_HEX),
	QUEUE("type", type, "TYPE", OUT_TEXT),
	QUEUE("priority", q.priority, "PRIO", OUT_DEC),
	QUEUE("slots_active", q.slots_active, "ACTIVE", OUT_DEC),
	QUEUE("slots_expected", q.slots_expected, "SLOTS", OUT_DEC),
	QUEUE("where", where, "PIPE.QUEUE", OUT_LIST),
	QUEUE("mqd", regs.mqd, "MQD", OUT_HEX),
	QUEUE("ring", regs.ring, "RING", OUT_HEX),
	QUEUE("ring_size", regs.ring_size, NULL, OUT_DEC),
	QUEUE("rptr", regs.rptr, "RPTR", OUT_DEC),
	QUEUE("wptr", regs.wptr, "WPTR", OUT_DEC),
	QUEUE("doorbell", regs.doorbell, NULL, OUT_HEX),
	QUEUE("vmid", vmid, NULL, OUT_DEC),
	QUEUE("cwsr", regs.cwsr, NULL, OUT_HEX),
	QUEUE("cwsr_size", regs.cwsr_size, NULL, OUT_DEC),
	QUEUE("context", q.context, NULL, OUT_DEC),
	QUEUE("pasid", q.pasid, NULL, OUT_HEX),
	QUEUE("is_active", q.is_active, NULL, OUT_FLAG),
	QUEUE("older", q.older, NULL, OUT_FLAG),
	QUEUE("known", regs.known, NULL, OUT_FLAG),
	QUEUE("file", file, NULL, OUT_TEXT),
	QUEUE("line", q.line, NULL, OUT_DEC),
};

static const struct out_table queues_table = OUT_TABLE("queues", queue_fields, struct queue_row);

/* A slot, and the queue that it holds. */
struct slot_row {
	struct gp_text_slot s;
	int64_t pid;
	int64_t queue_id;
};

#define SLOT(key, member, what) OUT_NAMED(key, struct slot_row, member, NULL, what)

static const struct out_field slot_fields[] = {
	SLOT("gpu_id", s.gpu_id, OUT_HEX),	 SLOT("xcc", s.xcc, OUT_DEC),
	SLOT("pipe", s.pipe, OUT_DEC),		 SLOT("queue", s.queue, OUT_DEC),
	SLOT("active", s.regs.active, OUT_FLAG), SLOT("pid", pid, OUT_DEC),
	SLOT("queue_id", queue_id, OUT_DEC),	 SLOT("mqd", s.regs.mqd, OUT_HEX),
	SLOT("vmid", s.regs.vmid, OUT_DEC),	 SLOT("doorbell", s.regs.doorbell, OUT_HEX),
	SLOT("rptr", s.regs.rptr, OUT_DEC),	 SLOT("wptr", s.regs.wptr, OUT_DEC),
};

static const struct out_table cp_slots = OUT_TABLE("slots", slot_fields, struct slot_row);

static const struct out_field sdma_fields[] = {
	SLOT("gpu_id", s.gpu_id, OUT_HEX),  SLOT("engine", s.pipe, OUT_DEC),
	SLOT("rlc", s.queue, OUT_DEC),	    SLOT("active", s.regs.active, OUT_FLAG),
	SLOT("pid", pid, OUT_DEC),	    SLOT("queue_id", queue_id, OUT_DEC),
	SLOT("rptr", s.regs.rptr, OUT_DEC), SLOT("wptr", s.regs.wptr, OUT_DEC),
};

static const struct out_table sdma_slots = OUT_TABLE("sdma_slots", sdma_fields, struct slot_row);

struct decode_problem {
	const char *file;
	int64_t line;
	const char *what;
};

#define PROBLEM(member, title, what_kind) OUT_FIELD(struct decode_problem, member, title, what_kind)

static const struct out_field problem_fields[] = {
	PROBLEM(file, "FILE", OUT_TEXT),
	PROBLEM(line, "LINE", OUT_DEC),
	PROBLEM(what, "PROBLEM", OUT_TEXT),
};

static const struct out_table problems_table =
	OUT_TABLE("problems", problem_fields, struct decode_problem);

#define CHECK(member, what) OUT_FIELD(struct gp_text_check, member, NULL, what)
#define CHECK_SLOTS                                                   \
	CHECK(slots_expected, OUT_DEC), CHECK(slots_active, OUT_DEC), \
		CHECK(slots_without_owner, OUT_DEC)

static const struct out_field sum_fields[] = {
	CHECK(queues, OUT_DEC),
	CHECK_SLOTS,
};

static const struct out_table sum_table = OUT_TABLE("check", sum_fields, struct gp_text_check);

static const struct out_field check_fields[] = {
	CHECK(gpu_id, OUT_HEX),
	CHECK(xcc, OUT_DEC),
	CHECK_SLOTS,
};

static const struct out_table check_table = OUT_TABLE("by_xcc", check_fields, struct gp_text_check);

static bool same_place(const struct gp_text_slot *a, const struct gp_text_slot *b)
{
	return a->owner == b->owner && a->pipe == b->pipe && a->queue == b->queue;
}

/* "0.2", or each place that it is in, if they differ between XCCs. */
static char *find_where(const struct gp_text_data *d, size_t queue)
{
	const struct gp_text_slot *slot, *before, *first = NULL;
	char *text = NULL;
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
		if (before == slot)
			text_append(&text, "%" PRId64 ".%" PRId64, slot->pipe, slot->queue);
	}
	return text;
}

/*
 * The VMID that its slots have; they differ: none. That of the MQD is what it
 * had when it was last saved.
 */
static int64_t find_vmid(const struct gp_text_data *d, size_t queue, int64_t saved)
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

static struct queue_row make_queue(const struct ctl_text *text, size_t i)
{
	const struct gp_text_data *d = text->data;
	const struct gp_text_queue *q = d->queues + i;
	struct queue_row row = {
		.q = *q,
		.type = gp_text_type_name(q->type),
		.where = find_where(d, i),
		.file = text->files[q->file],
	};

	if (q->n_mqds) {
		row.regs = d->mqds[q->mqds].regs;
	} else {
		/* All bits set is GPREEMPT_UNKNOWN in each. */
		memset(&row.regs, 0xff, sizeof(row.regs));
		row.regs.known = 0;
	}
	row.vmid = find_vmid(d, i, row.regs.vmid);
	return row;
}

/* All of them, or those of a process (0: all), for free_queues(). */
static struct queue_row *make_queues(const struct ctl_text *text, int64_t pid, size_t *count)
{
	struct queue_row *rows = shr_must(calloc(text->data->n_queues + 1, sizeof(*rows)));
	size_t i;

	*count = 0;
	for (i = 0; i < text->data->n_queues; i++)
		if (!pid || text->data->queues[i].pid == pid)
			rows[(*count)++] = make_queue(text, i);
	return rows;
}

static void free_queues(struct queue_row *rows, size_t count)
{
	while (count)
		free(rows[--count].where);
	free(rows);
}

void decode_print_queues(enum out_mode mode, const struct ctl_text *text, int64_t pid)
{
	size_t count;
	struct queue_row *rows = make_queues(text, pid, &count);

	out_rows(mode, &queues_table, rows, count);
	free_queues(rows, count);
}

int64_t decode_adds_up(const struct gp_text_check *sum)
{
	if (sum->slots_expected == GPREEMPT_UNKNOWN || sum->slots_active == GPREEMPT_UNKNOWN ||
	    sum->slots_without_owner == GPREEMPT_UNKNOWN)
		return GPREEMPT_UNKNOWN;
	return sum->slots_expected == sum->slots_active && !sum->slots_without_owner;
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
				      enum gp_text_type type, const struct out_table *table)
{
	const struct gp_text_data *d = text->data;
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *s = d->slots + i;
		const struct gp_text_queue *q = s->owner < 0 ? NULL : d->queues + s->owner;
		struct slot_row row = {
			.s = *s,
			.pid = q ? q->pid : GPREEMPT_UNKNOWN,
			.queue_id = q ? q->qid : GPREEMPT_UNKNOWN,
		};

		if (s->type == type && (!pid || row.pid == pid))
			json_object_array_add(array, out_json_row(table, &row));
	}
	return array;
}

static struct json_object *json_check(const struct ctl_text *text, int64_t pid)
{
	struct gp_text_check sum, *by_xcc;
	struct json_object *object;
	size_t count;

	if (gp_text_check(text->text, pid, &sum, &by_xcc, &count))
		abort();
	object = out_json_row(&sum_table, &sum);
	out_add(object, "adds_up", out_json_flag(decode_adds_up(&sum)));
	out_add(object, check_table.name, out_json_rows(&check_table, by_xcc, count));
	free(by_xcc);
	return object;
}

static struct decode_problem *make_problems(const struct ctl_text *text)
{
	const struct gp_text_data *d = text->data;
	struct decode_problem *rows = shr_must(calloc(d->kept + 1, sizeof(*rows)));
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
	size_t count;
	struct queue_row *queues = make_queues(text, pid, &count);

	out_add(object, "queues", out_json_rows(&queues_table, queues, count));
	out_add(object, "slots", json_slots(text, pid, GP_TEXT_COMPUTE, &cp_slots));
	out_add(object, "sdma_slots", json_slots(text, pid, GP_TEXT_SDMA, &sdma_slots));
	out_add(object, "run_list", decode_json_packets(text, pid));
	out_add(object, "check", json_check(text, pid));
	out_add(object, "problems", out_json_rows(&problems_table, problems, text->data->kept));
	out_add(object, "n_problems", json_object_new_int64(text->data->n_problems));
	free_queues(queues, count);
	free(problems);
	return object;
}

void decode_print_problems(enum out_mode mode, const struct ctl_text *text, size_t most)
{
	struct decode_problem *rows = make_problems(text);
	size_t shown = text->data->kept < most ? text->data->kept : most;

	out_rows(mode, &problems_table, rows, shown);
	if (text->data->n_problems > shown)
		ctl_note("and %" PRIu64 " more; --json has the first %zu",
			 text->data->n_problems - shown, text->data->kept);
	free(rows);
}
