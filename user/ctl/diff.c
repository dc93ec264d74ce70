// SPDX-License-Identifier: GPL-2.0-only
/*
 * What two moments have in common: queues by (gpu, queue id) within a process,
 * and hardware slots, which are the machine's.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/diff.h"
#include "shared/macro.h"

static const struct out_field queue_fields[] = {
	OUT_FIELD(struct diff_queue, gpu_id, "GPU", OUT_HEX),
	OUT_FIELD(struct diff_queue, queue_id, "QID", OUT_DEC),
	OUT_FIELD(struct diff_queue, pid_a, "PID A", OUT_DEC),
	OUT_FIELD(struct diff_queue, pid_b, "PID B", OUT_DEC),
	OUT_FIELD(struct diff_queue, in, "IN", OUT_TEXT),
};

static const struct out_table queues_table = {
	"queues", queue_fields, ARRAY_SIZE(queue_fields),
	sizeof(struct diff_queue),
};

static const struct out_field slot_fields[] = {
	OUT_FIELD(struct diff_slot, gpu_id, "GPU", OUT_HEX),
	OUT_FIELD(struct diff_slot, xcc, "XCC", OUT_DEC),
	OUT_FIELD(struct diff_slot, pipe, "PIPE", OUT_DEC),
	OUT_FIELD(struct diff_slot, queue, "QUEUE", OUT_DEC),
	OUT_FIELD(struct diff_slot, pid_a, "PID A", OUT_DEC),
	OUT_FIELD(struct diff_slot, pid_b, "PID B", OUT_DEC),
	OUT_FIELD(struct diff_slot, in, "IN", OUT_TEXT),
};

static const struct out_table slots_table = {
	"slots", slot_fields, ARRAY_SIZE(slot_fields),
	sizeof(struct diff_slot),
};

#define CONSISTENT 0.8
#define PARTLY 0.5

static const char *const in_words[] = { "a", "b", "both" };

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static int compare_queues(const void *a, const void *b)
{
	const struct diff_queue *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	if (x->queue_id != y->queue_id)
		return x->queue_id < y->queue_id ? -1 : 1;
	return (x->side > y->side) - (x->side < y->side);
}

static int compare_slots(const void *a, const void *b)
{
	const struct diff_slot *x = a, *y = b;
	const int64_t xs[] = { x->gpu_id, x->xcc, x->pipe, x->queue, x->side };
	const int64_t ys[] = { y->gpu_id, y->xcc, y->pipe, y->queue, y->side };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(xs); i++)
		if (xs[i] != ys[i])
			return xs[i] < ys[i] ? -1 : 1;
	return 0;
}

/* Two entries of one thing become one. */
#define MERGE(rows, n, same, counts) do {				\
	size_t from, to = 0;						\
									\
	for (from = 0; from < (n); from++) {				\
		rows[to] = rows[from];					\
		if (from + 1 < (n) &&					\
		    (same)(rows + from, rows + from + 1)) {		\
			from++;						\
			rows[to].pid_b = rows[from].pid_b;		\
			rows[to].side = DIFF_BOTH;			\
		}							\
		(counts).of[rows[to].side]++;				\
		rows[to].in = in_words[rows[to].side];			\
		to++;							\
	}								\
	(n) = to;							\
} while (0)

static bool same_queue(const struct diff_queue *x, const struct diff_queue *y)
{
	return x->key == y->key && x->gpu_id == y->gpu_id &&
	       x->queue_id == y->queue_id && x->side != y->side;
}

static bool same_slot(const struct diff_slot *x, const struct diff_slot *y)
{
	return x->gpu_id == y->gpu_id && x->xcc == y->xcc &&
	       x->pipe == y->pipe && x->queue == y->queue &&
	       x->side != y->side;
}

