// SPDX-License-Identifier: GPL-2.0-only
/* What a session does by itself, over a made-up driver. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "unit.h"

#define STOP(sig) ((sig) << 8 | 0x7f)
#define EVENT(event, sig) ((event) << 16 | STOP(sig))

static struct gpreempt_session *s;
static struct gpreempt_outcome out;

static bool suspended(uint32_t qid)
{
	return gp_loop_queue(&loop, qid)->suspended;
}

static void open_with_queues(uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		gp_loop_add_queue(&loop, i);
	s = unit_open();
	unit_clear_trace();
}

START_TEST(nothing_happens)
{
	open_with_queues(1);
	ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
	ck_assert_str_eq(loop.trace, "");
	gpreempt_session_close(s);
}
END_TEST

START_TEST(new_queue_is_suspended)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, 0, NULL);
	gp_loop_add_queue(&loop, 1);
	gp_loop_add_queue(&loop, 2);
	ck_assert_int_eq(gpreempt_session_dispatch(s),
			 GPREEMPT_EVENT_QUEUES);
	ck_assert(suspended(0) && suspended(1) && suspended(2));
	/* Both in one call. */
	ck_assert_ptr_null(strstr(strstr(loop.trace, "query"), "suspend query"));
	ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
	gpreempt_session_close(s);
}
END_TEST

START_TEST(new_queue_of_some)
{
	const uint32_t id = 0;

	open_with_queues(1);
	gpreempt_session_suspend(s, &id, 1, NULL);
	gp_loop_add_queue(&loop, 1);
	ck_assert_int_eq(gpreempt_session_dispatch(s),
			 GPREEMPT_EVENT_QUEUES);
	ck_assert(suspended(0) && !suspended(1));
	/* But it is acknowledged, so it can be. */
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, &out), 0);
	ck_assert_uint_eq(out.done, 1);
	gpreempt_session_close(s);
}
END_TEST

START_TEST(new_queue_after_resume)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, 0, NULL);
	gpreempt_session_resume(s, NULL, 0, NULL);
	gp_loop_add_queue(&loop, 1);
	gpreempt_session_dispatch(s);
	ck_assert(!suspended(0) && !suspended(1));
	gpreempt_session_close(s);
}
END_TEST

/* The number of a queue that was suspended, but another queue. */
START_TEST(reused_queue_id)
{
	const uint32_t id = 0;

	open_with_queues(2);
	gpreempt_session_suspend(s, &id, 1, NULL);
	gp_loop_remove_queue(&loop, 0);
	gp_loop_add_queue(&loop, 0);
	gpreempt_session_dispatch(s);
	ck_assert(!suspended(0));
	ck_assert_int_eq(gpreempt_session_suspend(s, &id, 1, &out), 0);
	ck_assert(suspended(0));
	gpreempt_session_close(s);
}
END_TEST

static void queue_during_suspend(struct gp_loop *l, const char *call)
{
	if (!strcmp(call, "suspend") && l->count < 5)
		gp_loop_add_queue(l, l->count);
}

/* A queue is born in each suspend, until there are five. */
START_TEST(queues_while_suspending)
{
	open_with_queues(1);
	loop.before = queue_during_suspend;
	gpreempt_session_suspend(s, NULL, 0, NULL);
	while (gpreempt_session_dispatch(s) > 0)
		;
	ck_assert_uint_eq(loop.count, 5);
	ck_assert(suspended(1) && suspended(2) && suspended(3) &&
		  suspended(4));
	gpreempt_session_close(s);
}
END_TEST

START_TEST(runtime_goes_off_and_on)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, 0, NULL);
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_DISABLED);
	ck_assert_int_eq(gpreempt_session_dispatch(s),
			 GPREEMPT_EVENT_RUNTIME);
	ck_assert_int_eq(loop.answered, 1);
	ck_assert(!suspended(0));
	/* Without runtime nothing is suspended, and that is no error. */
	ck_assert_ptr_null(strstr(loop.trace, "answer suspend"));
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_ENABLED);
	ck_assert_int_eq(gpreempt_session_dispatch(s),
			 GPREEMPT_EVENT_RUNTIME);
	ck_assert_int_eq(loop.answered, 2);
	ck_assert(suspended(0));
	gpreempt_session_close(s);
}
END_TEST

/* Attached before it enabled its runtime: it is answered, then suspended. */
START_TEST(runtime_comes_late)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	open_with_queues(0);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, &out), 0);
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_ENABLED);
	gpreempt_session_dispatch(s);
	ck_assert_int_eq(loop.answered, 1);
	gp_loop_add_queue(&loop, 0);
	gpreempt_session_dispatch(s);
	ck_assert(suspended(0));
	gpreempt_session_close(s);
}
END_TEST

START_TEST(signals_pass)
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
	gpreempt_session_close(s);
}
END_TEST

