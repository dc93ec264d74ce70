// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>

#include "hold/owner.h"
#include "hold/pause-owner.h"
#include "cli/cli.h"
#include "hold/holder.h"
#include "cli/table.h"
#include "shared/util.h"

/*
 * How long a holder may take from the lock of its target to its socket, or, when it ends,
 * from its socket to the lock: its dead man's switch has fallen by then.
 */
#define PATIENCE_NS (5 * NSEC_PER_SEC)
#define RETRY_NS    (20 * NSEC_PER_MSEC)

/* A target, and its line of the output. */
struct job {
	int64_t pid;
	uint64_t start;
	int64_t status;
	int64_t queues;
	int64_t left;
	int64_t ioctl_ns;
	int64_t held; /* until now */
	const char *how;
	const char *error;
	int fd;	     /* where the answer comes */
	pid_t asked; /* the holder's worker; 0: not known */
	bool part;   /* only some queues are meant */
	bool force;
	struct hold_reply reply;
};

static const struct out_field fields[] = {
	OUT_FIELD(struct job, pid, NULL, OUT_DEC),
	OUT_FIELD(struct job, status, NULL, OUT_DEC),
	OUT_NAMED("held_before", struct job, held, NULL, OUT_FLAG),
	OUT_FIELD(struct job, how, NULL, OUT_TEXT),
	OUT_FIELD(struct job, queues, NULL, OUT_DEC),
	OUT_NAMED("still_suspended", struct job, left, NULL, OUT_DEC),
	OUT_NAMED("ioctl_us", struct job, ioctl_ns, NULL, OUT_US),
	OUT_FIELD(struct job, error, NULL, OUT_TEXT),
};

static const struct out_table table = OUT_TABLE("targets", fields, struct job);

__attribute__((format(printf, 4, 5))) static void fail(struct job *job, enum gpreempt_class class,
						       const char *next, const char *format, ...)
{
	char text[sizeof(job->reply.text)];
	va_list ap;

	/* The format may print the reply's own text. */
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	strcpy(job->reply.text, text);
	job->status = class;
	job->error = job->reply.text;
	ctl_fail_text(class, next, "%s", job->error);
}

static void fail_silent(struct job *job)
{
	fail(job, GPREEMPT_CLASS_FAILED,
	     "its end lets the queues run: gpreempt-ctl status shows its PID, "
	     "then kill -9",
	     "the holder of process %d does not answer", (int)job->pid);
}

static void fail_error(struct job *job, const struct gpreempt_error *err)
{
	char text[512], next[512];

	gpreempt_error_text(err, text, sizeof(text));
	ctl_next_step(err, next, sizeof(next));
	fail(job, gpreempt_error_class(err), next, "%s", text);
}

static void fail_reason(struct job *job, enum gpreempt_reason reason)
{
	struct gpreempt_error err;

	ctl_set_error(&err, -EBUSY, reason, job->pid, NULL);
	fail_error(job, &err);
}

static void fail_taken(struct job *job, int code)
{
	struct hold_reply why;

	hold_not_taken(&why, code, job->pid);
	fail(job, why.status, why.next, "%s", why.text);
}

/*
 * No process has the lock: this one undoes the pause. @foreign: nothing of ours paused
 * it, and the user knows that no program will let it run.
 */
static void undo_pause(struct gpreempt *g, struct job *job, bool foreign)
{
	struct gp_pause_report report = { 0 };
	struct gpreempt_error err;
	struct hold_state r;
	int lock = pause_lock(job->pid);

	if (lock < 0) {
		fail_taken(job, lock);
		return;
	}
	job->held = 1;
	job->how = "pause";
	hold_look_locked(g, job->pid, &r);
	if (foreign)
		pause_entry_init(&r.entry, job->pid, job->start);
	/* Another command may have resumed it just now. */
	if (foreign || r.finding == PAUSE_WAITS) {
		job->queues = queues_of(g, job->pid);
		if (pause_undo(g, &r.entry, &report, &err))
			fail_error(job, &err);
		else
			job->ioctl_ns = report.ioctl_ns;
	}
	hold_drop(job->pid, lock);
}

