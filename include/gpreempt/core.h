/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libgpreempt: errors, the library's handle, targets, figures. */
#ifndef GPREEMPT_CORE_H
#define GPREEMPT_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Around all declarations: C names in C++, and visible in the library. */
#ifdef __cplusplus
#define GPREEMPT_BEGIN_DECLS \
	extern "C" {         \
	_Pragma("GCC visibility push(default)")
#define GPREEMPT_END_DECLS            \
	_Pragma("GCC visibility pop") \
	}
#else
#define GPREEMPT_BEGIN_DECLS _Pragma("GCC visibility push(default)")
#define GPREEMPT_END_DECLS   _Pragma("GCC visibility pop")
#endif

GPREEMPT_BEGIN_DECLS

/** GPREEMPT_UNKNOWN - value of a number that could not be learnt */
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
	GPREEMPT_SYSTEM, /* a system call failed: @step, @code */
	GPREEMPT_NOT_ROOT,
	GPREEMPT_NO_KFD,	/* no /dev/kfd */
	GPREEMPT_KFD_VERSION,	/* @major.@minor is not 1.13 or later */
	GPREEMPT_NO_HWS,	/* driver runs without its hardware scheduler */
	GPREEMPT_GPU_OLD,	/* a GPU of the process has no debug trap */
	GPREEMPT_PID_NAMESPACE, /* not run in the host's PID namespace */
	GPREEMPT_NO_PROCESS,
	GPREEMPT_THREAD,	   /* the number is a thread of @other */
	GPREEMPT_NOT_GPU,	   /* no GPU process */
	GPREEMPT_NO_ADDRESS_SPACE, /* on GPUs @name; kernels crash then */
	GPREEMPT_LEADER_GONE,	   /* the process's first thread has ended */
	GPREEMPT_TRACED,	   /* traced by @other, called @name */
	GPREEMPT_DEBUGGED,	   /* another debug session is open */
	GPREEMPT_TRACE_DENIED,	   /* the kernel does not let us trace it */
	GPREEMPT_GWS_BUSY,	   /* wave sync in use, or PC sampling */
	GPREEMPT_RUNTIME_OFF,	   /* the process has not enabled the runtime */
	GPREEMPT_RUNTIME_BUSY,	   /* the GPU's only debug VMID is taken */
	GPREEMPT_RUNTIME_ERROR,	   /* activation of the debug trap failed */
	GPREEMPT_ENDED,		   /* the process ended meanwhile */
	GPREEMPT_EXECED,	   /* the process executed another program */
	GPREEMPT_LOST,		   /* another process ended our session */
	GPREEMPT_BAD_TARGET,	   /* @word is no target */
	GPREEMPT_BAD_PATTERN,	   /* @word has no valid pattern: @name */
	GPREEMPT_NO_MATCH,	   /* @word names no GPU process */
	GPREEMPT_MANY_CONTAINERS,  /* ids of several containers begin with @word */
	GPREEMPT_SAME_CONTAINER,   /* several containers have the name or id of @word */
	GPREEMPT_IS_HOLDER,	   /* the process holds another one */
	GPREEMPT_HANG,		   /* the hardware kept queues, on GPU @name */
	GPREEMPT_NO_MODULE,	   /* gpreempt.ko is needed */
	GPREEMPT_GRACE,		   /* grace period longer than the hardware can wait: @limit_ns */
	GPREEMPT_NO_CLOCK,	   /* the driver does not report the GPU's clock */
	GPREEMPT_NO_USER,	   /* the user in @word is not in /etc/passwd */
	GPREEMPT_HELD,		   /* a holder or guard, process @other, has it */
	GPREEMPT_ENDING,	   /* the process has disabled its runtime again */
	GPREEMPT_NO_PAUSE,	   /* the driver has no pause (CRIU_OP) */
	GPREEMPT_PAUSE_DENIED,	   /* the driver refuses: no CAP_CHECKPOINT_RESTORE */
	GPREEMPT_KFD_CLOSED,	   /* the process has no /dev/kfd open */
	GPREEMPT_PAUSE_FAILED,	   /* the driver's pause failed: @code */
	GPREEMPT_CONTEXTS,	   /* all its queues are of further KFD contexts */
	GPREEMPT_PAUSED,	   /* another program has paused it */
	GPREEMPT_UNPAUSED,	   /* another program ended our pause */
	GPREEMPT_PAUSE_WHOLE,	   /* a pause takes the whole process */
	GPREEMPT_PAUSE_UNSAFE,	   /* a pause is not safe on this driver: @step */
	GPREEMPT_STUCK,		   /* the process is in a call that would block us: @step */
	GPREEMPT_PAUSE_OFF,	   /* not paused any more, and still evicted */
	GPREEMPT_OTHER_VERSION,	   /* the process has a holder of another version */
	GPREEMPT_OLD_MODULE,	   /* the loaded gpreempt.ko has not that file */
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
 * @limit_ns: the most that can be asked for
 * @step: what was being done, never NULL after a failure; it is the library's
 *	and stays
 * @name: name of @other, or GPUs
 * @word: the target that the caller of gpreempt_select() gave, or NULL: it is
 *	the caller's string and not a copy, so keep that as long as the error
 * @reserved: 0; a later release may use it
 */
