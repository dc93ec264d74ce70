/* SPDX-License-Identifier: GPL-2.0-only */
/* Where preemption time goes: the driver's functions, from the kernel's trace. */
#ifndef CTL_TRACE_H
#define CTL_TRACE_H

#include <gpreempt/select.h>

#include "ctl/command/ctl.h"
#include "lib/amdlog/amdlog.h"
#include "lib/trace/trace.h"
#include "output/table.h"

/* A page of the kernel's ring buffer, in the order of reading. */
struct trace_page {
	unsigned int cpu;
	off_t offset; /* in the spool */
};

/* An instance of our own below the kernel's tracing directory. */
struct trace_kernel {
	char name[48]; /* of the instance and of our group of events */
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
	char *comms;	 /* "TID NAME" lines, of those that are in it */
};

/*
 * Make it, after what our killed predecessors left is removed, and begin.
 * 0, or the exit status after saying why not; nothing is left then.
 */
int trace_kernel_begin(struct gpreempt *g, struct trace_kernel *k);
/* Take what the kernel has; often enough, or it overwrites the oldest. */
void trace_spool_drain(struct trace_kernel *k);
/* No more events. The files that describe them are still there. */
void trace_kernel_stop(struct trace_kernel *k);
/* Leave the tracing directory as it was found. Also after a failure. */
void trace_kernel_end(struct trace_kernel *k);

#define TRACE_EVENT_NAME 64
/* Of the event at the entry of a function, or at its return. */
void trace_event_name(size_t function, bool leave, char *name);

/* Which functions the running kernel's amdgpu has. 0 or -errno. */
int trace_find_symbols(bool *found);
/* Does amdgpu stand alone, as a module? Its symbols need its name then. */
bool trace_is_module(void);

/* A file for the pages, and one reader a CPU. 0 or -errno. */
int trace_spool_open(struct trace_kernel *k);
void trace_spool_close(struct trace_kernel *k);

/* Before trace_kernel_end(): the pages as events. 0 or -errno. */
int trace_read(struct trace_kernel *k, struct gp_trace *trace);
/* The same for trace-cmd and KernelShark. 0 or -errno. */
int trace_write_dat(const struct trace_kernel *k, const char *path);

struct trace_packets {
	struct gp_amdlog_packet *items;
	size_t count;
	uint64_t dropped;  /* packets more than are kept */
	uint64_t problems; /* lines */
	uint64_t files;
};

/* All that a trace is, when it is over. */
struct trace_report {
	const struct gp_trace_data *data;
	const struct trace_kernel *kernel;
	struct gpreempt_target *targets; /* that suspends can be about */
	size_t n_targets;
	struct trace_packets packets; /* of the command's AMD log */
	uint64_t duration_ns;
};

bool trace_is_target(const struct trace_report *r, int64_t pid);
/* Name of a thread, or NULL; for free(). */
char *trace_comm(const struct trace_kernel *k, int64_t tid);

/* Chrome's format, which Perfetto's UI opens. 0 or -errno. */
int trace_write_timeline(const struct trace_report *r, const char *path);

/* In the child: where its AMD log goes, if a level is asked for. */
void trace_log_set(const char *dir, uint64_t level);
void trace_log_read(const char *dir, struct trace_packets *packets);

/* A new directory. 0, or the exit status. */
int trace_make_dir(const char *dir);
/* What -o gets: a file, or all that belongs to a command. The same. */
int trace_write_files(const struct trace_report *r, const char *name);
int trace_write_dir(const struct trace_report *r, const char *dir);

struct json_object *trace_json(const struct trace_report *r);
void trace_print(enum out_mode mode, const struct trace_report *r);

#endif
