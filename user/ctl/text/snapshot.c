// SPDX-License-Identifier: GPL-2.0-only
/* One snapshot, or a baseline, a series and a last one. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ctl/text/decode.h"
#include "ctl/text/snapshot.h"
#include "shared/clock.h"
#include "shared/macro.h"

#define DEFAULT_EVERY (10 * NSEC_PER_SEC)
#define DEFAULT_COUNT 10
/* So soon a Ctrl-C is noticed. */
#define NAP_NS (50 * NSEC_PER_MSEC)

struct snapshot_args {
	const char *output; /* directory; NULL: a new one */
	const char *tag;
	uint64_t every_ns;
	uint64_t count;
	char **command; /* NULL: none */
};

struct series {
	const struct snapshot_args *args;
	const char *dir;
	struct snapshot_log *log;
	uint64_t number; /* of the next one's directory */
	bool ended;	 /* the command, with this wait status */
	int status;
};

static volatile sig_atomic_t stopped;
static volatile pid_t child; /* the command; 0: none */

/* A terminal sends a Ctrl-C to the command itself. */
static void on_stop(int signal)
{
	stopped = 1;
	if (child && signal != SIGINT)
		kill(child, signal);
}

/* Nothing more is to come before the final one. */
static bool is_over(struct series *s)
{
	if (!child)
		return stopped;
	if (!s->ended)
		s->ended = waitpid(child, &s->status, WNOHANG) == child;
	return s->ended;
}

static void wait_until(struct series *s, uint64_t when)
{
	uint64_t now;

	while (!is_over(s) && (now = shr_now_ns()) < when)
		shr_sleep_ns(when - now < NAP_NS ? when - now : NAP_NS);
}

/* How many CP slots there are, and how many hold a queue. */
static void print_slots(const struct ctl_text *text)
{
	struct gp_text_check sum = ctl_text_check(text, 0);
	size_t i, slots = 0;

	for (i = 0; i < text->data->n_slots; i++)
		slots += text->data->slots[i].type == GP_TEXT_COMPUTE;
	if (sum.slots_active == GPREEMPT_UNKNOWN || !slots)
		printf("CP slots not known");
	else
		printf("%" PRId64 " of %zu CP slots active (%" PRId64 "%%)", sum.slots_active,
		       slots, 100 * sum.slots_active / (int64_t)slots);
}

static void say_what(const char *dir)
{
	struct ctl_text text;

	if (ctl_text_files(&dir, 1, &text))
		return;
	printf("%s: %zu processes, %zu queues, ", dir, text.data->n_processes, text.data->n_queues);
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

static int take_next(struct series *s, const char *name)
{
	char path[4096 + 64];

	snprintf(path, sizeof(path), "%s/%03" PRIu64 "-%s", s->dir, s->number++, name);
	return take(path, name, s->log);
}

/* What the command prints is kept beside the snapshots. */
static int start_command(struct series *s)
{
	char path[4096 + 64];
	pid_t pid;
	int file;

	snprintf(path, sizeof(path), "%s/command.out", s->dir);
	file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s: %s", path, strerror(errno));
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(ctl_exec(s->args->command, file));
	close(file);
	if (pid < 0)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -errno, 0);
	child = pid;
	return 0;
}

/*
 * 000-baseline, then a sample each time, until there are so many, a Ctrl-C comes
 * or the command has ended, and a final one. A second Ctrl-C ends it as it is.
 */
static int take_series(struct series *s)
{
	uint64_t every = s->args->every_ns ? s->args->every_ns : DEFAULT_EVERY;
	uint64_t left = s->args->count	 ? s->args->count :
			s->args->command ? UINT64_MAX :
					   DEFAULT_COUNT;
	static const struct sigaction action = {
		.sa_handler = on_stop,
		.sa_flags = (int)SA_RESETHAND,
	};
	uint64_t next = shr_now_ns();
	int ret;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	ret = take_next(s, "baseline");
	if (!ret && s->args->command)
		ret = start_command(s);
	for (; !ret; left--) {
		next += every;
		if (left || !child)
			wait_until(s, next);
		if (!left || is_over(s))
			break;
		ret = take_next(s, s->args->tag ? s->args->tag : "sample");
	}
	/* Also when a snapshot could not be taken: it is not left behind. */
	if (child)
		wait_until(s, UINT64_MAX);
	return ret ? ret : take_next(s, "final");
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

	child = stopped = 0;
	if (args->tag && strchr(args->tag, '/'))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL,
				     "--tag: it becomes the name of a directory, "
				     "without /");
	strftime(when, sizeof(when), "gpreempt-snapshot-%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	snprintf(dir, sizeof(dir), "%s", args->output ? args->output : when);
	series = args->every_ns || args->count || args->command;
	snapshot_log_open(&log, !series);
	if (series) {
		struct series s = { .args = args, .dir = dir, .log = &log };

		ret = take_series(&s);
		if (!ret && child)
			ret = ctl_program_status(s.status);
	} else {
		if (args->tag) {
			size_t len = strlen(dir);

			snprintf(dir + len, sizeof(dir) - len, "/%s", args->tag);
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
	  "number in the series (10; any with a command), plus two" },
	{ 0 },
};

const struct ctl_command ctl_snapshot = {
	.name = "snapshot",
	.run = run_snapshot,
	.args_size = sizeof(struct snapshot_args),
	.words = CTL_NO_WORDS,
	.command = "COMMAND...",
	.command_at = offsetof(struct snapshot_args, command),
	.options = options,
	.summary = "Save all text about queues and slots in a directory.",
	.details =
		"It contains the driver's mqds, hqds and rls, the module's view, KFD's sysfs,\n"
		"the GPU processes, versions, and the kernel log: in a series the new lines of\n"
		"each, else all since the log was last cleared (dmesg -C). decode and diff read\n"
		"such a directory, and list, queues, monitor and doctor do with --from DIR. It\n"
		"is plain text, and you can send it to others. Nothing is overwritten. After\n"
		"Ctrl-C a series ends with its final snapshot.\n"
		"With a command there is a series while it runs: the first snapshot before it\n"
		"starts, the final one after its end. What it prints is kept in DIR/command.out,\n"
		"and the exit status is its own.\n",
};
