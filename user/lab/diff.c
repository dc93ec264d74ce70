// SPDX-License-Identifier: GPL-2.0-only
/* The comparison itself: by queue id, by ring, by hardware slot. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "shared/util.h"
#include "diff.h"

#define CONSISTENT 0.8
#define PARTLY	   0.5

static int compare_keys(const struct diff_row *x, const struct diff_row *y)
{
	size_t i;

	for (i = 0; i < DIFF_KEYS; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] < y->key[i] ? -1 : 1;
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;
	int ret = compare_keys(x, y);

	return ret ? ret : (x->side > y->side) - (x->side < y->side);
}

/* Two entries of one thing become one. */
static void merge(struct diff_rows *all)
{
	static const char *const words[] = { "a", "b", "both" };
	struct diff_row *to = all->rows, *from = to, *end = to + all->n;

	qsort(all->rows, all->n, sizeof(*all->rows), compare_rows);
	for (; from < end; from++, to++) {
		*to = *from;
		if (from + 1 < end && from->side != from[1].side && !compare_keys(from, from + 1)) {
			from++;
			to->pid_b = from->pid_b;
			to->side = DIFF_BOTH;
		}
		all->counts.of[to->side]++;
		to->in = words[to->side];
	}
	all->n = to - all->rows;
}

static void leave_common_out(struct diff_rows *all)
{
	struct diff_row *to = all->rows;
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->rows[i].side != DIFF_BOTH)
			*to++ = all->rows[i];
	all->n = to - all->rows;
}

static void add(struct diff_rows *all, enum diff_side side, int64_t pid,
		const int64_t key[DIFF_KEYS])
{
	struct diff_row *row = all->rows + all->n++;

	*row = (struct diff_row){
		.pid_a = side == DIFF_A ? pid : GPREEMPT_UNKNOWN,
		.pid_b = side == DIFF_B ? pid : GPREEMPT_UNKNOWN,
		.side = side,
	};
	memcpy(row->key, key, sizeof(row->key));
}

static void add_queues(struct diff_rows *queues, const struct ctl_text *text, int64_t pid,
		       enum diff_side side, bool by_pid)
{
	size_t i;

	for (i = 0; i < text->n_ids; i++) {
		const struct ctl_id *id = text->ids + i;
		const int64_t key[DIFF_KEYS] = {
			by_pid ? id->pid : 0,
			id->gpu_id,
			id->qid,
		};

		if (!pid || id->pid == pid)
			add(queues, side, id->pid, key);
	}
}

static void add_slots(struct diff_rows *slots, const struct ctl_text *text, int64_t pid,
		      enum diff_side side)
{
	const struct gp_text_data *d = text->data;
	size_t i;

	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *s = d->slots + i;
		const int64_t key[DIFF_KEYS] = { s->gpu_id, s->xcc, s->pipe, s->queue };
		int64_t owner = s->owner < 0 ? GPREEMPT_UNKNOWN : d->queues[s->owner].pid;

		if (s->type == GP_TEXT_COMPUTE && s->regs.active == 1 && (!pid || owner == pid))
			add(slots, side, owner, key);
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
	return overlap > CONSISTENT ? DIFF_CONSISTENT : overlap > PARTLY ? DIFF_PARTLY : DIFF_NOT;
}

const char *diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = {
		"consistent",
		"partly consistent",
		"not consistent",
		"unknown",
	};

	return names[verdict];
}

/* Queues of a side, and their rings. Unknown without mqds. */
static int64_t add_rings(struct diff_rows *rings, const struct ctl_text *text, int64_t pid,
			 enum diff_side side)
{
	int64_t queues = 0;
	size_t i;

	if (!text->data->mqds_seen || text->data->several_moments)
		return GPREEMPT_UNKNOWN;
	for (i = 0; i < text->data->n_queues; i++) {
		const struct gp_text_queue *q = text->data->queues + i;
		const int64_t key[DIFF_KEYS] = { q->pid, q->gpu_id, ctl_ring_of(text->data, q) };

		if (pid && q->pid != pid)
			continue;
		queues++;
		if (key[2] != GPREEMPT_UNKNOWN)
			add(rings, side, q->pid, key);
	}
	return queues;
}

