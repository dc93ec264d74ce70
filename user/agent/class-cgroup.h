/* SPDX-License-Identifier: GPL-2.0-only */
/* Roles of programs, told by the cgroups that they are in. */
#ifndef CTL_ROLE_H
#define CTL_ROLE_H

#include <gpreempt/policy.h>

#define ROLE_MAX_PATH 128

/* The cgroup of a role: /gpreempt/online or /gpreempt/offline. */
const char *role_cgroup(enum gpreempt_role role);

/* The cgroup of that name in a role. 0, or -EINVAL: no name for a cgroup. */
int role_path(enum gpreempt_role role, const char *name, char *path);

/*
 * Make that cgroup, if need be, and enter it; empty ones of the role are
 * removed. 0, -ENOENT: there is no cgroup v2, or -errno.
 */
int role_enter(enum gpreempt_role role, const char *path);

#endif
