// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroup.events tells whether a cgroup is frozen, by itself or with one above
 * it, and wakes who polls it. Only cgroup v2 has that file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agent/freezer.h"
#include "shared/macro.h"

/* 0 or -errno. The root has no such file: it cannot be frozen, *events is -1. */
static int open_events(const char *path, int *events)
{
	char mount[256], name[sizeof(mount) + CGROUP_MAX_PATH + 32];

	*events = -1;
	if (!*path || !strcmp(path, "/"))
		return 0;
	if (!hold_cgroup_mount(mount, sizeof(mount)))
		return -ENOENT;
	snprintf(name, sizeof(name), "%s%s/cgroup.events", mount, path);
	*events = open(name, O_RDONLY | O_CLOEXEC);
	return *events < 0 ? -errno : 0;
}

int freezer_open(struct freezer *f, pid_t pid)
{
	int ret;

	*f = (struct freezer){ .pid = pid, .events = -1 };
	ret = cgroup_of(pid, f->path, sizeof(f->path));
	if (!ret)
		ret = open_events(f->path, &f->events);
	return ret ? ret : freezer_read(f);
}

static bool read_frozen(const struct freezer *f)
{
	char text[256];
	ssize_t n;

	if (f->events < 0)
		return false;
	n = pread(f->events, text, sizeof(text) - 1, 0);
	/* It was removed, so no process is in it any more. */
	if (n < 0)
		return false;
	text[n] = '\0';
	return strstr(text, "frozen 1");
}

int freezer_read(struct freezer *f)
{
	char path[CGROUP_MAX_PATH];
	int ret, events;

	/* A move to another cgroup has no event. */
	ret = cgroup_of(f->pid, path, sizeof(path));
	if (ret == -ENOTSUP)
		memcpy(f->path, path, sizeof(path));
	if (ret == -ENOTSUP || ret == -ESRCH)
		return ret;
	if (!ret && strcmp(path, f->path)) {
		ret = open_events(path, &events);
		if (ret)
			return ret;
		freezer_close(f);
		f->events = events;
		memcpy(f->path, path, sizeof(path));
	}
	f->frozen = read_frozen(f);
	return 0;
}

void freezer_close(struct freezer *f)
{
	if (f->events >= 0)
		close(f->events);
	f->events = -1;
}
