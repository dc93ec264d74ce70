// SPDX-License-Identifier: GPL-2.0-only
/*
 * What two moments have in common: queues by (gpu, queue id) within a process,
 * and hardware slots, which are the machine's.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/text/diff.h"
#include "shared/macro.h"

#define KEY(n, name, title, what) OUT_NAMED(name, struct diff_row, key[n], title, what)
#define SIDES                                                        \
	OUT_FIELD(struct diff_row, pid_a, "PID A", OUT_DEC),         \
		OUT_FIELD(struct diff_row, pid_b, "PID B", OUT_DEC), \
		OUT_FIELD(struct diff_row, in, "IN", OUT_TEXT)

static const struct out_field queue_fields[] = {
	KEY(1, "gpu_id", "GPU", OUT_HEX),
	KEY(2, "queue_id", "QID", OUT_DEC),
	SIDES,
};

static const struct out_table queues_table = OUT_TABLE("queues", queue_fields, struct diff_row);

static const struct out_field slot_fields[] = {
	KEY(0, "gpu_id", "GPU", OUT_HEX),
	KEY(1, "xcc", "XCC", OUT_DEC),
	KEY(2, "pipe", "PIPE", OUT_DEC),
	KEY(3, "queue", "QUEUE", OUT_DEC),
	SIDES,
};

static const struct out_table slots_table = OUT_TABLE("slots", slot_fields, struct diff_row);

static struct json_object *json_counts(const struct diff_counts *counts)
{
	struct json_object *object = json_object_new_object();
	double overlap = diff_overlap(counts);
	const char *verdict;

	out_add(object, "common", json_object_new_int64(counts->of[DIFF_BOTH]));
	out_add(object, "only_a", json_object_new_int64(counts->of[DIFF_A]));
	out_add(object, "only_b", json_object_new_int64(counts->of[DIFF_B]));
	out_add(object, "overlap", overlap < 0 ? NULL : out_json_double(overlap));
	verdict = diff_verdict_name(diff_judge(overlap));
	out_add(object, "verdict", overlap < 0 ? NULL : out_json_text(verdict));
	return object;
}

static void print_json(const struct diff *diff)
{
	struct json_object *object = json_object_new_object();

	out_add(object, "queues", out_json_rows(&queues_table, diff->queues.rows, diff->queues.n));
	out_add(object, "queue_ids_known", out_json_flag(diff->ids_known));
	out_add(object, "queue_counts", diff->ids_known ? json_counts(&diff->queues.counts) : NULL);
	out_add(object, "shared_queues", out_json_flag(!diff->other_process));
	out_add(object, "slots", out_json_rows(&slots_table, diff->slots.rows, diff->slots.n));
	out_add(object, "slot_counts", diff->slots_known ? json_counts(&diff->slots.counts) : NULL);
	out_add(object, "queues_a", out_json_number(diff->queues_a));
	out_add(object, "queues_b", out_json_number(diff->queues_b));
	out_add(object, "ring_counts", diff->rings_known ? json_counts(&diff->rings.counts) : NULL);
	out_json_print(object);
}

static void print_counts(const char *what, const struct diff_counts *counts)
{
	double overlap = diff_overlap(counts);

	printf("%s: %" PRIu64 " common, %" PRIu64 " only in A, %" PRIu64 " only in B, overlap ",
	       what, counts->of[DIFF_BOTH], counts->of[DIFF_A], counts->of[DIFF_B]);
	if (overlap < 0)
		printf("not known: there are none\n");
	else
		printf("%.0f%%: %s\n", 100 * overlap, diff_verdict_name(diff_judge(overlap)));
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
		out_rows(mode, &queues_table, diff->queues.rows, diff->queues.n);
	if (diff->ids_known)
		print_counts("queue ids", &diff->queues.counts);
	if (diff->queues_a != GPREEMPT_UNKNOWN || diff->queues_b != GPREEMPT_UNKNOWN) {
		print_number("queues in mqds: A ", diff->queues_a, ", ");
		print_number("B ", diff->queues_b, "\n");
	}
	if (diff->rings_known)
		print_counts("rings", &diff->rings.counts);
}

static void print_text(enum out_mode mode, const struct diff *diff)
{
	print_queues(mode, diff);
	if (diff->slots_known) {
		putchar('\n');
		out_rows(mode, &slots_table, diff->slots.rows, diff->slots.n);
		print_counts("CP slots", &diff->slots.counts);
	} else {
		printf("CP slots: not known: hqds, with registers that can be "
		       "read, is not there on both sides\n");
	}
	if (diff->other_process && diff->queues.counts.of[DIFF_BOTH])
		printf("Queue ids are a process's own: two processes that both "
		       "have such an id share no queue.\n");
}

static int fail_pid(int64_t pid, const char *where)
{
	return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, NULL, "process %" PRId64 " is not in %s",
			     pid, where);
}

struct diff_args {
	struct ctl_words files;
	uint64_t only_pid; /* 0: of all */
	uint64_t pid_a;
	uint64_t pid_b;
	enum out_mode mode;
};

