// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guardian of a holder, in a child, with a worker that the test plays: the reasons for which it
 * kills the worker. And the worker, in a child on the made-up driver: ends that no case has.
 */
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>

#include "unit-host.h"
#include "unit-worker.h"

static pid_t guardian, worker, target;
static int lock;

static void setup(void)
{
	hold_dir_setup();
	worker = unit_make_sleeper();
	target = unit_make_sleeper();
	lock = hold_lock(target);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, beat), 0);
	birth = (struct hold_birth){
		.target = target,
		.worker = worker,
		.lock = lock,
		.beat = beat[0],
		.report = dup(lock),
		.request = &request,
	};
}

static void start(void)
{
	guardian = fork();
	if (!guardian) {
		close(beat[1]);
		birth.guardian = getpid();
		hold_guardian(&birth);
	}
	close(beat[0]);
}

static void teardown(void)
{
	kill(target, SIGKILL);
	kill(worker, SIGKILL);
	kill(guardian, SIGKILL);
}

static void send_beat(uint64_t silence_ns, uint64_t lease_end_ns)
{
	struct hold_beat b = {
		.silence_ns = silence_ns,
		.lease_end_ns = lease_end_ns,
	};

	ck_assert_int_eq(send(beat[1], &b, sizeof(b), 0), sizeof(b));
}

/* The worker is killed, the guardian tidies up and ends. */
static void worker_is_killed(void)
{
	struct hold_owner owner;

	ck_assert_int_eq(unit_status(worker), -SIGKILL);
	ck_assert_int_eq(unit_status(guardian), 0);
	close(lock);
	close(birth.report);
	ck_assert_int_eq(hold_read_owner(target, &owner), -ENOENT);
}

/* Is it alive? It has looked some times since, if it got a CPU. */
static bool alive(void)
{
	usleep(500000);
	return waitpid(worker, NULL, WNOHANG) == 0 && waitpid(guardian, NULL, WNOHANG) == 0;
}

static bool beat_was_read(void)
{
	int left = 0;

	ck_assert_int_eq(ioctl(beat[1], SIOCOUTQ, &left), 0);
	return !left;
}

TEST(silent_worker)
{
	int i;

	unit_frozen_ns = shr_now_ns();
	start();
	/* Longer than one silence. */
	for (i = 0; i < 3; i++) {
		send_beat(2 * NSEC_PER_SEC, 0);
		UNIT_WAIT(beat_was_read());
		unit_frozen_ns += 1900 * NSEC_PER_MSEC;
		ck_assert(alive());
	}
	/* The worker gets no more time, also if the guardian noted the last beat after our step. */
	unit_frozen_ns += 4 * NSEC_PER_SEC;
	worker_is_killed();
}

/* A worker that beats, and does not end its lease. */
TEST(lease_is_over)
{
	unit_frozen_ns = shr_now_ns();
	start();
	send_beat(3600 * NSEC_PER_SEC, unit_frozen_ns - NSEC_PER_SEC);
	/* The worker gets two seconds to do it itself. */
	ck_assert(alive());
	unit_frozen_ns += 2 * NSEC_PER_SEC;
	worker_is_killed();
}

/* A target that was killed and waits for its tracer. */
TEST(killed_target)
{
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, target, 0, PTRACE_O_TRACEEXIT), 0);
	start();
	send_beat(3600 * NSEC_PER_SEC, 0);
	ck_assert(alive());
	kill(target, SIGKILL);
	ck_assert_int_eq(unit_status(worker), -SIGKILL);
}

/* Another pending signal, which the target has blocked, is no SIGKILL. */
TEST(other_signal_pending)
{
	sigset_t set, old;

	unit_end(target);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	target = unit_make_sleeper();
	sigprocmask(SIG_SETMASK, &old, NULL);
	birth.target = target;
	ck_assert_int_eq(kill(target, SIGUSR2), 0);
	start();
	send_beat(3600 * NSEC_PER_SEC, 0);
	ck_assert(alive());
}

TEST(worker_ends)
{
	start();
	send_beat(3600 * NSEC_PER_SEC, 0);
	kill(worker, SIGKILL);
	ck_assert_int_ge(unit_status(guardian), 0);
	ck_assert_int_lt(hold_socket_inode(target), 1);
}

