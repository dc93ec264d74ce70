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
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <syslog.h>

#include "ctl/ctl.h"
#include "ctl/hold-worker.h"
#include "ctl/nudge.h"
#include "shared/clock.h"

/* Somebody who ends our session again and again is stronger than we are. */
#define MAX_LOSSES 5
#define LOSS_MEMORY_NS (10 * NSEC_PER_SEC)

enum {
	POLL_SESSION,
	POLL_BEAT,
	POLL_SIGNALS,
	POLL_LISTEN,
	POLL_TOLD,
	POLL_CLIENTS,
	POLL_COUNT = POLL_CLIENTS + HOLD_CLIENTS,
};

void hold_well(struct hold_worker *w, uint64_t silence_ns)
{
	struct hold_beat beat = {
		.silence_ns = silence_ns,
		.lease_end_ns = w->lease_end_ns,
	};

	deadman_feed(&w->deadman, silence_ns + HOLD_DEADMAN_SPARE_NS);
	/* A guardian that does not listen dies of its own switch. */
	send(w->birth->beat, &beat, sizeof(beat),
	     MSG_DONTWAIT | MSG_NOSIGNAL);
}

/*
 * Only for the driver's own time: whoever stops us meets us outside of it,
 * and then we are missed soon.
 */
static void tell_busy(void *data, bool busy)
{
	hold_well(data, busy ? HOLD_BUSY_NS : HOLD_SILENCE_NS);
	nudge_busy(busy);
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void handle_loss(struct hold_worker *w)
{
	uint64_t now = shr_now_ns();
	struct gpreempt_error err;
	char text[512];

	if (now > w->lost_ns + LOSS_MEMORY_NS)
		w->losses = 0;
	w->lost_ns = now;
	gpreempt_error_text(gpreempt_session_error(w->session), text,
			    sizeof(text));
	syslog(LOG_WARNING, "%s", text);
	if (++w->losses > MAX_LOSSES) {
		syslog(LOG_ERR, "process %d: giving up", w->birth->target);
		w->over = true;
		return;
	}
	if (!gpreempt_session_renew(w->session, &err))
		return;
	gpreempt_error_text(&err, text, sizeof(text));
	syslog(LOG_ERR, "process %d: not taken up again: %s",
	       w->birth->target, text);
	w->over = true;
}

static void handle_session(struct hold_worker *w)
{
	int ret;

	ret = gpreempt_session_dispatch(w->session);
	if (ret < 0 || (ret & GPREEMPT_EVENT_ENDED))
		w->over = true;
	else if (ret & GPREEMPT_EVENT_LOST)
		handle_loss(w);
}

/*
 * The command that we were made for has told its user, or has ended: too early,
 * or at its proper time if we are to end with it.
 */
static void handle_told(struct hold_worker *w)
{
	char c;

	if (recv(w->told, &c, sizeof(c), MSG_DONTWAIT) != sizeof(c)) {
		syslog(LOG_INFO, "process %d: the command has ended",
		       w->birth->target);
		w->over = true;
	}
	close(w->told);
	w->told = -1;
}

/* Nobody could have a holder let go whose socket was removed. */
static void check_socket(struct hold_worker *w)
{
	if (hold_socket_inode(w->birth->target) == w->inode)
		return;
	syslog(LOG_WARNING, "process %d: the holder's socket is gone",
	       w->birth->target);
	w->over = true;
}

/* Not each time: while queues are destroyed we wake up very often. */
static void say_well(struct hold_worker *w)
{
	uint64_t now = shr_now_ns();

	if (now < w->said_ns + HOLD_TICK_NS / 4)
		return;
	w->said_ns = now;
	hold_well(w, HOLD_SILENCE_NS);
	check_socket(w);
}

static void handle_ready(struct hold_worker *w, const struct pollfd *fds)
{
	int i;

	/*
	 * Always, and not only when it is readable: it arms the timer of the
	 * session after what was suspended in the last round.
	 */
	handle_session(w);
	if (fds[POLL_BEAT].revents) {
		syslog(LOG_WARNING, "process %d: its guardian is gone",
		       w->birth->target);
		w->over = true;
	}
	if (fds[POLL_SIGNALS].revents)
		w->over = true;
	if (fds[POLL_TOLD].revents)
		handle_told(w);
	for (i = 0; i < HOLD_CLIENTS && !w->over; i++)
		if (fds[POLL_CLIENTS + i].revents)
			hold_serve(w, &w->clients[i]);
	if (fds[POLL_LISTEN].revents && !w->over)
		hold_accept(w);
}

/* How long to sleep: a beat, or what is left of the lease. */
static struct timespec time_to_sleep(const struct hold_worker *w)
{
	uint64_t now = shr_now_ns(), ns = HOLD_TICK_NS;

	if (w->lease_end_ns && w->lease_end_ns < now + ns)
		ns = w->lease_end_ns > now ? w->lease_end_ns - now : 0;
	return (struct timespec){ .tv_nsec = ns };
}

static void run(struct hold_worker *w)
{
	struct pollfd fds[POLL_COUNT];
	int i;

	for (i = 0; i < POLL_COUNT; i++)
		fds[i].events = POLLIN;
	fds[POLL_SESSION].fd = gpreempt_session_fd(w->session);
	fds[POLL_BEAT].fd = w->birth->beat;
	fds[POLL_SIGNALS].fd = w->signals;
	fds[POLL_LISTEN].fd = w->listen;
	while (!w->over) {
		struct timespec timeout = time_to_sleep(w);

		fds[POLL_TOLD].fd = w->told;
		for (i = 0; i < HOLD_CLIENTS; i++)
			fds[POLL_CLIENTS + i].fd = w->clients[i];
		say_well(w);
		if (ppoll(fds, POLL_COUNT, &timeout, NULL) >= 0)
			handle_ready(w, fds);
		if (w->lease_end_ns && shr_now_ns() >= w->lease_end_ns)
			w->over = true;
	}
}

/* Everything up to the first suspend, for the command that waits. */
static void start(struct hold_worker *w, struct hold_reply *reply)
{
	struct gpreempt_options options = {
		.size = sizeof(options),
		.busy = tell_busy,
		.data = w,
	};
	struct gpreempt_error err = {
		.reason = GPREEMPT_SYSTEM,
		.step = "starting the holder",
		.pid = w->birth->target,
	};

	err.code = gpreempt_new(&options, &w->g);
	if (!err.code)
		err.code = gpreempt_start_time(w->g, w->birth->target,
					       &w->start);
	if (err.code == -ESRCH)
		err.reason = GPREEMPT_ENDED;
	if (!err.code)
		err.code = w->listen = hold_listen(w->birth->target);
	w->inode = hold_socket_inode(w->birth->target);
	if (err.code >= 0)
		gpreempt_session_open(w->g, w->birth->target, &w->session,
				      &err);
	if (!w->session) {
		hold_reply_error(reply, &err);
		return;
	}
	w->since_ns = shr_now_ns();
	hold_answer(w, w->birth->request, reply);
}

static void finish(struct hold_worker *w)
{
	gpreempt_session_close(w->session);
	gpreempt_free(w->g);
	/* With the guardian gone, nobody else tidies up. */
	if (getppid() != w->birth->guardian) {
		hold_forget(w->birth->target);
		hold_cgroup_leave();
	}
}

void hold_worker(const struct hold_birth *birth)
{
	struct hold_worker w = { .birth = birth, .told = birth->report };
	struct hold_reply reply = { 0 };
	char buf[HOLD_MAX_PACKET];
	int i;

	w.command = birth->request->command;
	ctl_title_set(HOLD_TITLE, HOLD_TITLE ": worker of %d",
		      birth->target);
	openlog("gpreempt-hold", LOG_PID, LOG_DAEMON);
	for (i = 0; i < HOLD_CLIENTS; i++)
		w.clients[i] = -1;
	/* What holds a GPU must not wait for memory. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	w.signals = open_signals();
	if (w.signals < 0 || deadman_start(&w.deadman))
		_exit(1);
	nudge_start();
	hold_well(&w, HOLD_SILENCE_NS);
	start(&w, &reply);
	if (!w.session || reply.queues == 0)
		w.over = w.over || reply.status != GPREEMPT_CLASS_DONE;
	/* A holder that holds nothing is gone before the command returns. */
	if (w.over) {
		finish(&w);
		w.session = NULL;
	}
	send(birth->report, buf, hold_put_reply(&reply, buf), MSG_NOSIGNAL);
	if (!w.over) {
		run(&w);
		finish(&w);
	}
	_exit(0);
}
