// SPDX-License-Identifier: LGPL-2.1-or-later
/* Phases of a suspend: the driver's functions. */
#include <linux/kfd_ioctl.h>
#include <stdlib.h>

#include "shared/util.h"
#include "trace.h"

/* How the first arguments of the ioctl are fetched; uapi, so they stay there. */
_Static_assert(offsetof(struct kfd_ioctl_dbg_trap_args, pid) == 0, "pid");
_Static_assert(offsetof(struct kfd_ioctl_dbg_trap_args, op) == 4, "op");

const struct gp_trace_function gp_trace_functions[GP_TRACE_FUNCTIONS] = {
	[GP_TRACED_IOCTL] = {
		.symbol = "kfd_ioctl_set_debug_trap",
		.phase = GP_TRACE_PHASES,
		.args = { { "pid", "+0($arg3):u32" }, { "op", "+4($arg3):u32" } },
		.needed = true,
	},
	[GP_TRACED_SUSPEND] = {
		.symbol = "suspend_queues",
		.phase = GP_TRACE_PHASES,
		.args = { { "stack", "$stack:x64" } },
	},
	[GP_TRACED_RESUME] = { .symbol = "resume_queues", .phase = GP_TRACE_PHASES },
	[GP_TRACED_COPY] = {
		.symbol = "copy_context_work_handler",
		.phase = GP_TRACE_COPY,
		.args = { { "work", "$arg1:x64" } },
	},
	[GP_TRACED_PACKETS] = { .symbol = "pm_send_unmap_queue", .phase = GP_TRACE_UNMAP },
	{ .symbol = "pm_send_query_status", .phase = GP_TRACE_UNMAP },
	{ .symbol = "amdkfd_fence_wait_timeout", .phase = GP_TRACE_FENCE },
	{ .symbol = "pm_send_runlist", .phase = GP_TRACE_MAP },
	/* GPUs of gfx11 and later: these two wait for the hardware, too. */
	{ .symbol = "remove_queue_mes", .phase = GP_TRACE_UNMAP },
	{ .symbol = "add_queue_mes", .phase = GP_TRACE_MAP },
};

const char *const gp_trace_kinds[GP_TRACE_KINDS] = {
	[GP_TRACE_ATTACH] = "attach",
	[GP_TRACE_SUSPEND] = "suspend",
	[GP_TRACE_RESUME] = "resume",
	[GP_TRACE_DETACH] = "detach",
};

const char *const gp_trace_phases[GP_TRACE_PHASES] = {
	[GP_TRACE_LOCK] = "lock",   [GP_TRACE_UNMAP] = "unmap", [GP_TRACE_FENCE] = "fence",
	[GP_TRACE_MAP] = "map",	    [GP_TRACE_COPY] = "copy",	[GP_TRACE_OTHER] = "other",
	[GP_TRACE_TOTAL] = "total",
};

enum gp_trace_kind gp_trace_kind(uint64_t operation)
{
	switch (operation) {
	case KFD_IOC_DBG_TRAP_ENABLE:
		return GP_TRACE_ATTACH;
	case KFD_IOC_DBG_TRAP_SUSPEND_QUEUES:
		return GP_TRACE_SUSPEND;
	case KFD_IOC_DBG_TRAP_RESUME_QUEUES:
		return GP_TRACE_RESUME;
	case KFD_IOC_DBG_TRAP_DISABLE:
		return GP_TRACE_DETACH;
	default:
		return GP_TRACE_KINDS;
	}
}

/* Events of the driver's functions, put together to operations. */

/*
 * suspend_queues() has the work that copies the contexts on its own stack,
 * which is at most so large, and grows downwards.
 */
#define STACK_MAX 65536

/* A thread, and the calls that it is in. */
struct thread {
	int64_t tid;
	size_t op;			 /* or GP_TRACE_NO_OP */
	size_t open[GP_TRACE_FUNCTIONS]; /* index of the slice + 1 */
};

/* Time of which events are missing. */
struct gap {
	uint64_t from;
	uint64_t to;
};

/* An event with its place, which decides between equal times. */
struct item {
	struct gp_trace_event event;
	size_t place;
};

struct gp_trace {
	SHR_ARRAY(struct item, events);
	SHR_ARRAY(struct gap, gaps);
	SHR_ARRAY(struct thread, threads);
	struct gp_trace_data data;
};

struct gp_trace *gp_trace_new(void)
{
	return shr_must(calloc(1, sizeof(struct gp_trace)));
}

void gp_trace_free(struct gp_trace *trace)
{
	if (!trace)
		return;
	free(trace->events.items);
	free(trace->gaps.items);
	free(trace->threads.items);
	free(trace->data.ops);
	free(trace->data.slices);
	free(trace);
}

