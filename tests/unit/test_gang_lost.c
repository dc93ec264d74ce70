// SPDX-License-Identifier: GPL-2.0-only
/* The session of a process in a gang is ended by another debugger. */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "unit-gang.h"

/* Losses in short order that a member renews: gang.h. */
#define LOSSES 5

/* Another process ends the session in the moment of a call, so many times. */
static atomic_int ends;
static atomic_int enabled;

static void before(struct gp_loop *loop, const char *call)
{
	atomic_fetch_add(&enabled, !strcmp(call, "enable"));
	if (!strcmp(call, "suspend") && atomic_fetch_sub(&ends, 1) > 0)
		gp_loop_disable(loop);
}

static void add_one(int to_end)
{
	loops[0].before = before;
	atomic_store(&ends, to_end);
	atomic_store(&enabled, 0);
	ck_assert_int_eq(gpreempt_gang_add(gang, FIRST, GPREEMPT_ROUTE_DEBUG, &gang_err), 0);
}

/* The session is opened again, and the call is made again. */
TEST(lost_at_suspend)
{
	struct gpreempt_gang_outcome out;
	struct gpreempt_member member;

	add_one(2);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), 0);
	ck_assert(gang_held(0, 0) && gang_held(0, 1));
	gpreempt_gang_members(gang, &member, 1);
	ck_assert_int_eq(member.code, 0);
	ck_assert_int_eq(atomic_load(&enabled), 3);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
	ck_assert(!gang_held(0, 0) && !gang_held(0, 1));
}

/* Too often within one call: that and all later ones fail. */
TEST(lost_at_each_suspend)
{
	struct gpreempt_member member;
	int i;

	add_one(1000);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, NULL), -ENOTCONN);
		gpreempt_gang_members(gang, &member, 1);
		ck_assert_int_eq(member.code, -ENOTCONN);
		ck_assert_int_eq(member.error.reason, GPREEMPT_LOST);
		ck_assert(member.events & GPREEMPT_EVENT_LOST);
		ck_assert_int_eq(atomic_load(&enabled), 1 + LOSSES);
	}
}

static bool given_up(struct gpreempt_member *member)
{
	gpreempt_gang_members(gang, member, 1);
	return member->code;
}

/* The session is ended again and again while nothing is asked. */
TEST(lost_for_ever)
{
	struct gpreempt_member member;
	int renewals;

	add_one(0);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, NULL), 0);
	for (renewals = 0; renewals < 20; renewals++) {
		gp_loop_disable(&loops[0]);
		UNIT_WAIT(gang_held(0, 0) || given_up(&member));
		if (!gang_held(0, 0))
			break;
	}
	ck_assert_int_eq(renewals, LOSSES);
	ck_assert_int_eq(member.code, -ENOTCONN);
	ck_assert_int_eq(member.error.reason, GPREEMPT_LOST);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, NULL), -ENOTCONN);
}

TEST_FIXTURE(gang_setup, gang_teardown)
