// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/program.h"
#include "shared/util.h"
#include "trace.h"

/*
 * Tracing by the kernel: an instance with a ring buffer of its own, and probe events at the
 * driver's functions. Both bear our PID and start time, so that those of a killed predecessor
 * can be found and removed.
 */

#define PREFIX	    "gpreempt_"
#define NAME_FORMAT PREFIX "%d_%" PRIu64
#define NAME_SCAN   PREFIX "%d_%" SCNu64
/* Size of a CPU's buffer, in kB. It is emptied many times a second. */
#define BUFFER_KB 512
/* Clock of the trace: CLOCK_MONOTONIC, as in ROCm's log. */
#define CLOCK "mono"

static int fail(int code, const char *what)
{
	if (code == -EPERM || code == -EACCES)
		return ctl_fail_text(GPREEMPT_CLASS_PERMISSION,
				     "gpreempt-ctl doctor shows lockdown; a kernel booted "
				     "without lockdown=confidentiality can be traced",
				     "the kernel does not let us trace it: %s", what);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "dmesg and the file error_log of the tracing "
			     "directory may say why",
			     "cannot trace the kernel: %s: %s", what, strerror(-code));
}

/* Is it the name of a predecessor that is gone? */
static bool is_stale(struct gpreempt *g, const char *name)
{
	uint64_t start, now;
	int pid, end = 0;

	if (sscanf(name, NAME_SCAN "%n", &pid, &start, &end) != 2 || name[end])
		return false;
	return gpreempt_start_time(g, pid, &now) || now != start;
}

struct stale {
	struct gpreempt *g;
	char **names;
};

static int take_stale(const char *name, void *data)
{
	struct stale *stale = data;

	if (is_stale(stale->g, name))
		stale->names = tracefs_list_add(stale->names, name);
	return 0;
}

/* Remove the instances, then the events, of predecessors that were killed. */
static void remove_stale(struct gpreempt *g)
{
	struct stale stale = { .g = g };
	struct tracefs_dynevent **events;
	size_t i;

	tracefs_instances_walk(take_stale, &stale);
	for (i = 0; stale.names && stale.names[i]; i++) {
		struct tracefs_instance *old = tracefs_instance_create(stale.names[i]);

		tracefs_event_disable(old, stale.names[i], NULL);
		tracefs_instance_destroy(old);
		tracefs_instance_free(old);
	}
	tracefs_list_free(stale.names);
	events = tracefs_dynevent_get_all(TRACEFS_DYNEVENT_KPROBE | TRACEFS_DYNEVENT_KRETPROBE,
					  NULL);
	for (i = 0; events && events[i]; i++) {
		char *group = NULL;

		tracefs_dynevent_info(events[i], &group, NULL, NULL, NULL, NULL);
		if (group && is_stale(g, group))
			tracefs_dynevent_destroy(events[i], false);
		free(group);
	}
	tracefs_dynevent_list_free(events);
}

/* Check the mount of tracefs. 0, or the exit status. */
static int check_tracefs(void)
{
	const char *dir;
	int fd, ret = ctl_need_root(0);

	if (ret)
		return ret;
	if (tracefs_tracing_dir_is_mounted(false, &dir) <= 0)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     "mount -t tracefs nodev "
				     "/sys/kernel/tracing",
				     "the kernel's tracing directory is not "
				     "mounted, or there is none");
	if (access("/sys/module/amdgpu", F_OK))
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, "modprobe amdgpu",
				     "the driver amdgpu is not loaded: there "
				     "is nothing to trace");
	fd = tracefs_instance_file_open(NULL, "kprobe_events", O_WRONLY);
	ret = fd < 0 ? -errno : close(fd);
	if (ret == -ENOENT)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     "boot a kernel with "
				     "CONFIG_KPROBE_EVENTS",
				     "this kernel has no probe events");
	return ret ? fail(ret, "probe events are refused") : 0;
}

void trace_event_name(size_t function, bool leave, char *name)
{
	snprintf(name, TRACE_EVENT_NAME, "%s%s", gp_trace_functions[function].symbol,
		 leave ? "_return" : "");
}

static struct tracefs_dynevent *make_event(struct trace_kernel *k, size_t n, bool leave)
{
	const struct gp_trace_function *f = gp_trace_functions + n;
	char where[64], name[TRACE_EVENT_NAME], args[96];
	size_t i, len = 0;

