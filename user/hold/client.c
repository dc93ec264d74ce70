// SPDX-License-Identifier: GPL-2.0-only
/* Suspends and resumes by holders, for the commands, and why a target cannot be taken. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cli/message.h"
#include "lib/see/words.h"
#include "shared/text.h"
#include "shared/util.h"
#include "client.h"
#include "holder.h"
#include "owner.h"
#include "pause-owner.h"
#include "run-dir.h"

void hold_refuse(struct hold_reply *out, enum gpreempt_class class, const char *next,
		 const char *format, ...)
{
	va_list ap;

	out->status = class;
	snprintf(out->next, sizeof(out->next), "%s", next);
	va_start(ap, format);
	vsnprintf(out->text, sizeof(out->text), format, ap);
	va_end(ap);
}

int hold_fail(const struct hold_reply *why)
{
	return ctl_fail_text(why->status, why->next, "%s", why->text);
}

static void refuse_taken(struct hold_reply *out, const struct hold_owner *owner, pid_t target)
{
	bool stays = owner->role == HOLD_ROLE_HOLDER || owner->role == HOLD_ROLE_GUARD;
	char command[HOLD_MAX_COMMAND], next[128], by[HOLD_OWNER_TEXT];

	hold_release_command(owner, target, command);
	if (owner->role == HOLD_ROLE_UNKNOWN) {
		snprintf(next, sizeof(next), "find and end it: fuser -v " HOLD_DIR "/%d.lock",
			 target);
		hold_refuse(out, GPREEMPT_CLASS_BUSY, next,
			    "process %d is held by an unknown holder (its lock is held)", target);
		return;
	}
	/* A command is making a holder, which takes a moment. */
	if (!*command) {
		hold_refuse(out, GPREEMPT_CLASS_BUSY, "try again",
			    "process %d is being held or released by another gpreempt-ctl", target);
		return;
	}
	snprintf(next, sizeof(next), "%s: %s",
		 stays ? "release it first" : "wait for it, or end it", command);
	hold_refuse(out, GPREEMPT_CLASS_BUSY, next, "process %d is held by %s", target,
		    hold_owner_text(owner, by));
}

/* A file in it could not be made. */
static const char *what_the_directory_wants(int code)
{
	const char *want = ctl_want(code);

	if (code == -ENOSPC)
		return "make room in " HOLD_DIR " and try again";
	return want ? want : "it must be a directory of root's that can be written to";
}

void hold_not_taken(struct hold_reply *out, int code, pid_t target)
{
	struct hold_owner owner = { 0 };
	char next[160];

	if (code == -EWOULDBLOCK) {
		hold_read_owner(target, &owner);
		refuse_taken(out, &owner, target);
	} else if (code == -EALREADY) {
		snprintf(next, sizeof(next), "release it first: gpreempt-ctl resume %d", target);
		hold_refuse(out, GPREEMPT_CLASS_BUSY, next,
			    "process %d is paused by gpreempt-ctl suspend", target);
	} else if (code == -EPROTO) {
		snprintf(next, sizeof(next),
			 NEXT_PAUSE_DAMAGED "; gpreempt-ctl queues %d shows whether the process "
					    "is evicted",
			 target);
		hold_refuse(out, GPREEMPT_CLASS_FAILED, next, TEXT_PAUSE_DAMAGED, target);
	} else {
		hold_refuse(out, GPREEMPT_CLASS_FAILED, what_the_directory_wants(code),
			    "cannot lock process %d in " HOLD_DIR ": %s", target, strerror(-code));
	}
}

void hold_not_noted(struct hold_reply *out, int code, pid_t target)
{
	if (code == -EPROTO || code == -EALREADY)
		hold_not_taken(out, code, target);
	else
		hold_refuse(out, GPREEMPT_CLASS_FAILED, what_the_directory_wants(code),
			    "cannot note process %d in " HOLD_DIR
			    ", and without that it is not paused: %s",
			    target, strerror(-code));
}

void hold_no_guardian(struct hold_reply *out, int code, pid_t target)
{
	const char *want = ctl_want(code);

	hold_refuse(out, GPREEMPT_CLASS_FAILED,
		    want ? want :
			   "raise the limits of open files and of processes: ulimit -n, ulimit -u",
		    "cannot start the guardian that would end the pause of process %d: %s", target,
		    code == -ECHILD ? "it ended at once" : strerror(-code));
}

void hold_note_churn(pid_t target, uint64_t ran_ns, uint64_t window_ns)
{
	char ran[32], window[32];

	shr_format_duration(ran_ns, ran, sizeof(ran));
	shr_format_duration(window_ns, window, sizeof(window));
	ctl_note("process %d makes and destroys queues all the time: some of its "
		 "queues ran %s of the last %s",
		 target, ran, window);
}

bool hold_is_evicted(struct gpreempt *g, pid_t target)
{
	struct gpreempt_view *view;
	bool evicted;
	size_t i;

	if (gpreempt_view_read(g, target, &view, NULL))
		return false;
	evicted = view->count && !gp_view_paused(view);
	for (i = 0; i < view->count; i++)
		evicted &= view->queues[i].evicted == 1;
	gpreempt_list_free(view);
	return evicted;
}

