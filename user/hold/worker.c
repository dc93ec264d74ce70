// SPDX-License-Identifier: GPL-2.0-only
/* The worker of a holder: serves the target, its socket and its lease. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <syslog.h>

#include "cli/message.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "escape.h"
#include "holder.h"

/* Answers of a holder to requests. */

/* Queues that could not be suspended and are named in the answer, at most. */
#define MAX_NAMED 16

/* A process without queues is starting, or ends within this time. */
#define STARTING_NS (300 * NSEC_PER_MSEC)

/* Result of a suspend, in queues. */
struct tally {
	size_t asked;
	size_t held;
	size_t named;
	size_t failed; /* the GPU hangs */
	size_t destroying;
};

__attribute__((format(printf, 2, 3))) static void add_text(struct hold_reply *reply,
							   const char *format, ...)
{
	size_t used = strlen(reply->text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(reply->text + used, sizeof(reply->text) - used, format, ap);
	va_end(ap);
}

void hold_reply_error(struct hold_reply *reply, const struct gpreempt_error *err)
{
	gpreempt_error_text(err, reply->text, sizeof(reply->text));
	ctl_next_step(err, reply->next, sizeof(reply->next));
	reply->status = gpreempt_error_class(err);
	reply->code = err->code;
	reply->reason = err->reason;
	reply->other = err->other;
	reply->major = err->major;
	reply->minor = err->minor;
}

void hold_reply_fail(struct hold_reply *reply, pid_t target, enum gpreempt_reason reason, int code,
		     const char *step)
{
	const struct gpreempt_error err = {
		.code = code,
		.reason = reason,
		.pid = target,
		.step = step,
	};

	hold_reply_error(reply, &err);
}

/* The driver refuses to suspend a queue that is being destroyed. */
static bool is_being_destroyed(const struct gpreempt_session_queue *queue)
{
	return !queue->held && (queue->being_destroyed || queue->result == GPREEMPT_RESULT_REFUSED);
}

static const char *why_not(const struct gpreempt_session_queue *queue)
{
	if (!queue)
		return "there is no such queue";
	if (queue->result == GPREEMPT_RESULT_FAILED)
		return "the GPU did not release it";
	if (is_being_destroyed(queue))
		return "its process is destroying it";
	return queue->held ? NULL : "it runs again";
}

static void count_queue(struct tally *tally, pid_t target, uint32_t qid,
			const struct gpreempt_session_queue *queue, struct hold_reply *reply)
{
	const char *why = why_not(queue);

	tally->asked++;
	tally->failed += queue && queue->result == GPREEMPT_RESULT_FAILED;
	if (!why)
		tally->held++;
	else if (tally->named++ < MAX_NAMED)
		add_text(reply, "%squeue %u of process %d is not suspended: %s",
			 tally->named > 1 ? "; " : "", qid, target, why);
}

/*
 * Count the queues of the request: each id that it names, and all others that it means. A queue
 * that its process is destroying is no failure unless its id is named: "all queues" are those
 * that stay.
 */
static void count_queues(const struct hold_worker *w, const struct hold_request *request,
			 struct hold_reply *reply, struct tally *tally)
{
	const struct gpreempt_filter which = gp_hold_filter(request);
	const struct gpreempt_session *s = hold_session(w);
	pid_t target = w->birth->target;
	size_t i;

	for (i = 0; i < request->count; i++)
		if (!gp_session_find(s, request->ids[i]))
			count_queue(tally, target, request->ids[i], NULL, reply);
	for (i = 0; i < s->count; i++) {
		const struct gpreempt_session_queue *q = &s->queues[i];

		if (!gp_filter_matches(&which, q->qid, q->gpu_id, q->priority))
			continue;
		if (!request->count && is_being_destroyed(q))
			tally->destroying++;
		else
			count_queue(tally, target, q->qid, q, reply);
	}
}

/* Fill in the result of each queue. True: the GPU hangs. */
static bool judge(const struct hold_worker *w, const struct hold_request *request,
		  const struct gpreempt_error *hang, struct hold_reply *reply)
{
	struct tally tally = { 0 };
	char text[512];

	count_queues(w, request, reply, &tally);
	reply->destroying = tally.destroying;
	if (tally.held == tally.asked)
		reply->status = GPREEMPT_CLASS_DONE;
	else
		reply->status = tally.held ? GPREEMPT_CLASS_PARTIAL : GPREEMPT_CLASS_FAILED;
	if (tally.failed && hang->reason == GPREEMPT_HANG) {
		gpreempt_error_text(hang, text, sizeof(text));
		reply->code = hang->code;
		reply->reason = hang->reason;
		add_text(reply, ". %s", text);
		gpreempt_error_next(hang, reply->next, sizeof(reply->next));
	} else if (tally.named) {
		snprintf(reply->next, sizeof(reply->next),
			 "look at the queues: gpreempt-ctl queues %d", w->birth->target);
	}
	return tally.failed;
}

/*
 * Queues that wait for a resume. Those that the hardware did not release do,
 * too, but are not suspended.
 */
static uint64_t count_held(const struct hold_worker *w, bool failed_too)
{
	const struct gpreempt_session_queue *queues;
	size_t i, count, held = 0;

	queues = gpreempt_session_queues(hold_session(w), &count);
	for (i = 0; i < count; i++)
		held += queues[i].held &&
			(failed_too || queues[i].result != GPREEMPT_RESULT_FAILED);
	return held;
}

static void answer_status(struct hold_worker *w, struct hold_reply *reply)
{
	struct gpreempt_released released = { 0 };
	uint64_t now = shr_boottime_ns();

	if (!owner_is_paused(&w->owner)) {
		gp_session_released(hold_session(w), &released);
		reply->queues = count_held(w, false);
	} else if (!reply->queues) {
		gp_pause_verify(w->owner.g, w->birth->target, &reply->queues, NULL);
	}
	reply->released_ns = released.total_ns;
	reply->recent_ns = released.recent_ns;
	reply->window_ns = released.window_ns;
	reply->churn = released.churn;
	reply->unseen = released.unseen;
	reply->held_ns = shr_now_ns() - w->since_ns;
	if (w->lease_end_ns)
		reply->lease_ns = w->lease_end_ns > now ? w->lease_end_ns - now : 1;
}

/* Ids that exist, so that the driver is not asked for others. */
static size_t known_ids(const struct hold_worker *w, const struct hold_request *request,
			uint32_t *ids)
{
	size_t i, n = 0;

	for (i = 0; i < request->count; i++)
		if (gp_session_find(hold_session(w), request->ids[i]))
			ids[n++] = request->ids[i];
	return n;
}

/* Make one call of the library for the queues that are meant. */
static int change(struct hold_worker *w, const struct hold_request *request,
		  int (*call)(struct owner *o, const struct gpreempt_filter *which,
			      struct gpreempt_outcome *out),
		  struct gpreempt_outcome *outcome)
{
	uint32_t ids[HOLD_MAX_IDS];
	struct gpreempt_filter which = gp_hold_filter(request);

	if (request->count) {
		which.ids = ids;
		which.n_ids = known_ids(w, request, ids);
		if (!which.n_ids)
			return 0;
	}
	return call(&w->owner, &which, outcome);
}

static uint64_t known_ns(int64_t ns)
{
	return ns == GPREEMPT_UNKNOWN ? 0 : ns;
}

/* Queues that were born meanwhile. It may have none still, which is no error. */
static int take_new_queues(struct hold_worker *w)
{
	int ret = owner_dispatch(&w->owner);

	if (ret >= 0 && !hold_session(w)->count)
		ret = gp_session_await_queues(hold_session(w), STARTING_NS);
	return ret == -ETIMEDOUT || ret > 0 ? 0 : ret;
}

static int prepare(struct hold_worker *w, const struct hold_request *request)
{
	int ret;

	if (owner_is_paused(&w->owner))
		return 0;
	ret = gp_method_refresh(&w->owner.method);
	if (!ret)
		ret = gp_session_set_grace(hold_session(w), request->grace ?
								    request->grace :
								    GPREEMPT_GRACE_DEFAULT);
	/* A thread does it, which is not worth keeping for later. */
	if (!ret)
		gp_session_sample_slots(hold_session(w), GPREEMPT_SAMPLE_ON);
	return ret;
}

/* Suspend. *err is the library's error, also when a GPU hangs. */
static int suspend(struct hold_worker *w, const struct hold_request *request,
		   struct hold_reply *reply, struct gpreempt_error *err)
{
	struct gpreempt_outcome outcome = { 0 };
	int ret = prepare(w, request);

	if (!ret)
		ret = change(w, request, owner_suspend, &outcome);
	*err = *owner_error(&w->owner);
	if (hold_session(w))
		gp_session_sample_slots(hold_session(w), GPREEMPT_SAMPLE_OFF);
	if (ret)
		return ret;
	reply->ioctl_ns = outcome.ioctl_ns;
	if (owner_is_paused(&w->owner))
		return 0;
	reply->slots_ns = known_ns(outcome.slots_ns);
	reply->resolution_ns = known_ns(outcome.resolution_ns);
	ret = take_new_queues(w);
	if (ret)
		*err = *owner_error(&w->owner);
	return ret;
}

/* Looks at all queues, at most, while new ones come. */
#define VERIFY_TRIES 4

/* Verify the suspend. A queue that came after it is suspended, too. */
static void verify(struct hold_worker *w, const struct hold_request *request,
		   struct hold_reply *reply, enum gpreempt_verified_by *by)
{
	struct gpreempt_outcome more;
	int tries = VERIFY_TRIES;

	do {
		reply->verdict = gpreempt_session_verify(hold_session(w), by);
		more = (struct gpreempt_outcome){ 0 };
	} while (reply->verdict == GPREEMPT_CONTRADICTED && --tries &&
		 !gp_method_refresh(&w->owner.method) &&
		 !change(w, request, owner_suspend, &more) && more.done);
}

static void set_lease(struct hold_worker *w, const struct hold_request *request)
{
	w->lease_end_ns = request->lease_ns ? shr_later_ns(shr_boottime_ns(), request->lease_ns) :
					      0;
}

static void answer_suspend(struct hold_worker *w, const struct hold_request *request,
			   struct hold_reply *reply)
{
	enum gpreempt_verified_by by = GPREEMPT_BY_NOTHING;
	struct gpreempt_error err;

	if (suspend(w, request, reply, &err)) {
		hold_reply_error(reply, &err);
		return;
	}
	if (owner_is_paused(&w->owner))
		reply->verdict = gp_pause_verify(w->owner.g, w->birth->target, &reply->queues, &by);
	/* The slots are empty after a reset, which proves nothing. */
	else if (!judge(w, request, &err, reply))
		verify(w, request, reply, &by);
	reply->verified_by = by;
	set_lease(w, request);
	answer_status(w, reply);
}

static void answer_resume(struct hold_worker *w, const struct hold_request *request,
			  struct hold_reply *reply)
{
	struct gpreempt_outcome outcome = { 0 };

	if (change(w, request, owner_resume, &outcome))
		hold_reply_error(reply, owner_error(&w->owner));
	reply->queues = outcome.done;
	reply->ioctl_ns = outcome.ioctl_ns;
	/* A target whose pause could not be ended is still held. */
	reply->left = owner_is_paused(&w->owner) ? w->owner.method.pause.paused :
						   count_held(w, true);
	if (reply->left)
		return;
	/* Whatever came of it: closing the session resumes everything. */
	owner_close(&w->owner);
	w->over = true;
}

/* Refuse when the hold is over or another one; a pause is whole, and a hold keeps its method. */
static bool refuse(const struct hold_worker *w, const struct hold_request *request,
		   struct hold_reply *reply)
{
	const struct gpreempt_filter which = gp_hold_filter(request);
	struct gpreempt_error err = { .pid = w->birth->target };
	enum gpreempt_how other = owner_is_paused(&w->owner) ? GPREEMPT_HOW_DEBUG :
							       GPREEMPT_HOW_PAUSE;

	if (!owner_is_open(&w->owner) || (request->start && request->start != w->start) ||
	    (request->worker && request->worker != reply->worker)) {
		err.code = -ESRCH;
		err.reason = GPREEMPT_ENDED;
	} else if (request->verb == HOLD_SUSPEND && request->how == other) {
		err.code = -EBUSY;
		err.reason = GPREEMPT_HELD;
		err.other = getpid();
	} else if (owner_is_paused(&w->owner) && !gp_filter_is_all(&which)) {
		err.code = -EINVAL;
		err.reason = GPREEMPT_PAUSE_WHOLE;
	}
	if (err.reason)
		hold_reply_error(reply, &err);
	return err.reason;
}

void hold_answer(struct hold_worker *w, const struct hold_request *request,
		 struct hold_reply *reply)
{
	reply->worker = getpid();
	reply->guardian = w->birth->guardian;
	reply->cgroup = w->birth->cgroup;
	reply->command = w->birth->request->command;
	reply->paused = owner_is_paused(&w->owner);
	if (refuse(w, request, reply))
		return;
	switch (request->verb) {
	case HOLD_SUSPEND:
		answer_suspend(w, request, reply);
		break;
	case HOLD_RESUME:
		answer_resume(w, request, reply);
		break;
	case HOLD_EXTEND:
		set_lease(w, request);
		/* fall through */
	case HOLD_STATUS:
		answer_status(w, reply);
		break;
	}
	/* A session that could not suspend has become a pause. */
	reply->paused = owner_is_paused(&w->owner);
	if (!reply->status && w->owner.why.reason)
		gpreempt_error_text(&w->owner.why, reply->text, sizeof(reply->text));
}

/*
 * The worker of a holder: it has the session, and this is its life. However
 * it ends, the queues run.
 */

enum {
	POLL_BEAT = OWNER_OTHERS,
	POLL_SIGNALS,
	POLL_SERVER,
	POLL_CONFIRM,
	POLL_COMMAND,
	POLL_COUNT,
};

/* The guardian watches us, too. */
static void tell_guardian(void *data, bool busy)
{
	struct hold_worker *w = data;
	struct hold_beat beat = {
		.silence_ns = busy ? HEARTBEAT_BUSY_NS : HEARTBEAT_SILENCE_NS,
		.lease_end_ns = w->lease_end_ns,
	};

	/* A guardian that does not listen is killed by its own watchdog. */
	send(w->birth->beat, &beat, sizeof(beat), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/*
 * Answer one request on a connection. Only root gets into the directory, and the server answers
 * only the user of this process, which is root.
 */
static size_t answer(void *data, struct ipc_client *client, char *buf, size_t len)
{
	struct hold_worker *w = data;
	struct hold_request request;
	struct hold_reply reply = { 0 };

	(void)client;
	/*
	 * Another command of the same moment has ended the hold. The client of this request sees
	 * the end of the connection: then a resume is done, and a suspend begins again.
	 */
	if (w->over)
		return 0;
	if (gp_hold_get_request(buf, len, &request))
		return IPC_UNKNOWN;
	hold_answer(w, &request, &reply);
	return gp_hold_put_reply(&reply, buf);
}

int hold_listen(struct hold_worker *w)
{
	struct ipc_server_options options = {
		.path = w->socket,
		.limits = { .places = HOLD_CLIENTS },
		/* We have the lock of the target. */
		.locked = true,
		.one_request = true,
		.answer = answer,
		.data = w,
	};

	snprintf(w->socket, sizeof(w->socket), GP_HOLD_SOCKET, w->birth->target);
	return gp_ipc_server_start(&options, &w->server);
}

static void log_loss(void *data, const struct gpreempt_error *err)
{
	char text[512];

	(void)data;
	gpreempt_error_text(err, text, sizeof(text));
	syslog(LOG_WARNING, "%s", text);
}

static void handle_session(struct hold_worker *w)
{
	int ret = owner_dispatch(&w->owner);
	char text[512];

	if (ret >= 0) {
		if (ret & GPREEMPT_EVENT_CHURN)
			syslog(LOG_WARNING,
			       "process %d makes and destroys "
			       "queues all the time: some ran while it is held",
			       w->birth->target);
		w->over |= ret & GPREEMPT_EVENT_ENDED;
		return;
	}
	gpreempt_error_text(owner_error(&w->owner), text, sizeof(text));
	syslog(LOG_ERR, "process %d: giving up: %s", w->birth->target, text);
	w->over = true;
}

/*
 * The command that we were made for has told its user, or has ended: too early,
 * or at its proper time if we are to end with it. It may send its confirmation and
 * end before we look: that is not too early.
 */
static void handle_confirmation(struct hold_worker *w)
{
	char c;

	if (recv(w->confirm_fd, &c, sizeof(c), MSG_DONTWAIT) != sizeof(c)) {
		syslog(LOG_INFO, "process %d: the command has ended", w->birth->target);
		w->over = true;
	}
	shr_close(&w->confirm_fd);
}

/* Beat, but not each time: while queues are destroyed we wake up very often. */
static void beat(struct hold_worker *w)
{
	uint64_t now = shr_now_ns();

	if (now < w->beat_ns + HEARTBEAT_TICK_NS / 4)
		return;
	w->beat_ns = now;
	heartbeat_beat(&w->heartbeat);
	if (hold_socket_inode(w->birth->target) == gp_ipc_server_inode(w->server))
		return;
	/* A holder without its socket could get no resume. */
	syslog(LOG_WARNING, "process %d: the holder's socket is gone", w->birth->target);
	w->over = true;
}

static void handle_ready(struct hold_worker *w, const struct pollfd *fds)
{
	/*
	 * Call it always, and not only when it is readable: it arms the timer of the session
	 * after a suspend of the last round.
	 */
	handle_session(w);
	if (fds[POLL_BEAT].revents) {
		syslog(LOG_WARNING, "process %d: its guardian is gone", w->birth->target);
		w->over = true;
	}
	if (fds[POLL_SIGNALS].revents)
		w->over = true;
	/* A child of the command can have the descriptor, too. */
	if (fds[POLL_CONFIRM].revents || fds[POLL_COMMAND].revents)
		handle_confirmation(w);
	if (fds[POLL_SERVER].revents && !w->over)
		gp_ipc_server_dispatch(w->server);
}

/* Returns the time to sleep: up to a beat, or to the end of the lease. */
static uint64_t time_to_sleep(const struct hold_worker *w)
{
	uint64_t now = shr_boottime_ns(), ns = HEARTBEAT_TICK_NS;

	if (w->lease_end_ns && w->lease_end_ns < now + ns)
		ns = w->lease_end_ns > now ? w->lease_end_ns - now : 0;
	return ns;
}

/* A descriptor that is readable when the command has ended; -1: it has, or none. */
static int open_command(struct hold_worker *w)
{
	uint64_t command = w->birth->request->command;
	int fd = command ? shr_pidfd_open(command) : -1;

	if (command && fd < 0)
		handle_confirmation(w);
	return fd;
}

static void run(struct hold_worker *w)
{
	struct pollfd fds[POLL_COUNT];
	int i, command = open_command(w);

	for (i = 0; i < POLL_COUNT; i++)
		fds[i].events = POLLIN;
	fds[POLL_BEAT].fd = w->birth->beat;
	fds[POLL_SIGNALS].fd = w->signals;
	fds[POLL_SERVER].fd = gp_ipc_server_fd(w->server);
	while (!w->over) {
		fds[POLL_CONFIRM].fd = w->confirm_fd;
		fds[POLL_COMMAND].fd = w->confirm_fd < 0 ? -1 : command;
		beat(w);
		if (owner_wait(&w->owner, NULL, fds, POLL_COUNT, time_to_sleep(w)) >= 0)
			handle_ready(w, fds);
		if (w->lease_end_ns && shr_boottime_ns() >= w->lease_end_ns)
			w->over = true;
	}
}

/* A pause has no part and no grace period. */
static enum gpreempt_how hold_how(const struct hold_request *request)
{
	const struct gpreempt_filter which = gp_hold_filter(request);
	bool part = !gp_filter_is_all(&which) || request->grace;

	return part && request->how == GPREEMPT_HOW_AUTO ? GPREEMPT_HOW_DEBUG :
							   (enum gpreempt_how)request->how;
}

/* Everything up to the first suspend, for the command that waits. */
static void start(struct hold_worker *w, struct hold_reply *reply)
{
	struct gpreempt_error err = {
		.reason = GPREEMPT_SYSTEM,
		.step = "starting the holder",
		.pid = w->birth->target,
	};

	err.code = owner_new(&w->owner);
	if (!err.code)
		err.code = gpreempt_start_time(w->owner.g, w->birth->target, &w->start);
	if (err.code == -ESRCH)
		err.reason = GPREEMPT_ENDED;
	if (!err.code)
		err.code = hold_listen(w);
	if (!err.code)
		owner_open(&w->owner, &err);
	if (!owner_is_open(&w->owner)) {
		hold_reply_error(reply, &err);
		return;
	}
	w->since_ns = shr_now_ns();
	hold_answer(w, w->birth->request, reply);
}

static void finish(struct hold_worker *w)
{
	owner_close(&w->owner);
	/* The guardian is gone, so its cleanup is ours. */
	if (getppid() != w->birth->guardian) {
		hold_drop(w->birth->target, w->birth->lock);
		hold_cgroup_leave();
	}
}

void hold_worker(const struct hold_birth *birth)
{
	struct hold_worker w = {
		.birth = birth,
		.confirm_fd = birth->report,
		.heartbeat = { .also = tell_guardian, .data = &w },
		.owner = {
			.target = birth->target,
			.heartbeat = &w.heartbeat,
			.how = hold_how(birth->request),
			.lock = birth->lock,
			.guarded = true,
			.lost = log_loss,
		},
	};
	static const int signals[] = { SIGTERM, SIGQUIT, 0 };
	struct hold_reply reply = { 0 };

	shr_title_set(HOLD_TITLE, HOLD_TITLE ": worker of %d", birth->target);
	openlog("gpreempt-hold", LOG_PID, LOG_DAEMON);
	/* Memory that is paged out could block a process that holds a GPU. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	w.signals = shr_signals_open(signals);
	if (w.signals < 0 || heartbeat_start(&w.heartbeat))
		_exit(1);
	start(&w, &reply);
	if (!owner_is_open(&w.owner) || reply.queues == 0)
		w.over = w.over || reply.status != GPREEMPT_CLASS_DONE;
	/* A holder that holds nothing is gone before the command returns. */
	if (w.over)
		finish(&w);
	gp_hold_send(birth->report, &reply);
	if (!w.over) {
		run(&w);
		finish(&w);
	}
	_exit(0);
}
