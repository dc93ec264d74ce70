// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy of the scheduler, by tables: what is told to it at a time, and
 * what it has to answer. Times are in milliseconds.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <gpreempt/policy.h>

#include "shared/macro.h"
#include "unit.h"

#define MS NSEC_PER_MSEC
#define NEVER GPREEMPT_POLICY_NEVER

enum what {
	STEP,
	BUSY,
	IDLE,
	BEGIN,
	END,
	RELEASE,		/* until value; -1: for good */
	FAILED,			/* again at value */
	NODES,
	ADD_ON,
	ADD_OFF,
	ADD_JOB,		/* offline, of job 1 */
	REMOVE,
};

/*
 * A line of a table. want: what a step answers, a word for each party: its
 * letter (a is 0), "-" or "+" for suspend and resume, and the reason's first
 * letter; then the next wake-up in ms, or "never".
 */
struct line {
	double ms;
	enum what what;
	int party;
	int value;
	const char *want;
};

static struct gpreempt_policy p;

static struct gpreempt_policy_options figures(void)
{
	return (struct gpreempt_policy_options){
		.size = sizeof(struct gpreempt_policy_options),
		.linger_ns = 2 * MS,
		.max_hold_ns = 100 * MS,
		.share = 10,
	};
}

static void begin(const struct gpreempt_policy_options *options)
{
	ck_assert_int_eq(gpreempt_policy_init(&p, options, 0), 0);
}

static void describe(const struct gpreempt_policy_action *actions,
		     unsigned int n, uint64_t wake, char *buf, size_t size)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < n; i++)
		len += snprintf(buf + len, size - len, "%c%c%c ",
				'a' + actions[i].party,
				actions[i].suspend ? '-' : '+',
				*gpreempt_policy_reason_name(actions[i].reason));
	if (wake == NEVER)
		snprintf(buf + len, size - len, "never");
	else
		snprintf(buf + len, size - len, "%.4g", (double)wake / MS);
}

static void run_line(const struct line *line, size_t number)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_PARTIES];
	uint64_t wake, now = line->ms * MS;
	unsigned int n;
	char got[256];

	switch (line->what) {
	case STEP:
		n = gpreempt_policy_step(&p, now, actions, &wake);
		describe(actions, n, wake, got, sizeof(got));
		ck_assert_msg(!strcmp(got, line->want),
			      "line %zu, %.4g ms: \"%s\", not \"%s\"", number,
			      line->ms, got, line->want);
		break;
	case BUSY:
	case IDLE:
		gpreempt_policy_busy(&p, line->party, line->what == BUSY, now);
		break;
	case BEGIN:
		ck_assert_int_eq(gpreempt_policy_begin(&p, line->party),
				 line->value);
		break;
	case END:
		ck_assert_int_eq(gpreempt_policy_end(&p, line->party, now),
				 line->value);
		break;
	case RELEASE:
		gpreempt_policy_release(&p, line->party, line->value < 0 ?
					NEVER : line->value * MS);
		break;
	case FAILED:
		gpreempt_policy_failed(&p, line->party, line->value * MS);
		break;
	case NODES:
		gpreempt_policy_nodes(&p, line->party, line->value);
		break;
	case ADD_ON:
	case ADD_OFF:
	case ADD_JOB:
		ck_assert_int_eq(gpreempt_policy_add(&p, line->what == ADD_ON ?
						     GPREEMPT_ROLE_ONLINE :
						     GPREEMPT_ROLE_OFFLINE,
						     line->value,
						     line->what == ADD_JOB,
						     now), line->party);
		break;
	case REMOVE:
		gpreempt_policy_remove(&p, line->party);
		break;
	}
}

static void run_table(const struct line *lines, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		run_line(&lines[i], i);
}

#define RUN(lines) run_table(lines, ARRAY_SIZE(lines))

START_TEST(arrival_and_linger)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 1, NULL },
		{ 0, STEP, 0, 0, "never" },
		{ 10, BUSY, 0, 0, NULL },
		{ 10, STEP, 0, 0, "b-a 110" },
		{ 15, IDLE, 0, 0, NULL },
		{ 15, STEP, 0, 0, "17" },
		/* Work again within the linger time: nothing is switched. */
		{ 16, BUSY, 0, 0, NULL },
		{ 16, STEP, 0, 0, "110" },
		{ 30, IDLE, 0, 0, NULL },
		{ 30, STEP, 0, 0, "32" },
		{ 31.9, STEP, 0, 0, "32" },
		{ 32, STEP, 0, 0, "b+i never" },
		{ 40, STEP, 0, 0, "never" },
	};
	struct gpreempt_policy_options o = figures();

	begin(&o);
	RUN(lines);
}
END_TEST

