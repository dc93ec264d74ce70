// SPDX-License-Identifier: GPL-2.0-only
/* The packets of a runlist (rls), which the driver gave the hardware scheduler. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shared/util.h"
#include "load.h"

/* The members are the keys of JSON. */
struct decode_packet {
	int64_t kfd_gpu_id;
	const char *packet;
	int64_t pasid;
	int64_t pid;
	int64_t queue_id;
	int64_t doorbell;
	int64_t mqd;
};

#define PACKET(member, title, what) OUT_FIELD(struct decode_packet, member, title, what)

static const struct out_field fields[] = {
	PACKET(kfd_gpu_id, "KFD-ID", OUT_HEX), PACKET(packet, "PACKET", OUT_TEXT),
	PACKET(pasid, "PASID", OUT_HEX),       PACKET(pid, "PID", OUT_DEC),
	PACKET(queue_id, "QID", OUT_DEC),      PACKET(doorbell, "DOORBELL", OUT_HEX),
	PACKET(mqd, "MQD", OUT_HEX),
};

static const struct out_table packets_table = OUT_TABLE("run_list", fields, struct decode_packet);

static const char *name_of(unsigned int op)
{
	switch (op) {
	case GP_TEXT_MAP_PROCESS:
		return "map-process";
	case GP_TEXT_MAP_QUEUES:
		return "map-queues";
	case GP_TEXT_RUN_LIST:
		return "run-list";
	default:
		return "other";
	}
}

/*
 * The process of a packet's PASID: mqds says it, or on Linux 7, where each GPU has PASIDs of
 * its own, a packet of one of the process's queues.
 */
static int64_t find_pid(const struct gp_text_data *d, const struct gp_text_packet *packet)
{
	size_t i;

	if (packet->pasid == GPREEMPT_UNKNOWN)
		return GPREEMPT_UNKNOWN;
	for (i = 0; i < d->n_processes; i++)
		if (d->processes[i].pasid == packet->pasid)
			return d->processes[i].pid;
	for (i = 0; i < d->n_packets; i++)
		if (d->packets[i].queue >= 0 && d->packets[i].gpu_id == packet->gpu_id &&
		    d->packets[i].pasid == packet->pasid)
			return d->queues[d->packets[i].queue].pid;
	return GPREEMPT_UNKNOWN;
}

static struct decode_packet *make_packets(const struct ctl_text *text, int64_t pid, size_t *count)
{
	const struct gp_text_data *d = text->data;
	struct decode_packet *rows = shr_must(calloc(d->n_packets + 1, sizeof(*rows)));
	size_t i;

	*count = 0;
	for (i = 0; i < d->n_packets; i++) {
		const struct gp_text_packet *p = d->packets + i;
		const struct gp_text_queue *q = p->queue < 0 ? NULL : d->queues + p->queue;
		struct decode_packet row = {
			.kfd_gpu_id = p->gpu_id,
			.packet = name_of(p->op),
			.pasid = p->pasid,
			.doorbell = p->doorbell,
			.mqd = p->mqd,
			.pid = q ? q->pid : find_pid(d, p),
			.queue_id = q ? q->qid : GPREEMPT_UNKNOWN,
		};

		if (!pid || row.pid == pid)
			rows[(*count)++] = row;
	}
	return rows;
}

/* A text's queues, slots and problems as rows. */

/* A queue, with its first MQD. */
struct queue_row {
	struct gp_text_queue q;
	struct gp_text_regs regs;
	const char *type;
	char *where; /* pipe.queue of its slots */
	int64_t vmid;
	const char *pointers; /* word for where they are from: a slot, or the MQD */
	int64_t waiting;
	const char *file;
};

#define QUEUE(key, member, title, what, ...) \
	OUT_NAMED(key, struct queue_row, member, title, what, __VA_ARGS__)

