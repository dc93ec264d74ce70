// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's trace: functions of the driver, probe events at them, and pages of these events. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "shared/text.h"
#include "shared/util.h"
#include "trace.h"

#define MODULE "amdgpu"
#define PIECE  (1 << 18)

static bool trace_is_module(void)
{
	return !access("/sys/module/" MODULE "/initstate", F_OK);
}

/*
 * "ffffffffc0a1b2c0 t suspend_queues\t[amdgpu]", without the newline. A name
 * with a suffix of the compiler's (".cold", ".constprop.0") is another function.
 */
static void take_line(char *line, size_t len, bool module, bool *found)
{
	char *symbol, *end;
	size_t i;

	/* The kernel's own symbols are many times more: skip them first. */
	if ((len && line[len - 1] == ']') != module)
		return;
	line[len] = '\0';
	symbol = strchr(line, ' ');
	if (!symbol || (symbol[1] | 0x20) != 't' || symbol[2] != ' ')
		return;
	symbol += 3;
	end = symbol + strcspn(symbol, "\t");
	if (module && strcmp(end, "\t[" MODULE "]"))
		return;
	*end = '\0';
	for (i = 0; i < GP_TRACE_FUNCTIONS; i++)
		if (!strcmp(symbol, gp_trace_functions[i].symbol))
			found[i] = true;
}

/* Large pieces: the kernel searches for its place at each read. */
static void take_all(int fd, char *buf, bool module, bool *found)
{
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, buf + len, PIECE - len)) > 0) {
		char *at = buf, *end;

		len += n;
		while ((end = memchr(at, '\n', buf + len - at))) {
			take_line(at, end - at, module, found);
			at = end + 1;
		}
		len -= at - buf;
		memmove(buf, at, len);
	}
}

static int trace_find_symbols(bool *found)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	char *buf;

	memset(found, 0, GP_TRACE_FUNCTIONS * sizeof(*found));
	if (fd < 0)
		return -errno;
	buf = shr_must(malloc(PIECE));
	take_all(fd, buf, trace_is_module(), found);
	close(fd);
	free(buf);
	return 0;
}

/* The pages of the kernel's ring buffer, kept in a file until the end. */

/* Two descriptors a CPU do not fit below the usual limit on a large host. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int open_cpu(struct trace_kernel *k, unsigned int cpu)
{
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	return tracefs_instance_file_open(k->instance, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
}

static int trace_spool_open(struct trace_kernel *k)
{
	FILE *file = tmpfile();
	unsigned int cpu, opened = 0;

	k->spool = file ? dup(fileno(file)) : -1;
	if (file)
		fclose(file);
	if (k->spool < 0)
		return -errno;
	fcntl(k->spool, F_SETFD, FD_CLOEXEC);
	raise_limit();
	k->cpus = sysconf(_SC_NPROCESSORS_CONF);
	k->page_size = getpagesize();
	k->fds = shr_must(calloc(k->cpus, sizeof(*k->fds)));
	for (cpu = 0; cpu < k->cpus; cpu++) {
		k->fds[cpu] = open_cpu(k, cpu);
		opened += k->fds[cpu] >= 0;
	}
	return opened ? 0 : -errno;
}

static void trace_spool_close(struct trace_kernel *k)
{
	unsigned int cpu;

	for (cpu = 0; k->fds && cpu < k->cpus; cpu++)
		if (k->fds[cpu] >= 0)
			close(k->fds[cpu]);
	free(k->fds);
	k->fds = NULL;
	if (k->spool >= 0)
		close(k->spool);
	k->spool = -1;
	free(k->pages);
	k->pages = NULL;
	k->n_pages = 0;
}

static bool keep(struct trace_kernel *k, unsigned int cpu, const void *page)
{
	off_t offset = k->n_pages * k->page_size;
	struct trace_page *next;

	if (pwrite(k->spool, page, k->page_size, offset) != (ssize_t)k->page_size)
		return false;
	next = shr_must(shr_array_add(&k->pages, &k->n_pages, sizeof(*next)));
	*next = (struct trace_page){ cpu, offset };
	return true;
}

void trace_spool_drain(struct trace_kernel *k)
{
	char *page = shr_must(calloc(1, k->page_size));
	unsigned int cpu;

	for (cpu = 0; cpu < k->cpus; cpu++)
		while (k->fds[cpu] >= 0 && !k->full && read(k->fds[cpu], page, k->page_size) > 0)
			k->full = !keep(k, cpu, page);
	free(page);
}

/*
 * Tracing by the kernel: an instance with a ring buffer of its own, and probe events at the
 * driver's functions. Both bear our PID and start time, so that those of a killed predecessor
 * can be found and removed.
 */

#define TRACE_EVENT_NAME 64

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
	int fd, ret;

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

static void trace_event_name(size_t function, bool leave, char *name)
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

int trace_kernel_begin(struct gpreempt *g, struct trace_kernel *k)
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

void trace_kernel_stop(struct trace_kernel *k)
{
	tracefs_event_disable(k->instance, k->name, NULL);
	trace_spool_drain(k);
	k->missed = count_missed(k);
}

void trace_kernel_end(struct trace_kernel *k)
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

/* Pages of the kernel's ring buffer as events of our functions. */

