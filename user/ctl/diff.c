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

	return more ? (double)counts->of[DIFF_BOTH] / more : 0;
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
	diff->slots_known = a->data->n_slots && b->data->n_slots;
	diff->ids_known = ctl_ids_known(a, pid_a) && ctl_ids_known(b, pid_b);
}

void diff_free(struct diff *diff)
{
	free(diff->queues);
	free(diff->slots);
}

static struct json_object *json_counts(const struct diff_counts *counts)
{
	struct json_object *object = json_object_new_object();
	char text[32];

	json_object_object_add(object, "common",
			       json_object_new_int64(counts->of[DIFF_BOTH]));
	json_object_object_add(object, "only_a",
			       json_object_new_int64(counts->of[DIFF_A]));
	json_object_object_add(object, "only_b",
			       json_object_new_int64(counts->of[DIFF_B]));
	snprintf(text, sizeof(text), "%.3f", diff_overlap(counts));
	json_object_object_add(object, "overlap",
			       json_object_new_double_s(diff_overlap(counts),
							text));
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
	out_json_print(object);
}

static void print_counts(const char *what, const struct diff_counts *counts)
{
	printf("%s: %" PRIu64 " common, %" PRIu64 " only in A, %" PRIu64
	       " only in B, overlap %.0f%%\n", what, counts->of[DIFF_BOTH],
	       counts->of[DIFF_A], counts->of[DIFF_B],
	       100 * diff_overlap(counts));
}

static void print_text(enum out_mode mode, const struct diff *diff)
{
	if (!diff->ids_known)
		printf("queue ids: not known. A snapshot has them, the "
		       "driver's text alone does not\n");
	else
		out_rows(mode, &queues_table, diff->queues, diff->n_queues);
	if (diff->ids_known)
		print_counts("queue ids", &diff->queue_counts);
	if (diff->slots_known) {
		putchar('\n');
		out_rows(mode, &slots_table, diff->slots, diff->n_slots);
		print_counts("CP slots", &diff->slot_counts);
	} else {
		printf("CP slots: not known, there is no hqds on both sides\n");
	}
	if (diff->other_process && diff->queue_counts.of[DIFF_BOTH])
		printf("Queue ids are a process's own: two processes that both "
		       "have such an id share no queue.\n");
}

static int run_diff(const struct ctl_command *cmd, struct ctl_args *args)
{
	int64_t pid_a = args->pid_a ? args->pid_a : args->only_pid;
	int64_t pid_b = args->pid_b ? args->pid_b : args->only_pid;
	struct ctl_text a, b;
	struct diff diff;
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
	if (ret) {
		ctl_text_free(&a);
		return ret;
	}
	if ((pid_a && !decode_has_pid(&a, pid_a)) ||
	    (pid_b && !decode_has_pid(&b, pid_b))) {
		bool in_a = !pid_a || decode_has_pid(&a, pid_a);

		ret = ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, NULL,
				    "process %" PRId64 " is not in %s",
				    in_a ? pid_b : pid_a, args->words[in_a]);
	} else {
		uint64_t problems = a.data->n_problems + b.data->n_problems;

		diff_make(&a, pid_a, &b, pid_b, &diff);
		if (out_mode(args) == OUT_JSON)
			print_json(&diff);
		else
			print_text(out_mode(args), &diff);
		diff_free(&diff);
		if (problems)
			ctl_note("%" PRIu64 " lines could not be read: "
				 "gpreempt-ctl decode lists them", problems);
		ret = problems || a.bad_lines || b.bad_lines ?
			GPREEMPT_CLASS_PARTIAL : 0;
	}
	ctl_text_free(&a);
	ctl_text_free(&b);
	return ret;
}

static const struct ctl_option options[] = {
	{ "pid", CTL_COUNT, offsetof(struct ctl_args, only_pid), "PID",
	  "this process in both" },
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
	"and hqds, or two of gpreempt-ctl monitor --csv (all ids that it saw). Queues\n"
	"are compared by GPU and queue id within a process, hardware slots by their\n"
	"place. Overlap is what is common, out of the larger of both.\n"
	"With --pid-a and --pid-b two processes are compared: ids that they both have\n"
	"say that numbers are handed out alike, never that a queue is shared.\n",
};