static const struct out_field queue_fields[] = {
	QUEUE("pid", q.pid, "PID", OUT_DEC),
	QUEUE("queue_id", q.qid, "QID", OUT_DEC),
	QUEUE("kfd_gpu_id", q.gpu_id, "KFD-ID", OUT_HEX),
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
	QUEUE("waiting_packets", waiting, "WAIT", OUT_DEC),
	QUEUE("pointers", pointers, NULL, OUT_TEXT),
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
	int64_t waiting;
};

#define SLOT(key, member, title, what) OUT_NAMED(key, struct slot_row, member, title, what)
#define SLOT_POINTERS                                                                           \
	SLOT("ring", s.regs.ring, "RING", OUT_HEX), SLOT("rptr", s.regs.rptr, "RPTR", OUT_DEC), \
		SLOT("wptr", s.regs.wptr, "WPTR", OUT_DEC)

static const struct out_field slot_fields[] = {
	SLOT("kfd_gpu_id", s.gpu_id, "KFD-ID", OUT_HEX),
	SLOT("xcc", s.xcc, "XCC", OUT_DEC),
	SLOT("pipe", s.pipe, "PIPE", OUT_DEC),
	SLOT("queue", s.queue, "QUEUE", OUT_DEC),
	SLOT("active", s.regs.active, NULL, OUT_FLAG),
	SLOT("pid", pid, NULL, OUT_DEC),
	SLOT("queue_id", queue_id, NULL, OUT_DEC),
	SLOT("mqd", s.regs.mqd, "MQD", OUT_HEX),
	SLOT("vmid", s.regs.vmid, "VMID", OUT_DEC),
	SLOT("doorbell", s.regs.doorbell, "DOORBELL", OUT_HEX),
	SLOT_POINTERS,
	SLOT("waiting_packets", waiting, "WAIT", OUT_DEC),
};

static const struct out_table cp_slots = OUT_TABLE("slots", slot_fields, struct slot_row);

static const struct out_field sdma_fields[] = {
	SLOT("kfd_gpu_id", s.gpu_id, "KFD-ID", OUT_HEX),
	SLOT("engine", s.pipe, "ENGINE", OUT_DEC),
	SLOT("rlc", s.queue, "RLC", OUT_DEC),
	SLOT("active", s.regs.active, NULL, OUT_FLAG),
	SLOT("pid", pid, NULL, OUT_DEC),
	SLOT("queue_id", queue_id, NULL, OUT_DEC),
	SLOT_POINTERS,
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
	OUT_NAMED("kfd_gpu_id", struct gp_text_check, gpu_id, NULL, OUT_HEX),
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

/* Find the VMID of the queue's slots; none, if they differ. The MQD's is that of its last save. */
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
	const struct gp_text_regs *now = ctl_regs_now(d, i);
	struct queue_row row = {
		.q = *q,
		.type = gp_text_type_name(q->type),
		.where = find_where(d, i),
		.file = text->files[q->file],
	};

	if (q->n_mqds)
		row.regs = d->mqds[q->mqds].regs;
	else
		gp_text_no_regs(&row.regs);
	row.vmid = find_vmid(d, i, row.regs.vmid);
	row.waiting = GPREEMPT_UNKNOWN;
	row.pointers = row.regs.rptr == GPREEMPT_UNKNOWN ? NULL : "mqd";
	if (now) {
		row.regs.rptr = now->rptr;
		row.regs.wptr = now->wptr;
		row.waiting = ctl_waiting(now);
		row.pointers = "slot";
	}
	return row;
}

/* Make the rows of all queues, or of a process's (0: all), for free_queues(). */
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

/* Is each queue in all its slots, and each slot a queue's? Or unknown. */
static int64_t decode_adds_up(const struct gp_text_check *sum)
{
	if (sum->slots_expected == GPREEMPT_UNKNOWN || sum->slots_active == GPREEMPT_UNKNOWN ||
	    sum->slots_without_owner == GPREEMPT_UNKNOWN)
		return GPREEMPT_UNKNOWN;
	return sum->slots_expected == sum->slots_active && !sum->slots_without_owner;
}