	snprintf(where, sizeof(where), "%s%s", trace_is_module() ? "amdgpu:" : "", f->symbol);
	trace_event_name(n, leave, name);
	/*
	 * Let the kernel choose how many calls it follows at once: libtracefs 1.6 cannot set
	 * this. For a returned value the kernel searches all types that it knows, so there is
	 * only the one that is used.
	 */
	if (leave)
		return tracefs_kretprobe_alloc(k->name, name, where,
					       f->needed ? "ret=$retval:s32" : NULL, 0);
	for (i = 0; i < GP_TRACE_ARGS && f->args[i].name; i++)
		len += snprintf(args + len, sizeof(args) - len, "%s=%s ", f->args[i].name,
				f->args[i].fetch);
	snprintf(args + len, sizeof(args) - len, "comm=$comm");
	return tracefs_kprobe_alloc(k->name, name, where, args);
}

/* Add both events of a function, or none. 0 or -errno. */
static int add_function(struct trace_kernel *k, size_t n)
{
	size_t i;
	int ret;

	for (i = 0; i < 2; i++) {
		struct tracefs_dynevent *event = shr_must(make_event(k, n, i));

		if (tracefs_dynevent_create(event)) {
			ret = -errno;
			tracefs_dynevent_free(event);
			return ret;
		}
		k->events[2 * n + i] = event;
	}
	k->traced[n] = true;
	return 0;
}

/* Print the functions that this kernel lacks: inlined, or of another version. */
static void name_missing(const struct trace_kernel *k)
{
	char names[512] = "";
	size_t i, len = 0;

	for (i = 0; i < GP_TRACE_FUNCTIONS; i++)
		if (!k->traced[i] && len < sizeof(names))
			len += snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "",
					gp_trace_functions[i].symbol);
	if (len)
		ctl_note("not in this kernel, so the time in it counts as "
			 "other: %s",
			 names);
}

/* Add all functions that the kernel has. 0, or the exit status. */
static int add_functions(struct trace_kernel *k)
{
	const struct gp_trace_function *f = gp_trace_functions;
	bool found[GP_TRACE_FUNCTIONS];
	int ret = trace_find_symbols(found);
	size_t i;

	if (ret < 0)
		return fail(ret, "reading /proc/kallsyms");
	for (i = 0; i < GP_TRACE_FUNCTIONS; i++, f++) {
		ret = found[i] ? add_function(k, i) : -ENOENT;
		if (ret == -EPERM || ret == -EACCES)
			return fail(ret, "a probe event is refused");
		if (ret && f->needed)
			return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
					     "gpreempt-ctl doctor says what "
					     "is supported here",
					     "the driver's function %s cannot "
					     "be traced: %s",
					     f->symbol, strerror(-ret));
	}
	name_missing(k);
	return 0;
}

static int set_up(struct trace_kernel *k)
{
	int ret;

	k->instance = tracefs_instance_create(k->name);
	if (!k->instance)
		return fail(-errno, "making an instance");
	if (tracefs_instance_set_buffer_size(k->instance, BUFFER_KB, -1) ||
	    tracefs_instance_file_write(k->instance, "trace_clock", CLOCK) < 0)
		return fail(-errno, "setting up the instance");
	ret = add_functions(k);
	if (ret)
		return ret;
	ret = trace_spool_open(k);
	if (ret)
		return fail(ret, "opening the ring buffer");
	if (tracefs_event_enable(k->instance, k->name, NULL))
		return fail(-errno, "switching the events on");
	return 0;
}

static void trace_kernel_end(struct trace_kernel *k);

/*
 * Make the instance, after the leftovers of killed predecessors are removed, and begin. 0, or
 * the exit status after a message; nothing is left then.
 */
static int trace_kernel_begin(struct gpreempt *g, struct trace_kernel *k)
{
	uint64_t start;
	int ret;

	*k = (struct trace_kernel){ .spool = -1 };
	/* We print the reason ourselves. */
	tracefs_set_loglevel(TEP_LOG_NONE);
	ret = check_tracefs();
	if (!ret)
		ret = ctl_need_host(g);
	if (ret)
		return ret;
	if (gpreempt_start_time(g, getpid(), &start))
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ESRCH, getpid());
	snprintf(k->name, sizeof(k->name), NAME_FORMAT, getpid(), start);
	remove_stale(g);
	ret = set_up(k);
	if (ret)
		trace_kernel_end(k);
	return ret;
}

/* Calls that came while too many were under way: "  NAME  HITS  MISSED". */
static uint64_t count_missed(const struct trace_kernel *k)
{
	char *all = tracefs_instance_file_read(NULL, "kprobe_profile", NULL);
	char *line, *rest = all, name[128], ours[TRACE_EVENT_NAME];
	uint64_t sum = 0, missed;
	size_t i;

	while ((line = strsep(&rest, "\n"))) {
		if (sscanf(line, " %127s %*u %" SCNu64, name, &missed) != 2)
			continue;
		for (i = 0; i < ARRAY_SIZE(k->events); i++) {
			trace_event_name(i / 2, i % 2, ours);
			if (k->events[i] && !strcmp(ours, name))
				sum += missed;
		}
	}
	free(all);
	return sum;
}