/* Are the rings known? A ring is an address of its process: two processes' cannot be compared. */
static bool rings_known(const struct diff *diff)
{
	return diff->queues_a != GPREEMPT_UNKNOWN && diff->queues_b != GPREEMPT_UNKNOWN &&
	       diff->queues_a + diff->queues_b == (int64_t)diff->rings.n && !diff->other_process;
}

/* Are the slots known? Their owner matters only when one process is compared. */
static bool slots_known(const struct ctl_text *text, int64_t pid)
{
	const struct gp_text_data *d = text->data;
	size_t i;

	if (!d->hqds_seen || d->several_moments || (pid && !d->mqds_seen))
		return false;
	for (i = 0; i < d->n_slots; i++)
		if (d->slots[i].type == GP_TEXT_COMPUTE &&
		    d->slots[i].regs.active == GPREEMPT_UNKNOWN)
			return false;
	return true;
}

/* Are the process's ids known? A process that mqds does not have has no queue, so they are. */
static bool ids_known(const struct ctl_text *text, int64_t pid)
{
	size_t i;

	for (i = 0; i < text->n_ids; i++)
		if (!pid || text->ids[i].pid == pid)
			return true;
	return text->all_ids || (text->data->mqds_seen && !text->data->n_queues) ||
	       (pid && text->data->mqds_seen && !ctl_text_has(text, pid));
}

static void make_room(struct diff_rows *all, size_t count)
{
	all->rows = shr_must(calloc(count + 1, sizeof(*all->rows)));
}

void diff_make(const struct ctl_text *a, int64_t pid_a, const struct ctl_text *b, int64_t pid_b,
	       struct diff *diff)
{
	/* Compare all processes: then the process is part of a queue's key. */
	bool by_pid = !pid_a && !pid_b;

	*diff = (struct diff){ .other_process = pid_a != pid_b };
	make_room(&diff->queues, a->n_ids + b->n_ids);
	make_room(&diff->slots, a->data->n_slots + b->data->n_slots);
	make_room(&diff->rings, a->data->n_queues + b->data->n_queues);
	add_queues(&diff->queues, a, pid_a, DIFF_A, by_pid);
	add_queues(&diff->queues, b, pid_b, DIFF_B, by_pid);
	add_slots(&diff->slots, a, pid_a, DIFF_A);
	add_slots(&diff->slots, b, pid_b, DIFF_B);
	diff->queues_a = add_rings(&diff->rings, a, pid_a, DIFF_A);
	diff->queues_b = add_rings(&diff->rings, b, pid_b, DIFF_B);
	diff->rings_known = rings_known(diff);
	diff->slots_known = slots_known(a, pid_a) && slots_known(b, pid_b);
	diff->ids_known = ids_known(a, pid_a) && ids_known(b, pid_b);
	merge(&diff->queues);
	merge(&diff->slots);
	merge(&diff->rings);
}

void diff_free(struct diff *diff)
{
	free(diff->queues.rows);
	free(diff->slots.rows);
	free(diff->rings.rows);
}

/*
 * Comparison of two moments: queues by (gpu, queue id) within a process, and hardware slots,
 * which are the machine's.
 */

#define KEY(n, name, title, what) OUT_NAMED(name, struct diff_row, key[n], title, what)
#define SIDES                                                        \
	OUT_FIELD(struct diff_row, pid_a, "PID A", OUT_DEC),         \
		OUT_FIELD(struct diff_row, pid_b, "PID B", OUT_DEC), \
		OUT_FIELD(struct diff_row, in, "IN", OUT_TEXT)

static const struct out_field queue_fields[] = {
	KEY(1, "kfd_gpu_id", "KFD-ID", OUT_HEX),
	KEY(2, "queue_id", "QID", OUT_DEC),
	SIDES,
};

static const struct out_table queues_table = OUT_TABLE("queues", queue_fields, struct diff_row);

static const struct out_field slot_fields[] = {
	KEY(0, "kfd_gpu_id", "KFD-ID", OUT_HEX),
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

static void print_json(const struct diff *diff, const struct seen *seen)
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
	out_add(object, "queues_seen", seen_json(seen));
	out_json_print(object);
}

