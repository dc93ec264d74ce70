// SPDX-License-Identifier: LGPL-2.1-or-later
/* The role of a process, by the cgroups that it is in. */
#include <errno.h>
#include <string.h>
#include <sys/xattr.h>

#include "lib/select/select.h"
#include "shared/cgroup.h"

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

int gp_role_at(int dir)
{
	enum gpreempt_role role = GPREEMPT_ROLE_NONE;
	char text[16];
	ssize_t n = fgetxattr(dir, GP_ROLE_ATTRIBUTE, text, sizeof(text));

	/* What is no role counts as none. */
	if (n < 0 && errno != ENODATA && errno != ERANGE && errno != EOPNOTSUPP)
		return -errno;
	if (n > 0)
		gp_role_by_name(text, n, &role);
	return role;
}

int gp_role_root(const struct gpreempt *g)
{
	return g->ops->open_cgroups(g->be);
}

struct look {
	int root;
	int role; /* of the deepest cgroup that has one, so far */
	int error;
};

static int take_role(void *arg, int dir)
{
	struct look *look = arg;
	int role = gp_role_at(dir);

	if (role < 0)
		return role;
	if (role != GPREEMPT_ROLE_NONE)
		look->role = role;
	return 0;
}

static int look_up(void *arg, const char *hierarchy, const char *path)
{
	struct look *look = arg;

	/* A path that begins with ".." is out of sight of our cgroup namespace. */
	if (*hierarchy || (!strncmp(path, "/..", 3) && strchr("/", path[3])))
		return 0;
	look->role = GPREEMPT_ROLE_NONE;
	look->error = shr_cgroup_walk(look->root, path, take_role, look);
	return 0;
}

int gp_role(const struct gpreempt *g, int root, pid_t pid)
{
	struct look look = { .root = root };
	int tries = 3, ret;

	if (root < 0)
		return root == -ENOENT ? GPREEMPT_ROLE_NONE : root;
	/* It can move, and its cgroup be removed, between two calls. */
	do {
		look.error = 0;
		ret = gp_each_cgroup(g, pid, look_up, &look);
	} while (!ret && look.error == -ENOENT && --tries);
	if (!ret && look.error && look.role != GPREEMPT_ROLE_OFFLINE)
		ret = gp_doubt(look.error);
	return ret ? ret : look.role;
}
