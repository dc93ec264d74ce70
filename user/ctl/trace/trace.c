// SPDX-License-Identifier: GPL-2.0-only
/* The command: trace processes for a while, or a command until it ends. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/command/ctl.h"
#include "ctl/trace/trace.h"
#include "shared/array.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "shared/proc-tree.h"
#include "shared/signals.h"

/* So often the kernel's buffer is emptied and new processes are looked for. */
#define TICK_MS 50

struct trace_args {
	struct ctl_target_args targets;
	char **command;	      /* NULL: none */
	uint64_t duration_ns; /* 0: until Ctrl-C */
	const char *output;   /* file or directory; NULL: none */
	uint64_t amd_log;     /* AMD_LOG_LEVEL; 0: as it is */
	enum out_mode mode;
};

struct tracing {
	const struct trace_args *args;
	struct gpreempt *g;
	struct trace_kernel kernel;
	struct trace_report report;
	int signals; /* readable after Ctrl-C and its like */
	bool stopped;
	pid_t child; /* the command; 0: none */
	bool ended;
	int status;
};

static void add_target(struct trace_report *r, const struct gpreempt_target *target)
{
	struct gpreempt_target *next =
		shr_must(shr_array_add(&r->targets, &r->n_targets, sizeof(*next)));

	*next = *target;
}

static bool has_queues(struct tracing *t, pid_t pid)
{
	struct gpreempt_view *view;
	bool any;

	if (gpreempt_view_read(t->g, pid, &view, NULL))
		return false;
	any = view->count;
	gpreempt_view_free(view);
	return any;
}

/* The command's GPU processes. Who only holds others has no queue. */
static void find_targets(struct tracing *t)
{
	struct gpreempt_targets *all;
	size_t i;

	if (gpreempt_processes(t->g, &all, NULL))
		return;
	for (i = 0; i < all->count; i++) {
		pid_t pid = all->targets[i].pid;

		if (!trace_is_target(&t->report, pid) && shr_is_below(pid, t->child) &&
		    has_queues(t, pid))
			add_target(&t->report, all->targets + i);
	}
	gpreempt_targets_free(all);
}

static bool any_alive(const struct tracing *t)
{
	const struct trace_report *r = &t->report;
	uint64_t start;
	size_t i;

	for (i = 0; i < r->n_targets; i++)
		if (!gpreempt_start_time(t->g, r->targets[i].pid, &start) &&
		    start == r->targets[i].start)
			return true;
	return false;
}

/* The terminal sends Ctrl-C to the command itself; it ends, and so do we. */
static void take_signal(struct tracing *t)
{
	struct signalfd_siginfo info;

	if (read(t->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (!t->child)
		t->stopped = true;
	else if (info.ssi_signo != SIGINT)
		kill(t->child, info.ssi_signo);
}

static void become_command(const struct tracing *t)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* stdout is for the JSON. */
	if (t->args->mode == OUT_JSON)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	trace_log_set(t->args->output, t->args->amd_log);
	_exit(ctl_exec(t->args->command, -1));
}

/* Is there a reason to go on? */
static bool look(struct tracing *t)
{
	if (!t->child) {
		if (any_alive(t))
			return true;
		ctl_note("the traced processes have ended");
		return false;
	}
	if (waitpid(t->child, &t->status, WNOHANG) == t->child) {
		t->ended = true;
		return false;
	}
	find_targets(t);
	return true;
}

/* Until the time is over, all have ended, or a signal comes. */
static void collect(struct tracing *t)
{
	struct pollfd fd = { .fd = t->signals, .events = POLLIN };
	uint64_t began = shr_now_ns(), limit = t->args->duration_ns;

	while (!t->stopped && look(t)) {
		if (!t->child && limit && shr_now_ns() - began >= limit)
			break;
		if (poll(&fd, 1, TICK_MS) > 0)
			take_signal(t);
		trace_spool_drain(&t->kernel);
	}
}

static int start_command(struct tracing *t)
{
	fflush(stdout);
	t->child = fork();
	if (t->child < 0)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -errno, 0);
	if (!t->child)
		become_command(t);
	return 0;
}

/* Files first: they need what describes the events. */
static int write_files(struct tracing *t)
{
	struct trace_report *r = &t->report;
	const char *output = t->args->output;

	if (!output)
		return 0;
	if (!t->args->command)
		return trace_write_files(r, output);
	if (t->args->amd_log)
		trace_log_read(output, &r->packets);
	return trace_write_dir(r, output);
}

