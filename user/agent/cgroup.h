/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AGENT_CGROUP_H
#define AGENT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

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
