// SPDX-License-Identifier: GPL-2.0-only
/* Queues that their process destroys while they are suspended. */
#include "lib/preempt/session.h"
#include "unit-session.h"

/* Let the session look fast for longer: this host may be slow. */
static bool patient;

static int dispatch(void)
{
	int ret = gpreempt_session_dispatch(s);

	if (patient)
		s->fast_until = shr_now_ns() + 10 * NSEC_PER_SEC;
	return ret;
}

/* Dispatch until something happens; the timer needs its time. */
static int dispatch_soon(void)
{
	int i, ret = 0;

	for (i = 0; i < 500 && !ret; i++) {
		ret = dispatch();
		shr_sleep_ns(NSEC_PER_MSEC);
	}
	return ret;
}

static void set_syscall(const char *text)
{
	set_file("/proc/4194242/task/4194242/syscall", text);
}

/* The driver has marked it: it waits for its resume, and then goes. */
static void mark_destroyed(uint32_t qid)
{
	gp_loop_queue(&loop, qid)->destroying = true;
}

static void begin_destroy(uint32_t qid)
{
	mark_destroyed(qid);
	show_destruction(qid);
}

TEST(destroyed_queue_runs)
{
	const struct gpreempt_session_queue *queues;
	size_t count;

	open_with_queues(3);
	gpreempt_session_suspend(s, NULL, NULL);
	/* ioctl(3, AMDKFD_IOC_DESTROY_QUEUE, 2); see the back-end. */
	begin_destroy(2);
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(suspended(0) && suspended(1) && !suspended(2));
	/* The queue is gone then, and the list is tidied up. */
	gp_loop_remove_queue(&loop, 2);
	set_syscall("running\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_QUEUES);
	queues = gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert(queues[0].held && queues[1].held);
}

/* The threads destroy one after the other: first one, then another. */
TEST(destroyed_one_by_one)
{
	open_with_queues(4);
	set_file("/proc/4194242/task/", "4194242\n4243");
	gpreempt_session_suspend(s, NULL, NULL);
	mark_destroyed(1);
	mark_destroyed(2);
	begin_destroy(0);
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(0) && suspended(1) && suspended(2));
	show_destruction(1);
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(1) && suspended(2));
	/* The first thread is still in there when the second comes. */
	set_file("/proc/4194242/task/4243/syscall", "16 0x3 0xc0084b03 0x2 0x0 0x0 0x0 0x1 0x2\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(2) && suspended(3));
}

static void destroy(uint32_t qid)
{
	begin_destroy(qid);
	while (suspended(qid))
		ck_assert_int_ge(dispatch_soon(), 0);
	gp_loop_remove_queue(&loop, qid);
	set_syscall("running\n");
}

/* Dispatch for some hundredths of a second. */
static void dispatch_for(int ms)
{
	int i;

	for (i = 0; i < ms; i++) {
		ck_assert_int_ge(dispatch(), 0);
		shr_sleep_ns(NSEC_PER_MSEC);
	}
}

/* Looks at the threads in a second, in which nothing is found. */
static int count_looks(void)
{
	uint64_t last = s->looked_at_all;
	int i, n = 0;

	for (i = 0; i < 1000; i++) {
		ck_assert_int_eq(dispatch(), 0);
		n += s->looked_at_all != last;
		last = s->looked_at_all;
		shr_sleep_ns(NSEC_PER_MSEC);
	}
	return n;
}

