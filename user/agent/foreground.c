// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "agent/capabilities.h"
#include "agent/cgroup.h"
#include "agent/foreground.h"
#include "agent/owner-text.h"
#include "agent/pause-repair.h"
#include "output/message.h"
#include "shared/macro.h"
#include "shared/signals.h"

int foreground_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0 };

	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
	return shr_signals_open(signals);
}

static int fail_taken(pid_t target, int code)
{
	struct hold_reply why;

	hold_not_taken(&why, code, target);
	return ctl_fail_lines(why.status, why.text);
}

int foreground_dir(void)
{
	int ret = hold_dir_prepare();

	if (!ret)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     ret == -ENOSPC ? "make room there, and try again" :
					      "it must be a directory of root's",
			     "cannot make " HOLD_DIR ": %s", strerror(-ret));
}

int foreground_freezer(void)
{
	bool inside;
	int ret = freezer_v1_leave(&inside);
	const char *want = ctl_want(ret);

	if (!ret)
		return 0;
	if (!inside)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     want ? want :
					    "it is needed to see whether this "
					    "process could be frozen while it "
					    "holds a target",
				     "cannot read /proc/self/cgroup: %s", strerror(-ret));
	return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED,
			     "start it from another cgroup, or boot with "
			     "cgroup v2 alone",
			     "this process is in a cgroup of the old freezer "
			     "(cgroup v1) and cannot leave it: %s; frozen "
			     "there it could not be killed, nor its target",
			     strerror(-ret));
}

int foreground_capabilities(uint64_t kept)
{
	int ret = capabilities_keep(kept);

	if (!ret)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "does a filter of system calls (seccomp) forbid "
			     "capset() or prctl()?",
			     "cannot give up the capabilities of root that are "
			     "not needed: %s",
			     strerror(-ret));
}

int foreground_take(pid_t target, enum hold_role role)
{
	struct hold_owner owner = { .role = role, .pid = getpid() };
	int lock, ret;

	ret = foreground_dir();
	if (!ret)
		ret = foreground_freezer();
	if (ret)
		return -ret;
	lock = pause_take(target, &owner);
	return lock < 0 ? -fail_taken(target, lock) : lock;
}
