// SPDX-License-Identifier: GPL-2.0-only
/* Suspending and resuming, over a made-up driver. */
#include <pthread.h>
#include <sys/ptrace.h>

#include "lib/preempt/session.h"
#include "unit-session.h"

TEST(suspend_all)
{
	open_with_queues(3);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_str_eq(loop.trace, "suspend ");
	ck_assert_uint_eq(out.requested, 3);
	ck_assert_uint_eq(out.done, 3);
	ck_assert(suspended(0) && suspended(1) && suspended(2));
	/* Suspended queues are not asked for again. */
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_str_eq(loop.trace, "suspend ");
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 3);
	ck_assert(!suspended(0) && !suspended(1) && !suspended(2));
}

static char busy_trace[256];

static void note_busy(void *data, bool busy)
{
	ck_assert_ptr_eq(data, busy_trace);
	strcat(busy_trace, busy ? "(" : ")");
}

/* The watchdog must know when we are in the driver. */
TEST(busy_in_driver)
{
	struct gpreempt_options options = {
		.size = sizeof(options),
		.busy = note_busy,
		.data = busy_trace,
	};

	gpreempt_free(g);
	ck_assert_int_eq(gp_new_backend(&options, &gp_backend_loop, &loop, &g), 0);
	open_with_queues(1);
	busy_trace[0] = '\0';
	gpreempt_session_suspend(s, NULL, &out);
	ck_assert_str_eq(busy_trace, "()");
	gpreempt_session_resume(s, NULL, &out);
	close_session();
	ck_assert_str_eq(busy_trace, "()()()()");
	options.size = 1;
	gpreempt_free(g);
	g = NULL;
	ck_assert_int_eq(gp_new_backend(&options, &gp_backend_loop, &loop, &g), -EINVAL);
}

TEST(suspend_some)
{
	open_with_queues(3);
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(2, 0), &out), 0);
	ck_assert_uint_eq(out.done, 2);
	ck_assert(suspended(0) && !suspended(1) && suspended(2));
	/* One of them is suspended already, and counts as done. */
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0, 1), &out), 0);
	ck_assert_uint_eq(out.requested, 2);
	ck_assert_uint_eq(out.done, 2);
	ck_assert(suspended(1));
	ck_assert_int_eq(gpreempt_session_resume(s, ONLY(2), &out), 0);
	ck_assert(suspended(0) && suspended(1) && !suspended(2));
	close_session();
	ck_assert(!suspended(0) && !suspended(1));
}

TEST(no_queues)
{
	open_with_queues(0);
	/* The driver would take an empty list for all. */
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), 0);
	ck_assert_uint_eq(out.requested, 0);
	ck_assert_str_eq(loop.trace, "");
}

TEST(refused_and_failed)
{
	const struct gpreempt_session_queue *queues;
	size_t count;

	open_with_queues(3);
	gp_loop_queue(&loop, 1)->destroying = true;
	gp_loop_queue(&loop, 2)->broken = true;
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0, 1, 2, 9), &out), 0);
	ck_assert_uint_eq(out.requested, 4);
	ck_assert_uint_eq(out.done, 1);
	ck_assert_uint_eq(out.refused, 2);
	ck_assert_uint_eq(out.failed, 1);
	queues = gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(queues[0].result, GPREEMPT_RESULT_DONE);
	ck_assert_int_eq(queues[1].result, GPREEMPT_RESULT_REFUSED);
	ck_assert(!queues[1].held);
	ck_assert_int_eq(queues[2].result, GPREEMPT_RESULT_FAILED);
	/* The driver has it marked as suspended, so it must be resumed. */
	ck_assert(queues[2].held);
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), 0);
	ck_assert(!suspended(2));
}

TEST(runtime_off)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	open_with_queues(1);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_RUNTIME_OFF);
	ck_assert_int_eq(gpreempt_error_class(gpreempt_session_error(s)),
			 GPREEMPT_CLASS_UNSUPPORTED);
}

