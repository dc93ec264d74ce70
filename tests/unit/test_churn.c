// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that does all it can to run while it is held. Queue 0 has work all the time; the
 * process makes queues and destroys them, names queues that it does not destroy, and has itself
 * interrupted.
 */
#include "lib/preempt/session.h"
#include "unit-session.h"

#define STEP_NS (200 * NSEC_PER_USEC)

struct attack {
	const char *name;
	uint64_t period_ns; /* between two of its steps */
	uint32_t old;	    /* queues at the start */
	void (*step)(const struct attack *a);
	uint64_t length_ns;
	bool any; /* the time of each queue counts, not only of queue 0 */
};

static uint32_t next_old; /* the next of the old queues to destroy */
static int phase;

/* The destruction that has begun ends when its queue was resumed. */
static bool destroyed(uint32_t qid)
{
	if (suspended(qid))
		return false;
	gp_loop_remove_queue(&loop, qid);
	set_file("/proc/4194242/task/4194242/syscall", "running\n");
	return true;
}

/* Makes one without work, and destroys it. */
static void make_and_destroy(const struct attack *a)
{
	(void)a;
	if (phase == 0) {
		gp_loop_add_queue(&loop, 500);
		phase = 1;
	} else if (phase == 1) {
		gp_loop_queue(&loop, 500)->destroying = true;
		show_destruction(500);
		phase = 2;
	} else if (destroyed(500)) {
		phase = 0;
	}
}

/* Destroys one, and names queue 0. */
static void lie(const struct attack *a)
{
	(void)a;
	gp_loop_queue(&loop, 1)->destroying = true;
	show_destruction(0);
}

/* Destroys queue 0, is interrupted, and tries again. */
static void interrupt_it(const struct attack *a)
{
	(void)a;
	if (!gp_loop_queue(&loop, 0)) {
		gp_loop_add_queue(&loop, 0);
		return;
	}
	phase = !phase;
	gp_loop_queue(&loop, 0)->destroying = phase;
	show_destruction(0);
	/* If it had been resumed before the signal came, it is gone. */
	if (!phase)
		destroyed(0);
}

/* Queue 0 is destroyed and made again, with its work. */
static void make_again(const struct attack *a)
{
	(void)a;
	if (phase == 0) {
		if (!gp_loop_queue(&loop, 0))
			gp_loop_add_queue(&loop, 0);
		phase = 1;
	} else if (phase == 1) {
		gp_loop_queue(&loop, 0)->destroying = true;
		show_destruction(0);
		phase = 2;
	} else if (destroyed(0)) {
		phase = 0;
	}
}

/* Destroy one old queue after the other, as slowly as the others stay released. */
static void burn_down(const struct attack *a)
{
	if (phase == 0) {
		if (next_old == a->old)
			return;
		gp_loop_queue(&loop, next_old)->destroying = true;
		show_destruction(next_old);
		phase = 1;
	} else if (destroyed(next_old)) {
		next_old++;
		phase = 0;
	}
}

static const struct attack attacks[] = {
	{ "each 50 ms", 25 * NSEC_PER_MSEC, 1, make_and_destroy, 4 * NSEC_PER_SEC, false },
	{ "each 20 ms, for 10 s", 10 * NSEC_PER_MSEC, 1, make_and_destroy, 10 * NSEC_PER_SEC,
	  false },
	{ "each 5 ms", 2500 * NSEC_PER_USEC, 1, make_and_destroy, 4 * NSEC_PER_SEC, false },
	{ "a lie", NSEC_PER_MSEC, 2, lie, 4 * NSEC_PER_SEC, false },
	{ "signals", NSEC_PER_MSEC, 1, interrupt_it, 4 * NSEC_PER_SEC, true },
	{ "again", 2500 * NSEC_PER_USEC, 1, make_again, 4 * NSEC_PER_SEC, true },
	{ "one by one", 20 * NSEC_PER_MSEC, 200, burn_down, 6 * NSEC_PER_SEC, false },
};

static bool runs(const struct attack *a)
{
	size_t i;

	for (i = 0; i < loop.count; i++)
		if ((a->any || !loop.queues[i].qid) && !loop.queues[i].suspended)
			return true;
	return false;
}