static void print_counts(const char *what, const struct diff_counts *counts)
{
	double overlap = diff_overlap(counts);
	char percent[16] = "not known";

	if (overlap >= 0)
		snprintf(percent, sizeof(percent), "%.0f%%", 100 * overlap);
	out_sentence("%s: %" PRIu64 " common, %" PRIu64 " only in A, %" PRIu64
		     " only in B, overlap %s: %s",
		     what, counts->of[DIFF_BOTH], counts->of[DIFF_A], counts->of[DIFF_B], percent,
		     overlap < 0 ? "there are none" : diff_verdict_name(diff_judge(overlap)));
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
		out_sentence("queue ids: not known. A snapshot has them, the driver's text alone "
			     "does not");
	else if (diff->queues.n)
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

static void print_text(enum out_mode mode, const struct diff *diff, const struct seen *seen)
{
	print_queues(mode, diff);
	if (diff->slots_known) {
		if (diff->slots.n) {
			putchar('\n');
			out_rows(mode, &slots_table, diff->slots.rows, diff->slots.n);
		}
		print_counts("CP slots", &diff->slots.counts);
		if (!diff->other_process)
			seen_print(mode, seen);
	} else {
		out_sentence("CP slots: not known: hqds, with registers that can be read, is not "
			     "there on both sides");
	}
	if (diff->other_process && diff->queues.counts.of[DIFF_BOTH])
		out_sentence("Queue ids are a process's own: two processes that both have such an "
			     "id share no queue.");
}

static int fail_pid(int64_t pid, const char *where)
{
	return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
			     "gpreempt-lab decode shows the processes of a snapshot",
			     "process %" PRId64 " is not in %s", pid, where);
}

struct diff_args {
	struct ctl_words files;
	uint64_t only_pid; /* 0: of all */
	uint64_t pid_a;
	uint64_t pid_b;
	uint64_t all; /* rows of both sides, too */
	enum out_mode mode;
};

/* Check the processes. With --pid one side may lack it: before the program, and during it. */
static int check_pids(const struct diff_args *args, const struct ctl_text *a,
		      const struct ctl_text *b)
{
	int64_t pid = args->only_pid;
	bool in_a, in_b;

	if (args->pid_a) {
		if (!ctl_text_has(a, args->pid_a))
			return fail_pid(args->pid_a, args->files.word[0]);
		if (!ctl_text_has(b, args->pid_b))
			return fail_pid(args->pid_b, args->files.word[1]);
		return 0;
	}
	if (!pid)
		return 0;
	in_a = ctl_text_has(a, pid);
	in_b = ctl_text_has(b, pid);
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
	struct seen seen = { 0 };
	struct diff diff;
	int ret = check_pids(args, a, b);

	if (ret)
		return ret;
	diff_make(a, pid_a, b, pid_b, &diff);
	if (!diff.other_process) {
		seen_add(&seen, a, pid_a, "A");
		seen_add(&seen, b, pid_b, "B");
	}
	if (args->mode == OUT_JSON) {
		print_json(&diff, &seen);
	} else {
		if (!args->all) {
			leave_common_out(&diff.queues);
			leave_common_out(&diff.slots);
		}
		print_text(args->mode, &diff, &seen);
	}
	diff_free(&diff);
	free(seen.items);
	if (problems)
		ctl_note("%" PRIu64 " problems in the text: gpreempt-lab decode "
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
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-lab diff --help",
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
	{ "all", CTL_FLAG, offsetof(struct diff_args, all), NULL,
	  "print what both have, too; --json always does" },
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
	.examples = "  gpreempt-lab diff before after --pid 4711\n",
	.options = options,
	.summary = "Compare two snapshots or files.",
	.details =
		"A and B are directories of gpreempt-lab snapshot, files with the driver's mqds\n"
		"and hqds, DIR/NAME for one of the moments that decode lists in a directory, or\n"
		"two files of gpreempt-ctl monitor --csv (all ids that it saw). Of queues that\n"
		"are in a slot on both sides it prints how far their pointers moved, and which\n"
		"of them wait and do not move.\n"
		"Queues are compared by GPU and queue id within a process, and by ring;\n"
		"hardware slots by their place. Overlap is the common part of the larger side:\n"
		"above 80% is consistent, above 50% partly. Another process can have the same\n"
		"slots: only its pid and its rings distinguish it.\n"
		"With --pid-a and --pid-b two processes are compared: common ids mean that\n"
		"numbers are given out alike, never that a queue is shared.\n",
};
