/* SPDX-License-Identifier: GPL-2.0-only */
/* A made-up process that is followed, and what happens to it, step by step. */
#ifndef UNIT_FOLLOW_H
#define UNIT_FOLLOW_H

#include <stdatomic.h>
#include <sys/ptrace.h>

#include "unit-ctl.h"
#include "unit-holder.h"

#define STOP(event, sig) ((event) << 16 | (sig) << 8 | 0x7f)
#define STOPPED		 STOP(PTRACE_EVENT_STOP, SIGTSTP)
#define CONTINUED	 STOP(PTRACE_EVENT_STOP, SIGTRAP)
#define EXITS		 STOP(PTRACE_EVENT_EXIT, SIGTRAP)
#define EXECS		 STOP(PTRACE_EVENT_EXEC, SIGTRAP)
#define MAX_STEPS	 8

/* A change of the target, one each time the follower looks at it. */
struct follow_step {
	int stop; /* status for wait(); 0: none */
	void (*what)(void);
};

/* Notes that the follower, another process, writes for the test. */
struct follow_seen {
	/* Were the queues suspended when that step came? */
	atomic_bool suspended[MAX_STEPS];
	atomic_int done;     /* steps */
	atomic_int follower; /* the process that follows, and its group */
	atomic_int group;
};

extern struct follow_step steps[MAX_STEPS];
extern struct follow_seen *seen;

/* Ends of a follower: by Ctrl-C at its command, and by SIGKILL. */
void interrupt(void);
void die(void);

/* The target of unit-holder.h, in a process group and in the cgroup /job. */
void follow_setup(void);
/* Fails if the target is still held. */
void follow_teardown(void);

#endif