TEST_EACH(stays_held, ARRAY_SIZE(attacks))
{
	const struct attack *a = &attacks[_i];
	uint64_t all = 0, ran = 0, next = 0;
	struct gpreempt_released released;
	bool ran_before = false;
	int happened = 0, ret;

	open_with_queues(a->old);
	next_old = 1;
	gpreempt_session_suspend(s, NULL, NULL);
	for (; all < a->length_ns; all += STEP_NS) {
		loop.trace[0] = '\0';
		ran += ran_before ? STEP_NS : 0;
		if (all >= next) {
			a->step(a);
			next = all + a->period_ns;
		}
		ret = gpreempt_session_dispatch(s);
		ck_assert_int_ge(ret, 0);
		happened |= ret;
		ran_before = runs(a);
		shr_sleep_ns(STEP_NS);
	}
	gp_session_released(s, &released);
	printf("%s: ran %u ms of %u; the session counts %u ms, %u destroyed, "
	       "%u of them returned, %u made\n",
	       a->name, (unsigned int)(ran / NSEC_PER_MSEC), (unsigned int)(all / NSEC_PER_MSEC),
	       (unsigned int)(released.total_ns / NSEC_PER_MSEC), (unsigned int)released.destroyed,
	       (unsigned int)released.returned, (unsigned int)released.made);
	/* A tenth of any 10 s. */
	ck_assert_uint_lt(ran, NSEC_PER_SEC);
	/* The run time is known and reported: the session counts it, or more. */
	ck_assert_uint_ge(released.total_ns + ran / 10 + 20 * NSEC_PER_MSEC, ran);
	ck_assert(!!(happened & GPREEMPT_EVENT_CHURN) == (released.total_ns >= NSEC_PER_SEC / 2));
}

static void dispatch_for(uint64_t ns)
{
	uint64_t end = shr_now_ns() + ns;

	do {
		ck_assert_int_ge(gpreempt_session_dispatch(s), 0);
		shr_sleep_ns(STEP_NS);
	} while (shr_now_ns() < end);
}

static struct gpreempt_released released_now(void)
{
	struct gpreempt_released released;

	gp_session_released(s, &released);
	return released;
}

/* Make a queue that is gone before the session looks. */
static void make_unseen(void)
{
	gp_loop_add_queue(&loop, 500);
	gp_loop_remove_queue(&loop, 500);
}

/* The driver has written an event for each queue, so all of them are known. */
TEST(unseen)
{
	struct gpreempt_released released;
	int i, happened = 0;
	uint64_t looked;

	open_with_queues(2);
	/* No queue is to be suspended: the process may make any. */
	make_unseen();
	dispatch_for(NSEC_PER_MSEC);
	gpreempt_session_suspend(s, NULL, NULL);
	dispatch_for(30 * NSEC_PER_MSEC);
	ck_assert_uint_eq(released_now().unseen, 0);
	ck_assert_uint_eq(released_now().total_ns, 0);
	looked = shr_now_ns();
	ck_assert_int_eq(gpreempt_session_dispatch(s), 0);
	make_unseen();
	make_unseen();
	shr_sleep_ns(STEP_NS);
	dispatch_for(NSEC_PER_MSEC);
	released = released_now();
	ck_assert_uint_eq(released.unseen, 2);
	ck_assert_uint_eq(released.made, 2);
	/* No longer than since the look before. */
	ck_assert_uint_gt(released.total_ns, 0);
	ck_assert_uint_lt(released.total_ns, shr_now_ns() - looked);
	ck_assert(suspended(0) && suspended(1));
	for (i = 0; i < 600; i++) {
		make_unseen();
		shr_sleep_ns(NSEC_PER_MSEC);
		happened |= gpreempt_session_dispatch(s);
	}
	released = released_now();
	ck_assert_uint_eq(released.unseen, 602);
	ck_assert_uint_ge(released.total_ns, 600 * NSEC_PER_MSEC);
	ck_assert(released.churn);
	ck_assert(happened & GPREEMPT_EVENT_CHURN);
	ck_assert(suspended(0) && suspended(1));
}

/* The time before the first look, or before the suspend, is not counted. */
TEST_EACH(unseen_at_first, 2)
{
	uint64_t start;

	open_with_queues(1);
	if (_i)
		dispatch_for(NSEC_PER_MSEC);
	shr_sleep_ns(50 * NSEC_PER_MSEC);
	start = shr_now_ns();
	gpreempt_session_suspend(s, NULL, NULL);
	make_unseen();
	ck_assert_int_ge(gpreempt_session_dispatch(s), 0);
	ck_assert_uint_eq(released_now().unseen, 1);
	ck_assert_uint_le(released_now().total_ns, shr_now_ns() - start);
}

