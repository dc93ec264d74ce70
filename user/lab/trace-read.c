// SPDX-License-Identifier: GPL-2.0-only
/* Functions of the driver in the running kernel. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shared/text.h"
#include "shared/util.h"
#include "trace.h"

#define MODULE "amdgpu"
#define PIECE  (1 << 18)

bool trace_is_module(void)
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

int trace_find_symbols(bool *found)
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

int trace_spool_open(struct trace_kernel *k)
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

void trace_spool_close(struct trace_kernel *k)
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
