/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands that keep their sessions themselves and end with their terminal:
 * their signals, their dead man's switch, and who has which target.
 */
#ifndef CTL_FOREGROUND_H
#define CTL_FOREGROUND_H

#include <sys/types.h>

#include "ctl/deadman.h"
#include "ctl/hold.h"

/*
 * A descriptor that is readable after Ctrl-C, a hangup and their like; other
 * signals of job control are ignored: who is stopped with its target held
 * helps nobody. -errno.
 */
int foreground_signals(void);

/* /run/gpreempt is there. 0, or the exit status after saying why not. */
int foreground_dir(void);

/*
 * The lock of a target, in that role; or, after saying why not, the negated
 * exit status.
 */
int foreground_take(pid_t target, enum hold_role role);
void foreground_drop(pid_t target, int lock);

/* This process is well; busy: it goes into the driver. */
void foreground_well(const struct deadman *deadman, bool busy);

#endif