/* Make rows of the slots; for a process, of the slots that hold its queues. */
static struct slot_row *make_slots(const struct ctl_text *text, int64_t pid, enum gp_text_type type,
				   bool active, size_t *count)
{
	const struct gp_text_data *d = text->data;
	struct slot_row *rows = shr_must(calloc(d->n_slots + 1, sizeof(*rows)));
	size_t i;

	*count = 0;
	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *s = d->slots + i;
		const struct gp_text_queue *q = s->owner < 0 ? NULL : d->queues + s->owner;
		struct slot_row row = {
			.s = *s,
			.pid = q ? q->pid : GPREEMPT_UNKNOWN,
			.queue_id = q ? q->qid : GPREEMPT_UNKNOWN,
			.waiting = ctl_waiting(&s->regs),
		};

		if (s->type == type && (!pid || row.pid == pid) && (!active || s->regs.active == 1))
			rows[(*count)++] = row;
	}
	return rows;
}

static struct json_object *json_slots(const struct ctl_text *text, int64_t pid,
				      enum gp_text_type type, const struct out_table *table)
{
	struct json_object *array;
	struct slot_row *rows;
	size_t count;

	rows = make_slots(text, pid, type, false, &count);
	array = out_json_rows(table, rows, count);
	free(rows);
	return array;
}

/* Print the active slots, for want of queues. */
static void decode_print_slots(enum out_mode mode, const struct ctl_text *text,
			       enum gp_text_type type, const struct out_table *table)
{
	struct slot_row *rows;
	size_t count;

	rows = make_slots(text, 0, type, true, &count);
	if (count && type == GP_TEXT_SDMA)
		putchar('\n');
	if (count || type == GP_TEXT_COMPUTE)
		out_rows(mode, table, rows, count);
	free(rows);
}

static struct json_object *json_check(const struct ctl_text *text, int64_t pid)
{
	struct gp_text_check sum, *by_xcc;
	struct json_object *object;
	size_t count;

	gp_text_check(text->text, pid, &sum, &by_xcc, &count);
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

/* The whole text as one object of JSON. */
static struct json_object *decode_json(const struct ctl_text *text, int64_t pid)
{
	struct json_object *object = json_object_new_object();
	struct decode_problem *problems = make_problems(text);
	size_t n_queues, n_packets;
	struct queue_row *queues = make_queues(text, pid, &n_queues);
	struct decode_packet *packets = make_packets(text, pid, &n_packets);