START_TEST(group_stop)
{
	open_with_queues(0);
	ck_assert(!gpreempt_session_stopped(s));
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_STOP, SIGTSTP));
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_JOB);
	ck_assert(gpreempt_session_stopped(s));
	/* It stays stopped, and its SIGCONT is seen. */
	ck_assert_str_eq(loop.trace, "wait listen wait ");
	unit_clear_trace();
	/* Stopped once more: nothing new. */
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_STOP, SIGSTOP));
	ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
	ck_assert_str_eq(loop.trace, "wait listen wait ");
	unit_clear_trace();
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_STOP, SIGTRAP));
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_JOB);
	ck_assert(!gpreempt_session_stopped(s));
	ck_assert_str_eq(loop.trace, "wait cont wait ");
	ck_assert_int_eq(loop.last_signal, 0);
	gpreempt_session_close(s);
}
END_TEST

static void expect_end(enum gpreempt_reason reason)
{
	ck_assert(gpreempt_session_dispatch(s) & GPREEMPT_EVENT_ENDED);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, reason);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_ENDED);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, NULL),
			 -ENOTCONN);
	ck_assert_int_eq(gpreempt_session_refresh(s), -ENOTCONN);
	unit_clear_trace();
	ck_assert_int_eq(gpreempt_session_close(s), 0);
	ck_assert_str_eq(loop.trace, "");
}

START_TEST(exit_event)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, 0, NULL);
	unit_clear_trace();
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_EXIT, SIGTRAP));
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_ENDED);
	/* The debug session first, and no stop is asked for. */
	ck_assert_str_eq(loop.trace, "wait disable unwatch detach ");
	ck_assert(!suspended(0));
	ck_assert_int_eq(loop.last_signal, 0);
	expect_end(GPREEMPT_ENDED);
}
END_TEST

START_TEST(exec_event)
{
	open_with_queues(0);
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_EXEC, SIGTRAP));
	gpreempt_session_dispatch(s);
	/* There is no session to disable any more. */
	ck_assert_str_eq(loop.trace, "wait unwatch detach ");
	expect_end(GPREEMPT_EXECED);
}
END_TEST

START_TEST(killed)
{
	open_with_queues(0);
	gp_loop_stop(&loop, SIGKILL);
	expect_end(GPREEMPT_ENDED);
}
END_TEST

START_TEST(no_such_child)
{
	open_with_queues(0);
	gp_loop_stop(&loop, 0);
	loop.gone = true;
	expect_end(GPREEMPT_ENDED);
}
END_TEST

START_TEST(lost_and_renewed)
{
	struct gpreempt_error err;

	open_with_queues(2);
	gpreempt_session_suspend(s, NULL, 0, NULL);
	gp_loop_disable(&loop);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_LOST);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_LOST);
	/* Said once; a descriptor at its end would be readable for ever. */
	ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
	ck_assert_int_eq(gpreempt_session_renew(s, &err), 0);
	ck_assert(suspended(0) && suspended(1));
	ck_assert_int_eq(gpreempt_session_renew(s, &err), -EINVAL);
	/* And it works as before. */
	gp_loop_add_queue(&loop, 2);
	gpreempt_session_dispatch(s);
	ck_assert(suspended(2));
	gpreempt_session_close(s);
}
END_TEST

START_TEST(lost_for_good)
{
	struct gpreempt_error err = { 0 };

	open_with_queues(1);
	gp_loop_disable(&loop);
	gpreempt_session_dispatch(s);
	loop.debugged = true;	/* by who took it */
	ck_assert_int_eq(gpreempt_session_renew(s, &err), -EALREADY);
	ck_assert_int_eq(err.reason, GPREEMPT_DEBUGGED);
	unit_clear_trace();
	gpreempt_session_close(s);
	ck_assert_ptr_null(strstr(loop.trace, "disable"));
	ck_assert(loop.debugged);
}
END_TEST

START_TEST(driver_error)
{
	open_with_queues(1);
	gp_loop_add_queue(&loop, 1);
	gp_loop_fail(&loop, "snapshot", 0, -EFAULT);
	ck_assert_int_eq(gpreempt_session_dispatch(s), -EFAULT);
	gpreempt_session_close(s);
}
END_TEST

/* Dispatch until something happens; the timer needs its time. */
static int dispatch_soon(void)
{
	int i, ret = 0;

	for (i = 0; i < 500 && !ret; i++) {
		ret = gpreempt_session_dispatch(s);
		usleep(1000);
	}
	return ret;
}

static void set_syscall(const char *text)
{
	gp_loop_set_file(&loop, "/proc/4242/task/4242/syscall", text);
}

