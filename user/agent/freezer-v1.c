// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "agent/freezer-v1.h"
#include "shared/macro.h"

#define CONTROLLER "freezer"

const char *freezer_v1_path(const char *line)
{
	const char *list = strchr(line, ':'), *end;

	end = list ? strchr(list + 1, ':') : NULL;
	if (!end || !strcmp(end, ":/"))
		return NULL;
	/* A list of controllers, or the name of a hierarchy without any. */
	while (list < end) {
		size_t len = strcspn(++list, ",:");

		if (len == strlen(CONTROLLER) && !memcmp(list, CONTROLLER, len))
			return end + 1;
		list += len;
	}
	return NULL;
}

/* Are we in a cgroup of it that can be frozen? 1, 0 or -errno. */
static int is_inside(void)
{
	__cleanup_free char *line = NULL;
	size_t room = 0;
	int inside = 0;
	FILE *f;

	f = fopen("/proc/self/cgroup", "re");
	/* A kernel without cgroups has no such file. */
	if (!f)
		return errno == ENOENT ? 0 : -errno;
	while (!inside && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		inside = !!freezer_v1_path(line);
	}
	fclose(f);
	return inside;
}

/* 0; -ENOENT: it is not mounted; or another -errno. */
static int find_mount(char *buf, size_t size)
{
	struct mntent *entry;
	bool found = false;
	FILE *f;

	f = setmntent("/proc/self/mounts", "re");
	if (!f)
		return -errno;
	while (!found && (entry = getmntent(f)))
		found = !strcmp(entry->mnt_type, "cgroup") &&
			hasmntopt(entry, CONTROLLER) &&
			strlen(entry->mnt_dir) < size &&
			strcpy(buf, entry->mnt_dir);
	endmntent(f);
	return found ? 0 : -ENOENT;
}

int freezer_v1_leave(bool *inside)
{
	__cleanup_fd int fd = -1;
	char mount[256], path[sizeof(mount) + 32];
	int ret = is_inside();

	*inside = ret > 0;
	if (ret <= 0)
		return ret;
	ret = find_mount(mount, sizeof(mount));
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/cgroup.procs", mount);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) < 0)
		return -errno;
	/* What is mounted there may be a part of it, as in a container. */
	ret = is_inside();
	return ret > 0 ? -EPERM : ret;
}