/* Refuse a part: a pause takes all queues, so it cannot be undone for some. */
static bool refuse_part(struct job *job)
{
	if (!job->part)
		return false;
	fail(job, GPREEMPT_CLASS_USAGE, "leave out --queues, --priority and --gpu",
	     "process %d is paused, which is undone for all its queues", (int)job->pid);
	return true;
}

static void look_for_pause(struct gpreempt *g, struct job *job)
{
	struct hold_state r;

	hold_look(g, job->pid, &r);
	switch (r.finding) {
	case PAUSE_WAITS:
	case PAUSE_ANSWERED:
		job->held = 1;
		job->how = "pause";
		if (!refuse_part(job))
			undo_pause(g, job, false);
		break;
	case PAUSE_DAMAGED:
		fail_taken(job, -EPROTO);
		break;
	default:
		if (!pause_is_seen(g, job->pid))
			break;
		if (job->force)
			undo_pause(g, job, true);
		else
			fail_reason(job, GPREEMPT_PAUSED);
	}
}

/* No holder answers; one that has no socket for so long does not begin any more. */
static void look_for_owner(struct gpreempt *g, struct job *job)
{
	struct hold_owner owner;

	if (hold_read_owner(job->pid, &owner)) {
		look_for_pause(g, job);
		return;
	}
	job->held = 1;
	if (owner.role > HOLD_ROLE_HOLDER)
		fail_taken(job, -EWOULDBLOCK);
	else if (!hold_wait_for_end(job->pid, 0))
		fail_silent(job);
	else
		look_for_pause(g, job);
}

static void take_reply(struct job *job)
{
	const struct hold_reply *reply = &job->reply;

	job->held = 1;
	job->how = reply->paused ? "pause" : "debug";
	job->queues = reply->queues;
	job->left = reply->left;
	job->ioctl_ns = reply->ioctl_ns;
	if (!reply->left)
		hold_wait_for_end(job->pid, reply->worker);
	if (reply->status != GPREEMPT_CLASS_DONE)
		fail(job, reply->status, reply->next[0] ? reply->next : "gpreempt-ctl status", "%s",
		     reply->text);
}

static void ask_begin(struct job *job, struct hold_request *request)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	request->start = job->start;
	job->fd = gp_hold_ask_begin(job->pid, request, shr_now_ns() + HOLD_ANSWER_NS);
	/* Note the holder, since another one may follow it at once. */
	if (job->fd >= 0)
		getsockopt(job->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	job->asked = peer.pid;
}

/* Is the holder about to start, or to end? It has the lock of the target and no socket. */
static bool holder_changes(const struct job *job)
{
	struct hold_owner owner;

	return !hold_read_owner(job->pid, &owner) &&
	       (owner.role == HOLD_ROLE_NONE || owner.role == HOLD_ROLE_HOLDER);
}

static int ask(struct job *job, struct hold_request *request)
{
	uint64_t deadline = shr_now_ns() + PATIENCE_NS;
	int ret;

	for (;;) {
		ret = job->fd < 0 ?
			      job->fd :
			      gp_hold_ask_end(job->fd, &job->reply, shr_now_ns() + HOLD_ANSWER_NS);
		if (ret != -ENOENT || !holder_changes(job) || shr_now_ns() >= deadline)
			return ret;
		shr_sleep_ns(RETRY_NS);
		ask_begin(job, request);
	}
}

static void finish(struct gpreempt *g, struct job *job, struct hold_request *request)
{
	int ret = ask(job, request);

	switch (ret) {
	case 0:
		take_reply(job);
		break;
	case -ENOENT:
		look_for_owner(g, job);
		break;
	case -ECONNRESET:
		/* The holder ended when we asked, which is as good. */
		job->held = 1;
		if (!hold_wait_for_end(job->pid, job->asked))
			fail_silent(job);
		break;
	case -EPROTO:
		job->held = 1;
		fail_reason(job, GPREEMPT_OTHER_VERSION);
		break;
	case -ETIMEDOUT:
		fail_silent(job);
		break;
	default:
		fail(job, GPREEMPT_CLASS_FAILED, "gpreempt-ctl status",
		     "asking the holder of process %d failed: %s", (int)job->pid, strerror(-ret));
	}
}

