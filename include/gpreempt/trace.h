/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the time of a suspend goes: events of the driver's own functions, put
 * together to operations with their phases. Nothing here reads the kernel's
 * trace; the caller gives the events, in any order. One thread at a time for
 * each handle.
 */
#ifndef GPREEMPT_TRACE_H
#define GPREEMPT_TRACE_H

#include <gpreempt/core.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** enum gpreempt_trace_kind - what a call of the debug-trap ioctl does */
enum gpreempt_trace_kind {
	GPREEMPT_TRACE_ATTACH, /* a debug session begins */
	GPREEMPT_TRACE_SUSPEND,
	GPREEMPT_TRACE_RESUME,
	GPREEMPT_TRACE_DETACH, /* it ends; what is suspended is resumed */
	GPREEMPT_TRACE_KINDS,
};

/** enum gpreempt_trace_phase - parts of such a call, in their order */
enum gpreempt_trace_phase {
	GPREEMPT_TRACE_LOCK,  /* until the process's lock is had */
	GPREEMPT_TRACE_UNMAP, /* the packets that take queues off are sent */
	GPREEMPT_TRACE_FENCE, /* until the hardware has done so */
	GPREEMPT_TRACE_MAP,   /* the new run list is sent */
	GPREEMPT_TRACE_COPY,  /* headers of the saved contexts */
	GPREEMPT_TRACE_OTHER, /* the rest */
	GPREEMPT_TRACE_TOTAL, /* from entry to return */
	GPREEMPT_TRACE_PHASES,
};

#define GPREEMPT_TRACE_ARGS 2

/**
 * struct gpreempt_trace_function - a function of the driver to trace
 * @symbol: its name
 * @phase: what the time in it counts for, or GPREEMPT_TRACE_PHASES
 * @args: at its entry; up to one without a name
 * @needed: without it there is no result
 *
 * An argument is fetched as a probe event of the kernel's tracing does it.
 */
struct gpreempt_trace_function {
	const char *symbol;
	enum gpreempt_trace_phase phase;
	struct {
		const char *name;
		const char *fetch;
	} args[GPREEMPT_TRACE_ARGS];
	bool needed;
};

/** gpreempt_trace_function() - Return: the nth, NULL behind the last. Any thread. */
const struct gpreempt_trace_function *gpreempt_trace_function(size_t n);

/** gpreempt_trace_kind_name() - Return: a word. Any thread. */
const char *gpreempt_trace_kind_name(enum gpreempt_trace_kind kind);

/** gpreempt_trace_phase_name() - Return: a word. Any thread. */
const char *gpreempt_trace_phase_name(enum gpreempt_trace_phase phase);

/**
 * struct gpreempt_trace_event - a function is entered or left
 * @ns: time
 * @tid: thread
 * @cpu: where
 * @function: its number
 * @leave: it is left
 * @args: at its entry, as its entry in the table has them
 * @ret: what it returned
 * @reserved: 0; a later release may use it
 */
struct gpreempt_trace_event {
	uint64_t ns;
	int64_t tid;
	unsigned int cpu;
	unsigned int function;
	bool leave;
	uint64_t args[GPREEMPT_TRACE_ARGS];
	int64_t ret;
	uint64_t reserved[4];
};

/**
 * struct gpreempt_trace_op - a call of the ioctl
 * @kind: what it does
 * @tid: thread that called it
 * @pid: of the process that it is about, as the caller counts
 * @begin_ns: entry
 * @end_ns: return
 * @phase_ns: unknown where there was no such phase
 * @ret: what it returned
 * @whole: all of it is in the trace; else the times cannot be trusted
 * @reserved: 0; a later release may use it
 */
struct gpreempt_trace_op {
	enum gpreempt_trace_kind kind;
	int64_t tid;
	int64_t pid;
	uint64_t begin_ns;
	uint64_t end_ns;
	int64_t phase_ns[GPREEMPT_TRACE_PHASES];
	int64_t ret;
	bool whole;
	uint64_t reserved[4];
};

/** GPREEMPT_TRACE_NO_OP - the slice belongs to no operation */
#define GPREEMPT_TRACE_NO_OP SIZE_MAX

/**
 * struct gpreempt_trace_slice - a call of a function
 * @function: its number
 * @tid: thread
 * @cpu: where it began
 * @begin_ns: entry
 * @end_ns: return
 * @op: index of the operation, or GPREEMPT_TRACE_NO_OP
 * @reserved: 0; a later release may use it
 */
struct gpreempt_trace_slice {
	unsigned int function;
	int64_t tid;
	unsigned int cpu;
	uint64_t begin_ns;
	uint64_t end_ns;
	size_t op;
	uint64_t reserved[4];
};

/**
 * struct gpreempt_trace_data - what the events come to
 * @ops: by the time of their entry
 * @slices: likewise; only those whose entry and return were seen
 * @events: that were given
 * @refused: of them, those that make no sense
 * @unpaired: entries without return, returns without entry
 * @lost: events that the kernel did not keep
 */
struct gpreempt_trace_data {
	const struct gpreempt_trace_op *ops;
	size_t n_ops;
	const struct gpreempt_trace_slice *slices;
	size_t n_slices;
	uint64_t events;
	uint64_t refused;
	uint64_t unpaired;
	uint64_t lost;
};

struct gpreempt_trace;

/** gpreempt_trace_new() - an empty trace. Return: 0 or -ENOMEM */
int gpreempt_trace_new(struct gpreempt_trace **out);

/** gpreempt_trace_free() - with all that it gave out; NULL is fine */
void gpreempt_trace_free(struct gpreempt_trace *trace);

/** gpreempt_trace_add() - one event more. Return: 0 or -ENOMEM */
int gpreempt_trace_add(struct gpreempt_trace *trace,
		       const struct gpreempt_trace_event *event);

/**
 * gpreempt_trace_lost() - the kernel did not keep some events
 * @from_ns: after that time
 * @to_ns: and before this one
 * @count: how many, 0: some
 *
 * Operations of that time are not whole. Return: 0 or -ENOMEM
 */
int gpreempt_trace_lost(struct gpreempt_trace *trace, uint64_t from_ns,
			uint64_t to_ns, uint64_t count);

/** gpreempt_trace_end() - that was all, once. Return: 0 or -ENOMEM */
int gpreempt_trace_end(struct gpreempt_trace *trace);

/** gpreempt_trace_get() - Return: what it comes to, after the end */
const struct gpreempt_trace_data *
gpreempt_trace_get(struct gpreempt_trace *trace);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