	out_add(object, "queues", out_json_rows(&queues_table, queues, n_queues));
	out_add(object, "slots", json_slots(text, pid, GP_TEXT_COMPUTE, &cp_slots));
	out_add(object, "sdma_slots", json_slots(text, pid, GP_TEXT_SDMA, &sdma_slots));
	out_add(object, "run_list", out_json_rows(&packets_table, packets, n_packets));
	out_add(object, "check", json_check(text, pid));
	out_add(object, "problems", out_json_rows(&problems_table, problems, text->data->kept));
	out_add(object, "n_problems", json_object_new_int64(text->data->n_problems));
	free_queues(queues, n_queues);
	free(packets);
	free(problems);
	return object;
}

/* The first problems as rows, and a note of how many more there are. */
static void decode_print_problems(enum out_mode mode, const struct ctl_text *text, size_t most)
{
	struct decode_problem *rows = make_problems(text);
	size_t shown = text->data->kept < most ? text->data->kept : most;

	out_rows(mode, &problems_table, rows, shown);
	if (text->data->n_problems > shown)
		ctl_note("and %" PRIu64 " more; --json has the first %zu",
			 text->data->n_problems - shown, text->data->kept);
	free(rows);
}

/* The driver's own text as tables. */

/* Problems shown on a terminal: more of them only hide the lines above. JSON has all. */
#define PROBLEMS_SHOWN 20

/* Slots of an XCC, or of all. */
struct check_row {
	char where[48];
	int64_t expected;
	int64_t active;
	int64_t difference;
	int64_t without_owner;
};

#define ROW(member, title, what, ...) OUT_FIELD(struct check_row, member, title, what, __VA_ARGS__)

static const struct out_field row_fields[] = {
	ROW(where, "CP SLOTS", OUT_TEXT, .array = true),
	ROW(expected, "EXPECTED", OUT_DEC),
	ROW(active, "ACTIVE", OUT_DEC),
	ROW(difference, "DIFFERENCE", OUT_DEC),
	ROW(without_owner, "WITHOUT OWNER", OUT_DEC),
};

static const struct out_table rows_table = OUT_TABLE("check", row_fields, struct check_row);

static struct check_row check_row(const struct gp_text_check *check)
{
	bool known = check->slots_active != GPREEMPT_UNKNOWN &&
		     check->slots_expected != GPREEMPT_UNKNOWN;
	struct check_row row = {
		.where = "in all",
		.expected = check->slots_expected,
		.active = check->slots_active,
		.difference = known ? check->slots_active - check->slots_expected :
				      GPREEMPT_UNKNOWN,
		.without_owner = check->slots_without_owner,
	};

