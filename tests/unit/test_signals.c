// SPDX-License-Identifier: GPL-2.0-only
/* Signals and the end of a process that is traced; waiting. */
#include <poll.h>
#include <sys/ptrace.h>

#include "lib/preempt/session.h"
#include "unit-session.h"

#define STOP(sig)	  ((sig) << 8 | 0x7f)
#define EVENT(event, sig) ((event) << 16 | STOP(sig))

TEST(signals_pass)
{
	open_with_queues(0);
	gp_loop_stop(&loop, STOP(SIGUSR1));
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_SIGNAL);
	ck_assert_int_eq(loop.last_signal, SIGUSR1);
	ck_assert_str_eq(loop.trace, "wait cont wait ");
	gp_loop_stop(&loop, STOP(SIGUSR1));
	gp_loop_stop(&loop, STOP(SIGTERM));
	gpreempt_session_dispatch(s);
	ck_assert_int_eq(loop.last_signal, SIGTERM);
}

/* Its number may be that of another process by now: nothing is done to that. */
TEST(not_ours_any_more)
{
	open_with_queues(1);
	loop.gone = true;
	ck_assert_int_eq(close_session(), 0);
	ck_assert_ptr_nonnull(strstr(loop.trace, "wait "));
	ck_assert_ptr_null(strstr(loop.trace, "detach"));
}

/* The descriptor is readable when there is something, and only then. */
TEST(descriptor)
{
	struct pollfd p = { .events = POLLIN };

	open_with_queues(1);
	p.fd = gpreempt_session_fd(s);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	gp_loop_stop(&loop, STOP(SIGUSR1));
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	gpreempt_session_dispatch(s);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	gp_loop_add_queue(&loop, 1);
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	gpreempt_session_dispatch(s);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	gp_loop_disable(&loop);
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_LOST);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
}

TEST(group_stop)
{
	open_with_queues(0);
	ck_assert(!gp_session_stopped(s));
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_STOP, SIGTSTP));
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_JOB);
	ck_assert(gp_session_stopped(s));
	/* The process stays stopped, and the session sees its SIGCONT. */
	ck_assert_str_eq(loop.trace, "wait listen wait ");
	unit_clear_trace();
	/* Stopped once more: nothing new. */
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_STOP, SIGSTOP));
	ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
	ck_assert_str_eq(loop.trace, "wait listen wait ");
	unit_clear_trace();
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_STOP, SIGTRAP));
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_JOB);
	ck_assert(!gp_session_stopped(s));
	ck_assert_str_eq(loop.trace, "wait cont wait ");
	ck_assert_int_eq(loop.last_signal, 0);
}

static void expect_end(enum gpreempt_reason reason)
{
	ck_assert(gpreempt_session_dispatch(s) & GPREEMPT_EVENT_ENDED);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, reason);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_ENDED);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, NULL), -ENOTCONN);
	ck_assert_int_eq(gp_session_refresh(s), -ENOTCONN);
	unit_clear_trace();
	ck_assert_int_eq(close_session(), 0);
	ck_assert_str_eq(loop.trace, "");
}

TEST(exit_event)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, NULL);
	unit_clear_trace();
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_EXIT, SIGTRAP));
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_ENDED);
	/* The debug session first, and no stop is asked for. */
	ck_assert_str_eq(loop.trace, "wait subscribe disable unwatch detach ");
	ck_assert(!suspended(0));
	ck_assert_int_eq(loop.last_signal, 0);
	expect_end(GPREEMPT_ENDED);
}

TEST(exec_event)
{
	open_with_queues(0);
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_EXEC, SIGTRAP));
	gpreempt_session_dispatch(s);
	/* There is no session to disable any more. */
	ck_assert_str_eq(loop.trace, "wait unwatch detach ");
	expect_end(GPREEMPT_EXECED);
}

TEST(killed)
{
	open_with_queues(0);
	gp_loop_stop(&loop, SIGKILL);
	expect_end(GPREEMPT_ENDED);
}

TEST(no_such_child)
{
	open_with_queues(0);
	gp_loop_stop(&loop, 0);
	loop.gone = true;
	expect_end(GPREEMPT_ENDED);
}

TEST(wait_times_out)
{
	open_with_queues(0);
	ck_assert_int_eq(gpreempt_session_wait(s, 20000000, NULL), 0);
}

TEST(wait_ends)
{
	open_with_queues(0);
	gp_loop_stop(&loop, STOP(SIGUSR1));
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_EXIT, SIGTRAP));
	/* Long before the time is over. */
	ck_assert_int_eq(gpreempt_session_wait(s, 60000000000, NULL),
			 GPREEMPT_EVENT_SIGNAL | GPREEMPT_EVENT_ENDED);
}

TEST(wait_is_stopped)
{
	int ready = open("/dev/zero", O_RDONLY);

	open_with_queues(0);
	ck_assert_int_eq(gpreempt_session_wait(s, 60000000000, &ready), -EINTR);
	close(ready);
}

TEST_FIXTURE(session_setup, session_teardown)