/* With --pid one side will do: before the program, and during it. */
static int check_pids(const struct diff_args *args, const struct ctl_text *a,
		      const struct ctl_text *b)
{
	int64_t pid = args->only_pid;
	bool in_a, in_b;

	if (args->pid_a) {
		if (!decode_has_pid(a, args->pid_a))
			return fail_pid(args->pid_a, args->files.word[0]);
		if (!decode_has_pid(b, args->pid_b))
			return fail_pid(args->pid_b, args->files.word[1]);
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
			 "there",
			 pid, args->files.word[in_a]);
	return 0;
}

static int compare_texts(const struct diff_args *args, const struct ctl_text *a,
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
	if (args->mode == OUT_JSON)
		print_json(&diff);
	else
		print_text(args->mode, &diff);
	diff_free(&diff);
	if (problems)
		ctl_note("%" PRIu64 " problems in the text: gpreempt-ctl decode "
			 "lists them",
			 problems);
	return problems || a->bad_lines || b->bad_lines ? GPREEMPT_CLASS_PARTIAL : 0;
}

static int run_diff(void *data)
{
	const struct diff_args *args = data;
	struct ctl_text a, b;
	int ret;

	if (!args->pid_a != !args->pid_b)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl diff --help",
				     "--pid-a and --pid-b go together");
	ret = ctl_one_stdin(args->files.word, 2);
	if (!ret)
		ret = ctl_text_files(args->files.word, 1, &a);
	if (ret)
		return ret;
	ret = ctl_text_files(args->files.word + 1, 1, &b);
	if (!ret) {
		ret = compare_texts(args, &a, &b);
		ctl_text_free(&b);
	}
	ctl_text_free(&a);
	return ret;
}

static const struct ctl_option options[] = {
	{ "pid", CTL_COUNT, offsetof(struct diff_args, only_pid), "PID",
	  "this process; it may be missing on one side" },
	{ "pid-a", CTL_COUNT, offsetof(struct diff_args, pid_a), "PID", "this process in A" },
	{ "pid-b", CTL_COUNT, offsetof(struct diff_args, pid_b), "PID", "this process in B" },
	CTL_JSON_OPTION(struct diff_args),
	{ 0 },
};

const struct ctl_command ctl_diff = {
	.name = "diff",
	.run = run_diff,
	.args_size = sizeof(struct diff_args),
	.words = CTL_FILES,
	.words_at = offsetof(struct diff_args, files),
	.min_words = 2,
	.max_words = 2,
	.usage = "A B",
	.options = options,
	.summary = "Compare two snapshots or files.",
	.details =
		"A and B are directories of gpreempt-ctl snapshot, files with the driver's mqds\n"
		"and hqds, DIR/NAME for one of the snapshots that decode lists in a directory,\n"
		"or two files of gpreempt-ctl monitor --csv (all ids that it saw). Queues are\n"
		"compared by GPU and queue id within a process, and by ring; hardware slots by\n"
		"their place. Overlap is the common part of the larger side: above 80% is\n"
		"consistent, above 50% partly. Another process can have the same slots: only\n"
		"its pid and its rings distinguish it.\n"
		"With --pid-a and --pid-b two processes are compared: common ids mean that\n"
		"numbers are given out alike, never that a queue is shared.\n",
};
