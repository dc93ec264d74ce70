// SPDX-License-Identifier: GPL-2.0-only
/* The birth of a holder. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "agent/capabilities.h"
#include "agent/cgroup.h"
#include "holder/holder.h"
#include "shared/syscall.h"

/* The descriptors that a holder keeps, and nothing of its parent's. */
enum {
	FD_LOCK = 3,
	FD_REPORT,
	FD_FIRST_OTHER,
	FD_SPARE = 8,
};

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

static int move_descriptors(struct hold_birth *birth)
{
	int null, lock, report;

	/* Out of the way of the numbers that they shall get. */
	lock = fcntl(birth->lock, F_DUPFD_CLOEXEC, FD_SPARE);
	report = fcntl(birth->report, F_DUPFD_CLOEXEC, FD_SPARE);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (lock < 0 || report < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		return -1;
	/* Until here a failure is reported on birth->report. */
	if (dup3(lock, FD_LOCK, O_CLOEXEC) < 0)
		return -1;
	birth->report = report;
	if (dup3(report, FD_REPORT, O_CLOEXEC) < 0)
		return -1;
	birth->lock = FD_LOCK;
	birth->report = FD_REPORT;
	return 0;
}

__attribute__((noreturn)) static void be_born(struct hold_birth *birth)
{
	pid_t worker;
	bool inside;
	int beat[2];

	errno = -leave_command();
	if (errno)
		fail_birth(birth, "going to the root directory");
	if (move_descriptors(birth))
		fail_birth(birth, "making room for the holder's descriptors");
	shr_close_range(FD_FIRST_OTHER, ~0U);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, beat) < 0)
		fail_birth(birth, "making the holder's guardian");
	birth->guardian = getpid();
	errno = -freezer_v1_leave(&inside);
	if (errno)
		fail_birth(birth, inside ? "leaving the old freezer (cgroup v1)" :
					   "reading /proc/self/cgroup");
	birth->cgroup = hold_cgroup_enter(birth->guardian);
	errno = -capabilities_keep(CAPABILITIES_HOLDER);
	if (errno)
		fail_birth(birth, "giving up the capabilities of root");
	worker = fork();
	if (worker < 0)
		fail_birth(birth, "making the holder's worker");
	birth->beat = beat[worker ? 0 : 1];
	close(beat[worker ? 1 : 0]);
	if (!worker)
		hold_worker(birth);
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

int hold_spawn_begin(int lock, pid_t target, const struct hold_request *request)
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
