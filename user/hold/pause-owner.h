/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that pauses a target for as long as it lives: preempt, follow, a worker of
 * guard. The driver keeps the target paused when that process is killed, so before the
 * first pause the target is in the journal, and the process has a guardian that undoes it
 * then. The guardian of a holder, which also watches its worker, ends in the same manner.
 */
#ifndef HOLD_PAUSE_OWNER_H
#define HOLD_PAUSE_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <gpreempt/core.h>

#include "lib/preempt/pause.h"
#include "escape.h"
#include "run-dir.h"

/*
 * Start the guardian of the calling process for a target whose entry is in the journal and
 * whose lock the caller has: both have the lock then. The guardian is a child of init. Returns
 * a descriptor, or -errno: when the caller closes the descriptor, or ends, the guardian undoes
 * a pause whose entry is still there, and ends. The descriptor is readable when the guardian
 * has ended. *@pid gets its PID. @heartbeat (or NULL) beats until the guardian is there.
 */
int pause_guardian_start(int lock, pid_t target, uint64_t start, struct heartbeat *heartbeat,
			 pid_t *pid);

struct pause_owner {
	/* Set by the caller: */
	pid_t target;
	uint64_t start;		     /* when it started, clock ticks since boot */
	int lock;		     /* lock of the target; -1: given back by pause_owner_end() */
	bool guarded;		     /* the caller, a holder, has its own guardian */
	struct heartbeat *heartbeat; /* heartbeat of the caller, or NULL */

	/* between pause_owner_begin() and pause_owner_end(): entry and guardian are there */
	bool is_noted;
	bool is_alone; /* the last begin failed because no guardian can start */
	int guardian;  /* 0: none; pause_guardian_start() */
	pid_t guardian_pid;
};

/*
 * Begin, before the first pause: the guardian, and the entry. @as: the lock's entry, which
 * resume names when it refuses. 0 or -errno; then the lock is given back, too, and is free when
 * the guardian has ended.
 */
int pause_owner_begin(struct pause_owner *o, const struct hold_owner *as);
/* A guardian that has been killed is replaced: for each call of the owner's. 0 or -errno. */
int pause_owner_renew(struct pause_owner *o);
/*
 * End, after the last pause. @runs: the entry goes; or else the guardian undoes the pause when
 * this process has ended. The lock is free when the guardian has ended. Does nothing without
 * pause_owner_begin(). 0, or -errno if the entry cannot be removed.
 */
int pause_owner_end(struct pause_owner *o, bool runs);

/*
 * Entries of the journal of paused processes, and the process that undoes each pause. A pause
 * that has lost its owner is undone.
 */

/* Result of a repair. */
struct pause_report {
	struct hold_state found;
	int code;		   /* error of PAUSE_UNREAD, or of a repair that failed */
	bool repaired;		   /* the process runs, or the stale entry is removed */
	struct gpreempt_error err; /* set if code is the error of an unpause */
};

/* Look, and repair it: PAUSE_WAITS is undone, PAUSE_STALE removed. */
void pause_repair(struct gpreempt *g, pid_t target, bool look_only, struct pause_report *out);

/*
 * The end of the guardian of an owner that has ended: undo a pause that it has left, and give the
 * lock back. @g may be NULL.
 */
__attribute__((noreturn)) void guardian_end(struct gpreempt *g, pid_t target, uint64_t start,
					    int lock, const struct watchdog *w);

/* Repair one target's entry, and write a note of it. 0. */
int pause_repair_target(void *g, pid_t target);
/*
 * Repair all, at the start of a command that may write: each pause that is
 * undone, and each that could not be, is named in a note.
 */
void pause_repair_all(struct gpreempt *g);
/* Repair before the command gives up the rights that this takes. */
void pause_repair_early(void);

/* The lock of a target, for this command; waits for one that is about to end. */
int pause_lock(pid_t target);

/*
 * Do the same as hold_take(), or as pause_lock() for HOLD_ROLE_NONE. -EALREADY: the target is
 * paused by us, so it is held; -EPROTO: its entry is damaged. The lock is not taken then.
 */
int pause_take(pid_t target, const struct hold_owner *owner);

/* Can a pause serve where a debug session is refused for this reason? */
bool pause_can_serve(enum gpreempt_reason reason);

/*
 * State of a process in gpreempt.ko's view. Only the driver's own eviction for want of memory
 * looks like PAUSE_SEEN_OFF, too.
 */
enum pause_seen {
	PAUSE_SEEN_UNKNOWN, /* no module, no queue, or an old view */
	PAUSE_SEEN_RUNS,
	PAUSE_SEEN_PAUSED,
	PAUSE_SEEN_OFF, /* evicted, and not paused: nothing of ours lets it run */
};

enum pause_seen pause_see(struct gpreempt *g, pid_t target);
/* -EIO and *err (GPREEMPT_PAUSE_OFF) for PAUSE_SEEN_OFF, or else 0. */
int pause_find_off(struct gpreempt *g, pid_t target, struct gpreempt_error *err);

/*
 * Does the view show that a process is paused? For one without an entry: it is
 * another program's pause. False without gpreempt.ko, which alone sees it.
 */
bool pause_is_seen(struct gpreempt *g, pid_t target);

/*
 * Undo the pause of an entry, and remove it. The caller has the lock. 0 also when it was not
 * paused, or has ended, or when the driver failed and the process is seen to run. -errno: the
 * entry stays, unless *err is GPREEMPT_PAUSE_OFF. @report may be NULL.
 */
int pause_undo(struct gpreempt *g, const struct pause_entry *e, struct gp_pause_report *report,
	       struct gpreempt_error *err);

#endif
