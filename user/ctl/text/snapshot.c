// SPDX-License-Identifier: GPL-2.0-only
/* One snapshot, or a baseline, a series and a last one. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/text/decode.h"
#include "ctl/text/snapshot.h"
#include "shared/clock.h"
#include "shared/macro.h"

#define DEFAULT_EVERY (10 * NSEC_PER_SEC)
/* So soon a Ctrl-C is noticed. */
#define NAP_NS (50 * NSEC_PER_MSEC)

static volatile sig_atomic_t stopped;

static void on_stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static void wait_until(uint64_t when)
{
	uint64_t now;

	while (!stopped && (now = shr_now_ns()) < when)
		shr_sleep_ns(when - now < NAP_NS ? when - now : NAP_NS);
}

/* How many CP slots there are, and how many hold a queue. */
static void print_slots(const struct ctl_text *text)
{
	struct gpreempt_text_check sum, *by_xcc;
	size_t i, count, slots = 0;

	if (gpreempt_text_check(text->text, GPREEMPT_UNKNOWN, &sum, &by_xcc,
				&count))
		abort();
	free(by_xcc);
	for (i = 0; i < text->data->n_slots; i++)
		slots += text->data->slots[i].type == GPREEMPT_TEXT_COMPUTE;
	if (sum.slots_active == GPREEMPT_UNKNOWN || !slots)
		printf("CP slots not known");
	else
		printf("%" PRId64 " of %zu CP slots active (%" PRId64 "%%)",
		       sum.slots_active, slots,
		       100 * sum.slots_active / (int64_t)slots);
}

static void say_what(const char *dir)
{
	struct ctl_text text;

	if (ctl_text_files(&dir, 1, &text))
		return;
	printf("%s: %zu processes, %zu queues, ", dir, text.data->n_processes,
	       text.data->n_queues);
	print_slots(&text);
	putchar('\n');
	fflush(stdout);
	ctl_text_free(&text);
}

static int take(const char *dir, const char *tag, struct snapshot_log *log)
{
	int ret = snapshot_take(dir, tag, log);

	if (!ret)
		say_what(dir);
	return ret;
}

struct snapshot_args {
	const char *output;	/* directory; NULL: a new one */
	const char *tag;
	uint64_t every_ns;
	uint64_t count;
};

/*
 * 000-baseline, 001 to the last but one, and final behind them, which is next
 * after a Ctrl-C. A second Ctrl-C ends it as it is.
 */
static int take_series(const struct snapshot_args *args, const char *dir,
		       struct snapshot_log *log)
{
	uint64_t every = args->every_ns ? args->every_ns : DEFAULT_EVERY;
	uint64_t count = args->count ? args->count : 10;
	static const struct sigaction action = {
		.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND,
	};
	uint64_t next = shr_now_ns(), i, number = 0;
	char path[4096 + 64], name[32];
	int ret = 0;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	for (i = 0; i < count + 2 && !ret; i++) {
		wait_until(next);
		next += every;
		if (stopped && i && i <= count)
			i = count + 1;
		snprintf(name, sizeof(name), "%s",
			 !i ? "baseline" : i > count ? "final" :
			 args->tag ? args->tag : "sample");
		snprintf(path, sizeof(path), "%s/%03" PRIu64 "-%s", dir,
			 number++, name);
		ret = take(path, name, log);
	}
	return ret;
}

static int run_snapshot(void *data)
{
	const struct snapshot_args *args = data;
	char dir[4096], when[64];
	time_t now = time(NULL);
	struct snapshot_log log;
	struct tm tm;
	bool series;
	int ret;

	if (args->tag && strchr(args->tag, '/'))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL,
				     "--tag: it becomes the name of a directory, "
				     "without /");
	strftime(when, sizeof(when), "gpreempt-snapshot-%Y%m%d-%H%M%S",
		 localtime_r(&now, &tm));
	snprintf(dir, sizeof(dir), "%s", args->output ? args->output : when);
	series = args->every_ns || args->count;
	snapshot_log_open(&log, !series);
	if (series) {
		ret = take_series(args, dir, &log);
	} else {
		if (args->tag) {
			size_t len = strlen(dir);

			snprintf(dir + len, sizeof(dir) - len, "/%s",
				 args->tag);
		}
		ret = take(dir, args->tag, &log);
	}
	snapshot_log_close(&log);
	return ret;
}

static const struct ctl_option options[] = {
	{ "output", CTL_FILE, offsetof(struct snapshot_args, output), "DIR",
	  "directory (-o DIR); default: a new one" },
	{ "tag", CTL_NAME, offsetof(struct snapshot_args, tag), "WORD",
	  "use a directory of that name below DIR" },
	{ "every", CTL_DURATION, offsetof(struct snapshot_args, every_ns), "TIME",
	  "a series, one each TIME (10s)" },
	{ "count", CTL_COUNT, offsetof(struct snapshot_args, count), "N",
	  "number in the series (10), plus one before and after" },
	{ 0 },
};

const struct ctl_command ctl_snapshot = {
	.name = "snapshot",
	.run = run_snapshot,
	.args_size = sizeof(struct snapshot_args),
	.words = CTL_NO_WORDS,
	.options = options,
	.summary = "Save all text about queues and slots in a directory.",
	.details =
	"It contains the driver's mqds, hqds and rls, the module's view, KFD's sysfs,\n"
	"the GPU processes, versions, and the kernel log: in a series the new lines of\n"
	"each, else all since the log was last cleared (dmesg -C). decode and diff read\n"
	"such a directory. It is plain text, and you can send it to others. Nothing is\n"
	"overwritten. After Ctrl-C a series ends with its final snapshot.\n",
};
