// SPDX-License-Identifier: GPL-2.0-only
/*
 * Following one process: its queues are suspended while it is stopped or its
 * cgroup is frozen, and run while it does.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "ctl/ctl.h"
#include "ctl/follow.h"
#include "ctl/foreground.h"
#include "ctl/nudge.h"
#include "shared/clock.h"

/* Somebody who ends our session again and again is stronger than we are. */
#define MAX_LOSSES 5
#define LOSS_MEMORY_NS (10 * NSEC_PER_SEC)

struct follow {
	pid_t target;
	struct gpreempt *g;
	struct gpreempt_session *session;
	struct freezer freezer;
	struct deadman deadman;
	int stop;
	bool held;		/* that is what we want */
	bool frozen;		/* why, as last printed */
	size_t suspensions;
	unsigned int losses;
	uint64_t lost_ns;
};

static void tell_busy(void *data, bool busy)
{
	const struct follow *f = data;

	foreground_well(&f->deadman, busy);
	nudge_busy(busy);
}

static void print_switch(const struct follow *f, const char *why,
			 const struct gpreempt_outcome *outcome)
{
	printf("%s %d: %s, %zu of %zu queues, ioctl %.1f us\n",
	       f->held ? "suspended" : "resumed", f->target, why,
	       outcome->done, outcome->requested, outcome->ioctl_ns / 1000.0);
	fflush(stdout);
}

/* Do what the process does. 0 or -errno. */
static int act(struct follow *f)
{
	bool stopped = gpreempt_session_stopped(f->session);
	bool want = stopped || f->freezer.frozen;
	struct gpreempt_outcome outcome = { 0 };
	int ret;

	if (want == f->held)
		return 0;
	f->held = want;
	ret = want ? gpreempt_session_suspend(f->session, NULL, &outcome) :
		     gpreempt_session_resume(f->session, NULL, &outcome);
	/* It has no runtime yet; what comes of it is suspended. */
	if (ret && ret != -EPERM)
		return ret;
	if (want)
		f->frozen = f->freezer.frozen;
	f->suspensions += want;
	print_switch(f, want ? stopped ? "it is stopped" : "it is frozen" :
		     f->frozen ? "it is thawed" : "it is continued",
		     &outcome);
	return 0;
}

static int renew(struct follow *f)
{
	uint64_t now = shr_now_ns();

	if (now > f->lost_ns + LOSS_MEMORY_NS)
		f->losses = 0;
	f->lost_ns = now;
	if (++f->losses > MAX_LOSSES)
		return -ENOTCONN;
	ctl_note("process %d: somebody ended our debug session; taking it up "
		 "again", f->target);
	return gpreempt_session_renew(f->session, NULL);
}

/* 0, 1: it is over, or -errno. */
static int attend(struct follow *f)
{
	int ret = gpreempt_session_dispatch(f->session);

	if (ret < 0)
		return ret;
	if (ret & GPREEMPT_EVENT_ENDED)
		return 1;
	if (ret & GPREEMPT_EVENT_LOST) {
		ret = renew(f);
		if (ret)
			return ret;
	}
	ret = freezer_read(&f->freezer);
	/* Its end is told by the session, in order. */
	if (ret && ret != -ESRCH)
		return ret;
	return act(f);
}

static int life(struct follow *f)
{
	struct timespec tick = { .tv_nsec = HOLD_TICK_NS };
	struct pollfd fds[] = {
		{ .fd = gpreempt_session_fd(f->session), .events = POLLIN },
		{ .events = POLLPRI },
		{ .fd = f->stop, .events = POLLIN },
	};
	int ret;

	for (;;) {
		foreground_well(&f->deadman, false);
		ret = attend(f);
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
	struct gpreempt_error err = *gpreempt_session_error(f->session);

	gpreempt_session_close(f->session);
	if (ret == -ENOTSUP)
		return ctl_fail_text(GPREEMPT_CLASS_UNSUPPORTED, NULL,
				     "process %d has moved to %s of the old "
				     "freezer (cgroup v1)", f->target,
				     f->freezer.path);
	if (ret < 0 && !err.reason)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, f->target);
	if (ret < 0)
		return ctl_fail(&err);
	if (ret && err.reason == GPREEMPT_EXECED)
		return ctl_fail(&err);
	printf("%s %d: %zu suspensions\n", ret ? "ended" : "let go of",
	       f->target, f->suspensions);
	return 0;
}

static int open_and_live(struct follow *f)
{
	struct gpreempt_error err;
	int ret;

	foreground_well(&f->deadman, false);
	ret = freezer_open(&f->freezer, f->target);
	if (ret == -ESRCH)
		return ctl_fail_reason(GPREEMPT_NO_PROCESS, ret, f->target);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, f->target);
	if (gpreempt_session_open(f->g, f->target, &f->session, &err)) {
		freezer_close(&f->freezer);
		return ctl_fail(&err);
	}
	printf("following %d: its signals%s%s\n", f->target,
	       f->freezer.events < 0 ? "" : " and its cgroup ",
	       f->freezer.events < 0 ? "" : f->freezer.path);
	fflush(stdout);
	ret = finish(f, life(f));
	freezer_close(&f->freezer);
	return ret;
}

int follow_process(pid_t target)
{
	struct follow f = { .target = target };
	struct gpreempt_options setup = {
		.size = sizeof(setup),
		.busy = tell_busy,
		.data = &f,
	};
	int lock, ret;

	lock = foreground_take(target, HOLD_ROLE_FOLLOW);
	if (lock < 0)
		return -lock;
	f.stop = foreground_signals();
	ret = f.stop < 0 ? f.stop : deadman_start(&f.deadman);
	if (!ret)
		ret = gpreempt_new(&setup, &f.g);
	if (ret) {
		ret = ctl_fail_reason(GPREEMPT_SYSTEM, ret, target);
	} else {
		nudge_start();
		ret = open_and_live(&f);
		gpreempt_free(f.g);
	}
	foreground_drop(target, lock);
	return ret;
}
