// SPDX-License-Identifier: GPL-2.0-only
/* The driver's own text as tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ctl/text/decode.h"
#include "shared/macro.h"

/* On a terminal: more of them only hide what is above. JSON has them. */
#define PROBLEMS_SHOWN 20

static void print_number(int width, int64_t value)
{
	if (value == GPREEMPT_UNKNOWN)
		printf(" %*s", width, "-");
	else
		printf(" %*" PRId64, width, value);
}

static void print_counts(const char *what, const struct gp_text_check *check)
{
	bool known = check->slots_active != GPREEMPT_UNKNOWN &&
		     check->slots_expected != GPREEMPT_UNKNOWN;

	printf("%-14s", what);
	print_number(8, check->slots_expected);
	print_number(8, check->slots_active);
	if (known)
		print_number(10, check->slots_active - check->slots_expected);
	else
		printf(" %10s", "-");
	print_number(13, check->slots_without_owner);
	putchar('\n');
}

/* Only XCCs that something is about. */
static void print_xccs(const struct gp_text_check *by_xcc, size_t count)
{
	char name[48];
	size_t i;

	for (i = 0; i < count; i++) {
		if (by_xcc[i].slots_expected <= 0 && !by_xcc[i].slots_active)
			continue;
		if (by_xcc[i].gpu_id == GPREEMPT_UNKNOWN)
			snprintf(name, sizeof(name), "- XCC %" PRId64, by_xcc[i].xcc);
		else
			snprintf(name, sizeof(name), "0x%" PRIx64 " XCC %" PRId64, by_xcc[i].gpu_id,
				 by_xcc[i].xcc);
		print_counts(name, by_xcc + i);
	}
}

/* GPUs that have queues here, and no slots. */
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

/* Why something is not known, and what differences mean. */
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

static void print_check(const struct ctl_text *text, int64_t pid)
{
	struct gp_text_check sum, *by_xcc;
	int64_t adds_up;
	size_t count;

	if (gp_text_check(text->text, pid, &sum, &by_xcc, &count))
		abort();
	if (sum.queues != GPREEMPT_UNKNOWN)
		printf("\n%" PRId64 " compute queues", sum.queues);
	putchar('\n');
	if (text->data->hqds_seen) {
		printf("%-14s %8s %8s %10s %13s\n", "CP SLOTS", "EXPECTED", "ACTIVE", "DIFFERENCE",
		       "WITHOUT OWNER");
		print_xccs(by_xcc, count);
		print_counts("in all", &sum);
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
	bool older = false;
	size_t i;

	for (i = 0; i < d->n_queues; i++)
		older |= d->queues[i].older && (!pid || d->queues[i].pid == pid);
	decode_print_queues(mode, text, pid);
	print_check(text, pid);
	decode_print_packets(mode, text, pid);
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
	enum out_mode mode;
};

static int decode_one(const struct decode_args *args, const struct ctl_text *text)
{
	enum out_mode mode = args->mode;
	int64_t pid = args->only_pid;

	if (pid && !decode_has_pid(text, pid))
		return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, "without --pid all are shown",
				     "process %" PRId64 " is not in this text", pid);
	if (mode == OUT_JSON)
		out_json_print(decode_json(text, pid));
	else
		print_text(mode, text, pid);
	return text->data->n_problems || text->bad_lines ? GPREEMPT_CLASS_PARTIAL : 0;
}

static int run_decode(void *data)
{
	const struct decode_args *args = data;
	struct ctl_text text;
	int ret;

	ret = ctl_one_stdin(args->files.word, args->files.n);
	if (ret)
		return ret;
	if (args->files.n == 1 && decode_is_series(args->files.word[0]))
		return decode_series(args->mode, args->only_pid, args->files.word[0]);
	if (args->files.n)
		ret = ctl_text_files(args->files.word, args->files.n, &text);
	else
		ret = ctl_text_live(&text);
	if (ret)
		return ret;
	ret = decode_one(args, &text);
	ctl_text_free(&text);
	return ret;
}

static const struct ctl_option options[] = {
	{ "pid", CTL_COUNT, offsetof(struct decode_args, only_pid), "PID", "only this process" },
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
	.options = options,
	.summary = "Show the driver's own text of queues and slots as tables.",
	.details =
		"FILE is a copy of /sys/kernel/debug/kfd/mqds, hqds or rls, \"-\" for stdin, or\n"
		"a snapshot's directory; all must be of one moment. Without a FILE, the\n"
		"system's own are read. For a directory with several snapshots it prints a\n"
		"line for each, and what changed.\n"
		"A mapped compute queue is in one slot of each XCC. A slot belongs to the queue\n"
		"whose MQD has the address and the ring that are in the slot's registers. Text\n"
		"of two moments, or the same text twice, is not joined. That text has no queue\n"
		"ids: gpreempt.ko or a snapshot adds them.\n"
		"Exit status 6: some lines could not be read, or contradict each other; they\n"
		"are listed. 1: a file is something else.\n",
};
