// SPDX-License-Identifier: GPL-2.0-only
/* self: run a program and print which queues are its own. */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gpreempt/select.h>

#include "cli/cli.h"
#include "shared/util.h"

#define LOOK_NS (50 * NSEC_PER_MSEC)
/* Time without a new queue before all are printed. */
#define SETTLE_NS (500 * NSEC_PER_MSEC)

static volatile pid_t child;

static void pass_on(int signal)
{
	kill(child, signal);
}

/* Print on stderr: stdout is the program's. */
static void say(pid_t pid, const struct gpreempt_view *view)
{
	size_t i;

	fprintf(stderr, "gpreempt-lab: process %d has %zu queues:", pid, view->count);
	for (i = 0; i < view->count; i++)
		fprintf(stderr, " %" PRId64 " (gpu 0x%" PRIx64 ", %s)", view->queues[i].qid,
			view->queues[i].gpu_id,
			gpreempt_word(GPREEMPT_WORD_TYPE, view->queues[i].type));
	fputc('\n', stderr);
}

/* Look at all queues of the program and of its children. */
static size_t look(struct gpreempt *g, bool print)
{
	struct gpreempt_targets *all;
	struct gpreempt_view *view;
	size_t i, n = 0;

	if (gpreempt_processes(g, &all, NULL))
		return 0;
	for (i = 0; i < all->count; i++) {
		pid_t pid = all->targets[i].pid;

		if (!shr_is_below(pid, child) || gpreempt_view_read(g, pid, &view, NULL))
			continue;
		n += view->count;
		if (print)
			say(pid, view);
		gpreempt_list_free(view);
	}
	gpreempt_list_free(all);
	return n;
}

static int watch(struct gpreempt *g)
{
	uint64_t since = shr_now_ns();
	size_t last = 0, told = 0, now;
	int status;

	while (waitpid(child, &status, WNOHANG) != child) {
		now = look(g, false);
		if (now != last)
			since = shr_now_ns();
		last = now;
		if (now != told && shr_now_ns() - since >= SETTLE_NS) {
			look(g, true);
			told = now;
		}
		shr_sleep_ns(LOOK_NS);
	}
	/* 126 and 127: it was not even started, which is reported already. */
	if (!told && !(WIFEXITED(status) && WEXITSTATUS(status) >= 126))
		ctl_note("no queue of it was seen: it made none that lasted "
			 "half a second, or this is a container that does "
			 "not show the host's processes");
	return ctl_program_status(status);
}

struct self_args {
	char **command;
};

static int run_self(void *data)
{
	const struct self_args *args = data;
	struct gpreempt *g;
	int ret;

	if (!args->command)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-lab self --help",
				     "a program to run is needed, behind \"--\"");
	ret = ctl_open(NULL, &g);
	if (ret)
		return ret;
	child = fork();
	if (child < 0)
		abort();
	if (!child)
		_exit(ctl_exec(args->command, -1));
	signal(SIGTERM, pass_on);
	signal(SIGHUP, pass_on);
	/* The terminal sends Ctrl-C to the program, too. */
	signal(SIGINT, SIG_IGN);
	ret = watch(g);
	gpreempt_free(g);
	return ret;
}

const struct ctl_command ctl_self = {
	.name = "self",
	.run = run_self,
	.args_size = sizeof(struct self_args),
	.command = "COMMAND...",
	.command_at = offsetof(struct self_args, command),
	.summary = "Run a program and log which GPU queues are its own.",
	.details = "They are printed on stderr, and again when their number changes. The exit\n"
		   "status is the program's. A program can ask itself: gpreempt_self_queues().\n",
	.examples = "  gpreempt-lab self -- python3 train.py\n",
};
