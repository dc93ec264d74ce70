// SPDX-License-Identifier: GPL-2.0-only
/*
 * Following one process: its queues are suspended while it is stopped or its
 * cgroup is frozen, and run while it does.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "agent/capabilities.h"
#include "agent/foreground.h"
#include "agent/owner.h"
#include "ctl/command/ctl.h"
#include "ctl/follow/follow.h"

/* A pause has no event for what job control does. */
#define LOOK_NS (50 * NSEC_PER_MSEC)

struct follow {
	pid_t target;
	struct heartbeat heartbeat;
	struct owner owner;
	struct shr_freezer freezer;
	int stop;
	bool held;   /* that is what we want */
	bool frozen; /* why, as last printed */
	bool traced; /* it waits for a debugger, which is noted */
	bool paused; /* not by a session, which is noted */
	size_t suspensions;
};

static void print_switch(const struct follow *f, const char *why,
			 const struct gpreempt_outcome *outcome)
{
	printf("%s %d: %s, %zu of %zu queues, ioctl %.1f us\n", f->held ? "suspended" : "resumed",
	       f->target, why, outcome->done, outcome->requested, outcome->ioctl_ns / 1000.0);
	fflush(stdout);
}

static int change(struct follow *f, bool suspend, struct gpreempt_outcome *outcome)
{
	int ret = suspend ? owner_suspend(&f->owner, NULL, outcome) :
			    owner_resume(&f->owner, NULL, outcome);

	/* It has no runtime yet; what comes of it is suspended. */
	return ret == -EPERM && !owner_is_paused(&f->owner) ? 0 : ret;
}

/* A pause has to trace it for a moment. */
static int wait_for_debugger(struct follow *f)
{
	if (!f->traced)
		ctl_note("process %d is being traced by another process; its "
			 "queues are %s when that ends",
			 f->target, f->held ? "resumed" : "suspended");
	f->traced = true;
	return 0;
}

static void tell_pause(struct follow *f)
{
	char text[512];

	if (f->paused || !f->owner.why.reason)
		return;
	f->paused = true;
	gpreempt_error_text(&f->owner.why, text, sizeof(text));
	ctl_note("%s; so it is paused", text);
}

/* Do what the process does. 0 or -errno. */
static int follow_state(struct follow *f)
{
	bool stopped = owner_is_stopped(&f->owner);
	bool want = stopped || f->freezer.frozen;
	struct gpreempt_outcome outcome = { 0 };
	int ret;

	if (want == f->held)
		return 0;
	ret = change(f, want, &outcome);
	if (ret && owner_error(&f->owner)->reason == GPREEMPT_TRACED)
		return wait_for_debugger(f);
	if (ret)
		return ret;
	tell_pause(f);
	f->traced = false;
	f->held = want;
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
	char text[512];

	(void)data;
	if (err->reason == GPREEMPT_PAUSE_OFF) {
		gpreempt_error_text(err, text, sizeof(text));
		ctl_note("%s", text);
		return;
	}
	ctl_note(err->reason == GPREEMPT_UNPAUSED ?
			 "process %d: another program ended our pause" :
			 "process %d: another process ended our debug session; "
			 "opening it again",
		 err->pid);
}

/* 0, 1: it is over, or -errno. */
static int dispatch(struct follow *f)
{
	int ret = owner_dispatch(&f->owner);

	if (ret < 0)
		return ret;
	if (ret & GPREEMPT_EVENT_ENDED)
		return 1;
	ret = shr_freezer_read(&f->freezer);
	/* The owner reports its end, in order. */
	if (ret && ret != -ESRCH)
		return ret;
	ret = follow_state(f);
	/* One that is killed while it is frozen is thawed first. */
	return ret && owner_error(&f->owner)->reason == GPREEMPT_ENDED ? 1 : ret;
}

static int serve(struct follow *f)
{
	struct timespec tick = { 0 };
	struct pollfd fds[] = {
		{ .events = POLLIN },
		{ .events = POLLPRI },
		{ .fd = f->stop, .events = POLLIN },
	};
	int ret;

	for (;;) {
		heartbeat_beat(&f->heartbeat);
		ret = dispatch(f);
		if (ret)
			return ret;
		fds[0].fd = owner_fd(&f->owner);
		fds[1].fd = f->freezer.events;
		tick.tv_nsec = owner_is_paused(&f->owner) ? LOOK_NS : HEARTBEAT_TICK_NS;
		if (ppoll(fds, ARRAY_SIZE(fds), &tick, NULL) > 0 && fds[2].revents)
			return 0;
	}
}

/* The exit status: 0, or that of resume. */
static int release(struct follow *f)
{
	int ret = owner_close(&f->owner);

	if (ret && f->owner.error.reason == GPREEMPT_PAUSE_OFF)
		return ctl_fail(&f->owner.error);
	if (ret)
		ctl_note("process %d could not be released: %s; its guardian tries "
			 "again: gpreempt-ctl status",
			 f->target, strerror(-ret));
	return 0;
}

static int finish(struct follow *f, int ret)
{
	struct gpreempt_error err = *owner_error(&f->owner);
	int status = release(f);

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
	if (status)
		return status;
	printf("%s %d: %zu suspensions\n", ret ? "ended" : "released", f->target, f->suspensions);
	return 0;
}

static int open_and_live(struct follow *f)
{
	struct gpreempt_error err;
	int ret;

	heartbeat_beat(&f->heartbeat);
	ret = shr_freezer_open(&f->freezer, f->target);
	if (ret == -ESRCH)
		return ctl_fail_reason(GPREEMPT_NO_PROCESS, ret, f->target);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, f->target);
	if (owner_open(&f->owner, &err)) {
		shr_freezer_close(&f->freezer);
		return ctl_fail(&err);
	}
	tell_pause(f);
	ctl_say("following %d: its signals%s%s", f->target,
		f->freezer.lost	      ? " and its cgroup, whose path cannot be read" :
		f->freezer.events < 0 ? "" :
					" and its cgroup ",
		f->freezer.events < 0 ? "" : f->freezer.path);
	ret = finish(f, serve(f));
	shr_freezer_close(&f->freezer);
	return ret;
}

/* A pause gives it back with its guardian. */
static void give_lock_back(const struct follow *f)
{
	if (f->owner.lock >= 0)
		hold_drop(f->target, f->owner.lock);
	else
		hold_wait_for_end(f->target, 0);
}

int follow_process(pid_t target, enum gpreempt_how how)
{
	struct follow f = {
		.target = target,
		.owner = {
			.target = target,
			.heartbeat = &f.heartbeat,
			.how = how,
			.as = { .role = HOLD_ROLE_FOLLOW, .pid = getpid() },
			.lost = tell_loss,
		},
	};
	int ret;

	/* The other follower looks for targets; this one has its own. */
	ret = foreground_capabilities(CAPABILITIES_HOLDER);
	if (ret)
		return ret;
	f.owner.lock = foreground_take(target, HOLD_ROLE_FOLLOW);
	if (f.owner.lock < 0)
		return -f.owner.lock;
	f.stop = foreground_signals();
	ret = f.stop < 0 ? f.stop : heartbeat_start(&f.heartbeat);
	if (ret)
		ret = ctl_fail_reason(GPREEMPT_SYSTEM, ret, target);
	else
		ret = open_and_live(&f);
	give_lock_back(&f);
	return ret;
}
