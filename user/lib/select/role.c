// SPDX-License-Identifier: LGPL-2.1-or-later
/* The role of a process, by the cgroups that it is in. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/select/select.h"

/* Where version 2 is mounted, alone or beside the first one. */
static const char *const mounts[] = { "/sys/fs/cgroup",
				      "/sys/fs/cgroup/unified" };

static const char *const names[] = {
	[GPREEMPT_ROLE_NONE] = "none",
	[GPREEMPT_ROLE_ONLINE] = "online",
	[GPREEMPT_ROLE_OFFLINE] = "offline",
};

const char *gp_role_name(enum gpreempt_role role)
{
	return names[role];
}

int gp_role_by_name(const char *name, size_t len, enum gpreempt_role *out)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i]) != len || memcmp(names[i], name, len))
			continue;
		*out = i;
		return 0;
	}
	return -EINVAL;
}

/* That of this very cgroup; what is no role counts as none. */
static enum gpreempt_role role_of(const struct gpreempt *g, const char *cgroup)
{
	enum gpreempt_role role = GPREEMPT_ROLE_NONE;
	char path[PATH_MAX + 32], text[16];
	ssize_t n;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mounts); i++) {
		snprintf(path, sizeof(path), "%s%s", mounts[i], cgroup);
		n = g->ops->read_attribute(g->be, path, GP_ROLE_ATTRIBUTE, text,
					   sizeof(text));
		if (n < 0)
			continue;
		gp_role_by_name(text, n, &role);
		return role;
	}
	return role;
}

/* The role, once one is found. */
static int look_up(void *arg, const char *hierarchy, const char *cgroup)
{
	enum gpreempt_role role = GPREEMPT_ROLE_NONE;
	char path[PATH_MAX];
	size_t len;

	/* A path that begins so is out of sight of our cgroup namespace. */
	if (*hierarchy || strlen(cgroup) >= sizeof(path) - 64 ||
	    !strncmp(cgroup, "/..", 3))
		return 0;
	strcpy(path, cgroup);
	for (len = strlen(path); !role && len > 1; len = strlen(path)) {
		role = role_of(arg, path);
		*strrchr(path, '/') = '\0';
	}
	return role;
}

enum gpreempt_role gp_role(const struct gpreempt *g, pid_t pid)
{
	int role = gp_each_cgroup(g, pid, look_up, (void *)g);

	return role < 0 ? GPREEMPT_ROLE_NONE : role;
}
