/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libgpreempt: see the GPU queues of a process, and take them off the GPU for
 * a while, through the debug interface of the amdgpu driver.
 *
 * Functions that can fail return 0 (or a count) or a negative errno value, and
 * leave their output arguments alone when they fail, unless stated otherwise.
 * The library prints nothing, never exits, installs no signal handler and has
 * no state but what its handles hold.
 *
 * Threads: a handle is used by one thread at a time. A session is bound to the
 * thread that opened it, because the driver answers only the thread that
 * traces the process: that thread makes every call on the session.
 */
#ifndef GPREEMPT_GPREEMPT_H
#define GPREEMPT_GPREEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** GPREEMPT_UNKNOWN - value of a queue's field that could not be learnt */
#define GPREEMPT_UNKNOWN (-1)

/* Errors. */

/** enum gpreempt_class - kinds of failures; exit statuses of gpreempt-ctl */
enum gpreempt_class {
	GPREEMPT_CLASS_DONE = 0,
	GPREEMPT_CLASS_FAILED = 1,
	GPREEMPT_CLASS_USAGE = 2,
	GPREEMPT_CLASS_UNSUPPORTED = 3,
	GPREEMPT_CLASS_PERMISSION = 4,
	GPREEMPT_CLASS_NO_TARGET = 5,
	GPREEMPT_CLASS_PARTIAL = 6,
	GPREEMPT_CLASS_BUSY = 7,
};

/** enum gpreempt_reason - why something could not be done */
enum gpreempt_reason {
	GPREEMPT_OK = 0,
	GPREEMPT_SYSTEM,	/* a system call failed: @step, @code */
	GPREEMPT_NOT_ROOT,
	GPREEMPT_NO_KFD,	/* no /dev/kfd */
	GPREEMPT_KFD_VERSION,	/* @major.@minor is not 1.13 or later */
	GPREEMPT_NO_HWS,	/* driver runs without its hardware scheduler */
	GPREEMPT_GPU_OLD,	/* a GPU of the process has no debug trap */
	GPREEMPT_PID_NAMESPACE,	/* not run in the host's PID namespace */
	GPREEMPT_NO_PROCESS,
	GPREEMPT_THREAD,	/* the number is a thread of @other */
	GPREEMPT_NOT_GPU,	/* no GPU process */
	GPREEMPT_NO_ADDRESS_SPACE,	/* on GPUs @name; kernels crash then */
	GPREEMPT_LEADER_GONE,	/* the process's first thread has ended */
	GPREEMPT_TRACED,	/* traced by @other, called @name */
	GPREEMPT_DEBUGGED,	/* somebody's debug session is open */
	GPREEMPT_TRACE_DENIED,	/* the kernel does not let us trace it */
	GPREEMPT_GWS_BUSY,	/* wave sync in use, or PC sampling */
	GPREEMPT_RUNTIME_OFF,	/* the process has not enabled the runtime */
	GPREEMPT_RUNTIME_BUSY,	/* the GPU's only debug VMID is taken */
	GPREEMPT_RUNTIME_ERROR,	/* activation of the debug trap failed */
	GPREEMPT_ENDED,		/* the process ended meanwhile */
	GPREEMPT_EXECED,	/* the process executed another program */
	GPREEMPT_LOST,		/* somebody else ended our debug session */
	GPREEMPT_BAD_TARGET,	/* @word is no target */
	GPREEMPT_BAD_PATTERN,	/* nor is that of @word a pattern: @name */
	GPREEMPT_NO_MATCH,	/* no GPU process is named by @word */
	GPREEMPT_MANY_CONTAINERS,	/* their ids begin as @word says */
	GPREEMPT_IS_HOLDER,	/* the process holds another one */
	GPREEMPT_REASON_COUNT,
};

/**
 * struct gpreempt_error - all that is known about a failure
 * @code: negative errno value, what the function returned
 * @reason: what it means
 * @pid: the process asked for
 * @other: another process or thread that is part of the reason
 * @major: KFD version found
 * @minor: KFD version found
 * @step: what was being done, never NULL after a failure
 * @name: name of @other, or GPUs
 * @word: the target, as the caller of gpreempt_select() gave it, or NULL
 */
struct gpreempt_error {
	int code;
	enum gpreempt_reason reason;
	pid_t pid;
	pid_t other;
	unsigned int major;
	unsigned int minor;
	const char *step;
	char name[32];
	const char *word;
};

