// SPDX-License-Identifier: GPL-2.0-only
/* Is what was suspended off the hardware? And after the GPU has hung. */
#include <poll.h>
#include <pthread.h>

#include "lib/preempt/session.h"
#include "unit-session.h"

#define ACTIVE "gpreempt-queues - version: 1.0\n# qid active\n"

static const struct {
	const char *text;
	enum gpreempt_verdict verdict;
} views[] = {
	{ NULL, GPREEMPT_NOT_CHECKED },
	{ "# qid active\n0 0\n1 0\n", GPREEMPT_VERIFIED },
	/* Queue 2 is not suspended: it may be active. */
	{ "# qid active\n0 0\n1 0\n2 4\n", GPREEMPT_VERIFIED },
	{ "# qid active\n0 0\n1 1\n2 4\n", GPREEMPT_CONTRADICTED },
	{ "# qid active\n0 0\n1 -\n", GPREEMPT_NOT_CHECKED },
	{ "# qid active\n0 0\n", GPREEMPT_NOT_CHECKED },
	{ "# qid suspended\n0 1\n1 1\n", GPREEMPT_NOT_CHECKED },
	/* A queue that was seen in a slot stays a contradiction. */
	{ "# qid active\n0 1\n1 -\n", GPREEMPT_CONTRADICTED },
	{ "# qid active\n0 -\n1 1\n", GPREEMPT_CONTRADICTED },
	{ "# qid active\n1 1\n", GPREEMPT_CONTRADICTED },
	/* A slot that could not be read is not one that is empty. */
	{ "# qid active hardware\n0 0 read\n1 0 removed\n", GPREEMPT_NOT_CHECKED },
	{ "# qid active hardware\n0 0 read\n1 0 read\n", GPREEMPT_VERIFIED },
	/* Only these two were meant: not what other contexts have. */
	{ "# qid active context\n0 1 1\n0 0 -\n1 0 -\n", GPREEMPT_VERIFIED },
	{ "# qid active context\n0 0 1\n0 1 -\n1 0 -\n", GPREEMPT_CONTRADICTED },
};

TEST_EACH(verify, ARRAY_SIZE(views))
{
	open_with_queues(3);
	gpreempt_session_suspend(s, ONLY(0, 1), NULL);
	if (views[_i].text)
		set_view(PID, unit_text("gpreempt-queues - version: 1.0\n%s", views[_i].text));
	ck_assert_int_eq(gpreempt_session_verify(s, NULL), views[_i].verdict);
}

/* All queues are meant: those that the session does not know, too. */
static const struct {
	const char *text;
	enum gpreempt_verdict verdict;
} whole_views[] = {
	{ "# qid active\n0 0\n1 0\n", GPREEMPT_VERIFIED },
	{ "# qid active\n0 0\n", GPREEMPT_NOT_CHECKED },
	/* Made after the last snapshot. */
	{ "# qid active\n0 0\n1 0\n2 1\n", GPREEMPT_CONTRADICTED },
	{ "# qid active\n0 0\n1 0\n2 -\n", GPREEMPT_NOT_CHECKED },
	/* In no slot, but not suspended: it can be in one at any moment. */
	{ "# qid active\n0 0\n1 0\n2 0\n", GPREEMPT_NOT_CHECKED },
	/* Rows of a second context, which has queues 0 and 1 of its own. */
	{ "# qid active context\n0 0 -\n0 1 1\n1 0 -\n", GPREEMPT_CONTRADICTED },
	{ "# qid active context\n0 1 1\n0 0 -\n1 0 -\n", GPREEMPT_CONTRADICTED },
	{ "# qid active context\n0 0 -\n1 0 -\n1 - 1\n", GPREEMPT_NOT_CHECKED },
	/* The queue is in no slot, but the debug interface can't suspend it. */
	{ "# qid active context\n0 0 -\n1 0 -\n1 0 1\n", GPREEMPT_NOT_CHECKED },
	{ "# qid active context\n0 0 -\n1 0 -\n1 0 1\n0 1 2\n", GPREEMPT_CONTRADICTED },
	{ "# qid active context\n0 0 -\n1 0 -\n", GPREEMPT_VERIFIED },
	/* Two contexts of a driver that does not number them. */
	{ "# qid active\n0 0\n0 1\n1 0\n", GPREEMPT_CONTRADICTED },
	{ "# qid active\n0 0\n0 0\n1 0\n", GPREEMPT_NOT_CHECKED },
	/* The list is old: there may be queues that are not in it. */
	{ "# qid active age_ms\n0 0 7\n1 0 7\n", GPREEMPT_NOT_CHECKED },
	{ "# qid active age_ms\n0 0 7\n1 1 7\n", GPREEMPT_CONTRADICTED },
};

