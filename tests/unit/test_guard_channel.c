// SPDX-License-Identifier: GPL-2.0-only
/* Messages between guard and a worker, over a fork. */
#include <sys/mman.h>

#include "guard/guard.h"
#include "unit.h"

static struct guard_channel *c;

static void setup(void)
{
	c = guard_channel_map(sizeof(*c));
	ck_assert_ptr_nonnull(c);
}

static void teardown(void)
{
	munmap(c, sizeof(*c));
}

TEST(newest_order)
{
	struct guard_order order = { .nodes = 1 }, got;

	guard_channel_get_order(c, &got);
	ck_assert_uint_eq(got.nodes, 0);
	guard_channel_order(c, &order);
	order = (struct guard_order){
		.nodes = 6,
		.reason = GPREEMPT_POLICY_DUTY,
		.arrival_ns = 7,
	};
	guard_channel_order(c, &order);
	guard_channel_get_order(c, &got);
	ck_assert_uint_eq(got.nodes, 6);
	ck_assert_int_eq(got.reason, GPREEMPT_POLICY_DUTY);
	ck_assert_uint_eq(got.arrival_ns, 7);
}

/* guard is stopped while it writes one: its worker does not wait for it. */
TEST(half_an_order)
{
	struct guard_order order = { .nodes = 5 }, got;

	guard_channel_order(c, &order);
	ck_assert(guard_channel_get_order(c, &got));
	atomic_fetch_add(&c->version, 1);
	ck_assert(!guard_channel_get_order(c, &got));
	atomic_fetch_add(&c->version, 1);
	ck_assert(guard_channel_get_order(c, &got));
	ck_assert_uint_eq(got.nodes, 5);
}

/* Guard's order is never seen with halves of two. */
TEST(whole_orders)
{
	uint64_t end = shr_now_ns() + 200 * NSEC_PER_MSEC, i;
	struct guard_order got = { 0 }, order;
	pid_t child = fork();

	if (!child)
		for (i = 1;; i++) {
			order = (struct guard_order){
				.nodes = i,
				.arrival_ns = ~i,
			};
			guard_channel_order(c, &order);
		}
	while (shr_now_ns() < end || !got.nodes) {
		/* An order for which it returns false may be torn. */
		if (!guard_channel_get_order(c, &order))
			continue;
		got = order;
		if (got.nodes && got.arrival_ns != ~got.nodes)
			break;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ck_assert_uint_eq(got.arrival_ns, ~got.nodes);
}

TEST(results)
{
	struct guard_result result = { 0 };
	size_t round, i;

	ck_assert(!guard_channel_take(c, &result));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < GUARD_RESULTS; i++) {
			result.done = round * GUARD_RESULTS + i;
			ck_assert(guard_channel_give(c, &result));
		}
		ck_assert(!guard_channel_give(c, &result));
		for (i = 0; i < GUARD_RESULTS; i++) {
			ck_assert(guard_channel_take(c, &result));
			ck_assert_uint_eq(result.done, round * GUARD_RESULTS + i);
		}
		ck_assert(!guard_channel_take(c, &result));
	}
}

/* Results go from one process to another, in order, and none is lost. */
TEST(over_a_fork)
{
	struct guard_result result = { 0 };
	size_t next = 0, n = 20000;
	pid_t child = fork();
	int status;

	if (!child) {
		for (result.done = 0; result.done < n; result.done++)
			while (!guard_channel_give(c, &result))
				shr_sleep_ns(NSEC_PER_USEC);
		_exit(0);
	}
	while (next < n)
		if (guard_channel_take(c, &result))
			ck_assert_uint_eq(result.done, next++);
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	ck_assert(!guard_channel_take(c, &result));
}

TEST_FIXTURE(setup, teardown)
