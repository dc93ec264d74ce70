/* SPDX-License-Identifier: GPL-2.0-only */
/* A made-up GPU process that a real holder can hold, and what is left of one. */
#ifndef UNIT_HOLDER_H
#define UNIT_HOLDER_H

#include "hold/holder.h"
#include "unit.h"
#include "unit-host.h"

/* A holder that a test which fails leaves behind ends by itself. */
#define LEASE "--for 60s"

/* A real process, which does nothing; the driver has queues 0 and 1 of it. */
extern pid_t target;

/* No HOLD_DIR, and cgroups that are made up. */
void holder_setup(void);
void holder_teardown(void);
/* The same with a HOLD_DIR, and a target with queue 0 alone, which can be paused. */
void pausable_setup(void);

/* Is the process free: neither a lock nor a socket? */
bool is_free(pid_t pid);
/* The target's, which must have one. */
struct hold_owner holder(void);
/* Its guardian and its worker have ended, and nothing of them is left. */
void expect_no_holder(void);
/* "resume" of the target, which ends it. */
void resume_target(void);

#endif