static void print_job(const struct job *job)
{
	if (job->status)
		return;
	if (!job->held)
		printf("process %d is not held: nothing to resume\n", (int)job->pid);
	else if (job->ioctl_ns == GPREEMPT_UNKNOWN)
		printf("resumed %d: its holder has ended\n", (int)job->pid);
	else
		printf("resumed %d: %d queue%s, ioctl %.1f us\n", (int)job->pid, (int)job->queues,
		       job->queues == 1 ? "" : "s", job->ioctl_ns / 1000.0);
	if (job->left)
		printf("%d queue%s of process %d %s still suspended\n", (int)job->left,
		       job->left == 1 ? "" : "s", (int)job->pid, job->left == 1 ? "is" : "are");
}

struct resume_args {
	struct ctl_target_args targets;
	uint64_t force;
	enum out_mode mode;
};

static int print_all(const struct resume_args *args, struct job *jobs, size_t count)
{
	int status = jobs[0].status;
	bool times = false;
	size_t i;

	for (i = 0; i < count; i++) {
		status = ctl_merge_status(status, jobs[i].status);
		times |= jobs[i].ioctl_ns != GPREEMPT_UNKNOWN;
		if (args->mode != OUT_JSON)
			print_job(&jobs[i]);
	}
	if (args->mode == OUT_JSON)
		out_json_print_timed(&table, jobs, count);
	else if (times)
		ctl_label_times();
	return status;
}

static int resume_list(struct gpreempt *g, const struct resume_args *args,
		       const struct gpreempt_targets *list)
{
	struct hold_request request = { .verb = HOLD_RESUME };
	struct job *jobs = calloc(list->count, sizeof(*jobs));
	int status;
	size_t i;

	if (!jobs)
		return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
	gp_hold_put_filter(&request, &args->targets.queues);
	for (i = 0; i < list->count; i++) {
		jobs[i].pid = list->targets[i].pid;
		jobs[i].start = list->targets[i].start;
		jobs[i].force = args->force;
		jobs[i].ioctl_ns = GPREEMPT_UNKNOWN;
		jobs[i].part = ctl_is_part(&args->targets.queues);
		ask_begin(&jobs[i], &request);
	}
	for (i = 0; i < list->count; i++)
		finish(g, &jobs[i], &request);
	status = print_all(args, jobs, list->count);
	free(jobs);
	return status;
}

static int run_resume(void *data)
{
	const struct resume_args *args = data;
	struct gpreempt_targets *list = NULL;
	struct gpreempt *g = NULL;
	int ret = ctl_open_host(&g);

	if (!ret)
		ret = ctl_targets_sure(g, &args->targets, &list);
	if (!ret)
		ret = resume_list(g, args, list);
	gpreempt_targets_free(list);
	gpreempt_free(g);
	return ret;
}

static const struct ctl_option options[] = {
	CTL_QUEUE_OPTIONS(struct resume_args),
	{ "force", CTL_FLAG, offsetof(struct resume_args, force), NULL,
	  "undo a pause of a program that has ended" },
	CTL_JSON_OPTION(struct resume_args),
	{ 0 },
};

const struct ctl_command ctl_resume = {
	.name = "resume",
	.run = run_resume,
	CTL_TARGET_ARGS(struct resume_args),
	.min_words = 1,
	.usage = "TARGET",
	.summary = "Let the queues of held processes run again.",
	.details =
		"A holder ends when none of its queues is suspended any more. A pause\n"
		"(suspend --how pause) is undone as a whole, whichever command made it. One that\n"
		"another program made (CRIU, for one) is left to that program; --force undoes it\n"
		"where the program has ended and cannot.\n"
		"Resuming a process that is not held does nothing and is no error.\n"
		"\n"
		"With several targets the exit status is that of all if it is the same,\n"
		"and 6 if only some were resumed.\n",
	.options = options,
};
