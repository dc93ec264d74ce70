// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts that all owners of a session share: the budget of losses, the renewal in each call, and
 * the heartbeat.
 */
#include <pthread.h>
#include <time.h>

#include "hold/owner.h"
#include "unit.h"

static struct heartbeat heartbeat;
/* Losses in short order that a keeper renews: session.h. */
#define LOSSES 5

static struct owner owner;
static int told;
static struct gpreempt_outcome outcome;

static const char *end_before;
static int ends;

static void before(struct gp_loop *l, const char *call)
{
	if (end_before && !strcmp(call, end_before) && ends-- > 0)
		gp_loop_disable(l);
}

static void lost(void *data, const struct gpreempt_error *err)
{
	(void)data;
	told++;
	ck_assert_int_eq(err->reason, GPREEMPT_LOST);
	ck_assert_int_eq(err->pid, PID);
}

static void setup(void)
{
	struct gpreempt_error err;

	unit_setup();
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	ck_assert_int_eq(heartbeat_start(&heartbeat), 0);
	owner = (struct owner){
		.target = PID,
		.heartbeat = &heartbeat,
		.lost = lost,
		.how = GPREEMPT_HOW_DEBUG,
		.lock = -1,
	};
	ck_assert_int_eq(owner_open(&owner, &err), 0);
	loop.before = before;
}

static void teardown(void)
{
	owner_close(&owner);
	heartbeat_stop(&heartbeat);
	unit_teardown();
}

static void both_are(bool suspended)
{
	ck_assert_int_eq(gp_loop_queue(&loop, 0)->suspended, suspended);
	ck_assert_int_eq(gp_loop_queue(&loop, 1)->suspended, suspended);
}

static int dispatch(void)
{
	return owner.method.ops->dispatch(&owner.method);
}

static int suspend(void)
{
	return owner.method.ops->suspend(&owner.method, NULL, &outcome);
}

static int resume(void)
{
	return owner.method.ops->resume(&owner.method, NULL, &outcome);
}

TEST(budget)
{
	int i, round;

	suspend();
	for (round = 0; round < 2; round++) {
		for (i = 0; i < LOSSES; i++) {
			gp_loop_disable(&loop);
			ck_assert_int_eq(dispatch(), GPREEMPT_EVENT_LOST);
			/* Pretend that it was long ago, but not quite enough. */
			owner.method.keeper.last_ns -= 9 * NSEC_PER_SEC;
		}
		ck_assert_int_eq(told, (round + 1) * LOSSES);
		owner.method.keeper.last_ns -= NSEC_PER_SEC;
	}
	owner.method.keeper.last_ns += NSEC_PER_SEC;
	gp_loop_disable(&loop);
	ck_assert_int_eq(dispatch(), -ENOTCONN);
	ck_assert_int_eq(owner.method.keeper.over, -ENOTCONN);
	ck_assert_int_eq(gp_method_error(&owner.method)->reason, GPREEMPT_LOST);
	/* Losses are reported only if the session is renewed. */
	ck_assert_int_eq(told, 2 * LOSSES);
	/* The session stays lost: nothing is suspended behind the owner's back. */
	owner.method.keeper.losses = 0;
	ck_assert_int_eq(dispatch(), -ENOTCONN);
	ck_assert_int_eq(suspend(), -ENOTCONN);
	ck_assert_int_eq(resume(), -ENOTCONN);
	both_are(false);
}

TEST(lost_at_suspend)
{
	end_before = "suspend";
	ends = 2;
	ck_assert_int_eq(suspend(), 0);
	ck_assert_int_eq(told, 2);
	both_are(true);
	ck_assert_int_eq(resume(), 0);
	both_are(false);
}

TEST(lost_before_dispatch)
{
	ck_assert_int_eq(suspend(), 0);
	gp_loop_disable(&loop);
	both_are(false);
	ck_assert_int_eq(dispatch(), GPREEMPT_EVENT_LOST);
	both_are(true);
	ck_assert_int_eq(told, 1);
	ck_assert_int_eq(dispatch(), 0);
}

TEST(lost_before_refresh)
{
	ck_assert_int_eq(suspend(), 0);
	gp_loop_disable(&loop);
	ck_assert_int_eq(gp_method_refresh(&owner.method), 0);
	ck_assert_int_eq(told, 1);
	both_are(true);
}

/* A renewal that fails once is not tried again in secret. */
TEST(renewal_fails)
{
	end_before = "suspend";
	ends = 1;
	gp_loop_fail(&loop, "enable", 2, -EBUSY);
	ck_assert_int_eq(suspend(), -EBUSY);
	ck_assert_int_eq(dispatch(), -EBUSY);
	both_are(false);
}

/* The process has ended: that is no loss. */
TEST(ended)
{
	suspend();
	gp_loop_stop(&loop, 6 << 16 | 0x57f);
	ck_assert_int_eq(dispatch(), GPREEMPT_EVENT_ENDED);
	ck_assert_int_eq(suspend(), -ENOTCONN);
	ck_assert_int_eq(told, 0);
	ck_assert_int_eq(owner.method.keeper.losses, 0);
}

/* A process that does not beat is killed, also one that is stopped. */
TEST(silent)
{
	struct heartbeat h = { 0 };
	pid_t child;

	/* The test has a heartbeat of its own, which has set its watchdog before. */
	unit_set_limit(UNIT_SILENCE, NSEC_PER_MSEC);
	child = fork();
	if (!child) {
		heartbeat_start(&h);
		raise(SIGSTOP);
		_exit(0);
	}
	ck_assert_int_eq(unit_status(child), -SIGKILL);
}

/* Time that is left until the process is killed. */
static uint64_t left_ns(void)
{
	struct itimerspec left;

	ck_assert_int_eq(timer_gettime(heartbeat.watchdog.timer, &left), 0);
	return left.it_value.tv_sec * NSEC_PER_SEC + left.it_value.tv_nsec;
}

/*
 * One thread is in the driver, where a call can take long, and another beats. That
 * must not shorten the time of the first, or its process is killed in the call; nor
 * extend it, or a call that never returns keeps the queues suspended for ever.
 */
TEST(beats_while_busy)
{
	const uint64_t silence = 10 * NSEC_PER_SEC;
	const uint64_t quiet = HEARTBEAT_SPARE_NS + silence;
	uint64_t left;

	unit_set_limit(UNIT_SILENCE, silence);
	heartbeat_busy(&heartbeat, true);
	left = left_ns();
	ck_assert_uint_gt(left, quiet);
	ck_assert_uint_le(left, HEARTBEAT_BUSY_NS + HEARTBEAT_SPARE_NS);
	shr_sleep_ns(NSEC_PER_MSEC);
	heartbeat_beat(&heartbeat);
	ck_assert_uint_lt(left_ns(), left);
	ck_assert_uint_gt(left_ns(), quiet);
	/* Two threads are busy, and one of the two comes back. */
	heartbeat_busy(&heartbeat, true);
	heartbeat_busy(&heartbeat, false);
	left = left_ns();
	shr_sleep_ns(NSEC_PER_MSEC);
	heartbeat_beat(&heartbeat);
	ck_assert_uint_lt(left_ns(), left);
	ck_assert_uint_gt(left_ns(), quiet);
	heartbeat_busy(&heartbeat, false);
	ck_assert_uint_le(left_ns(), quiet);
	heartbeat_beat(&heartbeat);
	ck_assert_uint_le(left_ns(), quiet);
	ck_assert_uint_gt(left_ns(), 0);
}

TEST_FIXTURE(setup, teardown)
