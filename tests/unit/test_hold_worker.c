// SPDX-License-Identifier: GPL-2.0-only
/* The life of a holder's worker, in a child, on the made-up driver. */
#include <sys/socket.h>

#include "unit-worker.h"

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

/* End the holder by its command. */
static void end_by_command(void)
{
	close(report[0]);
	report[0] = -1;
}

static void end_by_guardian(void)
{
	close(beat[0]);
	beat[0] = -1;
}

static void end_by_signal(void)
{
	kill(child, SIGTERM);
}

static void end_by_socket(void)
{
	char path[128];

	snprintf(path, sizeof(path), GP_HOLD_SOCKET, PID);
	ck_assert_int_eq(unlink(path), 0);
}

static void nothing(void)
{
}

TEST_EACH(ends, 5)
{
	static void (*const ways[])(void) = {
		end_by_command, end_by_guardian, end_by_signal, end_by_socket, nothing,
	};
	struct hold_beat b;

	/* The last ends by its lease. */
	if (_i == ARRAY_SIZE(ways) - 1)
		request.lease_ns = 300 * NSEC_PER_MSEC;
	live();
	ck_assert_uint_eq(reply.queues, 2);
	/* The guardian gets a beat. */
	unit_readable(beat[0]);
	ck_assert_int_eq(recv(beat[0], &b, sizeof(b), 0), sizeof(b));
	ck_assert_uint_eq(b.silence_ns, HEARTBEAT_SILENCE_NS);
	ways[_i]();
	wait_for_end();
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

/* A session that is lost again and again: it gives up. */
static void disable_each_time(struct gp_loop *l)
{
	gp_loop_disable(l);
	at("suspend", 1, disable_each_time);
}

TEST(gives_up)
{
	at("suspend", 1, disable_each_time);
	live();
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_FAILED);
	ck_assert_ptr_nonnull(strstr(reply.text, "ended the debug session"));
	wait_for_end();
}

TEST(not_opened)
{
	gp_loop_fail(&loop, "seize", 0, -ESRCH);
	live();
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_NO_TARGET);
	ck_assert_uint_eq(reply.queues, 0);
	wait_for_end();
}

TEST_FIXTURE(worker_setup, worker_teardown)