TEST_EACH(verify_all, ARRAY_SIZE(whole_views))
{
	open_with_queues(2);
	gpreempt_session_suspend(s, NULL, NULL);
	set_view(PID, unit_text("gpreempt-queues - version: 1.1\n%s", whole_views[_i].text));
	ck_assert_int_eq(gpreempt_session_verify(s, NULL), whole_views[_i].verdict);
}

#define WAVES                              \
	"gpreempt-queues - version: 1.4\n" \
	"# qid gpu_id type active hardware waves\n"

/* Waves in flight, where the driver counts them. */
static const struct {
	const char *text;
	enum gpreempt_verdict verdict;
	enum gpreempt_verified_by by;
} wave_views[] = {
	{ "0 0x1 compute-aql 0 read 0\n1 0x1 compute-aql 0 read 0\n", GPREEMPT_VERIFIED,
	  GPREEMPT_BY_SLOTS_WAVES },
	/* In no slot, and it executes. */
	{ "0 0x1 compute-aql 0 read 0\n1 0x1 compute-aql 0 read 12\n", GPREEMPT_CONTRADICTED,
	  GPREEMPT_BY_WAVES },
	/* A slot is seen by every driver. */
	{ "0 0x1 compute-aql 1 read 0\n1 0x1 compute-aql 0 read 12\n", GPREEMPT_CONTRADICTED,
	  GPREEMPT_BY_SLOTS },
	/* A driver that cannot count them. */
	{ "0 0x1 compute-aql 0 read -\n1 0x1 compute-pm4 0 read -\n", GPREEMPT_VERIFIED,
	  GPREEMPT_BY_SLOTS },
	/* The driver can count, and one queue came into a slot meanwhile. */
	{ "0 0x1 compute-aql 0 read 0\n1 0x1 compute-aql 0 read -\n", GPREEMPT_NOT_CHECKED,
	  GPREEMPT_BY_NOTHING },
	/* The driver can count on one of two GPUs. */
	{ "0 0x1 compute-aql 0 read 0\n1 0x2 compute-aql 0 read -\n", GPREEMPT_VERIFIED,
	  GPREEMPT_BY_SLOTS },
	/* An SDMA queue has no waves. */
	{ "0 0x1 compute-aql 0 read 0\n1 0x1 sdma 0 read -\n", GPREEMPT_VERIFIED,
	  GPREEMPT_BY_SLOTS_WAVES },
	{ "0 0x1 sdma 0 read -\n1 0x1 sdma-xgmi 0 read -\n", GPREEMPT_VERIFIED, GPREEMPT_BY_SLOTS },
	{ "0 0x1 compute-aql 0 read 0\n1 0x1 compute-aql - idle -\n", GPREEMPT_NOT_CHECKED,
	  GPREEMPT_BY_NOTHING },
};

TEST_EACH(verified_by, ARRAY_SIZE(wave_views))
{
	enum gpreempt_verified_by by;

	open_with_queues(2);
	gpreempt_session_suspend(s, NULL, NULL);
	set_view(PID, unit_text(WAVES "%s", wave_views[_i].text));
	ck_assert_int_eq(gpreempt_session_verify(s, &by), wave_views[_i].verdict);
	ck_assert_int_eq(by, wave_views[_i].by);
}

