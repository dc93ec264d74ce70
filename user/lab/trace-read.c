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
#include <sys/utsname.h>
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
	char *buf = malloc(PIECE);

	memset(found, 0, GP_TRACE_FUNCTIONS * sizeof(*found));
	if (fd < 0 || !buf) {
		free(buf);
		return -errno;
	}
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
	return tracefs.instance_file_open(k->instance, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
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
	k->fds = calloc(k->cpus, sizeof(*k->fds));
	if (!k->fds)
		return -ENOMEM;
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

/*
 * Trace for trace-cmd and KernelShark: the kernel's pages, behind their description.
 * trace-cmd.dat.v6(5) has the format.
 */

enum {
	OPTION_END = 0,
	OPTION_CLOCK = 4,
	OPTION_UNAME = 5,
};

static const union {
	uint16_t number;
	uint8_t first;
} order = { 0x0001 };

static void put_u16(FILE *f, uint16_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put_u32(FILE *f, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put_u64(FILE *f, uint64_t value)
{
	fwrite(&value, sizeof(value), 1, f);
}

static void put_text(FILE *f, const char *text)
{
	fwrite(text, strlen(text) + 1, 1, f);
}

/* A file of the tracing directory, behind its length; 0 bytes without it. */
static void put_file(FILE *f, const char *path)
{
	int size = 0;
	char *text = tracefs.instance_file_read(NULL, path, &size);

	put_u64(f, text ? size : 0);
	if (text)
		fwrite(text, size, 1, f);
	free(text);
}

static void put_option(FILE *f, uint16_t id, const char *text)
{
	put_u16(f, id);
	put_u32(f, strlen(text) + 1);
	put_text(f, text);
}

/* Our own events; no others are in the pages. */
static void put_formats(FILE *f, const struct trace_kernel *k)
{
	char path[160], **events = tracefs.system_events(NULL, k->name);
	int i, n = tracefs.list_size(events);

	put_u32(f, 0); /* formats of the function tracers */
	put_u32(f, 1);
	put_text(f, k->name);
	put_u32(f, n > 0 ? n : 0);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "events/%s/%s/format", k->name, events[i]);
		put_file(f, path);
	}
	tracefs.list_free(events);
}

static void put_head(FILE *f, const struct trace_kernel *k)
{
	static const char magic[] = "\027\010\104tracing6";
	struct utsname host;

	fwrite(magic, sizeof(magic), 1, f);
	fputc(!order.first, f); /* 1: big-endian */
	fputc(sizeof(long), f);
	put_u32(f, k->page_size);
	put_text(f, "header_page");
	put_file(f, "events/header_page");
	put_text(f, "header_event");
	put_file(f, "events/header_event");
	put_formats(f, k);
	put_u32(f, 0); /* no kernel symbols */
	put_u32(f, 0); /* nor does it print into this buffer */
	put_u64(f, k->comms ? strlen(k->comms) : 0);
	fputs(k->comms ? k->comms : "", f);
	put_u32(f, k->cpus);
	put_text(f, "options  ");
	put_option(f, OPTION_CLOCK, "[mono]");
	if (!uname(&host))
		put_option(f, OPTION_UNAME, host.release);
	put_u16(f, OPTION_END);
	put_text(f, "flyrecord");
}

static size_t count_pages(const struct trace_kernel *k, unsigned int cpu)
{
	size_t i, n = 0;

	for (i = 0; i < k->n_pages; i++)
		n += k->pages[i].cpu == cpu;
	return n;
}

static int put_pages(FILE *f, const struct trace_kernel *k, unsigned int cpu)
{
	char *page = malloc(k->page_size);
	int ret = page ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < k->n_pages && !ret; i++) {
		if (k->pages[i].cpu != cpu)
			continue;
		if (pread(k->spool, page, k->page_size, k->pages[i].offset) !=
		    (ssize_t)k->page_size)
			ret = -EIO;
		else if (!fwrite(page, k->page_size, 1, f))
			ret = -errno;
	}
	free(page);
	return ret;
}

/* Write the place of each CPU's pages, from the next whole page on. */
static void put_places(FILE *f, const struct trace_kernel *k)
{
	uint64_t at = ftell(f) + k->cpus * 2 * sizeof(uint64_t);
	unsigned int cpu;

	at = (at + k->page_size - 1) / k->page_size * k->page_size;
	for (cpu = 0; cpu < k->cpus; cpu++) {
		uint64_t size = count_pages(k, cpu) * k->page_size;

		put_u64(f, at);
		put_u64(f, size);
		at += size;
	}
	while (ftell(f) % (long)k->page_size)
		fputc(0, f);
}

int trace_write_dat(const struct trace_kernel *k, const char *path)
{
	FILE *f = fopen(path, "we");
	unsigned int cpu;
	int ret = 0;

	if (!f)
		return -errno;
	put_head(f, k);
	put_places(f, k);
	for (cpu = 0; cpu < k->cpus && !ret; cpu++)
		ret = put_pages(f, k, cpu);
	if (ferror(f) && !ret)
		ret = -EIO;
	if (fclose(f) && !ret)
		ret = -errno;
	return ret;
}

/*
 * Files for -o. No format is read by both: trace-cmd and KernelShark open trace.dat, Perfetto's
 * UI opens JSON. The end of the name decides; without one of these ends, both are written.
 */

static int write_report(const struct trace_report *r, const char *path)
{
	struct json_object *json = trace_json(r);
	int ret = json_object_to_file_ext(path, json, JSON_C_TO_STRING_PRETTY);

	json_object_put(json);
	return ret ? -EIO : 0;
}

