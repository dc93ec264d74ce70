// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gpreempt/gpreempt.h>

#include "agent/capabilities.h"
#include "agent/cgroup.h"
#include "agent/freezer-v1.h"
#include "agent/heartbeat.h"
#include "agent/holder-lock.h"
#include "agent/leave-command.h"
#include "agent/pause-journal.h"
#include "agent/pause-keepers.h"
#include "agent/pause-repair.h"
#include "shared/child.h"
#include "shared/clock.h"
#include "shared/signals.h"
#include "shared/syscall.h"
#include "shared/title.h"

#define TITLE "gpreempt-pause"
/* How long both may take to be there. */
#define START_MS 20000
/* The first one ends the lease; the second one so much later, if it must. */
#define LEASE_SPARE_NS NSEC_PER_SEC

struct keeper {
	pid_t target;
	uint64_t start;
	uint64_t until_ns; /* CLOCK_BOOTTIME; 0: no lease */
	int lock;
	int process; /* pidfd of the target */
	int other;   /* pidfd of the other keeper */
	int command; /* pidfd of the command that pauses it */
	int confirm; /* from the command; -1: of the second, or confirmed */
	bool second;
	int signals;
	bool over;	 /* the target is to run now */
	bool other_died; /* it is not to be waited for */
	struct watchdog watchdog;
	struct gpreempt *g;
};

/* What both are born with. */
struct birth {
	struct keeper k;
	pid_t first;
	int ready; /* gets the struct pause_keepers */
};

static int prepare(struct keeper *k)
{
	static const int signals[] = { SIGTERM, 0 };
	int ret;

	k->signals = shr_signals_open(signals);
	if (k->signals < 0)
		return k->signals;
	ret = gpreempt_new(NULL, &k->g);
	if (!ret)
		ret = watchdog_start(&k->watchdog);
	/* What ends a pause must not wait for memory. */
	mlockall(MCL_CURRENT | MCL_FUTURE);
	return ret;
}