/* No more events. The files that describe them are still there. */
static void trace_kernel_stop(struct trace_kernel *k)
{
	tracefs_event_disable(k->instance, k->name, NULL);
	trace_spool_drain(k);
	k->missed = count_missed(k);
}

/* Leave the tracing directory as it was found. Also after a failure. */
static void trace_kernel_end(struct trace_kernel *k)
{
	size_t i;

	trace_spool_close(k);
	if (k->instance) {
		tracefs_event_disable(k->instance, k->name, NULL);
		tracefs_instance_destroy(k->instance);
		tracefs_instance_free(k->instance);
		k->instance = NULL;
	}
	for (i = 0; i < ARRAY_SIZE(k->events); i++) {
		if (!k->events[i])
			continue;
		tracefs_dynevent_destroy(k->events[i], false);
		tracefs_dynevent_free(k->events[i]);
		k->events[i] = NULL;
	}
	free(k->comms);
	k->comms = NULL;
}

char *trace_comm(const struct trace_kernel *k, int64_t tid)
{
	const char *at = k->comms, *end;

	for (; at && *at; at = *end ? end + 1 : end) {
		char *name;

		end = strchrnul(at, '\n');
		if (strtoll(at, &name, 10) == tid && *name == ' ')
			return strndup(name + 1, end - name - 1);
	}
	return NULL;
}

/* The command: trace processes for a while, or a command until it ends. */

/* Time between two looks, which empty the kernel's buffer and find new processes. */
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
	gpreempt_list_free(view);
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
	gpreempt_list_free(all);
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

/* Collect until the time is over, all processes have ended, or a signal comes. */
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

/* Files for -o. */

static int write_report(const struct trace_report *r, const char *path)
{
	struct json_object *json = trace_json(r);
	int ret = json_object_to_file_ext(path, json, JSON_C_TO_STRING_PRETTY);

	json_object_put(json);
	return ret ? -EIO : 0;
}

static int say(int ret, const char *path)
{
	if (!ret)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "give a place that can be written, with -o",
			     "cannot write %s: %s", path, strerror(-ret));
}

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n > m && !strcmp(name + n - m, ending);
}

static int write_file(const struct trace_report *r, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", name, ends_with(name, ".json") ? "" : ".json");
	return say(trace_write_timeline(r, path), path);
}

/* Write all files of a command. */
static int write_dir(const struct trace_report *r, const char *dir)
{
	char path[PATH_MAX];
	int ret;

	snprintf(path, sizeof(path), "%s/trace", dir);
	ret = write_file(r, path);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/report.json", dir);
	return say(write_report(r, path), path);
}

/* Make a new directory. 0, or the exit status. */
static int make_dir(const char *dir)
{
	if (!mkdir(dir, 0755))
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "name a new directory with -o",
			     "cannot make the directory %s: %s", dir, strerror(errno));
}

static int write_output(struct tracing *t)
{
	struct trace_report *r = &t->report;
	const char *output = t->args->output;

	if (!output)
		return 0;
	if (!t->args->command)
		return write_file(r, output);
	if (t->args->amd_log)
		trace_log_read(output, &r->packets);
	return write_dir(r, output);
}

static int finish(struct tracing *t)
{
	struct gp_trace *trace = gp_trace_new();
	int ret = trace_read(&t->kernel, trace);

	if (ret) {
		ret = ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL,
				    "cannot read the kernel's trace: %s", strerror(-ret));
	} else {
		t->report.data = gp_trace_get(trace);
		ret = write_output(t);
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
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-lab trace --help", "%s", why);
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
		gpreempt_list_free(list);
	}
	if (t->args->command && t->args->output)
		return make_dir(t->args->output);
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
		"trace suspends nothing itself. FILE.json opens in Perfetto's UI. With a command,\n"
		"trace ends with it; the GPU processes that it starts are targets too, and the\n"
		"exit status is the command's.\n"
		"trace makes a tracing instance and events gpreempt_PID_* in the kernel and\n"
		"removes them at its end; the next trace removes those of a killed one. It\n"
		"needs root.\n",
	.options = options,
	.defaults =
		&(const struct trace_args){
			.duration_ns = 10 * NSEC_PER_SEC,
		},
};
