// SPDX-License-Identifier: GPL-2.0-only
/* Policy of the scheduler: which entity runs, and when. */
#include "unit-policy.h"

TEST(arrival_and_linger)
{
	static const struct line lines[] = {
		{ 0, STEP, 0, 0, "never" },
		{ 10, BUSY, 0, 0, "b-a 110" },
		{ 15, IDLE, 0, 0, "17" },
		/* Work again within the linger time: nothing is switched. */
		{ 16, BUSY, 0, 0, "110" },
		{ 30, IDLE, 0, 0, "32" },
		{ 31.9, STEP, 0, 0, "32" },
		{ 32, STEP, 0, 0, "b+i never" },
		{ 40, STEP, 0, 0, "never" },
	};

	RUN(lines);
}

TEST(no_linger)
{
	static const struct line lines[] = {
		{ 1, BUSY, 0, 0, "b-a 101" },
		{ 2, IDLE, 0, 0, "b+i never" },
	};
	struct gpreempt_policy_options o = figures();

	o.linger_ns = 0;
	RUN_WITH(&o, lines);
}

/* The hold of 100 ms owes 10 %: 11.11 ms, of 111.11 ms altogether. */
TEST(share_of_busy_online)
{
	static const struct line lines[] = {
		{ 0, BUSY, 0, 0, "b-a 100" },
		{ 99, STEP, 0, 0, "100" },
		{ 100, STEP, 0, 0, "b+s 111.1" },
		{ 105, STEP, 0, 0, "111.1" },
		{ 111, STEP, 0, 0, "111.1" },
		{ 111.2, STEP, 0, 0, "b-a 211.2" },
		/* Late by 50 ms: it is owed that much more. */
		{ 261.2, STEP, 0, 0, "b+s 277.9" },
	};

	RUN(lines);
}

/*
 * A hold in which the entity ran was no hold, and is a part of the share: with a tenth of the
 * time nothing is owed, with less the rest is.
 */
TEST(ran_while_held)
{
	static const struct line lines[] = {
		{ 0, BUSY, 0, 0, "b-a 100" },
		/* 45 held, 5 run: all of it paid. */
		{ 50, RAN, 1, 5, "150" },
		/* 90 held, less 5 * 9 paid. */
		{ 145, RAN, 1, 5, "200" },
		{ 200, STEP, 0, 0, "b+s 211.1" },
		/* Reports of run time before that come late. */
		{ 203, RAN, 1, 1, "210" },
		{ 210.1, STEP, 0, 0, "b-a 310.1" },
		/* An entity cannot be ahead, and an online entity has no share. */
		{ 220, RAN, 1, 1000, NULL },
		{ 220, RAN, 0, 1000, "320" },
	};

	RUN(lines);
}

/* Short holds with short gaps do not get around the share. */
TEST(share_of_many_short_holds)
{
	static const struct line lines[] = {
		{ 0, BUSY, 0, 0, "b-a 100" },
		{ 58, IDLE, 0, 0, NULL },
		{ 60, STEP, 0, 0, "b+i never" },
		/* 60 held, 2 run, which pay for 18: 42 stay. */
		{ 62, BUSY, 0, 0, "b-a 120" },
		{ 120, STEP, 0, 0, "b+s 131.1" },
		/* The entity is not needed meanwhile, but its due stays its due. */
		{ 121, IDLE, 0, 0, NULL },
		{ 124, STEP, 0, 0, "never" },
		{ 125, BUSY, 0, 0, "131.1" },
	};

	RUN(lines);
}

TEST(min_run)
{
	static const struct line lines[] = {
		{ 0, BUSY, 0, 0, "b-a 100" },
		{ 100, STEP, 0, 0, "b+s 105" },
		{ 105, STEP, 0, 0, "b-a 205" },
	};
	struct gpreempt_policy_options o = figures();

	o.share = 0;
	o.min_run_ns = 5 * MS;
	RUN_WITH(&o, lines);
	/* The longer of the two counts. */
	o.share = 1;
	RUN_WITH(&o, lines);
}

TEST(nothing_owed)
{
	static const struct line lines[] = {
		{ 0, BUSY, 0, 0, "b-a never" },	      { 1000000, STEP, 0, 0, "never" },
		{ 1000000, IDLE, 0, 0, NULL },	      { 1000002, STEP, 0, 0, "b+i never" },
		{ 1000003, BUSY, 0, 0, "b-a never" },
	};
	struct gpreempt_policy_options o = figures();

	o.share = 0;
	RUN_WITH(&o, lines);
}