/* Are all threads of that process gone, and with them its ioctls? */
static bool has_ended(int process)
{
	struct pollfd fd = { .fd = process, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

/*
 * True when nothing is left to do: also when the entry is not there any more, or is
 * of another process, as the other keeper leaves it.
 */
static bool undo(struct keeper *k)
{
	struct gpreempt_error err;
	struct pause_entry e;
	int ret;

	ret = pause_journal_read(k->target, &e);
	if (ret == -ENOENT || ret == -ESTALE)
		return true;
	if (ret) /* no descriptor is free just now, for one */
		return false;
	if (e.start != k->start)
		return true;
	/* The ioctl may be still to come. */
	if (e.state == PAUSE_BEGUN && !has_ended(k->command))
		return false;
	watchdog_pet(&k->watchdog, HEARTBEAT_BUSY_NS);
	ret = pause_undo(k->g, &e, NULL, &err);
	/*
	 * While a debugger traces the target, try again. After an error of the driver
	 * the user has to look first: the entry stays for repair.
	 */
	return !ret || err.reason == GPREEMPT_PAUSE_FAILED;
}

/* The end of the command, or its word that the lease counts from now on. */
static void take_confirmation(struct keeper *k)
{
	char byte;
	ssize_t n = recv(k->confirm, &byte, 1, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	close(k->confirm);
	k->confirm = -1;
	if (n != 1)
		k->over = true;
}

static void look(struct keeper *k, const struct pollfd *fds)
{
	uint64_t spare = k->second ? LEASE_SPARE_NS : 0;

	/* Also when the target has ended: its entry goes. */
	if (fds[0].revents || fds[1].revents || fds[2].revents)
		k->over = true;
	if (fds[1].revents)
		k->other_died = true;
	if (fds[3].revents)
		take_confirmation(k);
	if (k->until_ns &&
	    shr_boottime_ns() >= shr_later_ns(k->until_ns, spare))
		k->over = true;
}

static int sleep_ms(const struct keeper *k)
{
	uint64_t now = shr_boottime_ns(), left;

	if (!k->until_ns)
		return HEARTBEAT_TICK_NS / NSEC_PER_MSEC;
	left = k->until_ns > now ? k->until_ns - now : 0;
	if (left > HEARTBEAT_TICK_NS)
		left = HEARTBEAT_TICK_NS;
	return (left + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC + 1;
}

__attribute__((noreturn)) static void keep(struct keeper *k)
{
	struct pollfd fds[] = {
		{ .fd = k->process, .events = POLLIN },
		{ .fd = k->other, .events = POLLIN },
		{ .fd = k->signals, .events = POLLIN },
		{ .fd = k->confirm, .events = POLLIN },
	};

	while (!k->over || !undo(k)) {
		watchdog_pet(&k->watchdog,
			     HEARTBEAT_SILENCE_NS + HEARTBEAT_SPARE_NS);
		if (k->over) /* it was not possible just now */
			shr_sleep_ns(HEARTBEAT_TICK_NS);
		fds[3].fd = k->confirm;
		if (poll(fds, 4, sleep_ms(k)) >= 0)
			look(k, fds);
	}
	hold_drop(k->target, k->lock);
	if (k->other_died)
		hold_cgroup_leave();
	_exit(0);
}

__attribute__((noreturn)) static void be_second(struct birth *b)
{
	struct pause_keepers pids = { .first = b->first, .second = getpid() };
	struct hold_owner owner = {
		.role = HOLD_ROLE_PAUSE,
		.pid = pids.first,
		.guardian = pids.second,
	};

	shr_title_set(TITLE, TITLE ": second keeper of %d", b->k.target);
	close(b->k.confirm);
	b->k.confirm = -1;
	b->k.second = true;
	if (prepare(&b->k) || hold_write_owner(b->k.lock, &owner) ||
	    send(b->ready, &pids, sizeof(pids), MSG_NOSIGNAL) < 0)
		_exit(1);
	close(b->ready);
	keep(&b->k);
}

/* Nothing of the command's but the descriptors that are ours. */
static void leave(struct birth *b)
{
	const int kept[] = { b->k.lock, b->k.confirm, b->ready, b->k.process,
			     b->k.command };
	bool inside;
	int null;

	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0 ||
	    leave_command())
		_exit(1);
	shr_close_others(STDERR_FILENO + 1, kept, 5);
	if (freezer_v1_leave(&inside))
		_exit(1);
	hold_cgroup_enter(getpid());
	if (capabilities_keep(CAPABILITIES_PAUSER))
		_exit(1);
}

__attribute__((noreturn)) static void be_first(struct birth *b)
{
	pid_t second;
	int self;

	leave(b);
	b->first = getpid();
	self = shr_pidfd_open(b->first);
	second = self < 0 ? -1 : fork();
	if (second < 0)
		_exit(1);
	if (!second) {
		b->k.other = self;
		be_second(b);
	}
	shr_title_set(TITLE, TITLE ": first keeper of %d", b->k.target);
	close(self);
	close(b->ready);
	b->k.other = shr_pidfd_open(second);
	if (b->k.other < 0 || prepare(&b->k))
		_exit(1);
	keep(&b->k);
}

/* The message of the second one; its absence is the end of both. */
static int wait_for_both(int ready, struct pause_keepers *out)
{
	struct pollfd fd = { .fd = ready, .events = POLLIN };
	struct pause_keepers pids;

	if (poll(&fd, 1, START_MS) <= 0 ||
	    recv(ready, &pids, sizeof(pids), MSG_DONTWAIT) != sizeof(pids))
		return -ECHILD;
	out->first = pids.first;
	out->second = pids.second;
	return 0;
}

static int start_first(struct birth *b)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (!child)
		be_first(b);
	return child < 0 ? -errno : 0;
}

int pause_keepers_start(int lock, pid_t target, uint64_t start,
			uint64_t until_ns, struct pause_keepers *out)
{
	int confirm[2], ready[2], ret;
	struct birth b = { .k = { .target = target, .start = start } };

	b.k.until_ns = until_ns;
	b.k.lock = lock;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, confirm) < 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ready) < 0) {
		ret = -errno;
		close(confirm[0]);
		close(confirm[1]);
		return ret;
	}
	b.k.confirm = confirm[1];
	b.ready = ready[1];
	b.k.process = shr_pidfd_open(target);
	b.k.command = shr_pidfd_open(getpid());
	ret = b.k.process < 0 || b.k.command < 0 ? -errno : start_first(&b);
	close(confirm[1]);
	close(ready[1]);
	if (b.k.process >= 0)
		close(b.k.process);
	if (b.k.command >= 0)
		close(b.k.command);
	if (!ret)
		ret = wait_for_both(ready[0], out);
	close(ready[0]);
	out->confirm = confirm[0];
	if (ret)
		close(confirm[0]);
	return ret;
}

void pause_keepers_confirm(struct pause_keepers *k)
{
	send(k->confirm, "", 1, MSG_NOSIGNAL);
	close(k->confirm);
	k->confirm = -1;
}
