// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's tracing: an instance with a ring buffer of its own, and probe
 * events at the driver's functions. Both bear our PID and start time, so that
 * those of a killed predecessor can be found and removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/trace/trace.h"
#include "ctl/trace/libs.h"
#include "shared/macro.h"

#define PREFIX	    "gpreempt_"
#define NAME_FORMAT PREFIX "%d_%" PRIu64
#define NAME_SCAN   PREFIX "%d_%" SCNu64
/* Of each CPU, in kB. It is emptied many times a second. */
#define BUFFER_KB 512
/* Of time, so that ROCm's log fits to it: CLOCK_MONOTONIC. */
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

/* Is it the name of one of us who is not there any more? */
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
		stale->names = tracefs.list_add(stale->names, name);
	return 0;
}

/* What those left who were killed: instances, then events. */
static void remove_stale(struct gpreempt *g)
{
	struct stale stale = { .g = g };
	struct tracefs_dynevent **events;
	size_t i;

	tracefs.instances_walk(take_stale, &stale);
	for (i = 0; stale.names && stale.names[i]; i++) {
		struct tracefs_instance *old = tracefs.instance_create(stale.names[i]);

		tracefs.event_disable(old, stale.names[i], NULL);
		tracefs.instance_destroy(old);
		tracefs.instance_free(old);
	}
	tracefs.list_free(stale.names);
	events = tracefs.dynevent_get_all(TRACEFS_DYNEVENT_KPROBE | TRACEFS_DYNEVENT_KRETPROBE,
					  NULL);
	for (i = 0; events && events[i]; i++) {
		char *group = NULL;

		tracefs.dynevent_info(events[i], &group, NULL, NULL, NULL, NULL);
		if (group && is_stale(g, group))
			tracefs.dynevent_destroy(events[i], false);
		free(group);
	}
	tracefs.dynevent_list_free(events);
}

/* 0, or the exit status. */
static int check_tracefs(void)
{
	const char *dir;
	int fd, ret = ctl_need_root(0);

	if (ret)
		return ret;
	if (tracefs.tracing_dir_is_mounted(false, &dir) <= 0)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     "mount -t tracefs nodev "
				     "/sys/kernel/tracing",
				     "the kernel's tracing directory is not "
				     "mounted, or there is none");
	if (access("/sys/module/amdgpu", F_OK))
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, "modprobe amdgpu",
				     "the driver amdgpu is not loaded: there "
				     "is nothing to trace");
	fd = tracefs.instance_file_open(NULL, "kprobe_events", O_WRONLY);
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
	 * As many at once as the kernel likes: libtracefs 1.6 cannot ask. For a returned value
	 * the kernel searches all types that it knows, so there is only the one that is used.
	 */
	if (leave)
		return tracefs.kretprobe_alloc(k->name, name, where,
					       f->needed ? "ret=$retval:s32" : NULL, 0);
	for (i = 0; i < GP_TRACE_ARGS && f->args[i].name; i++)
		len += snprintf(args + len, sizeof(args) - len, "%s=%s ", f->args[i].name,
				f->args[i].fetch);
	snprintf(args + len, sizeof(args) - len, "comm=$comm");
	return tracefs.kprobe_alloc(k->name, name, where, args);
}

/* Both events of a function, or none. 0 or -errno. */
static int add_function(struct trace_kernel *k, size_t n)
{
	size_t i;
	int ret;

	for (i = 0; i < 2; i++) {
		struct tracefs_dynevent *event = make_event(k, n, i);

		if (!event)
			return -ENOMEM;
		if (tracefs.dynevent_create(event)) {
			ret = -errno;
			tracefs.dynevent_free(event);
			return ret;
		}
		k->events[2 * n + i] = event;
	}
	k->traced[n] = true;
	return 0;
}

/* Those that this kernel lacks: inlined, or of another version. */
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

/* All functions that there are. 0, or the exit status. */
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

	k->instance = tracefs.instance_create(k->name);
	if (!k->instance)
		return fail(-errno, "making an instance");
	if (tracefs.instance_set_buffer_size(k->instance, BUFFER_KB, -1) ||
	    tracefs.instance_file_write(k->instance, "trace_clock", CLOCK) < 0)
		return fail(-errno, "setting up the instance");
	ret = add_functions(k);
	if (ret)
		return ret;
	ret = trace_spool_open(k);
	if (ret)
		return fail(ret, "opening the ring buffer");
	if (tracefs.event_enable(k->instance, k->name, NULL))
		return fail(-errno, "switching the events on");
	return 0;
}

int trace_kernel_begin(struct gpreempt *g, struct trace_kernel *k)
{
	uint64_t start;
	int ret;

	*k = (struct trace_kernel){ .spool = -1 };
	ret = trace_load_libs();
	if (ret)
		return ret;
	/* It has its own way to say why not. */
	tracefs.set_loglevel(TEP_LOG_NONE);
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
	char *all = tracefs.instance_file_read(NULL, "kprobe_profile", NULL);
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

void trace_kernel_stop(struct trace_kernel *k)
{
	tracefs.event_disable(k->instance, k->name, NULL);
	trace_spool_drain(k);
	k->missed = count_missed(k);
}

void trace_kernel_end(struct trace_kernel *k)
{
	size_t i;

	trace_spool_close(k);
	if (k->instance) {
		tracefs.event_disable(k->instance, k->name, NULL);
		tracefs.instance_destroy(k->instance);
		tracefs.instance_free(k->instance);
		k->instance = NULL;
	}
	for (i = 0; i < ARRAY_SIZE(k->events); i++) {
		if (!k->events[i])
			continue;
		tracefs.dynevent_destroy(k->events[i], false);
		tracefs.dynevent_free(k->events[i]);
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