/* The runtime was enabled before: the process is ending, and not one that cannot be suspended. */
TEST(runtime_goes)
{
	open_with_queues(1);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDING);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDING);
	ck_assert_int_eq(gpreempt_error_class(gpreempt_session_error(s)), GPREEMPT_CLASS_NO_TARGET);
	/* The event comes later, and changes nothing of that. */
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_DISABLED);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_RUNTIME);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDING);
}

/* The same of one that enabled it in front of our eyes. */
TEST(runtime_comes_and_goes)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	open_with_queues(0);
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_ENABLED);
	gpreempt_session_dispatch(s);
	gp_loop_add_queue(&loop, 0);
	gpreempt_session_dispatch(s);
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDING);
}

TEST(ends_without_runtime)
{
	open_with_queues(1);
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	set_file("/proc/4194242/status", "Name:\tjob\nState:\tZ (zombie)\nTgid:\t4194242\n");
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -ESRCH);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDED);
}

/* New queues and queues being destroyed, just when the runtime goes. */
TEST(runtime_goes_unseen)
{
	open_with_queues(2);
	gpreempt_session_suspend(s, NULL, NULL);
	gp_loop_add_queue(&loop, 2);
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_QUEUES);
	ck_assert_int_eq(gp_session_resume_ids(s, 1), 0);
}

static void *end_soon(void *arg)
{
	usleep(20000);
	gp_loop_stop(&loop, *(int *)arg);
	return NULL;
}

TEST(awaits_queues)
{
	int exit_stop = PTRACE_EVENT_EXIT << 16 | SIGTRAP << 8 | 0x7f;
	pthread_t thread;

	open_with_queues(0);
	ck_assert_int_eq(gp_session_await_queues(s, 1000000), -ETIMEDOUT);
	gp_loop_add_queue(&loop, 0);
	ck_assert_int_eq(gp_session_await_queues(s, UINT64_MAX), 0);
	gp_loop_remove_queue(&loop, 0);
	gp_session_refresh(s);
	pthread_create(&thread, NULL, end_soon, &exit_stop);
	ck_assert_int_eq(gp_session_await_queues(s, UINT64_MAX), -ESRCH);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDED);
	pthread_join(thread, NULL);
}

TEST(awaits_queues_in_vain)
{
	open_with_queues(0);
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_DISABLED);
	ck_assert_int_eq(gp_session_await_queues(s, UINT64_MAX), -ESRCH);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDING);
	gp_loop_disable(&loop);
	ck_assert_int_eq(gp_session_await_queues(s, UINT64_MAX), -ENOTCONN);
}

TEST(process_ended)
{
	open_with_queues(1);
	gp_loop_fail(&loop, "suspend", 0, -ESRCH);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -ESRCH);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDED);
}

TEST(session_lost)
{
	open_with_queues(2);
	gp_loop_disable(&loop);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -ENOTCONN);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_LOST);
	/* The loss is known from then on; the driver is not asked again. */
	unit_clear_trace();
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), -ENOTCONN);
	ck_assert_str_eq(loop.trace, "");
	/* Nor is it disabled, as it would be another's by now. */
	close_session();
	ck_assert_ptr_null(strstr(loop.trace, "disable"));
	ck_assert_ptr_nonnull(strstr(loop.trace, "detach"));
}

TEST(too_many_ids)
{
	static uint32_t ids[1025];
	const struct gpreempt_filter which = { .ids = ids, .n_ids = 1025 };

	open_with_queues(1);
	ck_assert_int_eq(gpreempt_session_suspend(s, &which, &out), -E2BIG);
	ck_assert_str_eq(loop.trace, "");
}

TEST(many_queues)
{
	uint32_t i;

	/* The order of the driver is not ours. */
	for (i = 0; i < 1000; i++)
		gp_loop_add_queue(&loop, i * 7 % 1000);
	s = unit_open();
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 1000);
	for (i = 0; i < 1000; i++)
		ck_assert(suspended(i));
}

TEST_FIXTURE(session_setup, session_teardown)
