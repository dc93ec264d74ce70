// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening and closing a session over a made-up driver; signals and the end of a process that
 * is traced; waiting.
 */
#include <poll.h>
#include <sys/ptrace.h>

#include "lib/preempt/session.h"
#include "unit-session.h"

static struct gpreempt_error err;

static void expect_refused(int code, enum gpreempt_reason reason)
{
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(gpreempt_session_open(g, PID, &s, &err), code);
	ck_assert_int_eq(err.reason, reason);
	ck_assert_int_eq(err.code, code);
	ck_assert_int_eq(err.pid, PID);
	ck_assert_ptr_nonnull(err.step);
}

TEST(open_and_close)
{
	gp_loop_add_queue(&loop, 0);
	s = unit_open();
	ck_assert(loop.debugged);
	ck_assert(!loop.queues[0].is_new);
	/* The first snapshot finds no room, the second acknowledges. */
	ck_assert_str_eq(loop.trace, "open version seize watch probe enable "
				     "snapshot snapshot ");
	/* The driver, which writes to it when we are killed, gets no signal, and does not wait. */
	ck_assert_int_eq(fcntl(loop.dbg_fd, F_GETFL) & (O_ACCMODE | O_NONBLOCK),
			 O_RDWR | O_NONBLOCK);
	/* Options let us leave in time at exit and exec; none takes the process with us. */
	ck_assert_uint_eq(loop.seized, PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC);
	unit_clear_trace();
	ck_assert_int_eq(close_session(), 0);
	ck_assert_str_eq(loop.trace, "subscribe disable interrupt unwatch wait detach ");
	ck_assert(!loop.debugged);
}

/* Never enable where a session is open: it would be taken from its owner. */
TEST(other_debugger)
{
	loop.debugged = true;
	expect_refused(-EALREADY, GPREEMPT_DEBUGGED);
	ck_assert_ptr_null(strstr(loop.trace, "enable"));
	ck_assert_ptr_null(strstr(loop.trace, "disable"));
	ck_assert_ptr_nonnull(strstr(loop.trace, "detach"));
	ck_assert(loop.debugged);
}

/* Never enable after exec: the driver would make a process and crash later. */
TEST(after_exec)
{
	loop.opened = false;
	expect_refused(-ESRCH, GPREEMPT_NOT_GPU);
	ck_assert_ptr_null(strstr(loop.trace, "enable"));
	ck_assert_ptr_nonnull(strstr(loop.trace, "detach"));
}

static const struct {
	const char *call;
	int code;
	enum gpreempt_reason reason;
} failures[] = {
	{ "open", -ENOENT, GPREEMPT_NO_KFD },	    { "open", -ENODEV, GPREEMPT_NO_KFD },
	{ "open", -EACCES, GPREEMPT_NOT_ROOT },	    { "version", -EIO, GPREEMPT_SYSTEM },
	{ "seize", -ESRCH, GPREEMPT_ENDED },	    { "seize", -EPERM, GPREEMPT_TRACE_DENIED },
	{ "seize", -EIO, GPREEMPT_SYSTEM },	    { "watch", -EAGAIN, GPREEMPT_SYSTEM },
	{ "probe", -EPERM, GPREEMPT_SYSTEM },	    { "probe", -EBUSY, GPREEMPT_GWS_BUSY },
	{ "enable", -EALREADY, GPREEMPT_DEBUGGED }, { "enable", -EBUSY, GPREEMPT_GWS_BUSY },
	{ "enable", -ENODEV, GPREEMPT_GPU_OLD },    { "enable", -EINVAL, GPREEMPT_NO_HWS },
	{ "enable", -ESRCH, GPREEMPT_NOT_GPU },	    { "enable", -ENOMEM, GPREEMPT_SYSTEM },
	{ "snapshot", -ESRCH, GPREEMPT_ENDED },	    { "snapshot", -EFAULT, GPREEMPT_SYSTEM },
};

TEST_EACH(open_fails, ARRAY_SIZE(failures))
{
	gp_loop_fail(&loop, failures[_i].call, 0, failures[_i].code);
	expect_refused(failures[_i].code, failures[_i].reason);
	/* Whatever was begun is undone. */
	if (strstr(loop.trace, "watch "))
		ck_assert_ptr_nonnull(strstr(loop.trace, "detach"));
	if (!strcmp(failures[_i].call, "snapshot"))
		ck_assert_ptr_nonnull(strstr(loop.trace, "disable"));
	else
		ck_assert_ptr_null(strstr(loop.trace, "disable"));
	ck_assert(!loop.debugged);
}

TEST(not_root)
{
	loop.root = false;
	expect_refused(-EPERM, GPREEMPT_NOT_ROOT);
	ck_assert_str_eq(loop.trace, "");
}

