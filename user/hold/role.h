/* SPDX-License-Identifier: GPL-2.0-only */
/* Roles of programs: the roles of the cgroups that they are in, see lib/see/words.h. */
#ifndef HOLD_ROLE_H
#define HOLD_ROLE_H

#include "lib/see/words.h"

#define ROLE_MAX_PATH 128

/* Annotation of a container or a pod: a value as that of the attribute. */
#define ROLE_ANNOTATION "gpreempt.io/role"

/* The cgroup of a role: /gpreempt/online or /gpreempt/offline. */
const char *role_cgroup(enum gpreempt_role role);

/* The cgroup of that name in a role. 0, or -EINVAL: no name for a cgroup. */
int role_path(enum gpreempt_role role, const char *name, char *path);

/*
 * Make that cgroup, if need be, and enter it; empty ones of the role are
 * removed. 0, -ENOENT: there is no cgroup v2, or -errno.
 */
int role_enter(enum gpreempt_role role, const char *path);

/*
 * Give a cgroup of version 2 that role and words which guard knows, or with GPREEMPT_ROLE_NONE take
 * both away. The path begins at the root of the cgroups, with or without the mount point. 0;
 * -EINVAL: it is the root of all of them, or ".." is one of its components; -E2BIG: it is below
 * level SHR_CGROUP_LEVELS, or its path too long, where no role is looked for; -EPERM: we
 * are not root of the host; -ENOENT and others of the path.
 */
int role_give(const char *cgroup, const struct gp_role_value *value);

/*
 * Call fn with each cgroup that has a role, by its path below the mount, until it
 * returns other than 0. That, 0 or -errno; -ENOENT: there is no cgroup v2.
 */
int role_each(int (*fn)(void *arg, const char *cgroup, const struct gp_role_value *value),
	      void *arg);

#endif