static int finish(struct tracing *t)
{
	struct gp_trace *trace;
	int ret;

	if (gp_trace_new(&trace))
		abort();
	ret = trace_read(&t->kernel, trace);
	if (ret) {
		ret = ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL,
				    "cannot read the kernel's trace: %s", strerror(-ret));
	} else {
		t->report.data = gp_trace_get(trace);
		ret = write_files(t);
		trace_print(t->args->mode, &t->report);
	}
	gp_trace_free(trace);
	return ret;
}

static int trace(struct tracing *t)
{
	uint64_t began;
	int ret;

	t->signals = shr_signals_open_stop();
	ret = trace_kernel_begin(t->g, &t->kernel);
	if (ret)
		return ret;
	began = shr_now_ns();
	if (t->args->command)
		ret = start_command(t);
	if (!ret) {
		collect(t);
		t->report.duration_ns = shr_now_ns() - began;
		trace_kernel_stop(&t->kernel);
		ret = finish(t);
	}
	trace_kernel_end(&t->kernel);
	return ret || !t->ended ? ret : ctl_program_status(t->status);
}

static int check_usage(const struct trace_args *args)
{
	const char *why = NULL;

	if (!args->targets.words.n && !args->command)
		why = "a target is needed, or a command behind \"--\"";
	else if (args->amd_log && (!args->command || !args->output))
		why = "--amd-log is for a command, and needs -o DIR";
	if (!why)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl trace --help", "%s", why);
}

static int choose(struct tracing *t)
{
	struct gpreempt_targets *list;
	size_t i;
	int ret;

	if (t->args->targets.words.n) {
		ret = ctl_targets(t->g, &t->args->targets, &list);
		if (ret)
			return ret;
		for (i = 0; i < list->count; i++)
			add_target(&t->report, list->targets + i);
		gpreempt_targets_free(list);
	}
	if (t->args->command && t->args->output)
		return trace_make_dir(t->args->output);
	return 0;
}

static int run_trace(void *data)
{
	const struct trace_args *args = data;
	struct tracing t = { .args = args, .signals = -1 };
	int ret = check_usage(args);

	t.report.kernel = &t.kernel;
	if (!ret)
		ret = ctl_need_root(0);
	if (!ret)
		ret = ctl_open(NULL, &t.g);
	if (ret)
		return ret;
	ret = choose(&t);
	if (!ret)
		ret = trace(&t);
	if (t.signals >= 0)
		close(t.signals);
	free(t.report.targets);
	free(t.report.packets.items);
	gpreempt_free(t.g);
	return ret;
}

static const struct ctl_option options[] = {
	{ "duration", CTL_DURATION, offsetof(struct trace_args, duration_ns), "TIME",
	  "for that long (10s); 0s: until Ctrl-C" },
	{ "output", CTL_FILE, offsetof(struct trace_args, output), "FILE",
	  "where it is kept (-o FILE); of a command: a directory" },
	{ "amd-log", CTL_COUNT, offsetof(struct trace_args, amd_log), "LEVEL",
	  "of the command: AMD_LOG_LEVEL, for the timeline" },
	CTL_WAIT_OPTION(struct trace_args),
	CTL_JSON_OPTION(struct trace_args),
	{ 0 },
};

const struct ctl_command ctl_trace = {
	.name = "trace",
	.run = run_trace,
	CTL_TARGET_ARGS(struct trace_args),
	.usage = "[TARGET]",
	.command = "COMMAND...",
	.command_at = offsetof(struct trace_args, command),
	.summary = "Show where the time of suspends goes in the driver.",
	.details =
		"Measures the phases of each suspend and resume of the targets' queues, by any\n"
		"process: lock, until the driver has the process's lock; unmap, sending the\n"
		"packet that takes queues off; fence, until the hardware has done so; map,\n"
		"sending the new runlist; copy, the headers of saved contexts; other; and\n"
		"total, their sum. attach and detach begin and end a debug session.\n"
		"trace suspends nothing itself. FILE.json opens in Perfetto's UI, FILE.dat in\n"
		"trace-cmd and KernelShark; another name makes both. With a command, trace ends\n"
		"with it; the GPU processes that it starts are targets too, and the exit status\n"
		"is the command's.\n"
		"trace makes a tracing instance and events gpreempt_PID_* in the kernel and\n"
		"removes them at its end; the next trace removes those of a killed one. It\n"
		"needs root.\n",
	.options = options,
	.defaults =
		&(const struct trace_args){
			.duration_ns = 10 * NSEC_PER_SEC,
		},
};