static void add_queues(struct diff *diff, const struct ctl_text *text,
		       int64_t pid, enum diff_side side, bool by_pid)
{
	size_t i;

	for (i = 0; i < text->n_ids; i++) {
		const struct ctl_id *id = text->ids + i;

		if (pid && id->pid != pid)
			continue;
		diff->queues[diff->n_queues++] = (struct diff_queue){
			.gpu_id = id->gpu_id, .queue_id = id->qid,
			.pid_a = side == DIFF_A ? id->pid : GPREEMPT_UNKNOWN,
			.pid_b = side == DIFF_B ? id->pid : GPREEMPT_UNKNOWN,
			.key = by_pid ? id->pid : 0, .side = side,
		};
	}
}

static void add_slots(struct diff *diff, const struct ctl_text *text,
		      int64_t pid, enum diff_side side)
{
	const struct gpreempt_text_data *d = text->data;
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		const struct gpreempt_text_slot *s = d->slots + i;
		int64_t owner = s->owner < 0 ? GPREEMPT_UNKNOWN :
			d->queues[s->owner].pid;

		if (s->type != GPREEMPT_TEXT_COMPUTE || s->regs.active != 1 ||
		    (pid && owner != pid))
			continue;
		diff->slots[diff->n_slots++] = (struct diff_slot){
			.gpu_id = s->gpu_id, .xcc = s->xcc, .pipe = s->pipe,
			.queue = s->queue,
			.pid_a = side == DIFF_A ? owner : GPREEMPT_UNKNOWN,
			.pid_b = side == DIFF_B ? owner : GPREEMPT_UNKNOWN,
			.side = side,
		};
	}
}

double diff_overlap(const struct diff_counts *counts)
{
	uint64_t a = counts->of[DIFF_A] + counts->of[DIFF_BOTH];
	uint64_t b = counts->of[DIFF_B] + counts->of[DIFF_BOTH];
	uint64_t more = a > b ? a : b;

	return more ? (double)counts->of[DIFF_BOTH] / more : -1;
}

enum diff_verdict diff_judge(double overlap)
{
	if (overlap < 0)
		return DIFF_UNKNOWN;
	return overlap > CONSISTENT ? DIFF_CONSISTENT :
		overlap > PARTLY ? DIFF_PARTLY : DIFF_NOT;
}

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {
		"consistent", "partly consistent", "not consistent", "unknown",
	};

	return names[verdict];
}

static int64_t ring_of(const struct ctl_text *text, size_t queue)
{
	const struct gpreempt_text_queue *q = text->data->queues + queue;

	return q->n_mqds ? text->data->mqds[q->mqds].regs.ring :
		GPREEMPT_UNKNOWN;
}

struct ring {
	int64_t pid;
	int64_t gpu_id;
	int64_t ring;
	enum diff_side side;
};

static int compare_rings(const void *a, const void *b)
{
	const struct ring *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	return (x->side > y->side) - (x->side < y->side);
}

/* Queues of a side, and their rings. Unknown without mqds. */
static int64_t add_rings(const struct ctl_text *text, int64_t pid,
			 enum diff_side side, struct ring *rings, size_t *count)
{
	int64_t queues = 0;
	size_t i;

	if (!text->data->mqds_seen || text->data->several_moments)
		return GPREEMPT_UNKNOWN;
	for (i = 0; i < text->data->n_queues; i++) {
		const struct gpreempt_text_queue *q = text->data->queues + i;

		if (pid && q->pid != pid)
			continue;
		queues++;
		if (ring_of(text, i) != GPREEMPT_UNKNOWN)
			rings[(*count)++] = (struct ring){
				q->pid, q->gpu_id, ring_of(text, i), side,
			};
	}
	return queues;
}

/* A ring is an address of its process: of two processes it says nothing. */
static void compare_by_ring(const struct ctl_text *a, int64_t pid_a,
			    const struct ctl_text *b, int64_t pid_b,
			    struct diff *diff)
{
	struct ring *rings = must(calloc(a->data->n_queues +
					 b->data->n_queues + 1,
					 sizeof(*rings)));
	size_t i, count = 0;