START_TEST(destroyed_queue_runs)
{
	const struct gpreempt_session_queue *queues;
	size_t count;

	open_with_queues(3);
	gpreempt_session_suspend(s, NULL, 0, NULL);
	gp_loop_queue(&loop, 2)->destroying = true;
	/* ioctl(3, AMDKFD_IOC_DESTROY_QUEUE, 2); see the back-end. */
	set_syscall("16 0x3 0xc0084b03 0x2 0x0 0x0 0x0 0x7ffd 0x7f00\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(suspended(0) && suspended(1) && !suspended(2));
	/* It is gone then, and the list is tidied up. */
	gp_loop_remove_queue(&loop, 2);
	set_syscall("running\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_QUEUES);
	queues = gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert(queues[0].held && queues[1].held);
	gpreempt_session_close(s);
}
END_TEST

/* One after the other, by one thread and then by another. */
START_TEST(destroyed_one_by_one)
{
	open_with_queues(4);
	gp_loop_set_file(&loop, "/proc/4242/task/", "4242\n4243");
	gpreempt_session_suspend(s, NULL, 0, NULL);
	set_syscall("16 0x3 0xc0084b03 0x0 0x0 0x0 0x0 0x1 0x2\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(0) && suspended(1) && suspended(2));
	set_syscall("16 0x3 0xc0084b03 0x1 0x0 0x0 0x0 0x1 0x2\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(1) && suspended(2));
	/* The first thread is still in there when the second comes. */
	gp_loop_set_file(&loop, "/proc/4242/task/4243/syscall",
			 "16 0x3 0xc0084b03 0x2 0x0 0x0 0x0 0x1 0x2\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(2) && suspended(3));
	gpreempt_session_close(s);
}
END_TEST

/* A signal has interrupted the destruction: the queue lives, so hold it. */
START_TEST(interrupted_destruction)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, 0, NULL);
	gp_loop_queue(&loop, 0)->destroying = true;
	set_syscall("16 0x3 0xffffffffc0084b03 0x0 0x0 0x0 0x0 0x1 0x2\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(0));
	gp_loop_queue(&loop, 0)->destroying = false;
	set_syscall("running\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_QUEUES);
	ck_assert(suspended(0));
	gpreempt_session_close(s);
}
END_TEST

static const char *const other_calls[] = {
	NULL,
	"",
	"running\n",
	"-1 0x7ffd 0x7f00\n",
	"0 0x3 0xc0084b03 0x0 0x0 0x0 0x0 0x1 0x2\n",	/* read() */
	"16 0x3 0xc0084b02 0x0 0x0 0x0 0x0 0x1 0x2\n",	/* another ioctl */
	"16 0x3 0xc0084b03 0x63 0x0 0x0 0x0 0x1 0x2\n",	/* unknown queue */
	"16 0x3\n",
};

START_TEST(not_a_destruction)
{
	int i;

	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, 0, NULL);
	set_syscall(other_calls[_i]);
	for (i = 0; i < 30; i++) {
		ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
		usleep(1000);
	}
	ck_assert(suspended(0));
	gpreempt_session_close(s);
}
END_TEST

START_TEST(wait_times_out)
{
	open_with_queues(0);
	ck_assert_int_eq(gpreempt_session_wait(s, 20000000, NULL), 0);
	gpreempt_session_close(s);
}
END_TEST

START_TEST(wait_ends)
{
	open_with_queues(0);
	gp_loop_stop(&loop, STOP(SIGUSR1));
	gp_loop_stop(&loop, EVENT(PTRACE_EVENT_EXIT, SIGTRAP));
	/* Long before the time is over. */
	ck_assert_int_eq(gpreempt_session_wait(s, 60000000000, NULL),
			 GPREEMPT_EVENT_SIGNAL | GPREEMPT_EVENT_ENDED);
	gpreempt_session_close(s);
}
END_TEST

START_TEST(wait_is_stopped)
{
	int ready = open("/dev/zero", O_RDONLY);

	open_with_queues(0);
	ck_assert_int_eq(gpreempt_session_wait(s, 60000000000, &ready),
			 -EINTR);
	close(ready);
	gpreempt_session_close(s);
}
END_TEST

static void add_signals(void)
{
	TCase *tc = unit_case();

	tcase_add_test(tc, signals_pass);
	tcase_add_test(tc, group_stop);
	tcase_add_test(tc, exit_event);
	tcase_add_test(tc, exec_event);
	tcase_add_test(tc, killed);
	tcase_add_test(tc, no_such_child);
	tcase_add_test(tc, wait_times_out);
	tcase_add_test(tc, wait_ends);
	tcase_add_test(tc, wait_is_stopped);
}

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, unit_setup, unit_teardown);
	add_signals();
	tcase_add_test(tc, nothing_happens);
	tcase_add_test(tc, new_queue_is_suspended);
	tcase_add_test(tc, new_queue_of_some);
	tcase_add_test(tc, new_queue_after_resume);
	tcase_add_test(tc, reused_queue_id);
	tcase_add_test(tc, queues_while_suspending);
	tcase_add_test(tc, runtime_goes_off_and_on);
	tcase_add_test(tc, runtime_comes_late);
	tcase_add_test(tc, lost_and_renewed);
	tcase_add_test(tc, lost_for_good);
	tcase_add_test(tc, driver_error);
	tcase_add_test(tc, destroyed_queue_runs);
	tcase_add_test(tc, destroyed_one_by_one);
	tcase_add_test(tc, interrupted_destruction);
	tcase_add_loop_test(tc, not_a_destruction, 0, ARRAY_SIZE(other_calls));
	return unit_run("events");
}
