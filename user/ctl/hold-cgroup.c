// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cgroup for the holder alone: whoever freezes or stops the target's cgroup
 * must not freeze its holder with it, which could then neither hold nor let
 * go.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl/hold.h"

/* Where cgroup v2 is mounted. */
static bool find_mount(char *buf, size_t size)
{
	struct mntent *entry;
	bool found = false;
	FILE *f;

	f = setmntent("/proc/self/mounts", "re");
	if (!f)
		return false;
	while (!found && (entry = getmntent(f))) {
		if (strcmp(entry->mnt_type, "cgroup2"))
			continue;
		found = strlen(entry->mnt_dir) + 64 < size;
		if (found)
			strcpy(buf, entry->mnt_dir);
	}
	endmntent(f);
	return found;
}

/* Move this process into the cgroup in that directory. */
static bool move_to(const char *dir)
{
	__cleanup_fd int fd = -1;
	char path[512];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd >= 0 && write(fd, "0", 1) == 1;
}

static bool group_path(pid_t name, char *mount, char *group, size_t size)
{
	if (!find_mount(mount, size))
		return false;
	snprintf(group, size + 32, "%s/gpreempt.%d", mount, name);
	return true;
}

bool hold_cgroup_enter(pid_t name)
{
	char mount[256], group[sizeof(mount) + 32];

	if (!group_path(name, mount, group, sizeof(mount)))
		return false;
	if (mkdir(group, 0755) < 0 && errno != EEXIST)
		return false;
	if (move_to(group))
		return true;
	rmdir(group);
	return false;
}

void hold_cgroup_leave(pid_t name)
{
	char mount[256], group[sizeof(mount) + 32];

	if (!group_path(name, mount, group, sizeof(mount)))
		return;
	/* The last one out removes it; the root takes any process. */
	move_to(mount);
	rmdir(group);
}