/** gpreempt_error_class() - Return: the kind of failure that @err is */
enum gpreempt_class gpreempt_error_class(const struct gpreempt_error *err);

/** gpreempt_error_text() - the failure as a sentence; works as snprintf() */
int gpreempt_error_text(const struct gpreempt_error *err, char *buf,
			size_t size);

/** gpreempt_error_next() - what the user can do about it; as snprintf() */
int gpreempt_error_next(const struct gpreempt_error *err, char *buf,
			size_t size);

/* The library's handle. */

struct gpreempt;

/**
 * struct gpreempt_options - how to set up the library
 * @size: sizeof(struct gpreempt_options)
 * @log: gets notes about what the library does by itself, or NULL
 * @busy: called with true right before a call to the driver that can take
 *	seconds when the hardware hangs, and with false right after it, or NULL
 * @data: given to both
 */
struct gpreempt_options {
	size_t size;
	void (*log)(void *data, const char *text);
	void (*busy)(void *data, bool busy);
	void *data;
};

/** gpreempt_new() - get a handle; @options may be NULL. Any thread. */
int gpreempt_new(const struct gpreempt_options *options,
		 struct gpreempt **out);

/** gpreempt_free() - let go of a handle; NULL is allowed */
void gpreempt_free(struct gpreempt *g);

/** gpreempt_version() - Return: version of the library */
const char *gpreempt_version(void);

/* The view: the queues of a process, without touching it. */

enum gpreempt_queue_type {
	GPREEMPT_QUEUE_COMPUTE_AQL,
	GPREEMPT_QUEUE_COMPUTE_PM4,
	GPREEMPT_QUEUE_SDMA,
	GPREEMPT_QUEUE_SDMA_XGMI,
	GPREEMPT_QUEUE_COMPUTE,		/* AQL or PM4 */
};

/** gpreempt_queue_type_name() - Return: the word for a type, "-" if unknown */
const char *gpreempt_queue_type_name(int64_t type);

/**
 * struct gpreempt_queue - a queue; a field may be GPREEMPT_UNKNOWN
 * @qid: queue id, unique within the process
 * @gpu_id: KFD's number of the node that it is on
 * @type: enum gpreempt_queue_type
 * @priority: 0 to 15
 * @suspended: 1: held by the debug interface
 * @evicted: 1: the driver has taken it off for a while
 * @active: hardware slots that hold it now. It does not mean that the queue
 *	executes something.
 * @slots: hardware slots that it has when it is mapped
 * @age_ms: age of all this but @active, in ms
 */
struct gpreempt_queue {
	int64_t qid;
	int64_t gpu_id;
	int64_t type;
	int64_t priority;
	int64_t suspended;
	int64_t evicted;
	int64_t active;
	int64_t slots;
	int64_t age_ms;
};

enum gpreempt_source {
	GPREEMPT_SOURCE_MODULE,		/* gpreempt.ko: everything */
	GPREEMPT_SOURCE_SYSFS,		/* the driver: ids and types only */
};

/**
 * struct gpreempt_view - the queues of a process
 * @source: where they come from
 * @count: number of @queues
 * @queues: by queue id
 */
struct gpreempt_view {
	enum gpreempt_source source;
	size_t count;
	struct gpreempt_queue *queues;
};

/**
 * gpreempt_view_read() - read the queues of a process
 * @g: library
 * @pid: process, as the host counts
 * @out: gets the view, for gpreempt_view_free()
 * @err: or NULL; gets the reason
 *
 * With gpreempt.ko loaded everything is known; without it the driver's sysfs
 * files tell ids, GPUs and types.
 */
int gpreempt_view_read(struct gpreempt *g, pid_t pid,
		       struct gpreempt_view **out, struct gpreempt_error *err);

/**
 * gpreempt_view_parse() - take the text of the module's queues file apart
 * @text: text, need not be terminated
 * @len: its length
 * @out: gets the view, for gpreempt_view_free()
 *
 * Columns are found by name; unknown ones are skipped and missing ones are
 * GPREEMPT_UNKNOWN, except qid, which must be there.
 *
 * Return: 0, -EPROTO for another format or major version, -EINVAL for a line
 * that contradicts the format, -ENOMEM.
 */
int gpreempt_view_parse(const char *text, size_t len,
			struct gpreempt_view **out);