/* A probe event of ours. (libtracefs would read all of kallsyms for them.) */
struct known {
	int id; /* in the ring buffer */
	unsigned int function;
	bool leave;
	struct tep_format_field *fields[GP_TRACE_ARGS];
	struct tep_format_field *ret;
	struct tep_format_field *comm;
};

struct reader {
	struct tep_handle *tep;
	struct known known[2 * GP_TRACE_FUNCTIONS];
	size_t n_known;
	struct gp_trace *trace;
	struct trace_kernel *kernel;
	uint64_t *last; /* time of the last event, for each CPU */
};

static void add_known(struct reader *r, const struct trace_kernel *k, unsigned int n, bool leave)
{
	const struct gp_trace_function *f = gp_trace_functions + n;
	struct known *known = &r->known[r->n_known];
	struct tep_event *event;
	char name[TRACE_EVENT_NAME], *format;
	int size = 0;
	size_t i;

	trace_event_name(n, leave, name);
	format = tracefs_event_file_read(NULL, k->name, name, "format", &size);
	if (format)
		tep_parse_event(r->tep, format, size, k->name);
	free(format);
	event = tep_find_event_by_name(r->tep, k->name, name);
	if (!event)
		return;
	*known = (struct known){ .id = event->id, .function = n, .leave = leave };
	if (leave)
		known->ret = tep_find_field(event, "ret");
	else
		known->comm = tep_find_field(event, "comm");
	for (i = 0; !leave && i < GP_TRACE_ARGS && f->args[i].name; i++)
		known->fields[i] = tep_find_field(event, f->args[i].name);
	r->n_known++;
}

static void open_reader(struct reader *r, const struct trace_kernel *k)
{
	unsigned int n;

	r->tep = shr_must(tep_alloc());
	for (n = 0; n < GP_TRACE_FUNCTIONS; n++)
		if (k->traced[n]) {
			add_known(r, k, n, false);
			add_known(r, k, n, true);
		}
	r->last = shr_must(calloc(k->cpus, sizeof(*r->last)));
}

static void close_reader(struct reader *r)
{
	tep_free(r->tep);
	free(r->last);
}

/* A string behind the event: place and length in 32 bits. */
static void take_comm(struct reader *r, const struct known *known, int64_t tid, const char *data)
{
	unsigned long long where;
	char *name = trace_comm(r->kernel, tid), *all;

	if (name || tep_read_number_field(known->comm, data, &where)) {
		free(name);
		return;
	}
	name = shr_clean_copy(data + (where & 0xffff), true);
	if (asprintf(&all, "%s%" PRId64 " %s\n", r->kernel->comms ?: "", tid, name) < 0)
		abort();
	free(name);
	free(r->kernel->comms);
	r->kernel->comms = all;
}

static void take_event(struct reader *r, unsigned int cpu, void *data, uint64_t ns)
{
	struct tep_record record = { .data = data, .cpu = cpu, .ts = ns };
	struct gp_trace_event event = { .ns = ns, .cpu = cpu };
	int id = tep_data_type(r->tep, &record);
	const struct known *known;
	unsigned long long value;
	size_t i;

	for (i = 0; i < r->n_known && r->known[i].id != id; i++)
		;
	if (i == r->n_known)
		return;
	known = &r->known[i];
	event.tid = tep_data_pid(r->tep, &record);
	event.function = known->function;
	event.leave = known->leave;
	take_comm(r, known, event.tid, data);
	for (i = 0; i < GP_TRACE_ARGS; i++)
		if (!tep_read_number_field(known->fields[i], data, &value))
			event.args[i] = value;
	if (!tep_read_number_field(known->ret, data, &value))
		event.ret = (int32_t)value;
	gp_trace_add(r->trace, &event);
}

/* Events that were overwritten before we read them are missing before it. */
static void take_page(struct reader *r, struct kbuffer *buffer, unsigned int cpu, void *page)
{
	unsigned long long ns;
	void *data;
	int missed;

	if (kbuffer_load_subbuffer(buffer, page))
		return;
	missed = kbuffer_missed_events(buffer);
	data = kbuffer_read_event(buffer, &ns);
	if (missed && data)
		gp_trace_lost(r->trace, r->last[cpu], ns, missed > 0 ? missed : 0);
	for (; data; data = kbuffer_next_event(buffer, &ns)) {
		r->last[cpu] = ns;
		take_event(r, cpu, data, ns);
	}
}

static int read_pages(struct reader *r, const struct trace_kernel *k)
{
	struct kbuffer *buffer =
		shr_must(kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST));
	char *page = shr_must(malloc(k->page_size));
	int ret = 0;
	size_t i;

	for (i = 0; i < k->n_pages && !ret; i++) {
		if (pread(k->spool, page, k->page_size, k->pages[i].offset) !=
		    (ssize_t)k->page_size)
			ret = -EIO;
		else
			take_page(r, buffer, k->pages[i].cpu, page);
	}
	free(page);
	kbuffer_free(buffer);
	return ret;
}

int trace_read(struct trace_kernel *k, struct gp_trace *trace)
{
	struct reader r = { .trace = trace, .kernel = k };
	int ret;

	open_reader(&r, k);
	ret = read_pages(&r, k);
	close_reader(&r);
	/* Events are missing at an unknown time: no operation can be trusted. */
	if (k->missed)
		gp_trace_lost(trace, 0, UINT64_MAX, k->missed);
	gp_trace_end(trace);
	return ret;
}
