// SPDX-License-Identifier: GPL-2.0-only
/* The driver's own text as tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ctl/decode.h"
#include "shared/macro.h"

static void print_counts(const char *what,
			 const struct gpreempt_text_check *check)
{
	printf("%-12s %8" PRIu64 " %8" PRIu64 " %10" PRId64 " %13" PRIu64 "\n",
	       what, check->slots_expected, check->slots_active,
	       (int64_t)(check->slots_active - check->slots_expected),
	       check->slots_without_owner);
}

/* Only XCCs that something is about. */
static void print_check(const struct ctl_text *text, int64_t pid)
{
	struct gpreempt_text_check sum, *by_xcc;
	char name[48];
	size_t i, count;

	if (gpreempt_text_check(text->text, pid ? pid : GPREEMPT_UNKNOWN, &sum,
				&by_xcc, &count))
		abort();
	printf("\n%" PRIu64 " compute queues\n", sum.queues);
	if (!text->data->n_slots) {
		free(by_xcc);
		ctl_note("there is no hqds among it: slots are not known");
		return;
	}
	printf("%-12s %8s %8s %10s %13s\n", "CP SLOTS", "EXPECTED", "ACTIVE", "DIFFERENCE",
	       "WITHOUT OWNER");
	for (i = 0; i < count; i++) {
		if (!by_xcc[i].slots_expected && !by_xcc[i].slots_active)
			continue;
		snprintf(name, sizeof(name), "%" PRIx64 " XCC %" PRId64,
			 by_xcc[i].gpu_id, by_xcc[i].xcc);
		print_counts(name, by_xcc + i);
	}
	print_counts("in all", &sum);
	free(by_xcc);
	if (sum.slots_expected > sum.slots_active)
		ctl_note("slots are missing: a queue that is suspended, "
			 "evicted or waits its turn has none");
	if (sum.slots_without_owner)
		ctl_note("slots without an owner: mqds and hqds are not of "
			 "one moment, or mqds lacks a process");
}

static void print_text(enum out_mode mode, const struct ctl_text *text,
		       int64_t pid)
{
	struct decode_queue *queues;
	bool older = false;
	size_t i, count;

	queues = decode_make_queues(text, pid, &count);
	out_rows(mode, &decode_queues, queues, count);
	for (i = 0; i < count; i++)
		older |= queues[i].older;
	decode_free(queues, count);
	print_check(text, pid);
	decode_print_packets(mode, text, pid);
	if (older)
		ctl_note("this text is of a driver older than Linux 6.5, "
			 "which printed ids and states itself");
	if (!text->data->n_problems)
		return;
	printf("\n%" PRIu64 " lines could not be read\n",
	       text->data->n_problems);
	decode_print_problems(mode, text);
}

static int decode_one(const struct ctl_args *args, const struct ctl_text *text)
{
	enum out_mode mode = out_mode(args);
	int64_t pid = args->only_pid;

	if (pid && !decode_has_pid(text, pid))
		return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
				     "without --pid all are shown",
				     "process %" PRId64 " is not in this text",
				     pid);
	if (mode == OUT_JSON)
		out_json_print(decode_json(text, pid));
	else
		print_text(mode, text, pid);
	return text->data->n_problems || text->bad_lines ?
		GPREEMPT_CLASS_PARTIAL : 0;
}

static int run_decode(const struct ctl_command *cmd, struct ctl_args *args)
{
	struct ctl_text text;
	int ret;

	(void)cmd;
	ret = ctl_one_stdin(args->words, args->n_words);
	if (ret)
		return ret;
	if (args->n_words == 1 && decode_is_series(args->words[0]))
		return decode_series(args, args->words[0]);
	if (args->n_words)
		ret = ctl_text_files(args->words, args->n_words, &text);
	else
		ret = ctl_text_live(&text);
	if (ret)
		return ret;
	ret = decode_one(args, &text);
	ctl_text_free(&text);
	return ret;
}

static const struct ctl_option options[] = {
	{ "pid", CTL_COUNT, offsetof(struct ctl_args, only_pid), "PID",
	  "only this process" },
	{ 0 },
};

const struct ctl_command ctl_decode = {
	.name = "decode",
	.run = run_decode,
	.words = CTL_FILES,
	.usage = "[FILE]",
	.shared = CTL_SHARED_JSON,
	.options = options,
	.summary = "Show the driver's own text of queues and slots as tables.",
	.details =
	"FILE is what /sys/kernel/debug/kfd/mqds, hqds or rls had, \"-\" for stdin,\n"
	"or a snapshot's directory; all are taken to be of one moment. Without a\n"
	"FILE the system's own are read. A directory with several snapshots in it\n"
	"gives a line for each, and what changed.\n"
	"A compute queue is in one slot of each XCC when it is mapped. A slot belongs\n"
	"to the queue whose MQD has the address that is in the slot's registers.\n"
	"Queue ids are not in that text: gpreempt.ko or a snapshot adds them.\n"
	"Exit status 6: some lines could not be read; they are listed.\n",
};