/* The time between two looks tells nothing if there is no queue at all. */
TEST(unseen_alone)
{
	open_with_queues(0);
	gpreempt_session_suspend(s, NULL, NULL);
	dispatch_for(NSEC_PER_MSEC);
	shr_sleep_ns(100 * NSEC_PER_MSEC);
	make_unseen();
	dispatch_for(NSEC_PER_MSEC);
	ck_assert_uint_eq(released_now().unseen, 1);
	ck_assert_uint_gt(released_now().total_ns, 0);
	ck_assert_uint_le(released_now().total_ns, 30 * NSEC_PER_MSEC);
}

/* Queues that are seen, whatever comes first, the event or a snapshot. */
TEST(seen_before_its_event)
{
	int fd;

	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, NULL);
	dispatch_for(NSEC_PER_MSEC);
	fd = loop.dbg_fd;
	loop.dbg_fd = -1;
	gp_loop_add_queue(&loop, 7);
	loop.dbg_fd = fd;
	/* A queue that was there before comes with its event, which shows it. */
	gp_loop_add_queue(&loop, 8);
	dispatch_for(NSEC_PER_MSEC);
	ck_assert(suspended(7) && suspended(8));
	ck_assert_int_eq(write(fd, ".", 1), 1);
	dispatch_for(NSEC_PER_MSEC);
	ck_assert_uint_eq(released_now().unseen, 0);
	/* The match holds once: the next event without a queue is one too many. */
	make_unseen();
	dispatch_for(NSEC_PER_MSEC);
	ck_assert_uint_eq(released_now().unseen, 1);
	/* Made again between two looks, under its number: that is seen. */
	gp_loop_remove_queue(&loop, 8);
	gp_loop_add_queue(&loop, 8);
	dispatch_for(NSEC_PER_MSEC);
	ck_assert(suspended(8));
	ck_assert_uint_eq(released_now().unseen, 1);
	ck_assert_uint_eq(released_now().made, 4);
}

static void setup(void)
{
	session_setup();
	unit_make_up_time();
}

TEST_FIXTURE(setup, session_teardown)

/* A slot has 10 of them, the window 1,000. */
#define T(n) ((n) * (GP_METER_SLOT_NS / 10))

static struct gp_meter m;

TEST(sums_up)
{
	gp_meter_set(&m, true, T(10000));
	gp_meter_set(&m, false, T(10025));
	ck_assert_uint_eq(gp_meter_recent(&m, T(10025)), T(25));
	gp_meter_set(&m, true, T(10100));
	/* Up to now, although it goes on. */
	ck_assert_uint_eq(gp_meter_recent(&m, T(10107)), T(32));
	ck_assert_uint_eq(gp_meter_total(&m, T(10110)), T(35));
	gp_meter_set(&m, false, T(10110));
	gp_meter_set(&m, false, T(10120));
	ck_assert_uint_eq(gp_meter_total(&m, T(10200)), T(35));
}

TEST(forgets)
{
	gp_meter_set(&m, true, T(10000));
	gp_meter_set(&m, false, T(10025));
	ck_assert_uint_eq(gp_meter_recent(&m, T(11000)), T(25));
	/* Slot by slot: the window may be a slot longer, never shorter. */
	ck_assert_uint_eq(gp_meter_recent(&m, T(11010)), T(15));
	ck_assert_uint_eq(gp_meter_recent(&m, T(11020)), T(5));
	ck_assert_uint_eq(gp_meter_recent(&m, T(11030)), T(0));
	ck_assert_uint_eq(gp_meter_total(&m, T(11030)), T(25));
	/* The figures hold after a long time, too. */
	gp_meter_set(&m, true, T(999999990));
	gp_meter_set(&m, false, T(1000000000));
	ck_assert_uint_eq(gp_meter_recent(&m, T(1000000000)), T(10));
}

TEST(longer_than_the_window)
{
	gp_meter_set(&m, true, T(10000));
	gp_meter_set(&m, false, T(50005));
	ck_assert_uint_eq(gp_meter_recent(&m, T(50005)), T(1000));
	ck_assert_uint_eq(gp_meter_total(&m, T(50005)), T(40005));
	ck_assert_uint_eq(gp_meter_recent(&m, T(50505)), T(505));
}

TEST_FIXTURE(NULL, NULL)
