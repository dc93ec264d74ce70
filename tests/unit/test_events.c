// SPDX-License-Identifier: GPL-2.0-only
/* New queues, the runtime and a session that is taken away. */
#include <poll.h>
#include <pthread.h>

#include "lib/preempt/session.h"
#include "unit-session.h"

TEST(nothing_happens)
{
	open_with_queues(1);
	ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
	ck_assert_str_eq(loop.trace, "");
}

TEST(new_queue_is_suspended)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, NULL);
	gp_loop_add_queue(&loop, 1);
	gp_loop_add_queue(&loop, 2);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_QUEUES);
	ck_assert(suspended(0) && suspended(1) && suspended(2));
	/* The session does both in one call. */
	ck_assert_ptr_null(strstr(strstr(loop.trace, "query"), "suspend query"));
	ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
}

TEST(new_queue_of_some)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, ONLY(0), NULL);
	gp_loop_add_queue(&loop, 1);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_QUEUES);
	ck_assert(suspended(0) && !suspended(1));
	/* The queue is acknowledged, so it can be suspended. */
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 1);
}

TEST(new_queue_after_resume)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, NULL);
	gpreempt_session_resume(s, NULL, NULL);
	gp_loop_add_queue(&loop, 1);
	gpreempt_session_dispatch(s);
	ck_assert(!suspended(0) && !suspended(1));
}

/* A new queue has the number of one that was suspended. */
TEST(reused_queue_id)
{
	open_with_queues(2);
	gpreempt_session_suspend(s, ONLY(0), NULL);
	gp_loop_remove_queue(&loop, 0);
	gp_loop_add_queue(&loop, 0);
	gpreempt_session_dispatch(s);
	ck_assert(!suspended(0));
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert(suspended(0));
}

static void queue_during_suspend(struct gp_loop *l, const char *call)
{
	if (!strcmp(call, "suspend") && l->count < 5)
		gp_loop_add_queue(l, l->count);
}

/* A queue is born in each suspend, until there are five. */
TEST(queues_while_suspending)
{
	open_with_queues(1);
	loop.before = queue_during_suspend;
	gpreempt_session_suspend(s, NULL, NULL);
	while (gpreempt_session_dispatch(s) > 0)
		;
	ck_assert_uint_eq(loop.count, 5);
	ck_assert(suspended(1) && suspended(2) && suspended(3) && suspended(4));
}

TEST(runtime_goes_off_and_on)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, NULL);
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_DISABLED);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_RUNTIME);
	ck_assert_int_eq(loop.answered, 1);
	ck_assert(!suspended(0));
	/* No queue is suspended without a runtime, and that is no error. */
	ck_assert_ptr_null(strstr(loop.trace, "answer suspend"));
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_ENABLED);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_RUNTIME);
	ck_assert_int_eq(loop.answered, 2);
	ck_assert(suspended(0));
}

/* The session opens before the runtime is enabled: it answers, then suspends. */
TEST(runtime_comes_late)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	open_with_queues(0);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_ENABLED);
	gpreempt_session_dispatch(s);
	ck_assert_int_eq(loop.answered, 1);
	gp_loop_add_queue(&loop, 0);
	gpreempt_session_dispatch(s);
	ck_assert(suspended(0));
}

TEST(lost_and_renewed)
{
	struct gpreempt_error err;
	int fd;

	open_with_queues(2);
	fd = gpreempt_session_fd(s);
	ck_assert_int_ge(fd, 0);
	gpreempt_session_suspend(s, NULL, NULL);
	gp_loop_disable(&loop);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_LOST);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_LOST);
	/* An owner that missed it sees it again, and is woken for it. */
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_LOST);
	unit_readable(fd);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_LOST);
	/* The descriptor is readable again only after a pause. */
	ck_assert(!unit_is_readable(fd));
	ck_assert_int_eq(gp_session_renew(s, &err), 0);
	ck_assert(suspended(0) && suspended(1));
	ck_assert_int_eq(gp_session_renew(s, &err), -EINVAL);
	ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
	/* The session works as before. */
	gp_loop_add_queue(&loop, 2);
	gpreempt_session_dispatch(s);
	ck_assert(suspended(2));
}

TEST(lost_for_good)
{
	struct gpreempt_error err = { 0 };

	open_with_queues(1);
	gp_loop_disable(&loop);
	gpreempt_session_dispatch(s);
	loop.debugged = true; /* by the process that ended ours */
	ck_assert_int_eq(gp_session_renew(s, &err), -EALREADY);
	ck_assert_int_eq(err.reason, GPREEMPT_DEBUGGED);
	unit_clear_trace();
	close_session();
	ck_assert_ptr_null(strstr(loop.trace, "disable"));
	ck_assert(loop.debugged);
}

static void *stop_soon(void *arg)
{
	usleep(50000);
	ck_assert_int_eq(write(*(int *)arg, "x", 1), 1);
	return NULL;
}

/* A wait of a time that does not fit has no end. */
TEST_EACH(wait_for_ever, 3)
{
	static const uint64_t times[] = {
		UINT64_MAX,
		UINT64_MAX - 1,
		INT64_MAX,
	};
	pthread_t thread;
	int pipe_fds[2];

	open_with_queues(1);
	ck_assert_int_eq(pipe(pipe_fds), 0);
	pthread_create(&thread, NULL, stop_soon, &pipe_fds[1]);
	/* The result is not 0, which means that the time has passed. */
	ck_assert_int_eq(gpreempt_session_wait(s, times[_i], pipe_fds), -EINTR);
	pthread_join(thread, NULL);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

TEST(driver_error)
{
	open_with_queues(1);
	gp_loop_add_queue(&loop, 1);
	gp_loop_fail(&loop, "snapshot", 0, -EFAULT);
	ck_assert_int_eq(gpreempt_session_dispatch(s), -EFAULT);
}

TEST_FIXTURE(session_setup, session_teardown)
