// SPDX-License-Identifier: GPL-2.0-only
/* The worker of an offline process that it pauses: all of it, on all nodes. */
#include "hold/run-dir.h"
#include "unit-guard-worker.h"
#include "unit-host.h"
#include "unit-pausable.h"
#include "unit-worker.h"

static pid_t target;

static void setup(void)
{
	const struct hold_owner as = { .role = HOLD_ROLE_GUARD, .guardian = getpid() };

	hold_dir_setup();
	unit_cgroups_start();
	target = unit_make_sleeper();
	unit_setup_for(target);
	gp_loop_add_queue(&loop, 0);
	unit_make_pausable(target);
	guard_worker_setup(target);
	job.how = GPREEMPT_HOW_PAUSE;
	job.guard = getpid();
	/* The worker's copy, which the keepers have then. */
	job.lock = hold_take(target, &as);
	ck_assert_int_ge(job.lock, 0);
}

static void teardown(void)
{
	guard_worker_teardown();
	unit_wait_until_free(target);
	unit_expect_unpaused(target);
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	unit_teardown();
	unit_cgroups_stop();
}

TEST(orders)
{
	struct hold_owner owner;
	struct pause_entry e;

	start_worker();
	ck_assert(atomic_load(&channel.paused));
	ck_assert_int_eq(channel.why.reason, GPREEMPT_OK);
	/* The entry is written before the first pause, and the lock names guard. */
	ck_assert_int_eq(pause_journal_read(target, &e), 0);
	ck_assert_int_eq(hold_read_owner(target, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_GUARD);
	ck_assert_uint_eq(owner.guardian, getpid());
	order_nodes(1);
	expect_done(1, true);
	ck_assert_int_eq(loop.evicted, 1);
	/* The process is off the other GPU already, and stays off while one is wanted. */
	order_nodes(3);
	order_nodes(2);
	shr_sleep_ns(50 * NSEC_PER_MSEC);
	ck_assert_int_eq(loop.evicted, 1);
	order_nodes(0);
	expect_done(2, false);
	ck_assert_int_eq(loop.evicted, 0);
	stop_worker();
	ck_assert_int_eq(channel.error.code, 0);
	ck_assert(!strstr(loop.trace, "enable"));
}

static const char *show_left(struct gp_loop *l)
{
	(void)l;
	return "gpreempt-queues - version: 1.3\n"
	       "# qid gpu_id evicted state age_ms\n0 0xf7bc 1 evicted 0\n";
}

/* Another program's pause keeps it off the GPU: that is the last report to guard. */
TEST(left_off)
{
	start_held();
	loop.paused = false;
	loop.view = show_left;
	stop_worker();
	ck_assert_int_eq(channel.error.reason, GPREEMPT_PAUSE_OFF);
	loop.evicted = 0;
}

/*
 * The session is refused at the start, or at the first suspend: the worker pauses, and guard
 * gets the reason.
 */
TEST_EACH(automatic, 2)
{
	job.how = GPREEMPT_HOW_AUTO;
	if (_i)
		loop.minor = 12;
	else
		loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	start_worker();
	ck_assert(atomic_load(&channel.paused) == _i);
	order_nodes(1);
	expect_done(1, true);
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert(atomic_load(&channel.paused));
	ck_assert_int_eq(channel.why.reason, _i ? GPREEMPT_KFD_VERSION : GPREEMPT_RUNTIME_OFF);
	order_nodes(0);
	expect_done(1, false);
	ck_assert_int_eq(loop.evicted, 0);
}

TEST_FIXTURE(setup, teardown)
