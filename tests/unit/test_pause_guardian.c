// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guardian of a process that pauses a target. The target is a process of ours
 * without GPU queues: what the guardian does is seen in the journal alone.
 */
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "hold/run-dir.h"
#include "hold/pause-owner.h"
#include "unit-host.h"
#include "unit-worker.h"

#define START 777

static const struct hold_owner as = { .role = HOLD_ROLE_FOLLOW, .pid = 1 };
static struct pause_owner owner;
static pid_t target;

static void setup(void)
{
	hold_dir_setup();
	unit_cgroups_start();
	unit_setup();
	target = unit_make_sleeper();
	owner = (struct pause_owner){ .target = target, .start = START };
	owner.lock = hold_take(target, &as);
	ck_assert_int_ge(owner.lock, 0);
}

static void teardown(void)
{
	kill(target, SIGKILL);
	if (owner.guardian > 0)
		close(owner.guardian);
	unit_teardown();
	unit_cgroups_stop();
}

static void begin(void)
{
	ck_assert_int_eq(pause_owner_begin(&owner, &as), 0);
	ck_assert_int_gt(owner.guardian, 0);
}

static bool has_guardian(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 0;
}

static void expect_entry(bool there)
{
	struct pause_entry e;

	ck_assert_int_eq(pause_journal_read(target, &e), there ? 0 : -ENOENT);
}

/* The lock is free when the guardian has ended. */
static void expect_free(void)
{
	int lock;

	UNIT_WAIT((lock = hold_lock(target)) != -EWOULDBLOCK);
	ck_assert_int_ge(lock, 0);
	close(lock);
}

/* A guardian that is killed is replaced. */
TEST(is_replaced)
{
	int fd;

	begin();
	ck_assert_int_eq(pause_owner_renew(&owner), 0);
	fd = owner.guardian;
	ck_assert_int_eq(kill(owner.guardian_pid, SIGKILL), 0);
	unit_readable(fd);
	ck_assert_int_eq(pause_owner_renew(&owner), 0);
	ck_assert(has_guardian(owner.guardian, 0));
	expect_entry(true);
	ck_assert_int_eq(pause_owner_end(&owner, true), 0);
	expect_free();
}

/* The owner dies; a pause that it may have made is undone. */
TEST_EACH(owner_dies, 2)
{
	char byte;
	int ready[2];
	pid_t child;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		begin();
		write(ready[1], "", 1);
		/* The owner could not end the pause, and lives: there may be an ioctl to come. */
		if (_i)
			pause_owner_end(&owner, false);
		pause();
	}
	close(owner.lock);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	shr_sleep_ns(500 * NSEC_PER_MSEC);
	expect_entry(true);
	unit_end(child);
	expect_free();
	expect_entry(false);
}

TEST(target_ends)
{
	begin();
	unit_end(target);
	unit_readable(owner.guardian);
	expect_entry(false);
	close(owner.lock);
	expect_free();
}

/* The start fails with too few descriptors, and none stays open; with enough, one does. */
TEST(descriptors)
{
	struct rlimit all, few;
	int before = unit_count_descriptors(), ret = -EMFILE, tries = 0;

	getrlimit(RLIMIT_NOFILE, &all);
	few = all;
	for (few.rlim_cur = before - 2; ret < 0; few.rlim_cur++) {
		ck_assert_int_lt(tries++, 20);
		setrlimit(RLIMIT_NOFILE, &few);
		ret = pause_guardian_start(owner.lock, target, START, NULL, &owner.guardian_pid);
		setrlimit(RLIMIT_NOFILE, &all);
		ck_assert(ret >= 0 || ret == -EMFILE || ret == -ECHILD);
		ck_assert_int_eq(unit_count_descriptors(), before + (ret >= 0));
	}
	ck_assert_int_gt(tries, 3);
	close(ret);
	close(owner.lock);
	expect_free();
}

/* End at the fifth beat the process for which the guardian waits. */
static void count_beats(void *data, bool busy)
{
	int *beats = data;

	ck_assert(!busy);
	if (++*beats == 5)
		unit_mounts_go_on();
}

/* A guardian that is slow to start is waited for, and the owner's watchdog sees a live owner. */
TEST(slow_start)
{
	int beats = 0;
	struct heartbeat heartbeat = { .also = count_beats, .data = &beats };

	ck_assert_int_eq(heartbeat_start(&heartbeat), 0);
	owner.heartbeat = &heartbeat;
	unit_mounts_wait();
	begin();
	ck_assert_int_ge(beats, 5);
	heartbeat_stop(&heartbeat);
	ck_assert_int_eq(pause_owner_end(&owner, true), 0);
	expect_free();
}

/* More time has passed than a guardian gets. */
static void pass_time(void *data, bool busy)
{
	(void)busy;
	if (++*(int *)data == 3)
		unit_frozen_ns = shr_now_ns() + 30 * NSEC_PER_SEC;
}

/* A guardian that never starts is not waited for, and there is no pause without one. */
TEST(never_starts)
{
	int beats = 0;
	struct heartbeat heartbeat = { .also = pass_time, .data = &beats };

	owner.heartbeat = &heartbeat;
	unit_mounts_wait();
	ck_assert_int_eq(pause_owner_begin(&owner, &as), -ECHILD);
	unit_mounts_go_on();
	expect_entry(false);
}

static void die_at_third_beat(void *data, bool busy)
{
	int *beats = data;

	(void)busy;
	if (++*beats == 3)
		raise(SIGKILL);
}

/* An owner that is killed before its guardian watches leaves no entry. */
TEST(owner_dies_at_start)
{
	int beats = 0;
	struct heartbeat heartbeat = { .also = die_at_third_beat, .data = &beats };
	pid_t child;

	unit_mounts_wait();
	child = fork();
	if (!child) {
		heartbeat_start(&heartbeat);
		owner.heartbeat = &heartbeat;
		pause_owner_begin(&owner, &as);
		_exit(0);
	}
	close(owner.lock);
	ck_assert_int_lt(unit_status(child), 0);
	unit_mounts_go_on();
	expect_free();
	expect_entry(false);
}

TEST_FIXTURE(setup, teardown)