/* Two online (nodes 1+2, 4) and three offline (1, 2+4, 8). */
TEST(only_where_shared)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 3, NULL },
		{ 0, ADD_ON, 1, 4, NULL },
		{ 0, ADD_OFF, 2, 1, NULL },
		{ 0, ADD_OFF, 3, 6, NULL },
		{ 0, ADD_OFF, 4, 8, NULL },
		{ 1, BUSY, 1, 0, "d-a 101" },
		{ 2, BUSY, 0, 0, "c-a 101" },
		{ 3, IDLE, 1, 0, NULL },
		{ 9, STEP, 0, 0, "101" },
		{ 10, IDLE, 0, 0, NULL },
		{ 12, STEP, 0, 0, "c+i d+i never" },
		/* A queue on another GPU, and a process that goes there. */
		{ 20, BUSY, 1, 0, "d-a 120" },
		{ 21, NODES, 4, 12, "e-a 120" },
		{ 22, NODES, 3, 2, "d+i 121" },
	};

	RUN_BARE(NULL, lines);
}

/* A job on nodes 1, 2 and 4, and a process on 2 that is not of it. */
TEST(gang)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_JOB, 1, 1, NULL },
		{ 0, ADD_JOB, 2, 2, NULL },
		{ 0, ADD_OFF, 3, 2, NULL },
		{ 1, BUSY, 0, 0, "b-a c-a 101" },
		/* An entity joins that is held shorter; it runs with the others. */
		{ 51, ADD_JOB, 4, 4, "e-a 101" },
		{ 101, STEP, 0, 0, "b+s c+s e+s 112.1" },
		{ 113, STEP, 0, 0, "b-a c-a e-a 213" },
		/* One entity is released; the others stay, and answer without it. */
		{ 120, RELEASE, 1, -1, "b+r c+i e+i never" },
		{ 121, RELEASE, 1, 0, "b-a c-a e-a 221" },
	};

	RUN_BARE(NULL, lines);
}

TEST(duty)
{
	static const struct line lines[] = {
		{ 0, ADD_OFF, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 2, "15" },
		{ 15, STEP, 0, 0, "a-d b-d 50" },
		{ 50, STEP, 0, 0, "a+d b+d 65" },
		/* Asleep through two periods, awake in a run. */
		{ 155, STEP, 0, 0, "165" },
		{ 165, STEP, 0, 0, "a-d b-d 200" },
		{ 170, RELEASE, 0, 180, "a+r 180" },
		{ 180, STEP, 0, 0, "a-d 200" },
	};
	struct gpreempt_policy_options o = figures();

	o.duty = 30;
	o.period_ns = 50 * MS;
	RUN_BARE(&o, lines);
	ck_assert_int_eq(gpreempt_policy_add(p, GPREEMPT_ROLE_ONLINE, 1, 0, 0), -EINVAL);
}

/* The policy is in memory of its own; figures come by another header. */
TEST(made_and_freed)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
	struct {
		struct gpreempt_policy_options known;
		uint64_t newer;
	} o = { .known = figures() };
	struct gpreempt_policy *policy = NULL;
	uint64_t wake;

	o.known.size = sizeof(o);
	ck_assert_int_eq(gpreempt_policy_new(&o.known, 0, &policy), 0);
	ck_assert_int_eq(gpreempt_policy_add(policy, GPREEMPT_ROLE_ONLINE, 1, 0, 0), 0);
	ck_assert_int_eq(gpreempt_policy_add(policy, GPREEMPT_ROLE_OFFLINE, 1, 0, 0), 1);
	ck_assert(!gp_policy_suspended(policy, 1));
	gpreempt_policy_busy(policy, 0, true, 0);
	ck_assert_uint_eq(gpreempt_policy_step(policy, 0, actions, &wake), 1);
	ck_assert(gp_policy_suspended(policy, 1));
	gpreempt_policy_free(policy);
	gpreempt_policy_free(NULL);
	o.newer = 1;
	ck_assert_int_eq(gpreempt_policy_new(&o.known, 0, &policy), -E2BIG);
	o.known.size = sizeof(o.known) - 1;
	ck_assert_int_eq(gpreempt_policy_new(&o.known, 0, &policy), -EINVAL);
	o.known.size = sizeof(o.known);
	o.known.share = 91;
	ck_assert_int_eq(gpreempt_policy_new(&o.known, 0, &policy), -EINVAL);
}
