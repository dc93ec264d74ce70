// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worker of a holder: it has the session, and this is its life. However
 * it ends, the queues run.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <syslog.h>

#include "agent/cgroup.h"
#include "holder/worker.h"
#include "shared/clock.h"
#include "shared/signals.h"
#include "shared/syscall.h"
#include "shared/title.h"

enum {
	POLL_SESSION,
	POLL_BEAT,
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
 * One request for each connection. Only root gets into the directory, and the
 * server answers only the user of this process, which is root.
 */
static size_t answer(void *data, struct ipc_client *client, char *buf, size_t len)
{
	struct hold_worker *w = data;
	struct hold_request request;
	struct hold_reply reply = { 0 };

	(void)client;
	/*
	 * Another command of the same moment has ended the hold. This one sees the
	 * end of the connection: then a resume is done, and a suspend begins again.
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

	gp_hold_socket_path(w->birth->target, w->socket, sizeof(w->socket));
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
	close(w->confirm_fd);
	w->confirm_fd = -1;
}

/* A holder whose socket was removed could get no resume. */
static void check_socket(struct hold_worker *w)
{
	if (hold_socket_inode(w->birth->target) == gp_ipc_server_inode(w->server))
		return;
	syslog(LOG_WARNING, "process %d: the holder's socket is gone", w->birth->target);
	w->over = true;
}

/* Not each time: while queues are destroyed we wake up very often. */
static void beat(struct hold_worker *w)
{
	uint64_t now = shr_now_ns();

	if (now < w->beat_ns + HEARTBEAT_TICK_NS / 4)
		return;
	w->beat_ns = now;
	heartbeat_beat(&w->heartbeat);
	check_socket(w);
}

static void handle_ready(struct hold_worker *w, const struct pollfd *fds)
{
	/*
	 * Always, and not only when it is readable: it arms the timer of the
	 * session after what was suspended in the last round.
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

/* How long to sleep: a beat, or what is left of the lease. */
static struct timespec time_to_sleep(const struct hold_worker *w)
{
	uint64_t now = shr_boottime_ns(), ns = HEARTBEAT_TICK_NS;

	if (w->lease_end_ns && w->lease_end_ns < now + ns)
		ns = w->lease_end_ns > now ? w->lease_end_ns - now : 0;
	return shr_timespec(ns);
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
		struct timespec timeout = time_to_sleep(w);

		/* A session that cannot suspend becomes a pause. */
		fds[POLL_SESSION].fd = owner_fd(&w->owner);
		fds[POLL_CONFIRM].fd = w->confirm_fd;
		fds[POLL_COMMAND].fd = w->confirm_fd < 0 ? -1 : command;
		beat(w);
		if (ppoll(fds, POLL_COUNT, &timeout, NULL) >= 0)
			handle_ready(w, fds);
		if (w->lease_end_ns && shr_boottime_ns() >= w->lease_end_ns)
			w->over = true;
	}
}

/* A pause has no part and no grace period. */
static enum gpreempt_how hold_how(const struct hold_request *request)
{
	bool part = request->by_priority || request->count || request->n_gpus || request->grace;

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
	/* What holds a GPU must not wait for memory. */
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