void gp_trace_add(struct gp_trace *trace, const struct gp_trace_event *event)
{
	struct item *item;

	trace->data.events++;
	if (event->function >= GP_TRACE_FUNCTIONS || event->ns > INT64_MAX) {
		trace->data.refused++;
		return;
	}
	item = shr_must(shr_add(&trace->events));
	item->event = *event;
	item->place = trace->events.count;
}

void gp_trace_lost(struct gp_trace *trace, uint64_t from_ns, uint64_t to_ns, uint64_t count)
{
	struct gap *gap = shr_must(shr_add(&trace->gaps));

	gap->from = from_ns;
	gap->to = to_ns;
	trace->data.lost += count ? count : 1;
}

static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->event.ns != y->event.ns)
		return x->event.ns < y->event.ns ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

/* Make one entry for each thread, by its number. */
static void make_threads(struct gp_trace *t)
{
	const struct item *items = t->events.items;
	struct thread *threads;
	size_t i, n = 0;

	if (shr_array_room(&t->threads.items, t->threads.count, t->events.count, sizeof(*threads)))
		abort();
	threads = t->threads.items;
	for (i = 0; i < t->events.count; i++)
		if (!n || threads[n - 1].tid != items[i].event.tid)
			threads[n++] = (struct thread){
				.tid = items[i].event.tid,
				.op = GP_TRACE_NO_OP,
			};
	if (n)
		qsort(threads, n, sizeof(*threads), shr_compare_first);
	t->threads.count = n ? 1 : 0;
	for (i = 1; i < n; i++)
		if (threads[i].tid != threads[i - 1].tid)
			threads[t->threads.count++] = threads[i];
}

static struct gp_trace_op *op_at(struct gp_trace *t, size_t op)
{
	return op == GP_TRACE_NO_OP ? NULL : t->data.ops + op;
}

/* An entry or a return is missing. */
static void unpaired(struct gp_trace *t, size_t op)
{
	struct gp_trace_op *o = op_at(t, op);

	t->data.unpaired++;
	if (o)
		o->whole = false;
}

static void begin_op(struct gp_trace *t, struct thread *thread, const struct gp_trace_event *event)
{
	enum gp_trace_kind kind = gp_trace_kind(event->args[1]);
	struct gp_trace_op *op;
	unsigned int i;

	thread->op = GP_TRACE_NO_OP;
	if (kind == GP_TRACE_KINDS)
		return;
	op = shr_must(shr_array_add(&t->data.ops, &t->data.n_ops, sizeof(*op)));
	thread->op = t->data.n_ops - 1;
	op->kind = kind;
	op->tid = event->tid;
	op->pid = event->args[0];
	op->begin_ns = event->ns;
	op->end_ns = event->ns;
	op->whole = true;
	for (i = 0; i < GP_TRACE_PHASES; i++)
		op->phase_ns[i] = GPREEMPT_UNKNOWN;
}

static void add_phase(struct gp_trace_op *op, enum gp_trace_phase phase, uint64_t ns)
{
	int64_t *sum = &op->phase_ns[phase];

	if (*sum == GPREEMPT_UNKNOWN)
		*sum = 0;
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}

/* The ioctl has found its process and holds its lock. */
static void got_lock(struct gp_trace *t, struct thread *thread, const struct gp_trace_event *event)
{
	struct gp_trace_op *op = op_at(t, thread->op);

	if (!op)
		return;
	if (op->kind == GP_TRACE_SUSPEND || op->kind == GP_TRACE_RESUME)
		add_phase(op, GP_TRACE_LOCK, event->ns - op->begin_ns);
	if (event->function == GP_TRACED_SUSPEND)
		op->stack = event->args[0];
}

/* Find the owner of the work: another thread does it, but it lies on the owner's stack. */
static size_t op_of_work(struct gp_trace *t, uint64_t work)
{
	const struct thread *thread = t->threads.items;
	size_t i;

	for (i = 0; i < t->threads.count; i++, thread++) {
		const struct gp_trace_op *op = op_at(t, thread->op);

		if (op && work < op->stack && op->stack - work < STACK_MAX)
			return thread->op;
	}
	return GP_TRACE_NO_OP;
}

static void enter(struct gp_trace *t, struct thread *thread, const struct gp_trace_event *event)
{
	size_t *open = &thread->open[event->function];
	struct gp_trace_slice *slice;

	if (*open) {
		slice = t->data.slices + *open - 1;
		unpaired(t, slice->op);
	}
	if (event->function == GP_TRACED_IOCTL)
		begin_op(t, thread, event);
	if (event->function == GP_TRACED_SUSPEND || event->function == GP_TRACED_RESUME)
		got_lock(t, thread, event);
	slice = shr_must(shr_array_add(&t->data.slices, &t->data.n_slices, sizeof(*slice)));
	*slice = (struct gp_trace_slice){
		.function = event->function,
		.tid = event->tid,
		.cpu = event->cpu,
		.begin_ns = event->ns,
		.op = event->function == GP_TRACED_COPY ? op_of_work(t, event->args[0]) :
							  thread->op,
	};
	*open = t->data.n_slices;
}