/* A program whose hold has ended, as its descriptor says, finds the process free. */
TEST(end_is_seen_last)
{
	struct hold_owner owner;
	int user[2];

	close(birth.report);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, user), 0);
	birth.report = user[0];
	start();
	close(user[0]);
	close(lock);
	send_beat(3600 * NSEC_PER_SEC, 0);
	UNIT_WAIT(beat_was_read());
	kill(guardian, SIGSTOP);
	kill(worker, SIGKILL);
	ck_assert_int_eq(unit_status(worker), -SIGKILL);
	ck_assert(!shr_readable(user[1], 0));
	kill(guardian, SIGCONT);
	UNIT_WAIT(shr_readable(user[1], 0));
	ck_assert_int_eq(hold_read_owner(target, &owner), -ENOENT);
	close(user[1]);
}

/* A guardian that is stopped does not live either. */
TEST(stopped_guardian)
{
	start();
	send_beat(3600 * NSEC_PER_SEC, 0);
	unit_shorten_limit(UNIT_SILENCE, NSEC_PER_MSEC);
	kill(guardian, SIGSTOP);
	ck_assert_int_eq(unit_status(guardian), -SIGKILL);
}

/* No one could find the holder: it does not begin, and what its worker did is undone. */
TEST(no_record)
{
	struct pause_entry entry;

	pause_entry_init(&entry, target, request.start);
	ck_assert_int_eq(pause_journal_write(&entry), 0);
	unit_setup();
	birth.lock = -1;
	guardian = fork();
	if (!guardian) {
		/* The guardian is the worker's parent, as in a holder. */
		birth.worker = unit_make_sleeper();
		birth.guardian = getpid();
		hold_guardian(&birth);
	}
	ck_assert_int_eq(unit_status(guardian), 0);
	ck_assert_int_eq(pause_journal_read(target, &entry), -ENOENT);
	unit_teardown();
}

TEST_FIXTURE(setup, teardown)

/* The child's queues are those of its copy of the loop. */
static pid_t child;

static void live(void)
{
	char buf[IPC_MAX_PACKET];
	ssize_t n;

	child = fork();
	if (!child) {
		/* Close the other processes' ends. */
		close(beat[0]);
		close(report[0]);
		hold_worker(&birth);
	}
	close(beat[1]);
	close(report[1]);
	n = recv(report[0], buf, sizeof(buf), 0);
	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(gp_hold_get_reply(buf, n, &reply), 0);
}

static void wait_for_end(void)
{
	ck_assert_int_eq(unit_status(child), 0);
}

static int ask_child(enum hold_verb verb)
{
	struct hold_request r = { .verb = verb };

	return gp_hold_ask(PID, &r, &reply, shr_now_ns() + HOLD_ANSWER_NS);
}

/* A process that has ended; its parent may not know yet. */
static pid_t make_dead(bool reaped)
{
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	ck_assert_int_eq(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	if (reaped)
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* The command ends before its holder looks, with and without its confirmation. */
TEST_EACH(quick_command, 4)
{
	bool reaped = _i & 1, confirms = _i & 2;

	request.command = make_dead(reaped);
	if (confirms)
		hold_confirm(dup(report[0]));
	live();
	ck_assert_uint_eq(reply.queues, 2);
	if (confirms) {
		ck_assert_int_eq(ask_child(HOLD_STATUS), 0);
		ck_assert_int_eq(ask_child(HOLD_RESUME), 0);
	}
	wait_for_end();
	if (!reaped)
		ck_assert_int_gt(waitpid(request.command, NULL, 0), 0);
}

static void sleep_long(int sig)
{
	(void)sig;
	unit_slept_s = 7200;
}

TEST(lease_ends_asleep)
{
	request.lease_ns = 3600 * NSEC_PER_SEC;
	signal(SIGUSR1, sleep_long);
	live();
	ck_assert_uint_eq(reply.queues, 2);
	kill(child, SIGUSR1);
	wait_for_end();
}

TEST_FIXTURE(worker_setup, worker_teardown)