	if (check->xcc == GPREEMPT_UNKNOWN)
		return row;
	if (check->gpu_id == GPREEMPT_UNKNOWN)
		snprintf(row.where, sizeof(row.where), "- XCC %" PRId64, check->xcc);
	else
		snprintf(row.where, sizeof(row.where), "0x%" PRIx64 " XCC %" PRId64, check->gpu_id,
			 check->xcc);
	return row;
}

/* Print the XCCs that have a figure, and the sum. */
static void print_slots(enum out_mode mode, const struct gp_text_check *by_xcc, size_t count,
			const struct gp_text_check *sum)
{
	struct check_row *rows = shr_must(calloc(count + 1, sizeof(*rows)));
	size_t i, n = 0;

	for (i = 0; i < count; i++)
		if (by_xcc[i].slots_expected > 0 || by_xcc[i].slots_active)
			rows[n++] = check_row(&by_xcc[i]);
	rows[n++] = check_row(sum);
	out_rows(mode, &rows_table, rows, n);
	free(rows);
}

/* Note GPUs that have queues here, and no slots. */
static void note_gpus(const struct gp_text_data *d, int64_t pid)
{
	int64_t last = GPREEMPT_UNKNOWN;
	size_t i, j;

	for (i = 0; i < d->n_queues; i++) {
		const struct gp_text_queue *q = d->queues + i;
		bool stopped = false, slots = false;

		if (q->type != GP_TEXT_COMPUTE || q->gpu_id == last ||
		    q->gpu_id == GPREEMPT_UNKNOWN || (pid && q->pid != pid))
			continue;
		last = q->gpu_id;
		for (j = 0; j < d->n_slots && !slots; j++)
			slots = d->slots[j].gpu_id == last;
		for (j = 0; j < d->n_nodes; j++)
			stopped |= d->nodes[j].gpu_id == last &&
				   d->nodes[j].note == GP_TEXT_STOPPED;
		if (!slots)
			ctl_note("GPU 0x%" PRIx64 ": %s: its slots are not known", last,
				 stopped ? "the driver has stopped it" : "hqds does not have it");
	}
}

/* Print notes on unknown figures, and on differences. */
static void note_check(const struct ctl_text *text, int64_t pid, const struct gp_text_check *sum)
{
	const struct gp_text_data *d = text->data;
	size_t i, unreadable = 0;

	for (i = 0; i < d->n_slots; i++)
		unreadable += d->slots[i].type == GP_TEXT_COMPUTE &&
			      d->slots[i].regs.active == GPREEMPT_UNKNOWN;
	if (!d->mqds_seen && d->hqds_seen)
		ctl_note("there is no mqds among it: whose slots they are is "
			 "not known");
	if (!d->hqds_seen && d->mqds_seen)
		ctl_note("there is no hqds among it: slots are not known");
	else
		note_gpus(d, pid);
	if (unreadable)
		ctl_note("%zu CP slots have no registers that can be read: how "
			 "many are active is not known",
			 unreadable);
	if (d->several_moments)
		ctl_note("the same thing is in it twice: give files of one "
			 "moment, each once");
	if (sum->slots_active != GPREEMPT_UNKNOWN && sum->slots_expected > sum->slots_active)
		ctl_note("slots are missing: a queue that is suspended, "
			 "evicted or waits its turn has none");
	if (sum->slots_without_owner > 0)
		ctl_note("slots without an owner: mqds and hqds are not of "
			 "one moment, or mqds lacks a process");
}

static void print_check(enum out_mode mode, const struct ctl_text *text, int64_t pid)
{
	struct gp_text_check sum, *by_xcc;
	int64_t adds_up;
	size_t count;

	gp_text_check(text->text, pid, &sum, &by_xcc, &count);
	if (sum.queues != GPREEMPT_UNKNOWN)
		printf("\n%" PRId64 " compute queue%s", sum.queues, sum.queues == 1 ? "" : "s");
	putchar('\n');
	if (text->data->hqds_seen) {
		print_slots(mode, by_xcc, count, &sum);
		adds_up = decode_adds_up(&sum);
		printf("Queues and slots add up: %s\n", adds_up == GPREEMPT_UNKNOWN ? "not known" :
							adds_up			    ? "yes" :
										      "no");
	}
	free(by_xcc);
	note_check(text, pid, &sum);
}

static void print_text(enum out_mode mode, const struct ctl_text *text, int64_t pid)
{
	const struct gp_text_data *d = text->data;
	struct decode_packet *packets;
	struct queue_row *queues;
	bool older = false;
	size_t i, n;

	for (i = 0; i < d->n_queues; i++)
		older |= d->queues[i].older && (!pid || d->queues[i].pid == pid);
	if (d->mqds_seen || !d->hqds_seen) {
		queues = make_queues(text, pid, &n);
		out_rows(mode, &queues_table, queues, n);
		free_queues(queues, n);
	} else {
		decode_print_slots(mode, text, GP_TEXT_COMPUTE, &cp_slots);
		decode_print_slots(mode, text, GP_TEXT_SDMA, &sdma_slots);
	}
	print_check(mode, text, pid);
	packets = make_packets(text, pid, &n);
	if (n) {
		putchar('\n');
		out_rows(mode, &packets_table, packets, n);
	}
	free(packets);
	if (older)
		ctl_note("this text is of a driver older than Linux 6.5, "
			 "which printed ids and states itself");
	if (!text->data->n_problems)
		return;
	printf("\n%" PRIu64 " problems in the text\n", text->data->n_problems);
	decode_print_problems(mode, text, PROBLEMS_SHOWN);
}

struct decode_args {
	struct ctl_words files;
	uint64_t only_pid; /* 0: of all */
	uint64_t view;
	enum out_mode mode;
};

static const struct out_field view_fields[] = {
	OUT_FIELD(struct decode_view, compared, "REGISTERS", OUT_DEC),
	OUT_FIELD(struct decode_view, agree, "AS IN THE VIEW", OUT_DEC),
	OUT_FIELD(struct decode_view, differs, "DIFFERS", OUT_TEXT, .array = true),
};

static const struct out_table view_table = OUT_TABLE("view", view_fields, struct decode_view);

/* @sum: NULL without --view */
static int decode_one(const struct decode_args *args, const struct ctl_text *text,
		      const struct decode_view *sum)
{
	enum out_mode mode = args->mode;
	int64_t pid = args->only_pid;
	struct json_object *o;

	if (pid && !ctl_text_has(text, pid))
		return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, "without --pid all are shown",
				     "process %" PRId64 " is not in this text", pid);
	if (mode == OUT_JSON) {
		o = decode_json(text, pid);
		out_add(o, view_table.name, sum ? out_json_row(&view_table, sum) : NULL);
		out_json_print(o);
	} else {
		print_text(mode, text, pid);
		if (sum) {
			putchar('\n');
			out_rows(mode, &view_table, sum, 1);
		}
	}
	if (sum && sum->agree < sum->compared)
		return GPREEMPT_CLASS_FAILED;
	return text->data->n_problems || text->bad_lines ? GPREEMPT_CLASS_PARTIAL : 0;
}