/** gpreempt_view_find() - Return: the queue with this id, or NULL */
const struct gpreempt_queue *
gpreempt_view_find(const struct gpreempt_view *view, uint32_t qid);

/** gpreempt_view_free() - let go of a view; NULL is allowed */
void gpreempt_view_free(struct gpreempt_view *view);

/* Targets. */

/**
 * gpreempt_check() - can a session be opened on this process?
 * @g: library
 * @pid: process
 * @err: or NULL; gets the reason
 *
 * It asks all that can be asked without touching the process; opening the
 * session asks the same again. Any thread.
 */
int gpreempt_check(struct gpreempt *g, pid_t pid, struct gpreempt_error *err);

/**
 * gpreempt_start_time() - when a process started, in clock ticks since boot
 *
 * With its number it names the process for good.
 */
int gpreempt_start_time(struct gpreempt *g, pid_t pid, uint64_t *ticks);

/* Sessions: the right to suspend the queues of one process. */

struct gpreempt_session;

/**
 * gpreempt_session_open() - open a debug session on a process
 * @g: library; must outlive the session
 * @pid: process
 * @out: gets the session, for gpreempt_session_close()
 * @err: or NULL; gets the reason
 *
 * The calling thread becomes the tracer of the process's first thread, without
 * stopping it, and has to handle its signals: it must call
 * gpreempt_session_wait() or gpreempt_session_dispatch() whenever
 * gpreempt_session_fd() is readable, or the process hangs at its next signal.
 * All queues are acknowledged and can be suspended when this returns.
 */
int gpreempt_session_open(struct gpreempt *g, pid_t pid,
			  struct gpreempt_session **out,
			  struct gpreempt_error *err);

/**
 * gpreempt_session_close() - leave: all queues run, the process is not traced
 * @s: session, or NULL; it is freed in any case
 *
 * Return: 0, or -ETIMEDOUT when the process did not answer within two seconds;
 * the kernel then lets go of it when the calling thread ends.
 */
int gpreempt_session_close(struct gpreempt_session *s);

/**
 * struct gpreempt_outcome - what one suspend or resume did
 * @ioctl_ns: from entry to return of the ioctl
 * @requested: queues asked for
 * @done: queues that are as asked now
 * @refused: queues that the driver does not know, or that are being destroyed
 * @failed: queues that the hardware did not let go of
 */
struct gpreempt_outcome {
	uint64_t ioctl_ns;
	size_t requested;
	size_t done;
	size_t refused;
	size_t failed;
};

/** enum gpreempt_result - what the driver last said about a queue */
enum gpreempt_result {
	GPREEMPT_RESULT_NONE,
	GPREEMPT_RESULT_DONE,
	GPREEMPT_RESULT_REFUSED,
	GPREEMPT_RESULT_FAILED,
};

/**
 * struct gpreempt_session_queue - a queue as the session knows it
 * @qid: queue id
 * @gpu_id: node
 * @type: enum gpreempt_queue_type
 * @wanted: it shall be suspended
 * @held: it is suspended
 * @leaving: its process is destroying it, so it runs
 * @result: of the last suspend of it
 */
struct gpreempt_session_queue {
	uint32_t qid;
	uint32_t gpu_id;
	uint32_t type;
	bool wanted;
	bool held;
	bool leaving;
	enum gpreempt_result result;
};

/**
 * gpreempt_session_queues() - the queues that the session knows
 * @s: session
 * @count: gets their number
 *
 * Return: queues by id; valid until the next call on the session.
 */
const struct gpreempt_session_queue *
gpreempt_session_queues(const struct gpreempt_session *s, size_t *count);

/**
 * gpreempt_session_suspend() - suspend queues, in one call to the driver
 * @s: session
 * @ids: queue ids, or NULL for all; then new queues are suspended too, as
 *	gpreempt_session_dispatch() learns of them
 * @count: number of @ids, at most 1024
 * @out: or NULL; gets what came of it, queue by queue in
 *	gpreempt_session_queues()
 *
 * Makes one system call and allocates nothing. Success does not mean that all
 * queues are suspended: see @out.
 *
 * Return: 0, -EPERM when the runtime is not enabled in the process, -ENOTCONN
 * when the session has ended, another negative errno value.
 */
int gpreempt_session_suspend(struct gpreempt_session *s, const uint32_t *ids,
			     size_t count, struct gpreempt_outcome *out);