/* A queue that is to be suspended and is not: nothing is verified. */
TEST(verify_what_runs)
{
	open_with_queues(2);
	gp_loop_queue(&loop, 1)->destroying = true;
	gpreempt_session_suspend(s, NULL, &out);
	ck_assert_uint_eq(out.refused, 1);
	set_view(PID, ACTIVE "0 0\n1 0\n");
	ck_assert_int_eq(gpreempt_session_verify(s, NULL), GPREEMPT_NOT_CHECKED);
	set_view(PID, ACTIVE "0 0\n1 1\n");
	ck_assert_int_eq(gpreempt_session_verify(s, NULL), GPREEMPT_CONTRADICTED);
}

/* After a hang the driver resets the GPU: empty slots prove nothing. */
TEST(verify_what_hung)
{
	open_with_queues(2);
	gp_loop_queue(&loop, 1)->broken = true;
	gpreempt_session_suspend(s, NULL, NULL);
	set_view(PID, ACTIVE "0 0\n1 0\n");
	ck_assert_int_eq(gpreempt_session_verify(s, NULL), GPREEMPT_NOT_CHECKED);
}

#define OLD "gpreempt-queues - version: 1.1\n# qid active age_ms\n"

static uint64_t first_read_ns;

/* The process has its lock for a moment: a list of before, then one of now. */
static const char *old_for_a_moment(struct gp_loop *l)
{
	uint64_t now = shr_now_ns();

	(void)l;
	if (!first_read_ns)
		first_read_ns = now;
	return now < first_read_ns + NSEC_PER_MSEC ? OLD "0 0 7\n1 0 7\n" : OLD "0 0 0\n1 0 0\n";
}

TEST(verify_after_a_moment)
{
	unit_make_up_time();
	open_with_queues(2);
	gpreempt_session_suspend(s, NULL, NULL);
	set_view(PID, "");
	loop.view = old_for_a_moment;
	ck_assert_int_eq(gpreempt_session_verify(s, NULL), GPREEMPT_VERIFIED);
}

TEST(nothing_to_verify)
{
	open_with_queues(1);
	set_view(PID, ACTIVE "0 0\n");
	ck_assert_int_eq(gpreempt_session_verify(s, NULL), GPREEMPT_NOT_CHECKED);
}

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

/* Queues that run without a session count as churn when this host is busy. */
static int dispatch_lost(void)
{
	return gpreempt_session_dispatch(s) & ~GPREEMPT_EVENT_CHURN;
}

TEST(lost_and_renewed)
{
	int fd;

	open_with_queues(2);
	fd = gpreempt_session_fd(s);
	ck_assert_int_ge(fd, 0);
	gpreempt_session_suspend(s, NULL, NULL);
	gp_loop_disable(&loop);
	ck_assert_int_eq(dispatch_lost(), GPREEMPT_EVENT_LOST);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_LOST);
	/* An owner that missed it sees it again, and is woken for it. */
	ck_assert_int_eq(dispatch_lost(), GPREEMPT_EVENT_LOST);
	unit_readable(fd);
	ck_assert_int_eq(dispatch_lost(), GPREEMPT_EVENT_LOST);
	/* The descriptor is readable again only after a pause. */
	ck_assert(!unit_is_readable(fd));
	ck_assert_int_eq(gp_session_renew(s), 0);
	ck_assert(suspended(0) && suspended(1));
	ck_assert_int_eq(gp_session_renew(s), -EINVAL);
	ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
	/* The session works as before. */
	gp_loop_add_queue(&loop, 2);
	gpreempt_session_dispatch(s);
	ck_assert(suspended(2));
}

TEST(lost_for_good)
{
	open_with_queues(1);
	gp_loop_disable(&loop);
	gpreempt_session_dispatch(s);
	loop.debugged = true; /* by the process that ended ours */
	ck_assert_int_eq(gp_session_renew(s), -EALREADY);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_DEBUGGED);
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
