/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands that keep their sessions themselves and end with their terminal:
 * their signals, and the locks of their targets.
 */
#ifndef CTL_FOREGROUND_H
#define CTL_FOREGROUND_H

#include <stdint.h>
#include <sys/types.h>

#include "agent/holder-lock.h"

/*
 * A descriptor that is readable after Ctrl-C, a hangup and their like; other signals of job
 * control are ignored, so that this process is not stopped while it holds its target. -errno.
 */
int foreground_signals(void);

/*
 * /run/gpreempt is there, and this process is in no cgroup of the old freezer.
 * 0, or the exit status after saying why not.
 */
int foreground_dir(void);
int foreground_freezer(void);

/*
 * Only these capabilities are kept (see capabilities.h), by this process and what it
 * starts later. 0, or the exit status after saying why not.
 */
int foreground_capabilities(uint64_t kept);

/*
 * The lock of a target, in that role; or, after saying why not, the negated exit status.
 */
int foreground_take(pid_t target, enum hold_role role);

#endif