static int run_decode(void *data)
{
	const struct decode_args *args = data;
	struct decode_view sum;
	struct ctl_text text;
	int ret;

	if (args->view && (args->files.n || !args->only_pid))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-lab decode --view --pid PID",
				     "--view is for a process of this system");
	ret = ctl_one_stdin(args->files.word, args->files.n);
	if (ret)
		return ret;
	ret = args->files.n == 1 ? decode_series(args->mode, args->only_pid, args->files.word[0]) :
				   -1;
	if (ret >= 0)
		return ret;
	if (args->files.n)
		ret = ctl_text_files(args->files.word, args->files.n, &text);
	else if (args->view)
		ret = decode_view(args->only_pid, &text, &sum);
	else
		ret = ctl_text_live(&text);
	if (ret)
		return ret;
	ret = decode_one(args, &text, args->view ? &sum : NULL);
	ctl_text_free(&text);
	return ret;
}

static const struct ctl_option options[] = {
	{ "pid", CTL_COUNT, offsetof(struct decode_args, only_pid), "PID", "only this process" },
	{ "view", CTL_FLAG, offsetof(struct decode_args, view), NULL,
	  "compare gpreempt.ko's view of it with the text" },
	CTL_JSON_OPTION(struct decode_args),
	{ 0 },
};

const struct ctl_command ctl_decode = {
	.name = "decode",
	.run = run_decode,
	.args_size = sizeof(struct decode_args),
	.words = CTL_FILES,
	.words_at = offsetof(struct decode_args, files),
	.usage = "[FILE]",
	.examples = "  gpreempt-lab decode before --pid 4711\n"
		    "  gpreempt-lab decode mqds hqds   # copies of the driver's files\n"
		    "  gpreempt-lab decode --pid 4711 --view\n",
	.options = options,
	.summary = "Show the driver's own text of queues and slots as tables.",
	.details =
		"FILE is a copy of /sys/kernel/debug/kfd/mqds, hqds or rls, \"-\" for stdin, or\n"
		"a snapshot's directory; all must be of one moment. Without a FILE, the\n"
		"system's own are read. Of a directory with several snapshots, or with files\n"
		"that a script wrote (mqds_1.txt, hqds_1.txt, ...), it prints a line for each\n"
		"moment, what changed, how far each queue's pointers moved, and which queues\n"
		"wait and do not move. A file that has no place in it is named.\n"
		"RPTR, WPTR and WAIT (packets of 64 bytes) are those of the slot now; a queue in\n"
		"no slot has the pointers that were last saved, and it is not known what waits.\n"
		"A mapped compute queue is in one slot of each XCC. A slot belongs to the queue\n"
		"whose MQD has the address and the ring that are in the slot's registers. Text\n"
		"of two moments, or the same text twice, is not joined. That text has no queue\n"
		"ids: gpreempt.ko or a snapshot adds them.\n"
		"With --view it counts the registers that gpreempt.ko's view of a process and\n"
		"the text both have, and those that agree; what changes meanwhile is left out.\n"
		"Exit status 6: some lines could not be read, or contradict each other; they\n"
		"are listed. 1: a file is something else, or the view does not agree.\n",
};