void hold_note_evicted(struct gpreempt *g, pid_t target)
{
	if (hold_is_evicted(g, target))
		ctl_note(TEXT_EVICTED, target);
}

/* Send the request. Note the holder, since another one may follow it at once. */
static void ask_begin(struct hold_job *job)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	job->fd = gp_hold_ask_begin(job->pid, &job->request, shr_now_ns() + HOLD_ANSWER_NS);
	if (job->fd >= 0)
		getsockopt(job->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	job->asked = peer.pid;
}

/* Get the reply. 0 or -errno, also of a request that was not sent. */
static int ask_end(struct hold_job *job)
{
	int ret = job->fd;

	if (ret >= 0)
		ret = gp_hold_ask_end(job->fd, &job->reply, shr_now_ns() + HOLD_ANSWER_NS);
	if (ret)
		job->reply = (struct hold_reply){ 0 };
	job->fd = -1;
	return ret;
}

static void fail_system(struct hold_job *job, const char *step, int code)
{
	enum gpreempt_reason reason = GPREEMPT_SYSTEM;

	if (code == -EPROTO)
		reason = GPREEMPT_OTHER_VERSION;
	/* The holder is in the driver, and ends when the driver returns. */
	if (code == -ETIMEDOUT) {
		reason = GPREEMPT_STUCK;
		step = HOLD_STUCK;
	}
	hold_reply_fail(&job->reply, job->pid, reason, code, step);
}

/*
 * Make a holder, and have it do its first request. A descriptor, which
 * gets the reply and is for hold_confirm(), or -errno; the lock is the holder's.
 */
static int hold_spawn_begin(int lock, pid_t target, const struct hold_request *request)
{
	int report[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report) < 0) {
		ret = -errno;
		close(lock);
		return ret;
	}
	ret = hold_spawn_on(lock, report[1], target, request);
	close(report[1]);
	if (!ret)
		return report[0];
	close(report[0]);
	return ret;
}

/* Make a holder, with the lock of its target, which was free. */
static void make_holder(struct gpreempt *g, struct hold_job *job, int lock)
{
	struct gpreempt_error err;

	/* Fit for a session? Only asked when there is no holder. */
	if (owner_check(g, job->pid, job->request.how, &err)) {
		hold_reply_error(&job->reply, &err);
		hold_drop(job->pid, lock);
		return;
	}
	job->fd = hold_spawn_begin(lock, job->pid, &job->request);
	if (job->fd < 0)
		fail_system(job, "starting the holder", job->fd);
}

/*
 * Send the request to the holder, or make one. False: a holder, or the command that makes one,
 * is just beginning or ending.
 */
static bool begin_suspend(struct gpreempt *g, struct hold_job *job)
{
	struct hold_owner owner = { .pid = getpid() };
	int lock = -ENOENT;

	job->held = !job->request.command;
	if (job->held) {
		ask_begin(job);
		lock = job->fd;
	}
	if (lock >= 0)
		return true;
	job->held = false;
	job->fd = -1;
	if (lock == -ENOENT)
		lock = pause_take(job->pid, &owner);
	if (lock >= 0) {
		make_holder(g, job, lock);
		return true;
	}
	if (lock != -EWOULDBLOCK) {
		hold_not_taken(&job->reply, lock, job->pid);
		return true;
	}
	if (hold_read_owner(job->pid, &owner) || owner.role == HOLD_ROLE_NONE ||
	    (owner.role == HOLD_ROLE_HOLDER && !job->request.command))
		return false;
	refuse_taken(&job->reply, &owner, job->pid);
	return true;
}

static void begin_patiently(struct gpreempt *g, struct hold_job *job)
{
	uint64_t deadline = 0;

	while (!begin_suspend(g, job))
		if (!hold_retry(&deadline)) {
			fail_system(job, "asking the holder", -ETIMEDOUT);
			return;
		}
}

/* Get the reply; when the holder ended just then, make another. */
static void end_suspend(struct gpreempt *g, struct hold_job *job)
{
	uint64_t deadline = 0;
	int ret = 0;

	while (job->held && job->fd >= 0) {
		ret = ask_end(job);
		if (ret != -ECONNRESET && ret != -ENOENT)
			break;
		/* The first one may have waited for the driver before it ended. */
		if (!hold_retry(&deadline)) {
			ret = -ETIMEDOUT;
			break;
		}
		ret = 0;
		begin_patiently(g, job);
	}
	if (job->fd >= 0)
		ret = gp_hold_recv(job->fd, &job->reply, shr_now_ns() + HOLD_ANSWER_NS);
	if (!ret)
		return;
	fail_system(job, job->held ? "asking the holder" : "starting the holder", ret);
	shr_close(&job->fd);
}