TEST(interrupted_call)
{
	gp_loop_fail(&loop, "open", 1, -EINTR);
	gp_loop_fail(&loop, "open", 2, -EINTR);
	gp_loop_fail(&loop, "enable", 1, -EINTR);
	s = unit_open();
	ck_assert(!strncmp(loop.trace, "open open ", 10));
	ck_assert_ptr_nonnull(strstr(loop.trace, "enable enable"));
}

/* A signal that stays pending is no reason to try for ever. */
TEST(interrupted_for_ever)
{
	gp_loop_fail(&loop, "open", 0, -EINTR);
	expect_refused(-EINTR, GPREEMPT_SYSTEM);
}

TEST(old_driver)
{
	loop.minor = 12;
	expect_refused(-ENOTSUP, GPREEMPT_KFD_VERSION);
	ck_assert_uint_eq(err.minor, 12);
	ck_assert_ptr_null(strstr(loop.trace, "seize"));
	/* The first that has all that is needed. */
	loop.minor = 13;
	gpreempt_session_close(unit_open());
}

TEST(activation_failed)
{
	loop.runtime = DEBUG_RUNTIME_STATE_ENABLED_ERROR;
	expect_refused(-EIO, GPREEMPT_RUNTIME_ERROR);
	ck_assert_ptr_nonnull(strstr(loop.trace, "disable"));
	loop.runtime = DEBUG_RUNTIME_STATE_ENABLED_BUSY;
	expect_refused(-EBUSY, GPREEMPT_RUNTIME_BUSY);
	ck_assert(!loop.debugged);
}

static void other_process(struct gp_loop *l, const char *call)
{
	if (!strcmp(call, "seize"))
		gp_loop_set_file(l, "/proc/4194242/stat",
				 "4194242 (x) S 1 4194242 4194242 0 -1 4194560 1 2 3 4 "
				 "5 6 7 8 20 0 3 0 999 100 200 1844\n");
}

TEST(reused_pid)
{
	loop.before = other_process;
	expect_refused(-ESRCH, GPREEMPT_ENDED);
	ck_assert_ptr_null(strstr(loop.trace, "enable"));
}

static void more_queues(struct gp_loop *l, const char *call)
{
	uint32_t i;

	if (strcmp(call, "snapshot") || l->count > 50)
		return;
	for (i = 0; i < 20; i++)
		gp_loop_add_queue(l, l->count);
}

/* Each snapshot finds more queues than there was room for. */
TEST(queues_while_opening)
{
	size_t count;

	loop.before = more_queues;
	s = unit_open();
	gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(count, loop.count);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_uint_eq(out.done, count);
}

TEST(queue_types)
{
	const struct gpreempt_session_queue *queues;
	size_t count;

	gp_loop_add_queue(&loop, 0)->type = KFD_IOC_QUEUE_TYPE_COMPUTE;
	gp_loop_add_queue(&loop, 1)->type = KFD_IOC_QUEUE_TYPE_SDMA;
	gp_loop_add_queue(&loop, 2)->type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
	gp_loop_add_queue(&loop, 3)->type = KFD_IOC_QUEUE_TYPE_SDMA_XGMI;
	s = unit_open();
	queues = gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(queues[0].type, GPREEMPT_QUEUE_COMPUTE_PM4);
	ck_assert_uint_eq(queues[1].type, GPREEMPT_QUEUE_SDMA);
	ck_assert_uint_eq(queues[2].type, GPREEMPT_QUEUE_COMPUTE_AQL);
	ck_assert_uint_eq(queues[3].type, GPREEMPT_QUEUE_SDMA_XGMI);
}

TEST(close_without_answer)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, NULL);
	gp_loop_fail(&loop, "unwatch", 0, -ETIMEDOUT);
	/* The process does not stop for us, but its queues run. */
	ck_assert_int_eq(close_session(), -ETIMEDOUT);
	ck_assert(!suspended(0));
	ck_assert_ptr_null(strstr(loop.trace, "detach"));
	ck_assert_int_eq(gpreempt_session_close(NULL), 0);
}

/* A signal that stopped the process just then is not lost. */
TEST(close_with_signal)
{
	open_with_queues(0);
	gp_loop_stop(&loop, 10 << 8 | 0x7f);
	ck_assert_int_eq(close_session(), 0);
	ck_assert_int_eq(loop.last_signal, 10);
}

TEST(simulated)
{
	ck_assert(!gpreempt_simulated(g));
	set_file("/sys/module/vgpu/initstate", "live\n");
	ck_assert(gpreempt_simulated(g));
}

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
	ck_assert(!s->stopped);
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_STOP, SIGTSTP));
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_JOB);
	ck_assert(s->stopped);
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
	ck_assert(!s->stopped);
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
