// SPDX-License-Identifier: GPL-2.0-only
/* Suspending targets: a holder for each, all at once. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/foreground.h"
#include "agent/owner-text.h"
#include "agent/owner.h"
#include "agent/pause-repair.h"
#include "ctl/command/ctl.h"
#include "ctl/suspend/suspend.h"
#include "shared/clock.h"

/*
 * A holder on its way out is gone by then: its dead man's switch has fallen
 * even if it was stopped.
 */
#define PATIENCE_NS (5 * NSEC_PER_SEC)
#define PAUSE_NS    (20 * NSEC_PER_MSEC)

static void fail_system(struct suspend_job *job, const char *step, int code)
{
	enum gpreempt_reason reason = GPREEMPT_SYSTEM;

	if (code == -EPROTO)
		reason = GPREEMPT_OTHER_VERSION;
	/* The holder is in the driver, and ends when that lets it. */
	if (code == -ETIMEDOUT) {
		reason = GPREEMPT_STUCK;
		step = HOLD_STUCK;
	}
	hold_reply_fail(&job->reply, job->pid, reason, code, step);
}

/* False when the owner is none that stays. */
static bool fail_busy(struct suspend_job *job, const struct hold_owner *owner)
{
	if (owner->role == HOLD_ROLE_NONE ||
	    (owner->role == HOLD_ROLE_HOLDER && !job->request.command))
		return false;
	hold_taken(&job->reply, owner, job->pid);
	return true;
}

/* Is the target fit for a session? Only asked when there is no holder. */
static bool check(struct gpreempt *g, struct suspend_job *job)
{
	struct gpreempt_error err;

	if (!owner_check(g, job->pid, job->request.how, &err))
		return true;
	hold_reply_error(&job->reply, &err);
	return false;
}

/*
 * Send the request to the holder, or make one. False: a holder is just ending
 * or starting; try again.
 */
static bool begin(struct gpreempt *g, struct suspend_job *job)
{
	struct hold_owner owner = { .pid = getpid() };
	int lock = -ENOENT;

	job->already = !job->request.command;
	job->fd = -1;
	if (job->already)
		lock = job->fd =
			gp_hold_ask_begin(job->pid, &job->request, shr_now_ns() + HOLD_ANSWER_NS);
	if (job->fd >= 0)
		return true;
	job->already = false;
	if (lock == -ENOENT)
		lock = pause_take(job->pid, &owner);
	if (lock == -EWOULDBLOCK) {
		return !hold_read_owner(job->pid, &owner) && fail_busy(job, &owner);
	} else if (lock < 0) {
		hold_not_taken(&job->reply, lock, job->pid);
	} else if (!check(g, job)) {
		hold_drop(job->pid, lock);
	} else {
		job->fd = hold_spawn_begin(lock, job->pid, &job->request);
		if (job->fd < 0)
			fail_system(job, "starting the holder", job->fd);
	}
	return true;
}

static void begin_patiently(struct gpreempt *g, struct suspend_job *job)
{
	uint64_t deadline = shr_now_ns() + PATIENCE_NS;

	while (!begin(g, job)) {
		if (shr_now_ns() > deadline) {
			fail_system(job, "asking the holder", -ETIMEDOUT);
			return;
		}
		shr_sleep_ns(PAUSE_NS);
	}
}

/* Get the reply; when the holder ended just then, make another. */
static void end(struct gpreempt *g, struct suspend_job *job)
{
	uint64_t deadline = 0;
	int ret = 0;

	while (job->already && job->fd >= 0) {
		ret = gp_hold_ask_end(job->pid, job->fd, &job->reply,
				      shr_now_ns() + HOLD_ANSWER_NS);
		job->fd = -1;
		if (ret != -ECONNRESET && ret != -ENOENT)
			break;
		/* The first one may have waited for the driver before it ended. */
		if (!deadline)
			deadline = shr_now_ns() + PATIENCE_NS;
		if (shr_now_ns() > deadline) {
			ret = -ETIMEDOUT;
			break;
		}
		ret = 0;
		shr_sleep_ns(PAUSE_NS);
		begin_patiently(g, job);
	}
	if (job->fd >= 0)
		ret = gp_hold_recv(job->fd, &job->reply, shr_now_ns() + HOLD_ANSWER_NS);
	if (!ret)
		return;
	fail_system(job, job->already ? "asking the holder" : "starting the holder", ret);
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
}

void suspend_all(struct gpreempt *g, struct suspend_job *jobs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!jobs[i].reply.status && !jobs[i].detach)
			begin_patiently(g, &jobs[i]);
	for (i = 0; i < count; i++)
		if (jobs[i].fd >= 0)
			end(g, &jobs[i]);
	for (i = 0; i < count; i++)
		if (!jobs[i].reply.status && jobs[i].detach)
			suspend_pause(g, &jobs[i]);
}

/* Wait for the first descriptor, the stop, or for an end of one of the rest. */
static bool wait_for_change(struct pollfd *fds, size_t count)
{
	size_t i;

	if (poll(fds, count + 1, -1) < 0)
		return errno == EINTR;
	for (i = 1; i <= count; i++) {
		if (fds[i].fd < 0 || !fds[i].revents)
			continue;
		close(fds[i].fd);
		fds[i].fd = -1;
	}
	return !fds[0].revents;
}

void suspend_stay(struct suspend_job *jobs, size_t count)
{
	struct pollfd *fds = calloc(count + 1, sizeof(*fds));
	size_t i, left;

	if (!fds)
		return;
	fds[0] = (struct pollfd){ .fd = foreground_signals(), .events = POLLIN };
	for (i = 0; i < count; i++)
		fds[i + 1] = (struct pollfd){
			.fd = jobs[i].fd,
			.events = POLLIN,
		};
	do {
		left = 0;
		for (i = 0; i < count; i++)
			left += fds[i + 1].fd >= 0;
	} while (left && wait_for_change(fds, count));
	/* The holders that are left see this. */
	for (i = 0; i <= count; i++)
		if (fds[i].fd >= 0)
			close(fds[i].fd);
	for (i = 0; i < count; i++)
		jobs[i].fd = -1;
	free(fds);
}