START_TEST(no_linger)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 1, NULL },
		{ 1, BUSY, 0, 0, NULL },
		{ 1, STEP, 0, 0, "b-a 101" },
		{ 2, IDLE, 0, 0, NULL },
		{ 2, STEP, 0, 0, "b+i never" },
	};
	struct gpreempt_policy_options o = figures();

	o.linger_ns = 0;
	begin(&o);
	RUN(lines);
}
END_TEST

/* After 100 ms of hold 10 % are owed: 11.11 ms, of 111.11 ms altogether. */
START_TEST(share_of_busy_online)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 1, NULL },
		{ 0, BUSY, 0, 0, NULL },
		{ 0, STEP, 0, 0, "b-a 100" },
		{ 99, STEP, 0, 0, "100" },
		{ 100, STEP, 0, 0, "b+s 111.1" },
		{ 105, STEP, 0, 0, "111.1" },
		{ 111, STEP, 0, 0, "111.1" },
		{ 111.2, STEP, 0, 0, "b-a 211.2" },
		/* Late by 50 ms: it is owed that much more. */
		{ 261.2, STEP, 0, 0, "b+s 277.9" },
	};
	struct gpreempt_policy_options o = figures();

	begin(&o);
	RUN(lines);
}
END_TEST

/* Short holds with short gaps do not get around the share. */
START_TEST(share_of_many_short_holds)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 1, NULL },
		{ 0, BUSY, 0, 0, NULL },
		{ 0, STEP, 0, 0, "b-a 100" },
		{ 58, IDLE, 0, 0, NULL },
		{ 60, STEP, 0, 0, "b+i never" },
		/* 60 held, 2 run, which pay for 18: 42 stay. */
		{ 62, BUSY, 0, 0, NULL },
		{ 62, STEP, 0, 0, "b-a 120" },
		{ 120, STEP, 0, 0, "b+s 131.1" },
		/* Not needed meanwhile, but its due stays its due. */
		{ 121, IDLE, 0, 0, NULL },
		{ 124, STEP, 0, 0, "never" },
		{ 125, BUSY, 0, 0, NULL },
		{ 125, STEP, 0, 0, "131.1" },
	};
	struct gpreempt_policy_options o = figures();

	begin(&o);
	RUN(lines);
}
END_TEST

START_TEST(min_run)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 1, NULL },
		{ 0, BUSY, 0, 0, NULL },
		{ 0, STEP, 0, 0, "b-a 100" },
		{ 100, STEP, 0, 0, "b+s 105" },
		{ 105, STEP, 0, 0, "b-a 205" },
	};
	struct gpreempt_policy_options o = figures();

	o.share = 0;
	o.min_run_ns = 5 * MS;
	begin(&o);
	RUN(lines);
	/* Of both, what is longer. */
	o.share = 1;
	begin(&o);
	RUN(lines);
}
END_TEST

START_TEST(nothing_owed)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 1, NULL },
		{ 0, BUSY, 0, 0, NULL },
		{ 0, STEP, 0, 0, "b-a never" },
		{ 1000000, STEP, 0, 0, "never" },
		{ 1000000, IDLE, 0, 0, NULL },
		{ 1000002, STEP, 0, 0, "b+i never" },
		{ 1000003, BUSY, 0, 0, NULL },
		{ 1000003, STEP, 0, 0, "b-a never" },
	};
	struct gpreempt_policy_options o = figures();

	o.share = 0;
	begin(&o);
	RUN(lines);
}
END_TEST

/* Two online (nodes 1+2, 4) and three offline (1, 2+4, 8). */
START_TEST(only_where_shared)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 3, NULL },
		{ 0, ADD_ON, 1, 4, NULL },
		{ 0, ADD_OFF, 2, 1, NULL },
		{ 0, ADD_OFF, 3, 6, NULL },
		{ 0, ADD_OFF, 4, 8, NULL },
		{ 1, BUSY, 1, 0, NULL },
		{ 1, STEP, 0, 0, "d-a 101" },
		{ 2, BUSY, 0, 0, NULL },
		{ 2, STEP, 0, 0, "c-a 101" },
		{ 3, IDLE, 1, 0, NULL },
		{ 9, STEP, 0, 0, "101" },
		{ 10, IDLE, 0, 0, NULL },
		{ 12, STEP, 0, 0, "c+i d+i never" },
		/* A queue on another GPU, and a process that goes there. */
		{ 20, BUSY, 1, 0, NULL },
		{ 20, STEP, 0, 0, "d-a 120" },
		{ 21, NODES, 4, 12, NULL },
		{ 21, STEP, 0, 0, "e-a 120" },
		{ 22, NODES, 3, 2, NULL },
		{ 22, STEP, 0, 0, "d+i 121" },
	};
	struct gpreempt_policy_options o = figures();

	begin(&o);
	RUN(lines);
}
END_TEST

