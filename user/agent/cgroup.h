/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AGENT_CGROUP_H
#define AGENT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The freezer of cgroup v1. It stops a process so that not even SIGKILL ends
 * it before the thaw: neither a watchdog's nor another process's. A process
 * that holds a target must not be in a cgroup that can be frozen so.
 */

/*
 * Move this process to the root of that freezer, which cannot be frozen. 0, also when there is
 * nothing to leave, or -errno. @inside: it was in a cgroup of that freezer; with an error it
 * may still be there. False with an error: its cgroups could not be read.
 */
int freezer_v1_leave(bool *inside);

/*
 * For a process that stays when the command which made it ends: a session of its
 * own, no signals of a terminal's, the root directory, and the best priority that is
 * to be had. 0 or -errno, of the directory.
 */
int leave_command(void);

#define HOLD_CGROUP_MOUNT 256

/* Where cgroup v2 is mounted; false: nowhere. */
bool hold_cgroup_mount(char *buf, size_t size);
/* Move this process into the cgroup in that directory. 0 or -errno. */
int hold_cgroup_move_to(const char *dir);
/* Remove the cgroups below that one whose processes have ended; one in use stays. */
void hold_cgroup_sweep(const char *dir);
/* For who enters one later, without the capability that the first one takes. */
bool hold_cgroup_prepare(void);
/* A cgroup of its own for this process. */
bool hold_cgroup_enter(pid_t name);
void hold_cgroup_leave(void);

#endif