struct gpreempt_error {
	int code;
	enum gpreempt_reason reason;
	pid_t pid;
	pid_t other;
	unsigned int major;
	unsigned int minor;
	uint64_t limit_ns;
	const char *step;
	char name[32];
	const char *word;
	uint64_t reserved[6];
};

/** gpreempt_error_class() - Return: the kind of failure that @err is. Any thread. */
enum gpreempt_class gpreempt_error_class(const struct gpreempt_error *err);

/** gpreempt_error_text() - the failure as a sentence; as snprintf(). Any thread. */
int gpreempt_error_text(const struct gpreempt_error *err, char *buf, size_t size);

/** gpreempt_error_next() - what to do about it; as snprintf(). Any thread. */
int gpreempt_error_next(const struct gpreempt_error *err, char *buf, size_t size);

/* The library's handle. */

struct gpreempt;

/**
 * struct gpreempt_options - how to set up the library
 * @size: sizeof(struct gpreempt_options)
 * @log: gets notes about what the library does by itself, or NULL
 * @busy: called with true right before a call to the driver that can take
 *	seconds when the hardware hangs, and with false right after it, or NULL
 * @data: given to both
 * @from: or NULL; a directory that gpreempt-lab snapshot made on this or another
 *	host. Its files are read in place of the system's, and nothing else is done:
 *	no session, no pause
 *
 * @log and @busy are called by the thread that called the library, or by a thread of a gang.
 */
struct gpreempt_options {
	size_t size;
	void (*log)(void *data, const char *text);
	void (*busy)(void *data, bool busy);
	void *data;
	const char *from;
};

/**
 * gpreempt_new() - get a handle
 * @options: or NULL
 * @out: gets the handle, for gpreempt_free()
 *
 * Any thread. All threads may share the handle.
 *
 * Return: 0, -ENOMEM, -EINVAL or -E2BIG for @options that are none of this
 * library's; -EPROTO when @from is no snapshot, or one of an older gpreempt-ctl; or why
 * that directory could not be opened.
 */
int gpreempt_new(const struct gpreempt_options *options, struct gpreempt **out);

/**
 * gpreempt_free() - free a handle that no other thread uses
 * @g: handle, or NULL
 *
 * Any thread.
 */
void gpreempt_free(struct gpreempt *g);

/**
 * gpreempt_list_free() - free a list that a function of the library gave out, and its records
 * @list: struct gpreempt_view, gpreempt_process_list, gpreempt_nodes, gpreempt_hqds,
 *	gpreempt_usages, gpreempt_facts or gpreempt_targets; NULL is allowed
 *
 * Any thread.
 */
void gpreempt_list_free(void *list);

/**
 * gpreempt_simulated() - is the GPU here the simulated one of gpreempt's tests?
 * @g: library
 *
 * If so, times are of the driver's path only, not of hardware. Of a snapshot: was it
 * the simulated one? Any thread.
 */
bool gpreempt_simulated(const struct gpreempt *g);

/** gpreempt_version() - Return: version of the library. Any thread. */
const char *gpreempt_version(void);

/* Targets. */

/**
 * gpreempt_check() - can a session be opened on this process?
 * @g: library
 * @pid: process
 * @err: or NULL; gets the reason
 *
 * Checks everything that can be checked without touching the process; opening
 * the session checks the same again. Any thread.
 */
int gpreempt_check(struct gpreempt *g, pid_t pid, struct gpreempt_error *err);

/**
 * gpreempt_start_time() - when a process started, in clock ticks since boot
 *
 * With its number it names the process for good. Any thread.
 *
 * Return: 0, -ESRCH, or another negative errno value.
 */
int gpreempt_start_time(struct gpreempt *g, pid_t pid, uint64_t *ticks);

GPREEMPT_END_DECLS

#endif