/* A job on nodes 1, 2 and 4, and a process on 2 that is not of it. */
START_TEST(gang)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_JOB, 1, 1, NULL },
		{ 0, ADD_JOB, 2, 2, NULL },
		{ 0, ADD_OFF, 3, 2, NULL },
		{ 1, BUSY, 0, 0, NULL },
		{ 1, STEP, 0, 0, "b-a c-a 101" },
		/* One joins that is held shorter; it runs with the others. */
		{ 51, ADD_JOB, 4, 4, NULL },
		{ 51, STEP, 0, 0, "e-a 101" },
		{ 101, STEP, 0, 0, "b+s c+s e+s 112.1" },
		{ 113, STEP, 0, 0, "b-a c-a e-a 213" },
		/* One is let go; the others stay, and answer without it. */
		{ 120, RELEASE, 1, -1, NULL },
		{ 120, STEP, 0, 0, "b+r c+i e+i never" },
		{ 121, RELEASE, 1, 0, NULL },
		{ 121, STEP, 0, 0, "b-a c-a e-a 221" },
	};
	struct gpreempt_policy_options o = figures();

	begin(&o);
	RUN(lines);
}
END_TEST

START_TEST(duty)
{
	static const struct line lines[] = {
		{ 0, ADD_OFF, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 2, NULL },
		{ 0, STEP, 0, 0, "15" },
		{ 15, STEP, 0, 0, "a-d b-d 50" },
		{ 50, STEP, 0, 0, "a+d b+d 65" },
		/* Asleep through two periods, awake in a run. */
		{ 155, STEP, 0, 0, "165" },
		{ 165, STEP, 0, 0, "a-d b-d 200" },
		{ 170, RELEASE, 0, 180, NULL },
		{ 170, STEP, 0, 0, "a+r 180" },
		{ 180, STEP, 0, 0, "a-d 200" },
	};
	struct gpreempt_policy_options o = figures();

	o.duty = 30;
	o.period_ns = 50 * MS;
	begin(&o);
	RUN(lines);
	ck_assert_int_eq(gpreempt_policy_add(&p, GPREEMPT_ROLE_ONLINE, 1, 0,
					     0), -EINVAL);
}
END_TEST

/* Requests are nested, of two clients, and one dies. */
START_TEST(requests)
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
		{ 1, BEGIN, 1, 1, NULL },
		{ 1, STEP, 0, 0, "c-a 101" },
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
		{ 24, REMOVE, 1, 0, NULL },
		{ 24, STEP, 0, 0, "c+i never" },
	};
	struct gpreempt_policy_options o = figures();

	begin(&o);
	RUN(lines);
}
END_TEST

START_TEST(release)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 1, NULL },
		{ 1, BUSY, 0, 0, NULL },
		{ 1, STEP, 0, 0, "b-a 101" },
		{ 11, RELEASE, 1, 61, NULL },
		{ 11, STEP, 0, 0, "b+r 61" },
		{ 30, STEP, 0, 0, "61" },
		{ 61, STEP, 0, 0, "b-a 161" },
		{ 62, RELEASE, 1, -1, NULL },
		{ 62, STEP, 0, 0, "b+r never" },
		{ 9999, STEP, 0, 0, "never" },
	};
	struct gpreempt_policy_options o = figures();

	begin(&o);
	RUN(lines);
}
END_TEST

/* What does not work is tried again, and not at once. */
START_TEST(failures)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 1, NULL },
		{ 1, BUSY, 0, 0, NULL },
		{ 1, STEP, 0, 0, "b-a 101" },
		{ 1, FAILED, 1, 11, NULL },
		{ 1, STEP, 0, 0, "11" },
		{ 5, STEP, 0, 0, "11" },
		{ 11, STEP, 0, 0, "b-a 111" },
		{ 12, IDLE, 0, 0, NULL },
		{ 14, STEP, 0, 0, "b+i never" },
		{ 14, FAILED, 1, 24, NULL },
		{ 15, STEP, 0, 0, "24" },
		{ 24, STEP, 0, 0, "b+i never" },
	};
	struct gpreempt_policy_options o = figures();

	begin(&o);
	RUN(lines);
}
END_TEST

