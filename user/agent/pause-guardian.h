/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The guardian of a process that pauses a target by itself: preempt, follow, a worker
 * of guard. The driver leaves the target paused when that process is killed; then the
 * guardian undoes the pause. The guardian of a holder does the same (holder/).
 */
#ifndef AGENT_PAUSE_GUARDIAN_H
#define AGENT_PAUSE_GUARDIAN_H

#include <stdint.h>
#include <sys/types.h>

#include "agent/heartbeat.h"

/*
 * Start the guardian of the calling process for a target whose entry is in the journal
 * and whose lock the caller has: both have the lock then. The guardian is a child of
 * init. Returns a descriptor, or -errno: when the caller closes the descriptor, or ends,
 * the guardian undoes a pause whose entry is still there, and ends. The descriptor is
 * readable when the guardian has ended. *@pid gets its PID. @heartbeat (or NULL) beats
 * until the guardian is there.
 */
int pause_guardian_start(int lock, pid_t target, uint64_t start,
			 struct heartbeat *heartbeat, pid_t *pid);

#endif