	diff->queues_a = add_rings(a, pid_a, DIFF_A, rings, &count);
	diff->queues_b = add_rings(b, pid_b, DIFF_B, rings, &count);
	diff->rings_known = diff->queues_a != GPREEMPT_UNKNOWN &&
			    diff->queues_b != GPREEMPT_UNKNOWN &&
			    diff->queues_a + diff->queues_b == (int64_t)count &&
			    pid_a == pid_b;
	qsort(rings, count, sizeof(*rings), compare_rings);
	for (i = 0; i < count; i++) {
		bool both = i + 1 < count &&
			    rings[i].side != rings[i + 1].side &&
			    rings[i].pid == rings[i + 1].pid &&
			    rings[i].gpu_id == rings[i + 1].gpu_id &&
			    rings[i].ring == rings[i + 1].ring;

		diff->ring_counts.of[both ? DIFF_BOTH : rings[i].side]++;
		i += both;
	}
	free(rings);
}

/* Whose slots they are is asked only when one process is compared. */
static bool slots_known(const struct ctl_text *text, int64_t pid)
{
	const struct gpreempt_text_data *d = text->data;
	size_t i;

	if (!d->hqds_seen || d->several_moments || (pid && !d->mqds_seen))
		return false;
	for (i = 0; i < d->n_slots; i++)
		if (d->slots[i].type == GPREEMPT_TEXT_COMPUTE &&
		    d->slots[i].regs.active == GPREEMPT_UNKNOWN)
			return false;
	return true;
}

/* That a process is not in mqds is known of it, too: it has no queue. */
static bool ids_known(const struct ctl_text *text, int64_t pid)
{
	return ctl_ids_known(text, pid) ||
	       (text->data->mqds_seen && !text->data->n_queues) ||
	       (pid && text->data->mqds_seen && !decode_has_pid(text, pid));
}

void diff_make(const struct ctl_text *a, int64_t pid_a,
	       const struct ctl_text *b, int64_t pid_b, struct diff *diff)
{
	/* Of all processes: a queue is told apart by its process, too. */
	bool by_pid = !pid_a && !pid_b;

	*diff = (struct diff){ 0 };
	diff->queues = must(calloc(a->n_ids + b->n_ids + 1,
				   sizeof(*diff->queues)));
	diff->slots = must(calloc(a->data->n_slots + b->data->n_slots + 1,
				  sizeof(*diff->slots)));
	add_queues(diff, a, pid_a, DIFF_A, by_pid);
	add_queues(diff, b, pid_b, DIFF_B, by_pid);
	add_slots(diff, a, pid_a, DIFF_A);
	add_slots(diff, b, pid_b, DIFF_B);
	qsort(diff->queues, diff->n_queues, sizeof(*diff->queues),
	      compare_queues);
	qsort(diff->slots, diff->n_slots, sizeof(*diff->slots), compare_slots);
	MERGE(diff->queues, diff->n_queues, same_queue, diff->queue_counts);
	MERGE(diff->slots, diff->n_slots, same_slot, diff->slot_counts);
	diff->other_process = pid_a != pid_b;
	diff->slots_known = slots_known(a, pid_a) && slots_known(b, pid_b);
	diff->ids_known = ids_known(a, pid_a) && ids_known(b, pid_b);
	compare_by_ring(a, pid_a, b, pid_b, diff);
}

void diff_free(struct diff *diff)
{
	free(diff->queues);
	free(diff->slots);
}

static struct json_object *json_counts(const struct diff_counts *counts)
{
	struct json_object *object = json_object_new_object();
	double overlap = diff_overlap(counts);

