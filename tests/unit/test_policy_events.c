// SPDX-License-Identifier: GPL-2.0-only
/* The policy of the scheduler: requests, failures, clocks, bad figures. */
#include "unit-policy.h"

/* Requests are nested, of two clients, and one dies. */
TEST(requests)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_ON, 1, 1, NULL },
		{ 0, ADD_OFF, 2, 1, NULL },
		{ 0, END, 0, -EINVAL, NULL },
		{ 0, BEGIN, 2, -EINVAL, NULL },
		{ 0, END, 2, -EINVAL, NULL },
		{ 1, BEGIN, 0, 1, NULL },
		{ 1, BEGIN, 0, 2, NULL },
		{ 1, BEGIN, 1, 1, "c-a 101" },
		{ 2, END, 0, 1, NULL },
		{ 5, REMOVE, 1, 0, NULL },
		{ 9, STEP, 0, 0, "101" },
		/* Its work ends later than its last request. */
		{ 9, BUSY, 0, 0, NULL },
		{ 10, END, 0, 0, NULL },
		{ 15, STEP, 0, 0, "101" },
		{ 20, IDLE, 0, 0, NULL },
		{ 21, STEP, 0, 0, "22" },
		{ 21, ADD_ON, 1, 1, NULL },
		{ 21, BEGIN, 1, 1, NULL },
		{ 23, STEP, 0, 0, "101" },
		/* The client dies with a request open. */
		{ 24, REMOVE, 1, 0, "c+i never" },
	};

	RUN_BARE(NULL, lines);
}

TEST(release)
{
	static const struct line lines[] = {
		{ 1, BUSY, 0, 0, "b-a 101" },
		{ 11, RELEASE, 1, 61, "b+r 61" },
		{ 30, STEP, 0, 0, "61" },
		{ 61, STEP, 0, 0, "b-a 161" },
		{ 62, RELEASE, 1, -1, "b+r never" },
		{ 9999, STEP, 0, 0, "never" },
	};

	RUN(lines);
}

/* An action that fails is tried again, and not at once. */
TEST(failures)
{
	static const struct line lines[] = {
		{ 1, BUSY, 0, 0, "b-a 101" },	 { 1, FAILED, 1, 11, "11" },
		{ 5, STEP, 0, 0, "11" },	 { 11, STEP, 0, 0, "b-a 111" },
		{ 12, IDLE, 0, 0, NULL },	 { 14, STEP, 0, 0, "b+i never" },
		{ 14, FAILED, 1, 24, NULL },	 { 15, STEP, 0, 0, "24" },
		{ 24, STEP, 0, 0, "b+i never" },
	};

	RUN(lines);
}

/* The clock stands or goes back: time does not. */
TEST(clock_goes_back)
{
	static const struct line lines[] = {
		{ 50, ADD_ON, 0, 1, NULL },	  { 50, ADD_OFF, 1, 1, NULL },
		{ 50, BUSY, 0, 0, "b-a 150" },	  { 20, STEP, 0, 0, "150" },
		{ 20, ADD_OFF, 2, 1, "c-a 150" }, { 150, STEP, 0, 0, "b+s c+s 161.1" },
	};

	RUN_BARE(NULL, lines);
}

/* A run with a look at each ns pays as much as in one piece. */
TEST(tiny_steps)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
	struct gpreempt_policy_options o = figures();
	uint64_t now, wake;

	o.max_hold_ns = 100;
	o.share = 90;
	begin(&o);
	gpreempt_policy_add(p, GPREEMPT_ROLE_ONLINE, 1, 0, 0);
	gpreempt_policy_add(p, GPREEMPT_ROLE_OFFLINE, 1, 0, 0);
	gpreempt_policy_busy(p, 0, true, 0);
	ck_assert_uint_eq(gpreempt_policy_step(p, 0, actions, &wake), 1);
	ck_assert_uint_eq(gpreempt_policy_step(p, 100, actions, &wake), 1);
	/* Due are 900 ns, rounded up. */
	for (now = 101; now <= 1000; now++)
		ck_assert_uint_eq(gpreempt_policy_step(p, now, actions, &wake), 0);
	ck_assert_uint_eq(gpreempt_policy_step(p, 1001, actions, &wake), 1);
}

TEST(places)
{
	struct gpreempt_policy_options o = figures();
	int i;

	begin(&o);
	for (i = 0; i < GPREEMPT_POLICY_ENTITIES; i++)
		ck_assert_int_eq(gpreempt_policy_add(p, GPREEMPT_ROLE_ONLINE, 1, 0, 0), i);
	ck_assert_int_eq(gpreempt_policy_add(p, GPREEMPT_ROLE_OFFLINE, 1, 0, 0), -ENOSPC);
	gpreempt_policy_remove(p, 7);
	ck_assert_int_eq(gpreempt_policy_add(p, GPREEMPT_ROLE_OFFLINE, 1, GPREEMPT_POLICY_ENTITIES,
					     0),
			 7);
	ck_assert_int_eq(gpreempt_policy_add(p, GPREEMPT_ROLE_NONE, 1, 0, 0), -EINVAL);
	ck_assert_int_eq(gpreempt_policy_add(p, GPREEMPT_ROLE_OFFLINE, 1,
					     GPREEMPT_POLICY_ENTITIES + 1, 0),
			 -EINVAL);
	ck_assert_str_eq(gpreempt_policy_reason_name(GPREEMPT_POLICY_REASONS), "-");
}

TEST(bad_figures)
{
	struct gpreempt_policy_options o = figures();

#define REFUSED(field, value)                                              \
	do {                                                               \
		o = figures();                                             \
		o.field = (value);                                         \
		ck_assert_int_eq(gpreempt_policy_new(&o, 0, &p), -EINVAL); \
	} while (0)
	REFUSED(size, 1);
	REFUSED(share, 91);
	REFUSED(duty, 100);
	REFUSED(duty, 30); /* a duty of no period */
	REFUSED(max_hold_ns, 0);
	REFUSED(max_hold_ns, UINT64_MAX);
	REFUSED(linger_ns, UINT64_MAX);
	REFUSED(min_run_ns, UINT64_MAX);
	o = figures();
	o.duty = 30;
	o.period_ns = o.max_hold_ns + 1;
	ck_assert_int_eq(gpreempt_policy_new(&o, 0, &p), -EINVAL);
	o.period_ns = o.max_hold_ns;
	begin(&o);
}
