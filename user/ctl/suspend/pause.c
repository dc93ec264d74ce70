// SPDX-License-Identifier: GPL-2.0-only
/* Pausing a target without a holder: --how pause --detach. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/owner-text.h"
#include "agent/pause-repair.h"
#include "ctl/suspend/suspend.h"
#include "shared/clock.h"

static void fail_foreign(struct suspend_job *job)
{
	struct gpreempt_error err;

	ctl_set_error(&err, -EBUSY, GPREEMPT_PAUSED, job->pid, NULL);
	hold_reply_error(&job->reply, &err);
}

/*
 * After an error the driver has restored the queues, or not: what is paused is
 * let run, and what cannot be stays in the journal for repair.
 */
static void fail_pause(struct gpreempt *g, struct suspend_job *job,
		       const struct gp_pause_report *report, const struct gpreempt_error *err)
{
	struct gpreempt_error undo;
	size_t len;

	hold_reply_error(&job->reply, err);
	/* The driver has answered nothing yet: another's pause is as it was. */
	if (report->before == GP_PAUSED_UNKNOWN) {
		pause_journal_remove(job->pid);
		return;
	}
	len = strlen(job->reply.text);
	if (!pause_undo(g, &job->entry, NULL, &undo))
		return;
	if (undo.reason == GPREEMPT_PAUSE_OFF)
		hold_reply_error(&job->reply, &undo);
	else
		snprintf(job->reply.text + len, sizeof(job->reply.text) - len,
			 "; then: gpreempt-ctl repair %d", job->pid);
}

static void report_done(struct gpreempt *g, struct suspend_job *job)
{
	struct hold_reply *reply = &job->reply;
	enum gpreempt_verified_by by;

	reply->verdict = gp_pause_verify(g, job->pid, &reply->queues, &by);
	reply->verified_by = by;
	reply->paused = true;
	reply->status = GPREEMPT_CLASS_DONE;
}

/* With the lock and an entry. */
static void pause_now(struct gpreempt *g, struct suspend_job *job)
{
	struct gp_pause_report report;
	struct gpreempt_error err;

	if (gp_pause(g, job->pid, job->entry.start, NULL, &report, &err)) {
		fail_pause(g, job, &report, &err);
	} else if (report.before == GP_PAUSED_YES) {
		/* As it was: paused once, and not ours to undo. */
		pause_journal_remove(job->pid);
		fail_foreign(job);
	} else {
		job->reply.ioctl_ns = report.ioctl_ns;
		report_done(g, job);
	}
}

static void pause_locked(struct gpreempt *g, struct suspend_job *job)
{
	int ret;

	pause_entry_init(&job->entry, job->pid, job->request.start);
	ret = pause_journal_write(&job->entry);
	if (ret)
		hold_not_noted(&job->reply, ret, job->pid);
	else
		pause_now(g, job);
}

/* Is it paused by us until resume? */
static bool is_kept(struct suspend_job *job)
{
	return !pause_journal_read(job->pid, &job->entry) && job->entry.state == PAUSE_KEPT &&
	       job->entry.start == job->request.start;
}

void suspend_pause(struct gpreempt *g, struct suspend_job *job)
{
	struct hold_owner owner = { .pid = getpid() };
	struct gpreempt_error err;

	job->reply = (struct hold_reply){ 0 };
	job->lock = pause_take(job->pid, &owner);
	if (job->lock == -EALREADY && is_kept(job)) {
		if (pause_see(g, job->pid) != PAUSE_SEEN_RUNS) {
			job->already = true;
			report_done(g, job);
			return;
		}
		/* Another program, such as criu dump, has ended that pause. */
		job->lock = pause_lock(job->pid);
		if (job->lock >= 0)
			pause_journal_remove(job->pid);
	}
	if (job->lock < 0) {
		hold_not_taken(&job->reply, job->lock, job->pid);
		job->lock = -1;
		return;
	}
	if (gp_pause_check(g, job->pid, &err))
		hold_reply_error(&job->reply, &err);
	else if (pause_is_seen(g, job->pid))
		fail_foreign(job);
	else
		pause_locked(g, job);
	if (job->reply.paused)
		return;
	hold_drop(job->pid, job->lock);
	job->lock = -1;
}

void suspend_pause_confirm(struct gpreempt *g, struct suspend_job *job)
{
	int ret;

	if (job->lock < 0)
		return;
	job->entry.state = PAUSE_KEPT;
	ret = pause_journal_change(&job->entry);
	/* The user has read that it is paused. */
	if (ret) {
		gp_unpause(g, job->pid, job->entry.start, NULL, NULL);
		ctl_note("process %d runs again: its entry in " HOLD_DIR " could not be kept: %s",
			 job->pid, strerror(-ret));
	}
	hold_drop(job->pid, job->lock);
	job->lock = -1;
}