	json_object_object_add(object, "common",
			       json_object_new_int64(counts->of[DIFF_BOTH]));
	json_object_object_add(object, "only_a",
			       json_object_new_int64(counts->of[DIFF_A]));
	json_object_object_add(object, "only_b",
			       json_object_new_int64(counts->of[DIFF_B]));
	json_object_object_add(object, "overlap", overlap < 0 ? NULL :
			       out_json_double(overlap));
	json_object_object_add(object, "verdict", overlap < 0 ? NULL :
		out_json_text(diff_verdict_name(diff_judge(overlap))));
	return object;
}

static void print_json(const struct diff *diff)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "queues",
			       out_json_rows(&queues_table, diff->queues,
					     diff->n_queues));
	json_object_object_add(object, "queue_ids_known",
			       out_json_flag(diff->ids_known));
	json_object_object_add(object, "queue_counts", diff->ids_known ?
			       json_counts(&diff->queue_counts) : NULL);
	json_object_object_add(object, "shared_queues",
			       out_json_flag(!diff->other_process));
	json_object_object_add(object, "slots",
			       out_json_rows(&slots_table, diff->slots,
					     diff->n_slots));
	json_object_object_add(object, "slot_counts", diff->slots_known ?
			       json_counts(&diff->slot_counts) : NULL);
	json_object_object_add(object, "queues_a",
			       out_json_number(diff->queues_a));
	json_object_object_add(object, "queues_b",
			       out_json_number(diff->queues_b));
	json_object_object_add(object, "ring_counts", diff->rings_known ?
			       json_counts(&diff->ring_counts) : NULL);
	out_json_print(object);
}

static void print_counts(const char *what, const struct diff_counts *counts)
{
	double overlap = diff_overlap(counts);

	printf("%s: %" PRIu64 " common, %" PRIu64 " only in A, %" PRIu64
	       " only in B, overlap ", what, counts->of[DIFF_BOTH],
	       counts->of[DIFF_A], counts->of[DIFF_B]);
	if (overlap < 0)
		printf("not known: there are none\n");
	else
		printf("%.0f%%: %s\n", 100 * overlap,
		       diff_verdict_name(diff_judge(overlap)));
}

static void print_number(const char *what, int64_t value, const char *behind)
{
	printf("%s", what);
	if (value == GPREEMPT_UNKNOWN)
		printf("not known%s", behind);
	else
		printf("%" PRId64 "%s", value, behind);
}

static void print_queues(enum out_mode mode, const struct diff *diff)
{
	if (!diff->ids_known)
		printf("queue ids: not known. A snapshot has them, the "
		       "driver's text alone does not\n");
	else
		out_rows(mode, &queues_table, diff->queues, diff->n_queues);
	if (diff->ids_known)
		print_counts("queue ids", &diff->queue_counts);
	if (diff->queues_a != GPREEMPT_UNKNOWN ||
	    diff->queues_b != GPREEMPT_UNKNOWN) {
		print_number("queues in mqds: A ", diff->queues_a, ", ");
		print_number("B ", diff->queues_b, "\n");
	}
	if (diff->rings_known)
		print_counts("rings", &diff->ring_counts);
}

static void print_text(enum out_mode mode, const struct diff *diff)
{
	print_queues(mode, diff);
	if (diff->slots_known) {
		putchar('\n');
		out_rows(mode, &slots_table, diff->slots, diff->n_slots);
		print_counts("CP slots", &diff->slot_counts);
	} else {
		printf("CP slots: not known: hqds, with registers that can be "
		       "read, is not there on both sides\n");
	}
	if (diff->other_process && diff->queue_counts.of[DIFF_BOTH])
		printf("Queue ids are a process's own: two processes that both "
		       "have such an id share no queue.\n");
}

static int fail_pid(int64_t pid, const char *where)
{
	return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, NULL,
			     "process %" PRId64 " is not in %s", pid, where);
}

