/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process that pauses a target for as long as it lives: preempt, follow, a worker of
 * guard. The driver keeps the target paused when that process is killed, so before the
 * first pause the target is in the journal, and the process has a guardian that undoes it
 * then. The guardian of a holder does the same (holder/).
 */
#ifndef AGENT_PAUSE_OWNER_H
#define AGENT_PAUSE_OWNER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <gpreempt/core.h>

#include "agent/heartbeat.h"
#include "agent/holder-lock.h"

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
	int lock;		     /* of the target; -1: given back by pause_owner_end() */
	bool guarded;		     /* the caller, a holder, has its own guardian */
	struct heartbeat *heartbeat; /* of the caller, or NULL */

	bool is_noted; /* from pause_owner_begin() to pause_owner_end() */
	bool is_alone; /* why that failed: the guardian cannot start */
	int guardian;  /* 0: none; pause_guardian_start() */
	pid_t guardian_pid;
};

/*
 * Before the first pause: the guardian, and the entry. @as is what the lock names:
 * resume is refused by it. 0 or -errno; then the lock is given back, too, and is free
 * when the guardian has ended.
 */
int pause_owner_begin(struct pause_owner *o, const struct hold_owner *as);
/*
 * A guardian that has been killed is replaced: for each call of the owner's. 0 or -errno.
 */
int pause_owner_renew(struct pause_owner *o);
/*
 * After the last one. @runs: the entry goes; or else the guardian undoes the pause when
 * this process has ended. The lock is free when the guardian has ended. Without
 * pause_owner_begin() nothing is done. 0, or -errno if the entry cannot be removed.
 */
int pause_owner_end(struct pause_owner *o, bool runs);

#endif
