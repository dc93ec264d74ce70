// SPDX-License-Identifier: GPL-2.0-only
/* Suspending a target by a pause: no session, and no holder without a lease. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/owner-text.h"
#include "agent/pause-repair.h"
#include "ctl/suspend/suspend.h"
#include "shared/clock.h"

static void fail_system(struct suspend_job *job, const char *step, int code)
{
	struct gpreempt_error err = {
		.code = code,
		.reason = GPREEMPT_SYSTEM,
		.pid = job->pid,
		.step = step,
	};

	hold_reply_error(&job->reply, &err);
}

static void fail_lock(struct suspend_job *job, int code)
{
	job->reply.status = hold_not_taken_text(code, job->pid, job->reply.text,
						sizeof(job->reply.text));
}

static void fail_journal(struct suspend_job *job, int code)
{
	job->reply.status = hold_not_noted_text(code, job->pid, job->reply.text,
						sizeof(job->reply.text));
}

static void fail_foreign(struct suspend_job *job)
{
	struct gpreempt_error err = {
		.code = -EBUSY,
		.reason = GPREEMPT_PAUSED,
		.pid = job->pid,
	};

	hold_reply_error(&job->reply, &err);
}

bool suspend_may_pause(const struct suspend_job *job)
{
	const struct hold_request *request = &job->request;

	if (request->by_priority || request->count || request->n_gpus ||
	    request->grace || job->already)
		return false;
	return pause_can_serve(job->reply.reason);
}

/*
 * After an error the driver has restored the queues, or not: what is paused is
 * let run, and what cannot be stays in the journal for repair.
 */
static void fail_pause(struct gpreempt *g, struct suspend_job *job,
		       const struct gpreempt_pause_report *report,
		       const struct gpreempt_error *err)
{
	struct gpreempt_error undo;
	size_t len;

	hold_reply_error(&job->reply, err);
	/* The driver has answered nothing yet: another's pause is as it was. */
	if (report->before == GPREEMPT_PAUSED_UNKNOWN) {
		pause_journal_remove(job->pid);
		return;
	}
	len = strlen(job->reply.text);
	if (!pause_undo(g, &job->entry, NULL, &undo)) {
		if (pause_see(g, job->pid) == PAUSE_SEEN_OFF)
			snprintf(job->reply.text, sizeof(job->reply.text),
				 TEXT_PAUSE_OFF "\n" NEXT_PAUSE_OFF, job->pid,
				 job->pid);
		return;
	}
	snprintf(job->reply.text + len, sizeof(job->reply.text) - len,
		 "; then: gpreempt-ctl repair %d", job->pid);
}

/* With the lock and an entry. False: it is not paused by us. */
static bool pause_now(struct gpreempt *g, struct suspend_job *job)
{
	struct gpreempt_pause_report report;
	struct hold_reply *reply = &job->reply;
	struct gpreempt_error err;
	size_t queues = 0;

	if (gpreempt_pause(g, job->pid, job->entry.start, &report, &err)) {
		fail_pause(g, job, &report, &err);
		return false;
	}
	if (report.before == GPREEMPT_PAUSED_YES) {
		/* As it was: paused once, and not ours to undo. */
		pause_journal_remove(job->pid);
		fail_foreign(job);
		return false;
	}
	/* A keeper that was killed, or a short lease, was first. */
	if (pause_journal_change(&job->entry)) {
		gpreempt_unpause(g, job->pid, job->entry.start, NULL, &err);
		fail_system(job, "keeping the pause", -ECHILD);
		return false;
	}
	reply->ioctl_ns = report.ioctl_ns;
	reply->verdict = gpreempt_pause_verify(g, job->pid, &queues);
	reply->queues = queues;
	reply->command = job->request.command;
	reply->lease_ns = job->request.lease_ns;
	reply->status = GPREEMPT_CLASS_DONE;
	job->paused = true;
	return true;
}

static bool wants_keepers(const struct suspend_job *job)
{
	return job->request.lease_ns || job->request.command;
}

