// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cgroup for the holder alone: when the target's cgroup is frozen or stopped,
 * its holder must not be, or it could neither hold nor release.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/cgroup.h"
#include "shared/macro.h"

#define PREFIX "gpreempt-hold."

bool hold_cgroup_mount(char *buf, size_t size)
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

/* Those of holders that were killed; one in use does not go. */
static void sweep(const char *mount)
{
	struct dirent *entry;
	DIR *dir;

	dir = opendir(mount);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	closedir(dir);
}

bool hold_cgroup_enter(pid_t name)
{
	char mount[256], group[sizeof(mount) + 32];
	int tries;

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return false;
	sweep(mount);
	snprintf(group, sizeof(group), "%s/" PREFIX "%d", mount, name);
	/* Another holder may sweep it away before we are in. */
	for (tries = 0; tries < 5; tries++) {
		if (mkdir(group, 0755) < 0 && errno != EEXIST)
			return false;
		if (move_to(group))
			return true;
	}
	rmdir(group);
	return false;
}

void hold_cgroup_leave(void)
{
	char mount[256];

	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return;
	/* The root takes any process; the last one out removes the group. */
	move_to(mount);
	sweep(mount);
}