void hold_suspend(struct gpreempt *g, struct hold_job *jobs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		jobs[i].fd = -1;
		if (!jobs[i].reply.status)
			begin_patiently(g, &jobs[i]);
	}
	for (i = 0; i < count; i++)
		if (jobs[i].fd >= 0)
			end_suspend(g, &jobs[i]);
}

static void fail_silent(struct hold_job *job)
{
	hold_refuse(&job->reply, GPREEMPT_CLASS_FAILED,
		    "its end lets the queues run: gpreempt-ctl status shows its PID, then kill -9",
		    "the holder of process %d does not answer", job->pid);
}

/*
 * No process has the lock: this one undoes the pause. @foreign: nothing of ours paused
 * it, and the user knows that no program will let it run.
 */
static void undo_pause(struct gpreempt *g, struct hold_job *job, bool foreign)
{
	struct gp_pause_report report = { 0 };
	struct gpreempt_error err;
	struct hold_state s;
	int lock = pause_lock(job->pid);

	if (lock < 0) {
		hold_not_taken(&job->reply, lock, job->pid);
		return;
	}
	job->held = true;
	job->reply.paused = true;
	hold_look_locked(g, job->pid, &s);
	if (foreign)
		pause_entry_init(&s.entry, job->pid, job->request.start);
	/* Another command may have resumed it just now. */
	if (foreign || s.finding == PAUSE_WAITS) {
		job->reply.queues = queues_of(g, job->pid);
		job->answered = !pause_undo(g, &s.entry, &report, &err);
		job->reply.ioctl_ns = report.ioctl_ns;
		if (!job->answered)
			hold_reply_error(&job->reply, &err);
	}
	hold_drop(job->pid, lock);
}

/* A pause takes all queues, so it cannot be undone for some. */
static void undo_whole_pause(struct gpreempt *g, struct hold_job *job)
{
	const struct gpreempt_filter which = gp_hold_filter(&job->request);

	job->held = true;
	job->reply.paused = true;
	if (!gp_filter_is_all(&which))
		hold_refuse(&job->reply, GPREEMPT_CLASS_USAGE,
			    "leave out --queues, --priority and --gpu",
			    "process %d is paused, which is undone for all its queues", job->pid);
	else
		undo_pause(g, job, false);
}

/* Resume one of which no holder answers. */
static void resume_alone(struct gpreempt *g, struct hold_job *job)
{
	struct hold_state s;

	hold_look(g, job->pid, &s);
	if (s.owned) {
		job->held = true;
		if (s.owner.role > HOLD_ROLE_HOLDER) {
			refuse_taken(&job->reply, &s.owner, job->pid);
			return;
		}
		/* A holder that has made no socket for so long will not make one. */
		if (!hold_wait_for_end(job->pid, 0)) {
			fail_silent(job);
			return;
		}
		hold_look(g, job->pid, &s);
	}
	if (s.finding == PAUSE_WAITS || s.finding == PAUSE_ANSWERED)
		undo_whole_pause(g, job);
	else if (s.finding == PAUSE_DAMAGED)
		hold_not_taken(&job->reply, -EPROTO, job->pid);
	else if (pause_is_seen(g, job->pid) && job->force)
		undo_pause(g, job, true);
	else if (pause_is_seen(g, job->pid))
		hold_reply_fail(&job->reply, job->pid, GPREEMPT_PAUSED, -EBUSY, NULL);
}

/* Is the holder about to start, or to end? It has the lock of the target and no socket. */
static bool holder_changes(const struct hold_job *job)
{
	struct hold_owner owner;

	return !hold_read_owner(job->pid, &owner) &&
	       (owner.role == HOLD_ROLE_NONE || owner.role == HOLD_ROLE_HOLDER);
}

static int ask_patiently(struct hold_job *job)
{
	uint64_t deadline = 0;
	int ret;

	for (;;) {
		ret = ask_end(job);
		if (ret != -ENOENT || !holder_changes(job) || !hold_retry(&deadline))
			return ret;
		ask_begin(job);
	}
}

static void end_resume(struct gpreempt *g, struct hold_job *job)
{
	int ret = ask_patiently(job);

	if (ret == -ENOENT) {
		resume_alone(g, job);
		return;
	}
	job->held = true;
	job->answered = !ret;
	if (!ret && !job->reply.left)
		hold_wait_for_end(job->pid, job->reply.worker);
	else if (ret == -EPROTO)
		hold_reply_fail(&job->reply, job->pid, GPREEMPT_OTHER_VERSION, -EBUSY, NULL);
	/* A holder that ended when we asked is as good. */
	else if (ret == -ETIMEDOUT ||
		 (ret == -ECONNRESET && !hold_wait_for_end(job->pid, job->asked)))
		fail_silent(job);
	else if (ret && ret != -ECONNRESET)
		hold_refuse(&job->reply, GPREEMPT_CLASS_FAILED, "gpreempt-ctl status",
			    "asking the holder of process %d failed: %s", job->pid, strerror(-ret));
}

void hold_resume(struct gpreempt *g, struct hold_job *jobs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		ask_begin(&jobs[i]);
	for (i = 0; i < count; i++)
		end_resume(g, &jobs[i]);
}