/** gpreempt_session_resume() - let queues run again; as suspend */
int gpreempt_session_resume(struct gpreempt_session *s, const uint32_t *ids,
			    size_t count, struct gpreempt_outcome *out);

/** gpreempt_session_refresh() - learn and acknowledge the queues of now */
int gpreempt_session_refresh(struct gpreempt_session *s);

enum gpreempt_verdict {
	GPREEMPT_NOT_CHECKED,
	GPREEMPT_VERIFIED,
	GPREEMPT_CONTRADICTED,
};

/**
 * gpreempt_session_verify() - ask the hardware about the suspended queues
 * @s: session
 *
 * Return: GPREEMPT_VERIFIED when the view shows every slot of the suspended
 * queues inactive, GPREEMPT_CONTRADICTED when one is active,
 * GPREEMPT_NOT_CHECKED when it cannot be told.
 */
enum gpreempt_verdict gpreempt_session_verify(struct gpreempt_session *s);

/* What gpreempt_session_dispatch() has seen. */
#define GPREEMPT_EVENT_QUEUES	(1 << 0)	/* queues came or went */
#define GPREEMPT_EVENT_RUNTIME	(1 << 1)	/* runtime went on or off */
#define GPREEMPT_EVENT_DESTROY	(1 << 2)	/* queues let go: destroyed */
#define GPREEMPT_EVENT_SIGNAL	(1 << 3)	/* a signal was passed on */
#define GPREEMPT_EVENT_LOST	(1 << 4)	/* somebody ended the session */
#define GPREEMPT_EVENT_ENDED	(1 << 5)	/* the process is gone */
#define GPREEMPT_EVENT_JOB	(1 << 6)	/* stopped, or continued */

/**
 * gpreempt_session_fd() - Return: descriptor to poll for input
 *
 * After a call that suspended or resumed something, call
 * gpreempt_session_dispatch() once before you poll.
 */
int gpreempt_session_fd(const struct gpreempt_session *s);

/**
 * gpreempt_session_dispatch() - deal with what has happened, without waiting
 * @s: session
 *
 * Passes signals on to the process, acknowledges new queues and suspends them
 * if all are to be, resumes queues that the process destroys, answers the
 * process when it enables or disables its runtime, and leaves when it exits or
 * executes another program. After GPREEMPT_EVENT_ENDED only
 * gpreempt_session_close() is useful.
 *
 * Return: GPREEMPT_EVENT_ bits, or a negative errno value.
 */
int gpreempt_session_dispatch(struct gpreempt_session *s);

/**
 * gpreempt_session_stopped() - is the process stopped by job control?
 * @s: session
 *
 * By SIGSTOP, Ctrl-Z and their like, as far as gpreempt_session_dispatch() has
 * seen; it gives GPREEMPT_EVENT_JOB when that changes.
 */
bool gpreempt_session_stopped(const struct gpreempt_session *s);

/**
 * gpreempt_session_wait() - dispatch until a time has passed
 * @s: session
 * @timeout_ns: how long
 * @stop: or NULL; a descriptor that ends the wait when it is readable
 *
 * Return: as gpreempt_session_dispatch(), at the latest after GPREEMPT_EVENT_
 * LOST or _ENDED; -EINTR when a signal handler ran or @stop is readable.
 */
int gpreempt_session_wait(struct gpreempt_session *s, uint64_t timeout_ns,
			  const int *stop);

/**
 * gpreempt_session_renew() - take a session up again that somebody ended
 * @s: session, after GPREEMPT_EVENT_LOST
 * @err: or NULL; gets the reason
 *
 * Queues that were to be suspended are suspended again.
 */
int gpreempt_session_renew(struct gpreempt_session *s,
			   struct gpreempt_error *err);

/** gpreempt_session_error() - why a session's last call failed or it ended */
const struct gpreempt_error *
gpreempt_session_error(const struct gpreempt_session *s);

/* Figures. */

/** struct gpreempt_stats - of raw samples; percentiles by nearest rank */
struct gpreempt_stats {
	size_t n;
	uint64_t min;
	uint64_t p50;
	uint64_t p90;
	uint64_t p99;
	uint64_t max;
};

/** gpreempt_stats() - sort @samples and summarise them; 0 of them give 0 */
void gpreempt_stats(uint64_t *samples, size_t n, struct gpreempt_stats *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#include <gpreempt/select.h>

#endif
