// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two processes that end a pause at its time. The target is a process of ours
 * without GPU queues, so what they do is to be seen in the journal alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/holder-lock.h"
#include "agent/pause-journal.h"
#include "agent/pause-keepers.h"
#include "shared/clock.h"
#include "shared/syscall.h"
#include "unit-host.h"
#include "unit-worker.h"

#define START	    777
#define PATIENCE_MS 20000

static pid_t target;
static int lock;
static struct pause_keepers keepers;
static int pidfd[2]; /* of both, once they were started */

static void setup(void)
{
	const struct hold_owner unnamed = { .role = HOLD_ROLE_PAUSE };
	struct pause_entry e;

	hold_dir_setup();
	unit_cgroups_start();
	unit_setup();
	target = unit_make_sleeper();
	lock = hold_take(target, &unnamed);
	ck_assert_int_ge(lock, 0);
	pause_entry_init(&e, target, START);
	e.state = PAUSE_LEASED;
	ck_assert_int_eq(pause_journal_write(&e), 0);
	keepers = (struct pause_keepers){ .confirm = -1 };
	pidfd[0] = pidfd[1] = -1;
}

static void teardown(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (pidfd[i] >= 0) {
			shr_pidfd_send_signal(pidfd[i], SIGKILL);
			close(pidfd[i]);
		}
	kill(target, SIGKILL);
	if (keepers.confirm >= 0)
		close(keepers.confirm);
	if (lock >= 0)
		close(lock);
	unit_teardown();
	unit_cgroups_stop();
}

static void watch_keepers(void)
{
	pidfd[0] = shr_pidfd_open(keepers.first);
	pidfd[1] = shr_pidfd_open(keepers.second);
	ck_assert(pidfd[0] >= 0 && pidfd[1] >= 0);
	/* From here on the lock is theirs alone. */
	close(lock);
	lock = -1;
}

/* Leased for so long; 0: until the command ends. */
static void start(uint64_t lease_ns)
{
	uint64_t until = lease_ns ? shr_boottime_ns() + lease_ns : 0;
	struct hold_owner owner;

	ck_assert_int_eq(pause_keepers_start(lock, target, START, until,
					     &keepers),
			 0);
	ck_assert_int_eq(hold_read_owner(target, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_PAUSE);
	ck_assert_uint_eq(owner.pid, keepers.first);
	ck_assert_uint_eq(owner.guardian, keepers.second);
	watch_keepers();
}

static void expect_end(int i)
{
	struct pollfd fd = { .fd = pidfd[i], .events = POLLIN };

	ck_assert_msg(poll(&fd, 1, PATIENCE_MS) > 0, "keeper %d stays", i);
}

static void expect_undone(void)
{
	struct pause_entry e;

	expect_end(0);
	expect_end(1);
	ck_assert_int_eq(pause_journal_read(target, &e), -ENOENT);
	lock = hold_lock(target);
	ck_assert_int_ge(lock, 0);
}

static bool runs(int i)
{
	struct pollfd fd = { .fd = pidfd[i], .events = POLLIN };

	return !poll(&fd, 1, 0);
}

/* Both are there after twice the time between their looks. */
static void expect_kept(void)
{
	struct pause_entry e;

	shr_sleep_ns(500 * NSEC_PER_MSEC);
	ck_assert(runs(0) && runs(1));
	ck_assert_int_eq(pause_journal_read(target, &e), 0);
}

START_TEST(lease_ends)
{
	start(300 * NSEC_PER_MSEC);
	pause_keepers_confirm(&keepers);
	ck_assert_int_eq(keepers.confirm, -1);
	expect_undone();
}
END_TEST

/* The command ends before it has given its report: nothing stays paused. */
START_TEST(not_confirmed)
{
	start(3600 * NSEC_PER_SEC);
	expect_kept();
	close(keepers.confirm);
	keepers.confirm = -1;
	expect_undone();
}
END_TEST

START_TEST(confirmed)
{
	start(3600 * NSEC_PER_SEC);
	pause_keepers_confirm(&keepers);
	expect_kept();
	shr_pidfd_send_signal(pidfd[_i], SIGTERM);
	expect_undone();
}
END_TEST

/* One is killed: the other undoes it. */
START_TEST(one_is_killed)
{
	start(3600 * NSEC_PER_SEC);
	pause_keepers_confirm(&keepers);
	expect_kept();
	shr_pidfd_send_signal(pidfd[_i], SIGKILL);
	expect_undone();
}
END_TEST

START_TEST(target_ends)
{
	start(3600 * NSEC_PER_SEC);
	pause_keepers_confirm(&keepers);
	kill(target, SIGKILL);
	ck_assert_int_eq(waitpid(target, NULL, 0), target);
	expect_undone();
}
END_TEST

/* A command that starts them, tells their PIDs, and goes no further. */
static pid_t start_command(uint64_t lease_ns)
{
	int report[2];
	pid_t command;

	ck_assert_int_eq(pipe2(report, O_CLOEXEC), 0);
	command = fork();
	if (!command) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!pause_keepers_start(lock, target, START,
					 shr_boottime_ns() + lease_ns,
					 &keepers))
			write(report[1], &keepers, sizeof(keepers));
		pause();
		_exit(1);
	}
	ck_assert_int_eq(read(report[0], &keepers, sizeof(keepers)),
			 sizeof(keepers));
	keepers.confirm = -1;
	watch_keepers();
	close(report[0]);
	close(report[1]);
	return command;
}

/*
 * The lease is over and the command has not come to its ioctl, or has not reported
 * it: it may still pause the target, so the entry stays for as long as it lives.
 */
START_TEST(begun)
{
	struct pause_entry e;
	pid_t command;

	ck_assert_int_eq(pause_journal_read(target, &e), 0);
	e.state = PAUSE_BEGUN;
	ck_assert_int_eq(pause_journal_change(&e), 0);
	command = start_command(50 * NSEC_PER_MSEC);
	expect_kept();
	kill(command, SIGKILL);
	ck_assert_int_eq(waitpid(command, NULL, 0), command);
	expect_undone();
}
END_TEST

/*
 * With any number of descriptors that is too small it fails, and none stays open; if
 * it does not, one does.
 */
START_TEST(descriptors)
{
	struct rlimit all, few;
	int before = unit_count_descriptors(), ret = -EMFILE, tries = 0;

	getrlimit(RLIMIT_NOFILE, &all);
	few = all;
	for (few.rlim_cur = before - 2; ret; few.rlim_cur++) {
		ck_assert_int_lt(tries++, 20);
		setrlimit(RLIMIT_NOFILE, &few);
		ret = pause_keepers_start(lock, target, START, 0, &keepers);
		setrlimit(RLIMIT_NOFILE, &all);
		if (ret)
			keepers.confirm = -1;
		ck_assert(!ret || ret == -EMFILE || ret == -ECHILD);
		ck_assert_int_eq(unit_count_descriptors(), before + !ret);
	}
	ck_assert_int_gt(tries, 4);
	watch_keepers();
	close(keepers.confirm);
	keepers.confirm = -1;
	expect_undone();
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lease_ends);
	tcase_add_test(tc, not_confirmed);
	tcase_add_loop_test(tc, confirmed, 0, 2);
	tcase_add_loop_test(tc, one_is_killed, 0, 2);
	tcase_add_test(tc, target_ends);
	tcase_add_test(tc, begun);
	tcase_add_test(tc, descriptors);
	return unit_run("pause_keepers");
}