/* End an operation. The phases are parts of the whole; OTHER gets the rest. */
static void end_op(struct gp_trace *t, struct thread *thread, const struct gp_trace_event *event)
{
	struct gp_trace_op *op = op_at(t, thread->op);
	int64_t left;
	unsigned int i;

	thread->op = GP_TRACE_NO_OP;
	if (!op)
		return;
	op->end_ns = event->ns;
	op->ret = event->ret;
	left = op->end_ns - op->begin_ns;
	op->phase_ns[GP_TRACE_TOTAL] = left;
	for (i = 0; i < GP_TRACE_OTHER; i++) {
		if (op->phase_ns[i] > left) {
			op->whole = false;
			left = 0;
		} else if (op->phase_ns[i] != GPREEMPT_UNKNOWN) {
			left -= op->phase_ns[i];
		}
	}
	op->phase_ns[GP_TRACE_OTHER] = left;
}

/* End the calls that did not return before the call around them did. */
static void close_inner(struct gp_trace *t, struct thread *thread)
{
	struct gp_trace_slice *slices = t->data.slices;
	size_t i;

	for (i = 0; i < GP_TRACE_FUNCTIONS; i++) {
		size_t open = thread->open[i];

		if (!open || slices[open - 1].op != thread->op || thread->op == GP_TRACE_NO_OP)
			continue;
		unpaired(t, thread->op);
		thread->open[i] = 0;
	}
}

static void leave(struct gp_trace *t, struct thread *thread, const struct gp_trace_event *event)
{
	size_t *open = &thread->open[event->function];
	struct gp_trace_slice *slice;
	enum gp_trace_phase phase;
	struct gp_trace_op *op;

	if (!*open) {
		unpaired(t, thread->op);
		return;
	}
	slice = t->data.slices + *open - 1;
	slice->end_ns = event->ns;
	*open = 0;
	op = op_at(t, slice->op);
	phase = gp_trace_functions[event->function].phase;
	if (op && phase != GP_TRACE_PHASES)
		add_phase(op, phase, slice->end_ns - slice->begin_ns);
	if (op && event->function == GP_TRACED_SUSPEND)
		op->stack = 0;
	if (event->function == GP_TRACED_IOCTL) {
		close_inner(t, thread);
		end_op(t, thread, event);
	}
}

/* Drop the calls that have no end in the trace. */
static void close_all(struct gp_trace *t)
{
	struct gp_trace_op *ops = t->data.ops;
	struct gp_trace_slice *slices = t->data.slices;
	size_t i, n = 0;

	for (i = 0; i < t->data.n_ops; i++)
		if (ops[i].phase_ns[GP_TRACE_TOTAL] == GPREEMPT_UNKNOWN)
			ops[i].whole = false;
	for (i = 0; i < t->data.n_slices; i++) {
		if (!slices[i].end_ns)
			continue;
		slices[n++] = slices[i];
	}
	t->data.n_slices = n;
	for (i = 0; i < t->threads.count; i++) {
		struct thread *thread = t->threads.items + i;
		size_t f;

		for (f = 0; f < GP_TRACE_FUNCTIONS; f++)
			t->data.unpaired += !!thread->open[f];
	}
}

/* Operations of a time of which events are missing. */
static void apply_gaps(struct gp_trace *t)
{
	struct gp_trace_op *ops = t->data.ops;
	struct gap *gaps = t->gaps.items;
	uint64_t reach = 0;
	size_t i, at = 0;

	if (!t->gaps.count)
		return;
	qsort(gaps, t->gaps.count, sizeof(*gaps), shr_compare_first);
	/* Make each gap reach as far as all before it. */
	for (i = 0; i < t->gaps.count; i++) {
		if (gaps[i].to < reach)
			gaps[i].to = reach;
		reach = gaps[i].to;
	}
	for (i = 0; i < t->data.n_ops; i++) {
		while (at < t->gaps.count && gaps[at].to < ops[i].begin_ns)
			at++;
		if (at < t->gaps.count && gaps[at].from <= ops[i].end_ns)
			ops[i].whole = false;
	}
}

void gp_trace_end(struct gp_trace *t)
{
	struct item *items = t->events.items;
	size_t i;

	if (t->events.count)
		qsort(items, t->events.count, sizeof(*items), by_time);
	make_threads(t);
	for (i = 0; i < t->events.count; i++) {
		struct thread key = { .tid = items[i].event.tid };
		struct thread *thread = bsearch(&key, t->threads.items, t->threads.count,
						sizeof(key), shr_compare_first);

		if (items[i].event.leave)
			leave(t, thread, &items[i].event);
		else
			enter(t, thread, &items[i].event);
	}
	close_all(t);
	apply_gaps(t);
}

const struct gp_trace_data *gp_trace_get(const struct gp_trace *trace)
{
	return &trace->data;
}