/* Looks are rare at a process that rests, and frequent after the next find. */
TEST(rests)
{
	unit_make_up_time();
	open_with_queues(3);
	set_syscall("running\n");
	gpreempt_session_suspend(s, NULL, NULL);
	ck_assert_int_ge(count_looks(), 80);
	ck_assert_int_le(count_looks(), 20);
	begin_destroy(2);
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	gp_loop_remove_queue(&loop, 2);
	set_syscall("running\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_QUEUES);
	ck_assert_int_ge(count_looks(), 80);
	/* A new hold begins as the first one did. */
	count_looks();
	gpreempt_session_resume(s, NULL, NULL);
	ck_assert_int_ge(dispatch(), 0);
	gpreempt_session_suspend(s, NULL, NULL);
	ck_assert_int_ge(count_looks(), 80);
	unit_run_time();
}

/* A process that destroys four is ending: the others are released in one call. */
TEST(destroys_many)
{
	const struct gpreempt_session_queue *queues;
	uint32_t qid;
	size_t count;

	open_with_queues(20);
	patient = true;
	gpreempt_session_suspend(s, NULL, NULL);
	for (qid = 0; qid < 3; qid++) {
		destroy(qid);
		ck_assert(suspended(3) && suspended(19));
	}
	loop.trace[0] = '\0';
	destroy(3);
	while (suspended(4))
		ck_assert_int_ge(dispatch_soon(), 0);
	for (qid = 4; qid < 20; qid++)
		ck_assert(!suspended(qid));
	/*
	 * The session releases that queue, and when it is gone the rest: no suspend comes
	 * between.
	 */
	ck_assert_ptr_null(strstr(loop.trace, "suspend"));
	/* The thread goes on: no suspend delays it. */
	loop.trace[0] = '\0';
	dispatch_for(20);
	gp_loop_remove_queue(&loop, 4);
	dispatch_for(20);
	for (qid = 5; qid < 20; qid++)
		ck_assert(!suspended(qid));
	ck_assert_ptr_null(strstr(loop.trace, "suspend"));
	/* The process lives on with the other queues: they are suspended again. */
	patient = false;
	s->fast_until = 0;
	while (!suspended(5))
		ck_assert_int_ge(dispatch_soon(), 0);
	queues = gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(count, 15);
	for (qid = 5; qid < 20; qid++)
		ck_assert(suspended(qid) && queues[qid - 5].held);
	/* The next destroyed queue is released alone again. */
	destroy(5);
	ck_assert(suspended(6));
}

/* A process that makes a queue is not ending: its new queue and its others are held again. */
TEST(makes_one_meanwhile)
{
	uint32_t qid;

	open_with_queues(12);
	gpreempt_session_suspend(s, NULL, NULL);
	for (qid = 0; qid < 4; qid++)
		destroy(qid);
	while (suspended(7))
		ck_assert_int_ge(dispatch_soon(), 0);
	gp_loop_add_queue(&loop, 30);
	while (!suspended(30))
		ck_assert_int_ge(dispatch_soon(), 0);
	while (!suspended(7))
		ck_assert_int_ge(dispatch_soon(), 0);
	/* The next queue that it destroys does not release the others. */
	for (qid = 4; qid < 9; qid++)
		destroy(qid);
	ck_assert(suspended(30) && suspended(9));
}

/*
 * The argument in memory names a queue that is not being destroyed: it is
 * suspended again, and from then on in the same look.
 */
TEST(names_another_queue)
{
	struct gpreempt_released released;

	open_with_queues(2);
	gpreempt_session_suspend(s, NULL, NULL);
	mark_destroyed(1);
	show_destruction(0);
	/* The process is trusted once, for a moment. */
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(0) && suspended(1));
	while (!suspended(0))
		ck_assert_int_ge(dispatch_soon(), 0);
	gp_session_released(s, &released);
	ck_assert_uint_eq(released.returned, 1);
	ck_assert_uint_eq(released.destroyed, 1);
	/* The process is not trusted again. */
	while (released.destroyed == 1) {
		ck_assert_int_ge(gpreempt_session_dispatch(s), 0);
		ck_assert(suspended(0));
		gp_session_released(s, &released);
		shr_sleep_ns(200 * NSEC_PER_USEC);
	}
	ck_assert_uint_eq(released.returned, 2);
	ck_assert_uint_gt(released.total_ns, 0);
	ck_assert(s->release.paced_until > 0);
	ck_assert(!released.churn);
	/* The call is true now: the queue is released, if later. */
	show_destruction(1);
	while (suspended(1))
		ck_assert_int_ge(dispatch_soon(), 0);
	ck_assert(suspended(0));
}

