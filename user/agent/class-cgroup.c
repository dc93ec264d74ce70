// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/cgroup.h"
#include "agent/class-cgroup.h"
#include "shared/macro.h"

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

static int move_to(const char *mount, const char *path)
{
	char full[MAX_FULL];

	snprintf(full, sizeof(full), "%s%s", mount, path);
	return hold_cgroup_move_to(full);
}

int role_enter(enum gpreempt_role role, const char *path)
{
	char mount[256], full[MAX_FULL];
	int ret = -ENOENT, tries;

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return ret;
	snprintf(full, sizeof(full), "%s%s", mount, role_cgroup(role));
	hold_cgroup_sweep(full);
	/* Another one that starts may sweep ours away before we are in. */
	for (tries = 0; tries < 5 && ret == -ENOENT; tries++) {
		ret = make(mount, ROOT);
		if (!ret)
			ret = make(mount, role_cgroup(role));
		if (!ret)
			ret = make(mount, path);
		if (!ret)
			ret = move_to(mount, path);
	}
	return ret;
}
