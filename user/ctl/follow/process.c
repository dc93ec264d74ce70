// SPDX-License-Identifier: GPL-2.0-only
/*
 * Following one process: its queues are suspended while it is stopped or its
 * cgroup is frozen, and run while it does.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "agent/capabilities.h"
#include "agent/session-owner.h"
#include "ctl/command/ctl.h"
#include "ctl/follow/follow.h"
#include "agent/foreground.h"

struct follow {
	pid_t target;
	struct heartbeat heartbeat;
	struct session_owner owner;
	struct freezer freezer;
	int stop;
	bool held;   /* that is what we want */
	bool frozen; /* why, as last printed */
	size_t suspensions;
};

static void print_switch(const struct follow *f, const char *why,
			 const struct gpreempt_outcome *outcome)
{
	printf("%s %d: %s, %zu of %zu queues, ioctl %.1f us\n",
	       f->held ? "suspended" : "resumed", f->target, why, outcome->done,
	       outcome->requested, outcome->ioctl_ns / 1000.0);
	fflush(stdout);
}

/* Do what the process does. 0 or -errno. */
static int follow_state(struct follow *f)
{
	bool stopped = gpreempt_session_stopped(f->owner.keeper.session);
	bool want = stopped || f->freezer.frozen;
	struct gpreempt_outcome outcome = { 0 };
	int ret;

	if (want == f->held)
		return 0;
	f->held = want;
	ret = want ? gpreempt_keeper_suspend(&f->owner.keeper, NULL, &outcome) :
		     gpreempt_keeper_resume(&f->owner.keeper, NULL, &outcome);
	/* It has no runtime yet; what comes of it is suspended. */
	if (ret && ret != -EPERM)
		return ret;
	if (want)
		f->frozen = f->freezer.frozen;
	f->suspensions += want;
	print_switch(f,
		     want      ? stopped ? "it is stopped" : "it is frozen" :
		     f->frozen ? "it is thawed" :
				 "it is continued",
		     &outcome);
	return 0;
}

static void tell_loss(void *data, const struct gpreempt_error *err)
{
	(void)data;
	ctl_note("process %d: another process ended our debug session; "
		 "opening it again",
		 err->pid);
}

/* 0, 1: it is over, or -errno. */
static int dispatch(struct follow *f)
{
	int ret = gpreempt_keeper_dispatch(&f->owner.keeper);

	if (ret < 0)
		return ret;
	if (ret & GPREEMPT_EVENT_ENDED)
		return 1;
	ret = freezer_read(&f->freezer);
	/* The session reports its end, in order. */
	if (ret && ret != -ESRCH)
		return ret;
	return follow_state(f);
}

static int serve(struct follow *f)
{
	struct timespec tick = { .tv_nsec = HEARTBEAT_TICK_NS };
	struct pollfd fds[] = {
		{ .fd = gpreempt_session_fd(f->owner.keeper.session),
		  .events = POLLIN },
		{ .events = POLLPRI },
		{ .fd = f->stop, .events = POLLIN },
	};
	int ret;

	for (;;) {
		heartbeat_beat(&f->heartbeat);
		ret = dispatch(f);
		if (ret)
			return ret;
		fds[1].fd = f->freezer.events;
		if (ppoll(fds, ARRAY_SIZE(fds), &tick, NULL) > 0 &&
		    fds[2].revents)
			return 0;
	}
}

static int finish(struct follow *f, int ret)
{
	struct gpreempt_error err =
		*gpreempt_session_error(f->owner.keeper.session);

	session_owner_close(&f->owner);
	if (ret == -ENOTSUP)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, NULL,
				     "process %d has moved to %s of the old "
				     "freezer (cgroup v1)",
				     f->target, f->freezer.path);
	if (ret < 0 && !err.reason)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, f->target);
	if (ret < 0)
		return ctl_fail(&err);
	if (ret && err.reason == GPREEMPT_EXECED)
		return ctl_fail(&err);
	printf("%s %d: %zu suspensions\n", ret ? "ended" : "released",
	       f->target, f->suspensions);
	return 0;
}

static int open_and_live(struct follow *f)
{
	struct gpreempt_error err;
	int ret;

	heartbeat_beat(&f->heartbeat);
	ret = freezer_open(&f->freezer, f->target);
	if (ret == -ESRCH)
		return ctl_fail_reason(GPREEMPT_NO_PROCESS, ret, f->target);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, f->target);
	if (session_owner_open(&f->owner, &err)) {
		session_owner_close(&f->owner);
		freezer_close(&f->freezer);
		return ctl_fail(&err);
	}
	ctl_say("following %d: its signals%s%s", f->target,
		f->freezer.events < 0 ? "" : " and its cgroup ",
		f->freezer.events < 0 ? "" : f->freezer.path);
	ret = finish(f, serve(f));
	freezer_close(&f->freezer);
	return ret;
}

int follow_process(pid_t target)
{
	struct follow f = {
		.target = target,
		.owner = {
			.target = target,
			.heartbeat = &f.heartbeat,
			.keeper.lost = tell_loss,
		},
	};
	int lock, ret;

	/* The other follower looks for targets; this one has its own. */
	ret = foreground_capabilities(CAPABILITIES_HOLDER);
	if (ret)
		return ret;
	lock = foreground_take(target, HOLD_ROLE_FOLLOW);
	if (lock < 0)
		return -lock;
	f.stop = foreground_signals();
	ret = f.stop < 0 ? f.stop : heartbeat_start(&f.heartbeat);
	if (ret)
		ret = ctl_fail_reason(GPREEMPT_SYSTEM, ret, target);
	else
		ret = open_and_live(&f);
	hold_drop(target, lock);
	return ret;
}