static int write_dat(const struct trace_report *r, const char *path)
{
	return trace_write_dat(r->kernel, path);
}

static const struct {
	const char *ending;
	int (*write)(const struct trace_report *r, const char *path);
} formats[] = {
	{ ".json", trace_write_timeline },
	{ ".dat", write_dat },
};

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

int trace_write_files(const struct trace_report *r, const char *name)
{
	char path[PATH_MAX];
	int ret = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (ends_with(name, formats[i].ending))
			return say(formats[i].write(r, name), name);
	for (i = 0; i < ARRAY_SIZE(formats) && !ret; i++) {
		snprintf(path, sizeof(path), "%s%s", name, formats[i].ending);
		ret = say(formats[i].write(r, path), path);
	}
	return ret;
}

int trace_write_dir(const struct trace_report *r, const char *dir)
{
	char path[PATH_MAX];
	int ret;

	snprintf(path, sizeof(path), "%s/trace", dir);
	ret = trace_write_files(r, path);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/report.json", dir);
	return say(write_report(r, path), path);
}

int trace_make_dir(const char *dir)
{
	if (!mkdir(dir, 0755))
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "name a new directory with -o",
			     "cannot make the directory %s: %s", dir, strerror(errno));
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
	format = tracefs.event_file_read(NULL, k->name, name, "format", &size);
	if (format)
		tep.parse_event(r->tep, format, size, k->name);
	free(format);
	event = tep.find_event_by_name(r->tep, k->name, name);
	if (!event)
		return;
	*known = (struct known){ .id = event->id, .function = n, .leave = leave };
	if (leave)
		known->ret = tep.find_field(event, "ret");
	else
		known->comm = tep.find_field(event, "comm");
	for (i = 0; !leave && i < GP_TRACE_ARGS && f->args[i].name; i++)
		known->fields[i] = tep.find_field(event, f->args[i].name);
	r->n_known++;
}

static int open_reader(struct reader *r, const struct trace_kernel *k)
{
	unsigned int n;

	r->tep = tep.alloc();
	if (!r->tep)
		return -ENOMEM;
	for (n = 0; n < GP_TRACE_FUNCTIONS; n++)
		if (k->traced[n]) {
			add_known(r, k, n, false);
			add_known(r, k, n, true);
		}
	r->last = calloc(k->cpus, sizeof(*r->last));
	return r->last ? 0 : -ENOMEM;
}

static void close_reader(struct reader *r)
{
	tep.free(r->tep);
	free(r->last);
}

/* A string behind the event: place and length in 32 bits. */
static void take_comm(struct reader *r, const struct known *known, int64_t tid, const char *data)
{
	unsigned long long where;
	char *name = trace_comm(r->kernel, tid), *all;

	if (name || tep.read_number_field(known->comm, data, &where)) {
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

static int take_event(struct reader *r, unsigned int cpu, void *data, uint64_t ns)
{
	struct tep_record record = { .data = data, .cpu = cpu, .ts = ns };
	struct gp_trace_event event = { .ns = ns, .cpu = cpu };
	int id = tep.data_type(r->tep, &record);
	const struct known *known;
	unsigned long long value;
	size_t i;

	for (i = 0; i < r->n_known && r->known[i].id != id; i++)
		;
	if (i == r->n_known)
		return 0;
	known = &r->known[i];
	event.tid = tep.data_pid(r->tep, &record);
	event.function = known->function;
	event.leave = known->leave;
	take_comm(r, known, event.tid, data);
	for (i = 0; i < GP_TRACE_ARGS; i++)
		if (!tep.read_number_field(known->fields[i], data, &value))
			event.args[i] = value;
	if (!tep.read_number_field(known->ret, data, &value))
		event.ret = (int32_t)value;
	return gp_trace_add(r->trace, &event);
}

/* Events that were overwritten before we read them are missing before it. */
static int take_page(struct reader *r, struct kbuffer *buffer, unsigned int cpu, void *page)
{
	unsigned long long ns;
	void *data;
	int missed, ret = 0;

	if (kbuffer.load_subbuffer(buffer, page))
		return 0;
	missed = kbuffer.missed_events(buffer);
	data = kbuffer.read_event(buffer, &ns);
	if (missed && data)
		ret = gp_trace_lost(r->trace, r->last[cpu], ns, missed > 0 ? missed : 0);
	for (; data && !ret; data = kbuffer.next_event(buffer, &ns)) {
		r->last[cpu] = ns;
		ret = take_event(r, cpu, data, ns);
	}
	return ret;
}

static int read_pages(struct reader *r, const struct trace_kernel *k)
{
	struct kbuffer *buffer =
		kbuffer.alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
	char *page = malloc(k->page_size);
	int ret = buffer && page ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; i < k->n_pages && !ret; i++) {
		if (pread(k->spool, page, k->page_size, k->pages[i].offset) !=
		    (ssize_t)k->page_size)
			ret = -EIO;
		else
			ret = take_page(r, buffer, k->pages[i].cpu, page);
	}
	free(page);
	kbuffer.free(buffer);
	return ret;
}

int trace_read(struct trace_kernel *k, struct gp_trace *trace)
{
	struct reader r = { .trace = trace, .kernel = k };
	int ret = open_reader(&r, k);

	if (!ret)
		ret = read_pages(&r, k);
	close_reader(&r);
	/* Events are missing at an unknown time: no operation can be trusted. */
	if (!ret && k->missed)
		ret = gp_trace_lost(trace, 0, UINT64_MAX, k->missed);
	return ret ? ret : gp_trace_end(trace);
}
