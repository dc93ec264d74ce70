// SPDX-License-Identifier: GPL-2.0-only
/* A follower that is stopped or frozen with its target is of no use. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "agent/cgroup.h"
#include "ctl/follow/follow.h"
#include "shared/macro.h"

/* Are both in one cgroup, or below one, that can be frozen? */
static bool share(const char *a, const char *b)
{
	size_t len = strcspn(a + 1, "/");

	if (*a != '/' || *b != '/' || !len)
		return false;
	return len == strcspn(b + 1, "/") && !memcmp(a + 1, b + 1, len);
}

static int fail_cgroup(pid_t target, const struct shr_freezer *theirs, int ret)
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
	char ours[SHR_CGROUP_PATH];
	struct shr_freezer theirs;
	int ret = shr_freezer_open(&theirs, target);

	shr_freezer_close(&theirs);
	if (ret)
		return fail_cgroup(target, &theirs, ret);
	/* Our own old cgroup is not the question. */
	ret = shr_cgroup_of(0, ours, sizeof(ours));
	if (ret == -ENOTSUP)
		ours[0] = '\0';
	else if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	/* One whose path cannot be read can be anywhere. */
	if (theirs.lost ? *moved : !share(theirs.path, ours))
		return 0;
	/* systemd knows who writes to the journal by the cgroup. */
	if (!*moved && getenv("INVOCATION_ID"))
		ctl_note("leaving the cgroup %s, which is below /%.*s as the "
			 "target is: the journal has what follows without "
			 "the unit; a unit with Slice=gpreempt.slice stays",
			 ours, (int)strcspn(theirs.path + 1, "/"), theirs.path + 1);
	if (hold_cgroup_enter(getpid())) {
		*moved = true;
		return 0;
	}
	ret = strcspn(theirs.path + 1, "/");
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "start it from another cgroup, such as with "
			     "systemd-run --slice=gpreempt",
			     theirs.lost ? "we could be frozen together with process "
					   "%d, whose cgroup cannot be read, and we "
					   "cannot leave ours" :
					   "we would be frozen together with process "
					   "%d: both are below the cgroup /%.*s, and "
					   "we cannot leave it",
			     target, ret, theirs.path + 1);
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
