// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroup.events tells whether a cgroup is frozen, by itself or with one above
 * it, and wakes who polls it. Only cgroup v2 has that file.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "agent/cgroup.h"
#include "ctl/follow/follow.h"
#include "shared/macro.h"

static int read_path(pid_t pid, char *buf, size_t size)
{
	char name[64];
	int ret;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	ret = cgroup_read(name, buf, size);
	return ret == -ENOENT ? -ESRCH : ret;
}

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
	ret = read_path(pid, f->path, sizeof(f->path));
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
	ret = read_path(f->pid, path, sizeof(path));
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

/* A follower that is stopped or frozen with its target is of no use. */

/* Are both in one cgroup, or below one, that can be frozen? */
static bool share(const char *a, const char *b)
{
	size_t len = strcspn(a + 1, "/");

	if (*a != '/' || *b != '/' || !len)
		return false;
	return len == strcspn(b + 1, "/") && !memcmp(a + 1, b + 1, len);
}

static int read_both(pid_t target, struct freezer *theirs, struct freezer *ours)
{
	int ret = freezer_open(theirs, target);

	freezer_close(theirs);
	if (ret)
		return ret;
	ret = freezer_open(ours, getpid());
	freezer_close(ours);
	/* Our own old cgroup is not the question. */
	if (ret == -ENOTSUP) {
		ours->path[0] = '\0';
		ret = 0;
	}
	return ret;
}

static int fail_cgroup(pid_t target, const struct freezer *theirs, int ret)
{
	if (ret == -ENOTSUP)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
				     "boot with cgroup v2 (systemd.unified_cgroup_hierarchy=1), "
				     "or use gpreempt-ctl suspend",
				     "process %d is in %s of the old freezer "
				     "(cgroup v1), which sends no event when "
				     "it freezes",
				     target, theirs->path);
	if (ret == -ESRCH)
		return ctl_fail_reason(GPREEMPT_NO_PROCESS, ret, target);
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "is cgroup v2 mounted, and are we in the host's "
			     "cgroup namespace?",
			     "the cgroup %s of process %d cannot be watched: "
			     "%s",
			     theirs->path, target, strerror(-ret));
}

static int leave_cgroup(pid_t target, bool *moved)
{
	struct freezer theirs, ours;
	int ret = read_both(target, &theirs, &ours);

	if (ret)
		return fail_cgroup(target, &theirs, ret);
	if (!share(theirs.path, ours.path))
		return 0;
	/* systemd knows who writes to the journal by the cgroup. */
	if (!*moved && getenv("INVOCATION_ID"))
		ctl_note("leaving the cgroup %s, which is below /%.*s as the "
			 "target is: the journal has what follows without "
			 "the unit; a unit with Slice=gpreempt.slice stays",
			 ours.path, (int)strcspn(theirs.path + 1, "/"),
			 theirs.path + 1);
	if (hold_cgroup_enter(getpid())) {
		*moved = true;
		return 0;
	}
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "start it from another cgroup, such as with "
			     "systemd-run --slice=gpreempt",
			     "we would be frozen together with process %d: "
			     "both are below the cgroup /%.*s, and we cannot "
			     "leave it",
			     target, (int)strcspn(theirs.path + 1, "/"),
			     theirs.path + 1);
}

static int leave_group(pid_t target)
{
	pid_t parent = getppid();

	if (getpgid(target) != getpgrp())
		return 0;
	/* A leader cannot leave its group: the process that follows does. */
	if (getpgrp() == getpid())
		return 0;
	if (setpgid(0, 0) < 0)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "start it as a job of its own: setsid "
				     "gpreempt-ctl follow",
				     "we would be stopped together with "
				     "process %d: both are in one process "
				     "group, and we cannot leave it",
				     target);
	/* Ctrl-C in the terminal does not reach us any more; its end does. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		raise(SIGTERM);
	return 0;
}

int follow_leave(pid_t target, bool *moved)
{
	int ret = leave_cgroup(target, moved);

	return ret ? ret : leave_group(target);
}
