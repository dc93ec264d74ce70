// SPDX-License-Identifier: GPL-2.0-only
/* Pages of the kernel's ring buffer as events of our functions. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl/trace/trace.h"
#include "ctl/trace/libs.h"
#include "shared/clean.h"
#include "shared/macro.h"

/* One of our probe events. (libtracefs would read all of kallsyms for them.) */
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
	uint64_t *last; /* of each CPU: time of its last event */
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
	/* At an unknown time: nothing of it can be trusted. */
	if (!ret && k->missed)
		ret = gp_trace_lost(trace, 0, UINT64_MAX, k->missed);
	return ret ? ret : gp_trace_end(trace);
}
