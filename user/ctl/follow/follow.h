/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of "follow". */
#ifndef CTL_FOLLOW_H
#define CTL_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "ctl/command/ctl.h"
#include "shared/cgroup.h"

/*
 * Leave what would stop or freeze this process together with the target: a
 * cgroup that both are in, and its process group. 0, or the exit status after
 * saying why not. *moved is set when it is in a cgroup of its
 * own now.
 */
int follow_leave(pid_t target, bool *moved);

/* Follow one process until it ends. Returns the exit status. */
int follow_process(pid_t target, enum gpreempt_how how);

#endif
