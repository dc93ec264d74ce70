// SPDX-License-Identifier: GPL-2.0-only
/* One look of guard at its targets, and one of its poller at their work. */
#include "lib/preempt/policy.h"
#include "unit-host.h"
#include "unit-poll.h"

/* Processes that are made targets in one look. */
#define AT_ONCE 8

static void add_offline(pid_t pid)
{
	world_add(pid, "train", "/");
	world_queues(pid, QUEUES "0 0xf7bc compute-aql 0x8 0x10 0x40 4096\n");
}

/* The other targets have to be looked after, too. */
TEST(few_at_once)
{
	pid_t pid;

	for (pid = 201; pid <= 200 + AT_ONCE; pid++)
		add_offline(pid);
	look(1);
	ck_assert_uint_eq(guard.n_offline, AT_ONCE);
	look(1);
	ck_assert_uint_eq(guard.n_offline, AT_ONCE + 1);
}

/*
 * Its worker has not ended yet, and has its lock: it is not tried before, which
 * would be a failure that keeps guard from it for a while.
 */
TEST(worker_still_there)
{
	struct gpreempt_target target;

	look_until("process 200 is offline");
	target = guard.offline[0].target;
	ck_assert_int_eq(kill(guard.offline[0].worker->child, SIGSTOP), 0);
	args.offline_words.n = 0;
	look(1);
	ck_assert_uint_eq(guard.n_offline, 0);
	ck_assert(guard_is_going(&guard, 200));
	args.offline_words.n = 1;
	look(2);
	ck_assert(guard_is_going(&guard, 200));
	ck_assert(!guard_is_going(&guard, 201));
	ck_assert(guard_backoff_over(&guard, &target));
	ck_assert_int_eq(kill(guard.going[0]->child, SIGCONT), 0);
	look_until_times("process 200 is offline", 2);
}

/* A word that is mistyped protects nothing: that is reported once, some time after the start. */
TEST(unmatched)
{
	name_online("comm:typo");
	guard.figures.start_ns = shr_now_ns();
	look(1);
	ck_assert_uint_eq(printed("no process has matched"), 0);
	guard.figures.start_ns = 0;
	look(2);
	ck_assert_uint_eq(printed("no process has matched --online comm:typo so far"), 1);
	ck_assert_uint_eq(printed("no process has matched"), 1);
}

/* Returns the policy's pause after that failure of an order. */
static uint64_t pause_after(enum gpreempt_reason reason, bool suspend)
{
	struct guard_offline *o = &guard.offline[0];
	struct gpreempt_policy_entity *entity = &guard.policy->entity[o->entity[0]];
	struct guard_result result = {
		.pid = 200,
		.suspend = suspend,
		.nodes = 1,
		.code = -EIO,
		.error = { .code = -EIO, .reason = reason },
	};
	uint64_t now = shr_now_ns();

	entity->suspended = suspend;
	entity->retry = 0;
	ck_assert(guard_channel_give(o->worker->channel, &result));
	guard_take_results(&guard);
	ck_assert_uint_gt(entity->retry, now);
	return entity->retry - now;
}

/* Each try after a hang costs the driver's 9 s and a reset, other tries nothing. */
TEST(tried_again)
{
	look_until("process 200 is offline");
	ck_assert_uint_ge(pause_after(GPREEMPT_HANG, true), 10 * NSEC_PER_SEC);
	ck_assert_uint_lt(pause_after(GPREEMPT_SYSTEM, true), 5 * NSEC_PER_SEC);
	ck_assert_uint_lt(pause_after(GPREEMPT_HANG, false), 5 * NSEC_PER_SEC);
	ck_assert_uint_eq(guard.figures.failures, 3);
}

/* An index at address 0 is none that could be read. */
TEST(no_address)
{
	world_remove(good);
	world_add(100, "serve", "/");
	world_queues(100, QUEUES "0 0xf7bc compute-aql 0x0 0x2000 0x3000 4096\n"
				 "1 0xf7bc compute-aql 0x1000 0x0 0x3000 4096\n"
				 "2 0xf7bc compute-aql 0x1000 0x2000 0x0 4096\n"
				 "3 0xf7bc compute-aql 0x1000 0x2000 0x3000 0\n"
				 "4 0xf7bc compute-aql 0x1000 0x2000 0x3000 4096\n");
	look_until("process 100 is online");
	look(1);
	ck_assert_uint_eq(guard.online[0].n, 1);
	ck_assert_uint_eq(guard.online[0].queue[0].qid, 4);
}

/* A read of its memory that takes longer than a second is one without an answer. */
TEST(silent)
{
	uint64_t *since;

	look_until(" is online");
	since = &guard.online[0].sight->since_ns;
	unit_frozen_ns = shr_now_ns();
	*since = unit_frozen_ns - GUARD_SILENT_NS;
	guard_targets_look(&guard);
	ck_assert_uint_eq(printed("does not answer"), 0);
	--*since;
	guard_targets_look(&guard);
	ck_assert_uint_eq(printed("does not answer: its work is not seen"), 1);
	*since = 0;
	guard_targets_look(&guard);
	ck_assert_uint_eq(printed("answers again"), 1);
	unit_frozen_ns = 0;
}

/* Work that came and was done between two looks is an arrival, too. */
TEST(came_and_went)
{
	struct gpreempt_policy_options slowly = {
		.size = sizeof(slowly),
		.max_hold_ns = 60 * NSEC_PER_SEC,
		.linger_ns = NSEC_PER_SEC,
	};

	/* The worker has to see both orders, however busy the host is. */
	gpreempt_policy_free(guard.policy);
	ck_assert_int_eq(gpreempt_policy_new(&slowly, shr_now_ns(), &guard.policy), 0);
	guard.poll_ns = 20 * NSEC_PER_MSEC;
	start_guard();
	memory->read = 1;
	memory->written = 1;
	look_until_suspends(1);
	look_until_resumes(1);
}

/* Guard ends if the polling thread or the stand-in cannot start. */
TEST(no_thread)
{
	int nth;

	for (nth = 1; nth <= 2; nth++) {
		unit_thread_fails = nth;
		ck_assert_int_eq(guard_poll_start(&guard), -EAGAIN);
		ck_assert_int_eq(unit_thread_fails, 0);
		UNIT_WAIT(!guard.turn.threads);
	}
}

TEST_FIXTURE(poll_setup, poll_teardown)