/* The clock stands or goes back: time does not. */
START_TEST(clock_goes_back)
{
	static const struct line lines[] = {
		{ 50, ADD_ON, 0, 1, NULL },
		{ 50, ADD_OFF, 1, 1, NULL },
		{ 50, BUSY, 0, 0, NULL },
		{ 50, STEP, 0, 0, "b-a 150" },
		{ 20, STEP, 0, 0, "150" },
		{ 20, ADD_OFF, 2, 1, NULL },
		{ 20, STEP, 0, 0, "c-a 150" },
		{ 150, STEP, 0, 0, "b+s c+s 161.1" },
	};
	struct gpreempt_policy_options o = figures();

	begin(&o);
	RUN(lines);
}
END_TEST

/* Looked at each ns, a run pays as much as in one piece. */
START_TEST(tiny_steps)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_PARTIES];
	struct gpreempt_policy_options o = figures();
	uint64_t now, wake;

	o.max_hold_ns = 100;
	o.share = 90;
	begin(&o);
	gpreempt_policy_add(&p, GPREEMPT_ROLE_ONLINE, 1, 0, 0);
	gpreempt_policy_add(&p, GPREEMPT_ROLE_OFFLINE, 1, 0, 0);
	gpreempt_policy_busy(&p, 0, true, 0);
	ck_assert_uint_eq(gpreempt_policy_step(&p, 0, actions, &wake), 1);
	ck_assert_uint_eq(gpreempt_policy_step(&p, 100, actions, &wake), 1);
	/* Due are 900 ns, rounded up. */
	for (now = 101; now <= 1000; now++)
		ck_assert_uint_eq(gpreempt_policy_step(&p, now, actions,
						       &wake), 0);
	ck_assert_uint_eq(gpreempt_policy_step(&p, 1001, actions, &wake), 1);
}
END_TEST

START_TEST(places)
{
	struct gpreempt_policy_options o = figures();
	int i;

	begin(&o);
	for (i = 0; i < GPREEMPT_POLICY_PARTIES; i++)
		ck_assert_int_eq(gpreempt_policy_add(&p, GPREEMPT_ROLE_ONLINE,
						     1, 0, 0), i);
	ck_assert_int_eq(gpreempt_policy_add(&p, GPREEMPT_ROLE_OFFLINE, 1, 0,
					     0), -ENOSPC);
	gpreempt_policy_remove(&p, 7);
	ck_assert_int_eq(gpreempt_policy_add(&p, GPREEMPT_ROLE_OFFLINE, 1,
					     GPREEMPT_POLICY_PARTIES, 0), 7);
	ck_assert_int_eq(gpreempt_policy_add(&p, GPREEMPT_ROLE_NONE, 1, 0, 0),
			 -EINVAL);
	ck_assert_int_eq(gpreempt_policy_add(&p, GPREEMPT_ROLE_OFFLINE, 1,
					     GPREEMPT_POLICY_PARTIES + 1, 0),
			 -EINVAL);
	ck_assert_str_eq(gpreempt_policy_reason_name(GPREEMPT_POLICY_REASONS),
			 "-");
}
END_TEST

START_TEST(bad_figures)
{
	struct gpreempt_policy_options o = figures();

#define REFUSED(field, value) do {					\
	o = figures();							\
	o.field = (value);						\
	ck_assert_int_eq(gpreempt_policy_init(&p, &o, 0), -EINVAL);	\
} while (0)
	REFUSED(size, 1);
	REFUSED(share, 91);
	REFUSED(duty, 100);
	REFUSED(duty, 30);	/* of no period */
	REFUSED(max_hold_ns, 0);
	REFUSED(max_hold_ns, UINT64_MAX);
	REFUSED(linger_ns, UINT64_MAX);
	REFUSED(min_run_ns, UINT64_MAX);
	o = figures();
	o.duty = 30;
	o.period_ns = o.max_hold_ns + 1;
	ck_assert_int_eq(gpreempt_policy_init(&p, &o, 0), -EINVAL);
	o.period_ns = o.max_hold_ns;
	ck_assert_int_eq(gpreempt_policy_init(&p, &o, 0), 0);
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_test(tc, arrival_and_linger);
	tcase_add_test(tc, no_linger);
	tcase_add_test(tc, share_of_busy_online);
	tcase_add_test(tc, share_of_many_short_holds);
	tcase_add_test(tc, min_run);
	tcase_add_test(tc, nothing_owed);
	tcase_add_test(tc, only_where_shared);
	tcase_add_test(tc, gang);
	tcase_add_test(tc, duty);
	tcase_add_test(tc, requests);
	tcase_add_test(tc, release);
	tcase_add_test(tc, failures);
	tcase_add_test(tc, clock_goes_back);
	tcase_add_test(tc, tiny_steps);
	tcase_add_test(tc, places);
	tcase_add_test(tc, bad_figures);
	return unit_run("policy");
}
