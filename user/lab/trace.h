/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time of a suspend by phases: events of the driver's own functions, put together to operations.
 * Nothing here reads the kernel's trace; the caller gives the events, in any order. One thread
 * at a time for each handle.
 */
#ifndef LAB_TRACE_H
#define LAB_TRACE_H

#include <kbuffer.h>
#include <tracefs.h>

#include <gpreempt/core.h>
#include <gpreempt/select.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "amdlog.h"

/* Operations of the debug-trap ioctl. */
enum gp_trace_kind {
	GP_TRACE_ATTACH, /* a debug session begins */
	GP_TRACE_SUSPEND,
	GP_TRACE_RESUME,
	GP_TRACE_DETACH, /* the session ends; its queues are resumed */
	GP_TRACE_KINDS,
};

/* Parts of such a call, in their order. */
enum gp_trace_phase {
	GP_TRACE_LOCK,	/* until the process's lock is had */
	GP_TRACE_UNMAP, /* the packets that take queues off are sent */
	GP_TRACE_FENCE, /* until the hardware has done so */
	GP_TRACE_MAP,	/* the new run list is sent */
	GP_TRACE_COPY,	/* headers of the saved contexts */
	GP_TRACE_OTHER, /* rest of the time */
	GP_TRACE_TOTAL, /* from entry to return */
	GP_TRACE_PHASES,
};

/* Words for the kinds and the phases. */
extern const char *const gp_trace_kinds[GP_TRACE_KINDS];
extern const char *const gp_trace_phases[GP_TRACE_PHASES];

#define GP_TRACE_ARGS 2

/* A function of the driver to trace. */
struct gp_trace_function {
	const char *symbol;
	/* Phase for which the time in it counts, or GP_TRACE_PHASES. */
	enum gp_trace_phase phase;
	/* Arguments at its entry, in the form of the kernel's probe events. */
	struct {
		const char *name; /* NULL behind the last */
		const char *fetch;
	} args[GP_TRACE_ARGS];
	bool needed; /* without it there is no result */
};

/* Functions by number; these mean more than a phase: */
enum {
	GP_TRACED_IOCTL,   /* pid, operation */
	GP_TRACED_SUSPEND, /* address of the stack */
	GP_TRACED_RESUME,
	GP_TRACED_COPY, /* address of the work, on that stack */
	GP_TRACED_PACKETS,
	GP_TRACE_FUNCTIONS = GP_TRACED_PACKETS + 6,
};

extern const struct gp_trace_function gp_trace_functions[GP_TRACE_FUNCTIONS];

/* Returns the kind of the ioctl's operation; GP_TRACE_KINDS: it is not traced. */
enum gp_trace_kind gp_trace_kind(uint64_t operation);

/* A function is entered or left. */
struct gp_trace_event {
	uint64_t ns;
	int64_t tid;
	unsigned int cpu;
	unsigned int function; /* its number */
	bool leave;
	uint64_t args[GP_TRACE_ARGS]; /* arguments at its entry, in the table's order */
	int64_t ret;		      /* returned value */
};

/* A call of the ioctl. */
struct gp_trace_op {
	enum gp_trace_kind kind;
	int64_t tid; /* thread that called it */
	int64_t pid; /* process that it is about, by the caller's PIDs */
	uint64_t begin_ns;
	uint64_t end_ns;
	/* GPREEMPT_UNKNOWN where there was no such phase. */
	int64_t phase_ns[GP_TRACE_PHASES];
	int64_t ret;
	/* The trace has all of it; else the times cannot be trusted. */
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

/* Result of the events. */
struct gp_trace_data {
	struct gp_trace_op *ops; /* by the time of their entry */
	size_t n_ops;
	/* Slices by the time of their entry; only those whose entry and return were seen. */
	struct gp_trace_slice *slices;
	size_t n_slices;
	uint64_t events;   /* events that were given */
	uint64_t refused;  /* events that make no sense */
	uint64_t unpaired; /* entries without return, returns without entry */
	uint64_t lost;	   /* events that the kernel did not keep */
};

struct gp_trace;

struct gp_trace *gp_trace_new(void);
/* Free the trace and its data. */
void gp_trace_free(struct gp_trace *trace);

/* Add an event. */
void gp_trace_add(struct gp_trace *trace, const struct gp_trace_event *event);

/*
 * The kernel did not keep @count events (0: some) after one time and before
 * another. Operations of that time are not whole.
 */
void gp_trace_lost(struct gp_trace *trace, uint64_t from_ns, uint64_t to_ns, uint64_t count);

/* End the trace, once. */
void gp_trace_end(struct gp_trace *trace);

/* Returns the result, after the end. */
const struct gp_trace_data *gp_trace_get(const struct gp_trace *trace);

/* Trace of preemption time: the driver's functions, in the kernel's trace. */

/* A page of the kernel's ring buffer, in the order of reading. */
struct trace_page {
	unsigned int cpu;
	off_t offset; /* in the spool */
};

/* An instance of our own below the kernel's tracing directory. */
struct trace_kernel {
	char name[48]; /* name of the instance and of our group of events */
	struct tracefs_instance *instance;
	struct tracefs_dynevent *events[2 * GP_TRACE_FUNCTIONS];
	bool traced[GP_TRACE_FUNCTIONS];
	int *fds; /* a CPU's pages */
	unsigned int cpus;
	size_t page_size;
	int spool; /* file with the pages read so far */
	struct trace_page *pages;
	size_t n_pages;
	bool full;	 /* the spool could not be written */
	uint64_t missed; /* calls that the probes did not see */
	char *comms;	 /* "TID NAME" lines of the threads in the trace */
};

/* Take the kernel's pages; call it often, or the kernel overwrites the oldest. */
void trace_spool_drain(struct trace_kernel *k);

/*
 * Make the instance, after the leftovers of killed predecessors are removed, and begin. 0, or
 * the exit status after a message; nothing is left then.
 */
int trace_kernel_begin(struct gpreempt *g, struct trace_kernel *k);
/* No more events come. The files that describe them are still there. */
void trace_kernel_stop(struct trace_kernel *k);
/* Leave the tracing directory as it was found. Also after a failure. */
void trace_kernel_end(struct trace_kernel *k);

/* Read the pages as events, before trace_kernel_end(). 0 or -errno. */
int trace_read(struct trace_kernel *k, struct gp_trace *trace);

struct trace_packets {
	struct gp_amdlog_packet *items;
	size_t count;
	uint64_t dropped;  /* packets more than are kept */
	uint64_t problems; /* lines */
	uint64_t files;
};

/* Data of a trace that is over. */
struct trace_report {
	const struct gp_trace_data *data;
	const struct trace_kernel *kernel;
	struct gpreempt_target *targets; /* targets that suspends can be about */
	size_t n_targets;
	struct trace_packets packets; /* packets in the AMD log of the command that trace started */
	uint64_t duration_ns;
};

bool trace_is_target(const struct trace_report *r, int64_t pid);
/* Name of a thread, or NULL; for free(). */
char *trace_comm(const struct trace_kernel *k, int64_t tid);

/* Chrome's format, which Perfetto's UI opens. 0 or -errno. */
int trace_write_timeline(const struct trace_report *r, const char *path);

/* Set the place of the AMD log in the child, if a level is asked for. */
void trace_log_set(const char *dir, uint64_t level);
void trace_log_read(const char *dir, struct trace_packets *packets);

void trace_print(enum out_mode mode, const struct trace_report *r);

#endif