/* With --pid one side will do: before the program, and during it. */
static int check_pids(const struct ctl_args *args, const struct ctl_text *a,
		      const struct ctl_text *b)
{
	int64_t pid = args->only_pid;
	bool in_a, in_b;

	if (args->pid_a) {
		if (!decode_has_pid(a, args->pid_a))
			return fail_pid(args->pid_a, args->words[0]);
		if (!decode_has_pid(b, args->pid_b))
			return fail_pid(args->pid_b, args->words[1]);
		return 0;
	}
	if (!pid)
		return 0;
	in_a = decode_has_pid(a, pid);
	in_b = decode_has_pid(b, pid);
	if (!in_a && !in_b)
		return fail_pid(pid, "either of them");
	if (!in_a || !in_b)
		ctl_note("process %" PRId64 " is not in %s: it has no queue "
			 "there", pid, args->words[in_a]);
	return 0;
}

static int compare_texts(const struct ctl_args *args, const struct ctl_text *a,
			 const struct ctl_text *b)
{
	uint64_t problems = a->data->n_problems + b->data->n_problems;
	int64_t pid_a = args->pid_a ? args->pid_a : args->only_pid;
	int64_t pid_b = args->pid_b ? args->pid_b : args->only_pid;
	struct diff diff;
	int ret = check_pids(args, a, b);

	if (ret)
		return ret;
	diff_make(a, pid_a, b, pid_b, &diff);
	if (out_mode(args) == OUT_JSON)
		print_json(&diff);
	else
		print_text(out_mode(args), &diff);
	diff_free(&diff);
	if (problems)
		ctl_note("%" PRIu64 " problems in the text: gpreempt-ctl decode "
			 "lists them", problems);
	return problems || a->bad_lines || b->bad_lines ?
		GPREEMPT_CLASS_PARTIAL : 0;
}

static int run_diff(const struct ctl_command *cmd, struct ctl_args *args)
{
	struct ctl_text a, b;
	int ret;

	(void)cmd;
	if (!args->pid_a != !args->pid_b)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE,
				     "gpreempt-ctl diff --help",
				     "--pid-a and --pid-b go together");
	ret = ctl_one_stdin(args->words, 2);
	if (!ret)
		ret = ctl_text_files(args->words, 1, &a);
	if (ret)
		return ret;
	ret = ctl_text_files(args->words + 1, 1, &b);
	if (!ret) {
		ret = compare_texts(args, &a, &b);
		ctl_text_free(&b);
	}
	ctl_text_free(&a);
	return ret;
}

static const struct ctl_option options[] = {
	{ "pid", CTL_COUNT, offsetof(struct ctl_args, only_pid), "PID",
	  "this process; it may be missing on one side" },
	{ "pid-a", CTL_COUNT, offsetof(struct ctl_args, pid_a), "PID",
	  "this process in A" },
	{ "pid-b", CTL_COUNT, offsetof(struct ctl_args, pid_b), "PID",
	  "and this one in B" },
	{ 0 },
};

const struct ctl_command ctl_diff = {
	.name = "diff",
	.run = run_diff,
	.words = CTL_FILES,
	.min_words = 2,
	.max_words = 2,
	.usage = "A B",
	.shared = CTL_SHARED_JSON,
	.options = options,
	.summary = "Show what two snapshots or files have in common.",
	.details =
	"A and B are directories of gpreempt-ctl snapshot, files with the driver's mqds\n"
	"and hqds, DIR/NAME for one of the snapshots that decode lists of a directory, or\n"
	"two of gpreempt-ctl monitor --csv (all ids that it saw). Queues are compared\n"
	"by GPU and queue id within a process, and by ring; hardware slots by their\n"
	"place. Overlap is what is common, out of the larger of both: more than 80% is\n"
	"consistent, more than 50% partly. Another process can be in the same slots:\n"
	"only its pid and its rings tell it apart.\n"
	"With --pid-a and --pid-b two processes are compared: ids that they both have\n"
	"say that numbers are handed out alike, never that a queue is shared.\n",
};
