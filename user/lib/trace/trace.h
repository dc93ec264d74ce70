/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the time of a suspend goes: events of the driver's own functions, put together to
 * operations with their phases. Nothing here reads the kernel's trace; the caller gives the
 * events, in any order. One thread at a time for each handle.
 */
#ifndef GP_TRACE_H
#define GP_TRACE_H

#include <gpreempt/core.h>

/* What a call of the debug-trap ioctl does. */
enum gp_trace_kind {
	GP_TRACE_ATTACH, /* a debug session begins */
	GP_TRACE_SUSPEND,
	GP_TRACE_RESUME,
	GP_TRACE_DETACH, /* it ends; what is suspended is resumed */
	GP_TRACE_KINDS,
};

/* Parts of such a call, in their order. */
enum gp_trace_phase {
	GP_TRACE_LOCK,	/* until the process's lock is had */
	GP_TRACE_UNMAP, /* the packets that take queues off are sent */
	GP_TRACE_FENCE, /* until the hardware has done so */
	GP_TRACE_MAP,	/* the new run list is sent */
	GP_TRACE_COPY,	/* headers of the saved contexts */
	GP_TRACE_OTHER, /* the rest */
	GP_TRACE_TOTAL, /* from entry to return */
	GP_TRACE_PHASES,
};

/* The words for them. */
extern const char *const gp_trace_kinds[GP_TRACE_KINDS];
extern const char *const gp_trace_phases[GP_TRACE_PHASES];

#define GP_TRACE_ARGS 2

/* A function of the driver to trace. */
struct gp_trace_function {
	const char *symbol;
	/* What the time in it counts for, or GP_TRACE_PHASES. */
	enum gp_trace_phase phase;
	/* At its entry, fetched as a probe event of the kernel's does it. */
	struct {
		const char *name; /* NULL behind the last */
		const char *fetch;
	} args[GP_TRACE_ARGS];
	bool needed; /* without it there is no result */
};

/* The functions, by number; of those that mean more than a phase: */
enum {
	GP_TRACED_IOCTL,   /* pid, operation */
	GP_TRACED_SUSPEND, /* address of the stack */
	GP_TRACED_RESUME,
	GP_TRACED_COPY, /* address of the work, on that stack */
	GP_TRACED_PACKETS,
	GP_TRACE_FUNCTIONS = GP_TRACED_PACKETS + 6,
};

extern const struct gp_trace_function gp_trace_functions[GP_TRACE_FUNCTIONS];

/* Of the ioctl's operation; GP_TRACE_KINDS: one that is not traced. */
enum gp_trace_kind gp_trace_kind(uint64_t operation);

/* A function is entered or left. */
struct gp_trace_event {
	uint64_t ns;
	int64_t tid;
	unsigned int cpu;
	unsigned int function; /* its number */
	bool leave;
	uint64_t args[GP_TRACE_ARGS]; /* at its entry, as the table has them */
	int64_t ret;		      /* what it returned */
};

/* A call of the ioctl. */
struct gp_trace_op {
	enum gp_trace_kind kind;
	int64_t tid; /* thread that called it */
	int64_t pid; /* of the process that it is about, as the caller counts */
	uint64_t begin_ns;
	uint64_t end_ns;
	/* GPREEMPT_UNKNOWN where there was no such phase. */
	int64_t phase_ns[GP_TRACE_PHASES];
	int64_t ret;
	/* All of it is in the trace; else the times cannot be trusted. */
	bool whole;
	uint64_t stack; /* while it is in suspend_queues(), else 0 */
};

#define GP_TRACE_NO_OP SIZE_MAX

/* A call of a function. */
struct gp_trace_slice {
	unsigned int function;
	int64_t tid;
	unsigned int cpu; /* where it began */
	uint64_t begin_ns;
	uint64_t end_ns;
	size_t op; /* index of the operation, or GP_TRACE_NO_OP */
};

/* What the events come to. */
struct gp_trace_data {
	struct gp_trace_op *ops; /* by the time of their entry */
	size_t n_ops;
	/* Likewise; only those whose entry and return were seen. */
	struct gp_trace_slice *slices;
	size_t n_slices;
	uint64_t events;   /* that were given */
	uint64_t refused;  /* of them, those that make no sense */
	uint64_t unpaired; /* entries without return, returns without entry */
	uint64_t lost;	   /* events that the kernel did not keep */
};

struct gp_trace;

int gp_trace_new(struct gp_trace **out); /* 0 or -ENOMEM */
/* With all that it gave out. */
void gp_trace_free(struct gp_trace *trace);

/* One event more. 0 or -ENOMEM. */
int gp_trace_add(struct gp_trace *trace, const struct gp_trace_event *event);

/*
 * The kernel did not keep @count events (0: some) after one time and before
 * another. Operations of that time are not whole. 0 or -ENOMEM.
 */
int gp_trace_lost(struct gp_trace *trace, uint64_t from_ns, uint64_t to_ns, uint64_t count);

/* That was all, once. 0 or -ENOMEM. */
int gp_trace_end(struct gp_trace *trace);

/* What it comes to, after the end. */
const struct gp_trace_data *gp_trace_get(const struct gp_trace *trace);

#endif