static int start_keepers(struct suspend_job *job)
{
	int ret;

	if (!wants_keepers(job))
		return 0;
	ret = pause_keepers_start(job->lock, job->pid, job->entry.start,
				  job->entry.until_ns, &job->keepers);
	if (ret)
		return ret;
	job->reply.worker = job->keepers.first;
	job->reply.guardian = job->keepers.second;
	return 0;
}

static void pause_locked(struct gpreempt *g, struct suspend_job *job)
{
	uint64_t lease = job->request.lease_ns;
	int ret;

	pause_entry_init(&job->entry, job->pid, job->request.start);
	if (lease)
		job->entry.until_ns = shr_later_ns(job->entry.since_ns, lease);
	ret = pause_journal_write(&job->entry);
	if (ret) {
		fail_journal(job, ret);
		return;
	}
	ret = start_keepers(job);
	if (ret) {
		pause_journal_remove(job->pid);
		job->reply.status =
			hold_no_keepers_text(ret, job->pid, job->reply.text,
					     sizeof(job->reply.text));
		return;
	}
	pause_now(g, job);
}

/* Is it paused by us until resume? Then a suspend without a lease has that already. */
static bool is_paused_so(struct suspend_job *job)
{
	if (wants_keepers(job) || pause_journal_read(job->pid, &job->entry) ||
	    job->entry.state != PAUSE_KEPT ||
	    job->entry.start != job->request.start)
		return false;
	job->already = true;
	job->paused = true;
	job->reply.status = GPREEMPT_CLASS_DONE;
	return true;
}

/* Has another program, such as criu dump, ended the pause of that entry? */
static bool is_over(struct gpreempt *g, const struct suspend_job *job)
{
	struct pause_entry entry;

	return !pause_journal_read(job->pid, &entry) &&
	       entry.state == PAUSE_KEPT &&
	       pause_see(g, job->pid) == PAUSE_SEEN_RUNS;
}

void suspend_pause(struct gpreempt *g, struct suspend_job *job)
{
	struct hold_owner owner = { .pid = getpid() };
	struct gpreempt_error err;
	size_t queues = 0;

	job->reply = (struct hold_reply){ 0 };
	job->lock = pause_take(job->pid, &owner);
	if (job->lock == -EALREADY && is_over(g, job)) {
		job->lock = pause_lock(job->pid);
		if (job->lock >= 0)
			pause_journal_remove(job->pid);
	}
	if (job->lock == -EALREADY && is_paused_so(job)) {
		job->reply.verdict =
			gpreempt_pause_verify(g, job->pid, &queues);
		job->reply.queues = queues;
		return;
	}
	if (job->lock < 0) {
		fail_lock(job, job->lock);
		job->lock = -1;
		return;
	}
	if (gpreempt_pause_check(g, job->pid, &err))
		hold_reply_error(&job->reply, &err);
	else if (pause_is_seen(g, job->pid))
		fail_foreign(job);
	else
		pause_locked(g, job);
	if (job->paused)
		return;
	/* Keepers see the end of this, and end; until then the lock is theirs. */
	if (job->keepers.first)
		close(job->keepers.confirm);
	hold_drop(job->pid, job->lock);
	job->lock = -1;
}

void suspend_pause_confirm(struct gpreempt *g, struct suspend_job *job)
{
	const struct hold_request *request = &job->request;
	int ret;

	if (job->lock < 0)
		return;
	job->entry.state = job->keepers.first ? PAUSE_LEASED : PAUSE_KEPT;
	ret = pause_journal_change(&job->entry);
	/* The user has read that it is paused. */
	if (ret) {
		gpreempt_unpause(g, job->pid, job->entry.start, NULL, NULL);
		ctl_note("process %d runs again: its entry in " HOLD_DIR
			 " could not be kept: %s",
			 job->pid, strerror(-ret));
	}
	/* Keepers have it further. */
	hold_drop(job->pid, job->lock);
	if (job->keepers.first && request->command)
		job->fd = job->keepers.confirm;
	else if (job->keepers.first)
		pause_keepers_confirm(&job->keepers);
	job->lock = -1;
}
