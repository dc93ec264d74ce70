// SPDX-License-Identifier: GPL-2.0-only
/* Cgroups that have a role. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "agent/cgroup.h"
#include "agent/role.h"
#include "lib/select/words.h"
#include "shared/macro.h"

/* The path of a cgroup in the file system. 0, -ENOENT: nothing is mounted, or -EINVAL. */
static int full_path(const char *cgroup, char *buf, size_t size)
{
	char mount[HOLD_CGROUP_MOUNT];
	size_t len;

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return -ENOENT;
	len = strlen(mount);
	if (!strncmp(cgroup, mount, len) &&
	    (cgroup[len] == '/' || !cgroup[len]))
		cgroup += len;
	cgroup += strspn(cgroup, "/");
	if (!*cgroup || strstr(cgroup, ".."))
		return -EINVAL;
	return snprintf(buf, size, "%s/%s", mount, cgroup) < (int)size ?
		       0 :
		       -ENAMETOOLONG;
}

int role_give(const char *cgroup, enum gpreempt_role role)
{
	const char *name = gp_role_name(role);
	char path[CGROUP_MAX_PATH];
	__cleanup_fd int fd = -1;
	int ret = full_path(cgroup, path, sizeof(path));

	if (ret)
		return ret;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (role != GPREEMPT_ROLE_NONE)
		ret = fsetxattr(fd, GP_ROLE_ATTRIBUTE, name, strlen(name), 0);
	else
		ret = fremovexattr(fd, GP_ROLE_ATTRIBUTE);
	return ret && errno != ENODATA ? -errno : 0;
}

static enum gpreempt_role role_at(const char *path)
{
	enum gpreempt_role role = GPREEMPT_ROLE_NONE;
	char text[16];
	ssize_t n = getxattr(path, GP_ROLE_ATTRIBUTE, text, sizeof(text));

	if (n > 0)
		gp_role_by_name(text, n, &role);
	return role;
}

int role_each(int (*fn)(void *arg, const char *cgroup, enum gpreempt_role role),
	      void *arg)
{
	char mount[HOLD_CGROUP_MOUNT];
	char *const roots[] = { mount, NULL };
	enum gpreempt_role role;
	const FTSENT *entry;
	int ret = 0;
	FTS *tree;

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return -ENOENT;
	tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	if (!tree)
		return -errno;
	while (!ret && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_D || !entry->fts_level)
			continue;
		role = role_at(entry->fts_path);
		if (role != GPREEMPT_ROLE_NONE)
			ret = fn(arg, entry->fts_path + strlen(mount), role);
	}
	fts_close(tree);
	return ret;
}

#define ROOT	 "/gpreempt"
#define MAX_NAME 64
#define MAX_FULL (256 + ROLE_MAX_PATH)

const char *role_cgroup(enum gpreempt_role role)
{
	return role == GPREEMPT_ROLE_ONLINE ? ROOT "/online" : ROOT "/offline";
}

int role_path(enum gpreempt_role role, const char *name, char *path)
{
	const char *c;

	if (!isalnum(*name) || strlen(name) > MAX_NAME)
		return -EINVAL;
	for (c = name; *c; c++)
		if (!isalnum(*c) && !strchr("._-", *c))
			return -EINVAL;
	snprintf(path, ROLE_MAX_PATH, "%s/%s", role_cgroup(role), name);
	return 0;
}

static int make(const char *mount, const char *path)
{
	char full[MAX_FULL];

	snprintf(full, sizeof(full), "%s%s", mount, path);
	return mkdir(full, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

int role_enter(enum gpreempt_role role, const char *path)
{
	char mount[256], full[MAX_FULL];
	int ret = -ENOENT, tries;

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return ret;
	snprintf(full, sizeof(full), "%s%s", mount, role_cgroup(role));
	hold_cgroup_sweep(full);
	snprintf(full, sizeof(full), "%s%s", mount, path);
	/* Another one that starts may sweep ours away before we are in. */
	for (tries = 0; tries < 5 && ret == -ENOENT; tries++) {
		ret = make(mount, ROOT);
		if (!ret)
			ret = make(mount, role_cgroup(role));
		/* Where that is refused, its path names it still. */
		if (!ret)
			role_give(role_cgroup(role), role);
		if (!ret)
			ret = make(mount, path);
		if (!ret)
			ret = hold_cgroup_move_to(full);
	}
	return ret;
}
