// SPDX-License-Identifier: GPL-2.0-only
/* Makes a holder: guardian and worker. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

#include "shared/util.h"
#include "escape.h"
#include "holder.h"
#include "pause-owner.h"

/* The birth of a holder. */

/* The command that waits gets the reason. */
__attribute__((noreturn)) static void fail_birth(const struct hold_birth *birth, const char *step)
{
	struct hold_reply reply = { 0 };

	hold_reply_fail(&reply, birth->target, GPREEMPT_SYSTEM, -errno, step);
	if (birth->cgroup)
		hold_cgroup_leave();
	gp_hold_send(birth->report, &reply);
	hold_drop(birth->target, birth->lock);
	_exit(1);
}

__attribute__((noreturn)) static void be_born(struct hold_birth *birth)
{
	int *const kept[] = { &birth->lock, &birth->report };
	const char *step;
	pid_t worker;
	int beat[2];

	birth->guardian = getpid();
	errno = -hold_become(kept, ARRAY_SIZE(kept), &birth->cgroup, &step);
	if (errno)
		fail_birth(birth, step);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, beat) < 0)
		fail_birth(birth, "making the holder's guardian");
	worker = fork();
	if (worker < 0)
		fail_birth(birth, "making the holder's worker");
	birth->beat = beat[worker ? 0 : 1];
	close(beat[worker ? 1 : 0]);
	if (!worker) {
		const struct hold_owner owner = {
			.role = HOLD_ROLE_HOLDER,
			.pid = getpid(),
			.guardian = birth->guardian,
		};

		/* A command after the reply finds the owner in the lock. */
		if (hold_write_owner(birth->lock, &owner))
			_exit(1);
		hold_worker(birth);
	}
	birth->worker = worker;
	hold_guardian(birth);
}

void hold_confirm(int fd)
{
	send(fd, "", 1, MSG_NOSIGNAL);
	close(fd);
}

int hold_spawn_on(int lock, int report, pid_t target, const struct hold_request *request)
{
	struct hold_birth birth = {
		.target = target,
		.lock = lock,
		.report = report,
		.request = request,
	};
	pid_t child;
	int ret;

	fflush(NULL);
	child = fork();
	if (!child)
		be_born(&birth);
	ret = child < 0 ? -errno : 0;
	close(lock);
	return ret;
}

/*
 * The guardian: it sees to it that a worker that does not answer goes away.
 * It does as little as it can.
 */

#define CHECK_NS (100 * NSEC_PER_MSEC)
/* The worker gets so many checks to let a killed target go in good order. */
#define KILLED_CHECKS 3
/* The worker ends the lease itself; so much later it is overdue. */
#define LEASE_SPARE_NS (2 * NSEC_PER_SEC)

struct guardian {
	const struct hold_birth *birth;
	struct watchdog watchdog;
	struct hold_beat beat;
	uint64_t last_beat_ns;
	int worker; /* pidfd */
	int timer;
	int killed_checks; /* seen with SIGKILL pending so many times */
};

static void read_beats(struct guardian *gd)
{
	struct hold_beat beat;

	while (recv(gd->birth->beat, &beat, sizeof(beat), MSG_DONTWAIT) == sizeof(beat)) {
		gd->beat = beat;
		gd->last_beat_ns = shr_now_ns();
	}
}

/* The mask of pending signals behind that key of /proc/<pid>/status. */
static bool pending_kill(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at && (strtoull(at + strlen(key), NULL, 16) & (1ULL << (SIGKILL - 1)));
}

/*
 * A target that was killed stops on its way out and waits for its tracer,
 * with the signal still pending.
 */
static bool target_killed(pid_t target)
{
	char text[8192];

	shr_read_start(text, sizeof(text), "/proc/%d/status", target);
	return pending_kill(text, "\nShdPnd:\t") || pending_kill(text, "\nSigPnd:\t");
}

static bool worker_overdue(struct guardian *gd)
{
	uint64_t now = shr_now_ns();

	if (now > gd->last_beat_ns + gd->beat.silence_ns)
		return true;
	if (gd->beat.lease_end_ns && shr_boottime_ns() > gd->beat.lease_end_ns + LEASE_SPARE_NS)
		return true;
	if (target_killed(gd->birth->target))
		gd->killed_checks++;
	else
		gd->killed_checks = 0;
	return gd->killed_checks > KILLED_CHECKS;
}

static void watch_worker(struct guardian *gd)
{
	struct pollfd fds[] = {
		{ .fd = gd->worker, .events = POLLIN },
		{ .fd = gd->birth->beat, .events = POLLIN },
		{ .fd = gd->timer, .events = POLLIN },
	};

	for (;;) {
		uint64_t count;

		watchdog_pet(&gd->watchdog, HEARTBEAT_WATCH_NS);
		poll(fds, ARRAY_SIZE(fds), -1);
		if (fds[0].revents)
			return;
		if (fds[1].revents & POLLIN)
			read_beats(gd);
		else if (fds[1].revents)
			fds[1].fd = -1; /* closed: the worker is ending */
		if (!fds[2].revents)
			continue;
		if (read(gd->timer, &count, sizeof(count)) < 0)
			continue;
		if (worker_overdue(gd))
			shr_pidfd_send_signal(gd->worker, SIGKILL);
	}
}

static int start_timer(void)
{
	struct itimerspec period = {
		.it_value.tv_nsec = CHECK_NS,
		.it_interval.tv_nsec = CHECK_NS,
	};
	int fd;

	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd >= 0)
		timerfd_settime(fd, 0, &period, NULL);
	return fd;
}

void hold_guardian(const struct hold_birth *birth)
{
	struct guardian gd = {
		.birth = birth,
		.beat.silence_ns = HEARTBEAT_BUSY_NS,
		.last_beat_ns = shr_now_ns(),
	};

	shr_title_set(HOLD_TITLE, HOLD_TITLE ": guardian of %d", birth->target);
	gd.worker = shr_pidfd_open(birth->worker);
	gd.timer = start_timer();
	if (gd.worker < 0 || gd.timer < 0 || watchdog_start(&gd.watchdog)) {
		kill(birth->worker, SIGKILL);
		waitpid(birth->worker, NULL, 0);
	} else {
		watch_worker(&gd);
	}
	/* The driver resumes queues of a session by itself, and leaves a pause as it is. */
	guardian_end(NULL, birth->target, birth->request->start, birth->lock, &gd.watchdog);
}