/* A suspend and a resume report the time that ran between them. */
TEST(outcome_has_what_ran)
{
	open_with_queues(2);
	gpreempt_session_suspend(s, NULL, &out);
	ck_assert_uint_eq(out.released_ns, 0);
	begin_destroy(1);
	while (suspended(1))
		ck_assert_int_ge(dispatch_soon(), 0);
	shr_sleep_ns(2 * NSEC_PER_MSEC);
	gp_loop_remove_queue(&loop, 1);
	set_syscall("running\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_QUEUES);
	gpreempt_session_resume(s, NULL, &out);
	ck_assert_uint_ge(out.released_ns, 2000000);
	gpreempt_session_suspend(s, NULL, &out);
	ck_assert_uint_eq(out.released_ns, 0);
	gpreempt_session_resume(s, NULL, &out);
	ck_assert_uint_eq(out.released_ns, 0);
}

static struct gp_backend_ops counting;
static int looked_at_others;

static ssize_t count_others(void *be, const char *path, char *buf, size_t size)
{
	looked_at_others += !strcmp(path, "/proc/4194242/task/4243/syscall");
	return gp_backend_loop.read_file(be, path, buf, size);
}

/* The process has a second thread, and the looks at it are counted. */
static void open_with_threads(uint32_t queues)
{
	open_with_queues(queues);
	counting = gp_backend_loop;
	counting.read_file = count_others;
	g->ops = &counting;
	set_file("/proc/4194242/task/", "4194242\n4243");
	set_file("/proc/4194242/task/4243/syscall", "running\n");
}

/* A thread that destroys one after the other is looked at alone, and at once. */
TEST(same_thread_again)
{
	open_with_threads(4);
	gpreempt_session_suspend(s, NULL, NULL);
	begin_destroy(0);
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	begin_destroy(1);
	looked_at_others = 0;
	ck_assert_int_eq(gp_session_scan_destroyers(s), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(1));
	ck_assert_int_eq(looked_at_others, 0);
	/* The others are looked at again when the thread does nothing. */
	set_syscall("running\n");
	shr_sleep_ns(5 * NSEC_PER_MSEC);
	ck_assert_int_ge(gp_session_scan_destroyers(s), 0);
	ck_assert_int_gt(looked_at_others, 0);
}

/* A process that sleeps on is not looked at, but for once a second. */
TEST(asleep)
{
	open_with_threads(2);
	loop.cpu_ns = 7;
	gpreempt_session_suspend(s, NULL, NULL);
	unit_frozen_ns = shr_now_ns();
	ck_assert_int_eq(gp_session_scan_destroyers(s), 0);
	ck_assert_int_eq(gp_session_scan_destroyers(s), 0);
	ck_assert_int_eq(looked_at_others, 1);
	unit_frozen_ns += NSEC_PER_SEC;
	ck_assert_int_eq(gp_session_scan_destroyers(s), 0);
	ck_assert_int_eq(looked_at_others, 2);
	loop.cpu_ns = 8;
	begin_destroy(0);
	ck_assert_int_eq(gp_session_scan_destroyers(s), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(0));
	unit_frozen_ns = 0;
}

/* A GPU that hangs is not asked again, and no queue is counted as taken back. */
TEST(hung_meanwhile)
{
	struct gpreempt_released released;

	open_with_queues(2);
	gpreempt_session_suspend(s, NULL, NULL);
	begin_destroy(1);
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	s->gpu_hung = true;
	unit_clear_trace();
	while (s->release.confirm_at)
		ck_assert_int_ge(dispatch_soon(), 0);
	gp_session_released(s, &released);
	ck_assert_uint_eq(released.returned, 0);
	ck_assert_ptr_null(strstr(loop.trace, "suspend"));
}

/* A signal has interrupted the destruction: the queue lives, so hold it. */
TEST(interrupted_destruction)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, NULL);
	mark_destroyed(0);
	set_syscall("16 0x3 0xffffffffc0084b03 0x0 0x0 0x0 0x0 0x1 0x2\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_DESTROY);
	ck_assert(!suspended(0));
	gp_loop_queue(&loop, 0)->destroying = false;
	set_syscall("running\n");
	ck_assert_int_eq(dispatch_soon(), GPREEMPT_EVENT_QUEUES);
	ck_assert(suspended(0));
}

static const char *const other_calls[] = {
	NULL,
	"",
	"running\n",
	"-1 0x7ffd 0x7f00\n",
	"0 0x3 0xc0084b03 0x0 0x0 0x0 0x0 0x1 0x2\n",	/* read() */
	"16 0x3 0xc0084b02 0x0 0x0 0x0 0x0 0x1 0x2\n",	/* another ioctl */
	"16 0x3 0xc0084b03 0x63 0x0 0x0 0x0 0x1 0x2\n", /* unknown queue */
	"16 0x3\n",
};

TEST_EACH(not_a_destruction, ARRAY_SIZE(other_calls))
{
	int i;

	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, NULL);
	set_syscall(other_calls[_i]);
	for (i = 0; i < 30; i++) {
		ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
		shr_sleep_ns(NSEC_PER_MSEC);
	}
	ck_assert(suspended(0));
}

static void setup(void)
{
	session_setup();
	unit_make_up_time();
}

TEST_FIXTURE(setup, session_teardown)
