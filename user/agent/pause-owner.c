// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gpreempt/gpreempt.h>

#include "agent/capabilities.h"
#include "agent/cgroup.h"
#include "agent/heartbeat.h"
#include "agent/holder-lock.h"
#include "agent/pause-journal.h"
#include "agent/pause-owner.h"
#include "agent/pause-repair.h"
#include "shared/child.h"
#include "shared/clock.h"
#include "shared/syscall.h"
#include "shared/title.h"

/* The guardian sees it and ends; until then the lock is held. */
static void close_guardian(struct pause_owner *o)
{
	if (o->guardian > 0)
		close(o->guardian);
	o->guardian = 0;
	hold_drop(o->target, o->lock);
	o->lock = -1;
}

static int start_guardian(struct pause_owner *o)
{
	int ret =
		pause_guardian_start(o->lock, o->target, o->start, o->heartbeat, &o->guardian_pid);

	o->is_alone = ret < 0;
	if (ret < 0)
		return ret;
	o->guardian = ret;
	return 0;
}

int pause_owner_renew(struct pause_owner *o)
{
	struct pollfd fd = { .fd = o->guardian, .events = POLLIN };

	if (!o->is_noted || o->guarded || poll(&fd, 1, 0) <= 0)
		return 0;
	close(o->guardian);
	o->guardian = 0;
	return start_guardian(o);
}

/* Without a guardian, the entry of an owner that is killed would stay. */
int pause_owner_begin(struct pause_owner *o, const struct hold_owner *as)
{
	struct pause_entry entry;
	int ret = 0;

	if (!o->guarded) {
		ret = start_guardian(o);
		if (!ret)
			ret = hold_write_owner(o->lock, as);
	}
	pause_entry_init(&entry, o->target, o->start);
	if (!ret)
		ret = pause_journal_write(&entry);
	o->is_noted = !ret;
	if (ret && !o->guarded)
		close_guardian(o);
	return ret;
}

int pause_owner_end(struct pause_owner *o, bool runs)
{
	int ret = 0;

	if (!o->is_noted)
		return 0;
	o->is_noted = false;
	if (runs)
		ret = pause_journal_remove(o->target);
	if (!o->guarded)
		close_guardian(o);
	return ret;
}

#define TITLE "gpreempt-pause"
/* How long it may take to be there. */
#define START_NS (20 * NSEC_PER_SEC)

struct guardian {
	pid_t target;
	uint64_t start;
	int lock;
	int process; /* pidfd of the target */
	int owner;   /* pidfd of the process that pauses it */
	int fd;	     /* to that process */
	struct watchdog watchdog;
	struct gpreempt *g;
};

static int prepare(struct guardian *gd)
{
	int ret = gpreempt_new(NULL, &gd->g);

	if (!ret)
		ret = watchdog_start(&gd->watchdog);
	/* What ends a pause must not wait for memory. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	return ret;
}

/* Are all threads of the owner gone, and with them its ioctls? */
static bool has_ended(int process)
{
	struct pollfd fd = { .fd = process, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

/*
 * Until the owner or the target has ended, or the entry is gone. An owner that closes
 * the descriptor has removed the entry, or makes no more ioctl.
 */
static void watch(const struct guardian *gd)
{
	struct pollfd fds[] = {
		{ .fd = gd->process, .events = POLLIN },
		{ .fd = gd->fd, .events = POLLIN },
	};
	struct pause_entry e;

	do {
		watchdog_pet(&gd->watchdog, HEARTBEAT_WATCH_NS);
	} while (poll(fds, 2, HEARTBEAT_TICK_NS / NSEC_PER_MSEC) <= 0);
	while (pause_journal_read(gd->target, &e) != -ENOENT && !has_ended(gd->owner) &&
	       !has_ended(gd->process)) {
		watchdog_pet(&gd->watchdog, HEARTBEAT_WATCH_NS);
		shr_sleep_ns(HEARTBEAT_TICK_NS);
	}
}

/* Nothing of the owner's but the descriptors that are ours. */
static int leave_owner(const struct guardian *gd)
{
	const int kept[] = { gd->lock, gd->fd, gd->process, gd->owner };
	bool inside;
	int null, ret;

	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		return -errno;
	ret = leave_command();
	if (ret)
		return ret;
	shr_close_others(STDERR_FILENO + 1, kept, 4);
	ret = freezer_v1_leave(&inside);
	if (ret)
		return ret;
	hold_cgroup_enter(getpid());
	return capabilities_keep(CAPABILITIES_HOLDER);
}

__attribute__((noreturn)) static void become(struct guardian *gd)
{
	pid_t self;

	/* A child of init: the owner has no child that it could wait for. */
	if (fork())
		_exit(0);
	self = getpid();
	if (leave_owner(gd) || prepare(gd) || send(gd->fd, &self, sizeof(self), MSG_NOSIGNAL) < 0)
		_exit(1);
	shr_title_set(TITLE, TITLE ": guardian of %d", gd->target);
	watch(gd);
	pause_undo_left(gd->g, gd->target, gd->start, &gd->watchdog);
	hold_drop(gd->target, gd->lock);
	hold_cgroup_leave();
	_exit(0);
}

/* The caller's watchdog must not end it meanwhile. */
static int wait_for_start(int fd, struct heartbeat *heartbeat, pid_t *pid)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = shr_now_ns() + START_NS;
	int n;

	do {
		if (heartbeat)
			heartbeat_beat(heartbeat);
		n = poll(&p, 1, HEARTBEAT_TICK_NS / NSEC_PER_MSEC);
	} while (n <= 0 && shr_now_ns() < end);
	if (n <= 0 || recv(fd, pid, sizeof(*pid), 0) != sizeof(*pid))
		return -ECHILD;
	return 0;
}

static int start(struct guardian *gd)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		become(gd);
	if (child < 0)
		return -errno;
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int pause_guardian_start(int lock, pid_t target, uint64_t since, struct heartbeat *heartbeat,
			 pid_t *pid)
{
	__cleanup_fd int process = shr_pidfd_open(target);
	__cleanup_fd int owner = process < 0 ? -1 : shr_pidfd_open(getpid());
	struct guardian gd = {
		.target = target,
		.start = since,
		.lock = lock,
		.process = process,
		.owner = owner,
	};
	int fds[2], ret;

	if (owner < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	gd.fd = fds[1];
	ret = start(&gd);
	close(fds[1]);
	if (!ret)
		ret = wait_for_start(fds[0], heartbeat, pid);
	if (!ret)
		return fds[0];
	close(fds[0]);
	return ret;
}
