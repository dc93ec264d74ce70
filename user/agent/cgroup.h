/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AGENT_CGROUP_H
#define AGENT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Where cgroup v2 is mounted; false: nowhere. */
bool hold_cgroup_mount(char *buf, size_t size);
/* A cgroup of its own for this process. */
bool hold_cgroup_enter(pid_t name);
void hold_cgroup_leave(void);

#endif
