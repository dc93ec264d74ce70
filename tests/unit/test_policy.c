// SPDX-License-Identifier: GPL-2.0-only
/*
 * Policy of the scheduler: which entity runs, and when; requests, failures, clocks, bad
 * figures. By tables: its input at a time in milliseconds, and the answer that is expected.
 */
#include <math.h>
#include <stdlib.h>

#include <gpreempt/policy.h>

#include "lib/preempt/policy.h"
#include "unit.h"

#define MS    NSEC_PER_MSEC
#define NEVER GPREEMPT_POLICY_NEVER

enum what {
	STEP, /* nothing else happens */
	BUSY,
	IDLE,
	BEGIN,
	END,
	RELEASE, /* until value; -1: for good */
	FAILED,	 /* again at value */
	RAN,	 /* for value, although it was to be held */
	NODES,
	NO_WORK,
	CROWDED, /* on the nodes of value */
	ADD_ON,
	ADD_OFF,
	ADD_JOB, /* offline, of job 1 */
	REMOVE,
};

/*
 * A line of a table: what happens, and what a step then answers, or NULL: there is
 * none. A word for each entity: its letter (a is 0), "-" or "+" for suspend and
 * resume, and the reason's first letter; then the next wake-up in ms, or "never".
 */
struct line {
	double ms;
	enum what what;
	int entity;
	int value;
	const char *want;
};

#define RUN_BARE(options, lines) run_table(options, false, lines, ARRAY_SIZE(lines))
#define RUN_WITH(options, lines) run_table(options, true, lines, ARRAY_SIZE(lines))
#define RUN(lines)		 RUN_WITH(NULL, lines)

/* The policy under test. */
static struct gpreempt_policy *p;

/* Tenants: one that is online, a gang, and one for each other offline entity, by its number. */
#define ONLINE 100
#define GANG   101

static struct gpreempt_policy_options figures(void)
{
	return (struct gpreempt_policy_options){
		.size = sizeof(struct gpreempt_policy_options),
		.linger_ns = 2 * MS,
		.slice_ns = 50 * MS,
		.period_ns = 100 * MS,
		.window_ns = 100 * MS,
	};
}

/* A tenth for offline work. */
static struct gpreempt_policy_tenant online = {
	.size = sizeof(online),
	.role = GPREEMPT_ROLE_ONLINE,
};
#define USUAL                                                                                 \
	{                                                                                     \
		.size = sizeof(struct gpreempt_policy_tenant), .role = GPREEMPT_ROLE_OFFLINE, \
		.min = 10,                                                                    \
	}
static struct gpreempt_policy_tenant wish = USUAL;

static int add_online(uint64_t nodes)
{
	return gpreempt_policy_add(p, ONLINE, nodes);
}

static int add_offline(unsigned int tenant, uint64_t nodes)
{
	ck_assert_int_eq(gpreempt_policy_set(p, tenant, &wish), 0);
	return gpreempt_policy_add(p, tenant, nodes);
}

static int add_to_gang(uint64_t nodes)
{
	struct gpreempt_policy_tenant gang = wish;

	gang.gang = true;
	ck_assert_int_eq(gpreempt_policy_set(p, GANG, &gang), 0);
	return gpreempt_policy_add(p, GANG, nodes);
}

static void begin(const struct gpreempt_policy_options *options)
{
	gpreempt_policy_free(p);
	ck_assert_int_eq(gpreempt_policy_new(options, 0, &p), 0);
	ck_assert_int_eq(gpreempt_policy_set(p, ONLINE, &online), 0);
}

static const char *describe(const struct gpreempt_policy_action *actions, unsigned int n,
			    uint64_t wake)
{
	const char *text = "";
	unsigned int i;

	for (i = 0; i < n; i++)
		text = unit_text("%s%c%c%c ", text, 'a' + actions[i].entity,
				 actions[i].suspend ? '-' : '+',
				 *gpreempt_policy_reason_name(actions[i].reason));
	return wake == NEVER ? unit_text("%snever", text) :
			       unit_text("%s%.4g", text, (double)wake / MS);
}

static void expect_step(const struct line *line, uint64_t now, size_t number)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
	uint64_t wake;
	unsigned int n = gpreempt_policy_step(p, now, actions, &wake);
	const char *got = describe(actions, n, wake);

	ck_assert_msg(!strcmp(got, line->want), "line %zu, %.4g ms: \"%s\", not \"%s\"", number,
		      line->ms, got, line->want);
}

static void run_line(const struct line *line, uint64_t now)
{
	const struct gpreempt_policy_entity *entity;

	switch (line->what) {
	case STEP:
		break;
	case BUSY:
	case IDLE:
		gpreempt_policy_busy(p, line->entity, line->what == BUSY, now);
		break;
	case BEGIN:
	case END:
		ck_assert_int_eq(gpreempt_policy_request(p, line->entity,
							 line->what == BEGIN ? 1 : -1, now),
				 line->value);
		break;
	case RELEASE:
		gpreempt_policy_release(p, line->entity,
					line->value < 0 ? NEVER : line->value * MS);
		break;
	case FAILED:
		entity = &p->entity[line->entity];
		gp_policy_failed(p, line->entity, entity->nodes, entity->held, line->value * MS);
		break;
	case RAN:
		gp_policy_ran(p, line->entity, line->value * MS);
		break;
	case NODES:
		gp_policy_nodes(p, line->entity, line->value);
		break;
	case CROWDED:
		gp_policy_parks(p, line->entity, true, line->value);
		break;
	case NO_WORK:
		gp_policy_idle(p, line->entity, line->value, now);
		break;
	case ADD_ON:
		ck_assert_int_eq(add_online(line->value), line->entity);
		break;
	case ADD_OFF:
		ck_assert_int_eq(add_offline(line->entity, line->value), line->entity);
		break;
	case ADD_JOB:
		ck_assert_int_eq(add_to_gang(line->value), line->entity);
		break;
	case REMOVE:
		gpreempt_policy_remove(p, line->entity);
		break;
	}
}

/*
 * From the beginning; options NULL: figures(). With a pair online 0 and offline 1,
 * on node 1, are there already.
 */
static void run_table(const struct gpreempt_policy_options *options, bool pair,
		      const struct line *lines, size_t count)
{
	struct gpreempt_policy_options usual = figures();
	size_t i;

	begin(options ? options : &usual);
	if (pair) {
		add_online(1);
		add_offline(1, 1);
	}
	for (i = 0; i < count; i++) {
		uint64_t now = lines[i].ms * MS;

		run_line(&lines[i], now);
		if (lines[i].want)
			expect_step(&lines[i], now, i);
	}
	wish = (struct gpreempt_policy_tenant)USUAL;
}

/* In one slot, without a minimum. */
static void run_in_slot(const struct line *lines, size_t count)
{
	struct gpreempt_policy_options o = figures();

	o.slots = 1;
	wish.min = 0;
	run_table(&o, false, lines, count);
}

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

/* Run time of the last second counts: 100 ms of it are the share of 900 ms in which it is held. */
TEST(share_by_window)
{
	static const struct line lines[] = {
		{ 0, STEP, 0, 0, "never" },
		{ 200, BUSY, 0, 0, "b-a 1200" },
		/* 300 of 900 are left: 600 more, and 100 to the share. */
		{ 800, IDLE, 0, 0, "802" },
		{ 802, STEP, 0, 0, "b+i never" },
		{ 812, BUSY, 0, 0, "b-a 1300" },
		{ 1300, STEP, 0, 0, "b+s 1311" },
		{ 1312, STEP, 0, 0, "b-a 1420" },
		/* Time that it ran in a hold is no hold, and counts. */
		{ 1400, RAN, 1, 88, "2300" },
	};
	struct gpreempt_policy_options o = figures();

	o.window_ns = 1000 * MS;
	RUN_WITH(&o, lines);
}

/*
 * Let online be busy for three quarters of the time: 20,000 requests of 12 ms come at random, one
 * each 16 ms, so that some of its busy times are longer than 1 s. Returns how often offline ran
 * beside it to get its share. *ran_ns: how long offline ran, of *ns.
 */
static unsigned int shares_beside_busy(uint64_t window_ns, uint64_t *ran_ns, uint64_t *ns)
{
	struct gpreempt_policy_options o = figures();
	struct gpreempt_policy_action action;
	uint64_t now = 0, arrival = 0, end = 0, wake = NEVER;
	unsigned int state = 1, n = 0, shares = 0, came;
	bool held = false;

	o.period_ns = 1000 * MS;
	o.window_ns = window_ns;
	begin(&o);
	add_online(1);
	add_offline(1, 1);
	*ran_ns = 0;
	for (came = 0; came < 20000;) {
		uint64_t next = arrival < wake ? arrival : wake;

		if (end > now && end < next)
			next = end;
		*ran_ns += held ? 0 : next - now;
		now = next;
		if (now == arrival) {
			came++;
			end = (end > now ? end : now) + 12 * MS;
			arrival += -log(1 - rand_r(&state) / (RAND_MAX + 1.0)) * 16 * MS;
		}
		gpreempt_policy_busy(p, 0, now < end, now);
		n = gpreempt_policy_step(p, now, &action, &wake);
		if (n)
			held = action.suspend;
		shares += n && action.reason == GPREEMPT_POLICY_SHARE;
	}
	*ns = now;
	return shares;
}

/* Offline that has its share from the gaps of online never runs beside it. */
TEST(busy_online)
{
	uint64_t ran_ns, ns;

	ck_assert_uint_gt(shares_beside_busy(1000 * MS, &ran_ns, &ns), 0);
	ck_assert_uint_eq(shares_beside_busy(10000 * MS, &ran_ns, &ns), 0);
	ck_assert_uint_gt(10 * ran_ns, ns);
}

TEST(nothing_owed)
{
	static const struct line lines[] = {
		{ 0, BUSY, 0, 0, "b-a never" },	      { 1000000, STEP, 0, 0, "never" },
		{ 1000000, IDLE, 0, 0, NULL },	      { 1000002, STEP, 0, 0, "b+i never" },
		{ 1000003, BUSY, 0, 0, "b-a never" },
	};

	wish.min = 0;
	RUN(lines);
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
		/* The process on two GPUs is suspended on the second, too. */
		{ 2, BUSY, 0, 0, "c-a d-a 101" },
		{ 3, IDLE, 1, 0, NULL },
		{ 9, STEP, 0, 0, "d+i 102" },
		{ 10, IDLE, 0, 0, NULL },
		{ 12, STEP, 0, 0, "c+i d+i never" },
		/* A queue on another GPU, and a process that goes there. */
		{ 20, BUSY, 1, 0, "d-a 120" },
		{ 21, NODES, 4, 12, "e-a 120" },
		{ 22, NODES, 3, 2, "d+i 121" },
	};

	RUN_BARE(NULL, lines);
}

/* Offline is suspended only where it has work; where it is suspended, it stays so. */
TEST(only_with_work)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 3, NULL },
		{ 0, ADD_OFF, 1, 3, NULL },
		{ 0, ADD_JOB, 2, 1, NULL },
		{ 0, ADD_JOB, 3, 4, NULL },
		{ 0, NO_WORK, 1, 3, NULL },
		{ 0, NO_WORK, 2, 1, NULL },
		{ 1, BUSY, 0, 0, "never" },
		{ 2, NO_WORK, 1, 1, "b-a 102" },
		{ 3, NO_WORK, 1, 3, "102" },
		/* Work of one of a job is that of all. */
		{ 4, NO_WORK, 2, 0, "c-a d-a 102" },
		{ 5, IDLE, 0, 0, NULL },
		{ 7, STEP, 0, 0, "b+i c+i d+i never" },
		{ 8, BUSY, 0, 0, "b-a c-a d-a 108" },
	};

	RUN_BARE(NULL, lines);
}

/* More processes than fit: one without work makes room at once, and no arrival waits for it. */
TEST(crowded)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },	   { 0, ADD_OFF, 1, 1, NULL },
		{ 0, ADD_OFF, 2, 1, NULL },	   { 1, CROWDED, 1, 1, "never" },
		{ 2, NO_WORK, 1, 1, "b-p never" }, { 3, BUSY, 0, 0, "c-a 103" },
		{ 4, IDLE, 0, 0, NULL },	   { 6, STEP, 0, 0, "c+i never" },
		{ 7, NO_WORK, 1, 0, "b+p never" }, { 8, BUSY, 0, 0, "b-a c-a 108" },
	};

	RUN_BARE(NULL, lines);
}

/* An arrival would wait for each park: they come one after the other. */
TEST(parks_one_by_one)
{
	static const struct line lines[] = {
		{ 0, ADD_ON, 0, 1, NULL },     { 0, ADD_OFF, 1, 1, NULL },
		{ 0, ADD_OFF, 2, 1, NULL },    { 0, ADD_OFF, 3, 1, NULL },
		{ 1, CROWDED, 1, 1, "never" }, { 1, CROWDED, 2, 1, "never" },
		{ 1, CROWDED, 3, 1, "never" }, { 2, NO_WORK, 1, 1, "b-p never" },
		{ 2, NO_WORK, 2, 1, "2.5" },   { 2, NO_WORK, 3, 1, "2.5" },
		{ 2.5, STEP, 0, 0, "c-p 3" },  { 2.75, NO_WORK, 3, 0, "never" },
		{ 2.75, NO_WORK, 3, 1, "3" },  { 3, STEP, 0, 0, "d-p never" },
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

/* At most 30 % of each 50 ms. */
TEST(max)
{
	static const struct line lines[] = {
		{ 0, ADD_OFF, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 2, "15" },
		{ 15, STEP, 0, 0, "a-d b-d 50" },
		{ 50, STEP, 0, 0, "a+d b+d 65" },
		{ 65, STEP, 0, 0, "a-d b-d 100" },
		/* Time that it ran all the same counts. */
		{ 70, RAN, 1, 3, "100" },
		{ 100, STEP, 0, 0, "a+d 110" },
		{ 110, STEP, 0, 0, "b+d 115" },
		{ 112, RELEASE, 0, 116, "115" },
		{ 116, STEP, 0, 0, "a-d 125" },
		/* Without work nothing is used up. */
		{ 118, NO_WORK, 1, 2, "153.3" },
		{ 153.34, STEP, 0, 0, "a+d 168.3" },
		{ 160, NO_WORK, 1, 0, "168.3" },
	};
	struct gpreempt_policy_options o = figures();

	o.period_ns = 50 * MS;
	o.window_ns = 50 * MS;
	wish.min = 0;
	wish.max = 30;
	RUN_BARE(&o, lines);
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
	ck_assert_int_eq(gpreempt_policy_set(policy, 0, &online), 0);
	ck_assert_int_eq(gpreempt_policy_set(policy, 1, &wish), 0);
	ck_assert_int_eq(gpreempt_policy_add(policy, 0, 1), 0);
	ck_assert_int_eq(gpreempt_policy_add(policy, 1, 1), 1);
	ck_assert(!policy->entity[1].held);
	gpreempt_policy_busy(policy, 0, true, 0);
	ck_assert_uint_eq(gpreempt_policy_step(policy, 0, actions, &wake), 1);
	ck_assert_uint_eq(policy->entity[1].held, 1);
	gpreempt_policy_free(policy);
	gpreempt_policy_free(NULL);
	o.newer = 1;
	ck_assert_int_eq(gpreempt_policy_new(&o.known, 0, &policy), -E2BIG);
	o.known.size = sizeof(o.known) - 1;
	ck_assert_int_eq(gpreempt_policy_new(&o.known, 0, &policy), -EINVAL);
	o.known.size = sizeof(o.known);
	o.known.order = "none";
	ck_assert_int_eq(gpreempt_policy_new(&o.known, 0, &policy), -EINVAL);
}

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

/* Beside each other: the ratio of their weights, by slices; the forked process gains nothing. */
TEST(slots)
{
	static const struct line lines[] = {
		{ 0, ADD_OFF, 0, 1, NULL },
		{ 0, ADD_OFF, 1, 1, "b-t 50" },
		/* Another node is another matter. */
		{ 10, ADD_OFF, 2, 2, "50" },
		{ 50, STEP, 0, 0, "a-t b+t 100" },
		{ 100, STEP, 0, 0, "b-t a+t 150" },
		/* The turn of a is over, and it has no more work. */
		{ 120, NO_WORK, 0, 1, "b+t never" },
	};
	run_in_slot(lines, ARRAY_SIZE(lines));
}

/* Returns who had the only slot, a letter for each slice: tenants a, b, c of weights 1, 2, 5. */
static const char *slices(const char *order, unsigned int n)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
	static const unsigned int weight[] = { 100, 200, 500 };
	static const unsigned int rank[GPREEMPT_POLICY_TENANTS] = { 1, 0, 0 };
	struct gpreempt_policy_options o = figures();
	static char text[64];
	uint64_t now = 0, wake;
	unsigned int i, j;

	o.slots = 1;
	o.order = order && strcmp(order, "ranks") ? order : NULL;
	begin(&o);
	/* The least used goes first among those without a rank. */
	gp_policy_rank(p, order && !strcmp(order, "ranks") ? rank : NULL);
	for (i = 0; i < 3; i++) {
		wish.min = 0;
		wish.weight = weight[i];
		wish.deadline_ns = (i + 1) * 100 * MS;
		ck_assert_int_eq(add_offline(i, 1), i);
	}
	for (i = 0; i < n; i++, now = wake) {
		gpreempt_policy_step(p, now, actions, &wake);
		ck_assert_uint_eq(wake, now + 50 * MS);
		for (j = 0; j < 3 && p->entity[j].held;)
			j++;
		text[i] = 'a' + j;
	}
	text[n] = '\0';
	wish = (struct gpreempt_policy_tenant)USUAL;
	return text;
}

TEST(orders)
{
	ck_assert_str_eq(slices(NULL, 16), "abcccbccabcccbcc");
	ck_assert_str_eq(slices("priority", 8), "cccccccc");
	ck_assert_str_eq(slices("fifo", 8), "abcabcab");
	ck_assert_str_eq(slices("deadline", 8), "aaabacab");
	ck_assert_str_eq(slices("ranks", 8), "bcccbccb");
}

/* A tenant that was without work has saved nothing up: it has one slice, and then its share. */
TEST(rest_saves_nothing)
{
	static const struct line lines[] = {
		{ 0, ADD_OFF, 0, 1, "never" },	      { 1000, ADD_OFF, 1, 1, "a-t 1050" },
		{ 1050, STEP, 0, 0, "b-t a+t 1100" }, { 1100, STEP, 0, 0, "1150" },
		{ 1150, STEP, 0, 0, "a-t b+t 1200" },
	};
	run_in_slot(lines, ARRAY_SIZE(lines));
}

/* A gang takes a slot on each of its nodes, or none. */
TEST(gang_and_slots)
{
	static const struct line lines[] = {
		{ 0, ADD_JOB, 0, 1, NULL },
		{ 0, ADD_JOB, 1, 2, NULL },
		{ 0, ADD_OFF, 2, 1, "c-t 50" },
		{ 50, STEP, 0, 0, "a-t b-t c+t 100" },
		{ 100, STEP, 0, 0, "c-t a+t b+t 150" },
	};
	run_in_slot(lines, ARRAY_SIZE(lines));
}

/*
 * A gap of online is given away only when coming back is paid for: 0.5 ms cost 50 ms at 1 %. It is
 * at the beginning of a gap, or of one that has become long.
 */
TEST(cost)
{
	static const struct line lines[] = {
		{ 0, STEP, 0, 0, "never" },	  { 50, BUSY, 0, 0, "b-a never" },
		{ 60, IDLE, 0, 0, "62" },	  { 62, STEP, 0, 0, "80" },
		{ 80, STEP, 0, 0, "100" },	  { 99, STEP, 0, 0, "100" },
		{ 100, STEP, 0, 0, "b+i never" }, { 101, BUSY, 0, 0, "b-a never" },
		{ 141, IDLE, 0, 0, "143" },	  { 143, STEP, 0, 0, "150" },
		{ 150, STEP, 0, 0, "161" },	  { 151, BUSY, 0, 0, "never" },
		{ 152, IDLE, 0, 0, "154" },	  { 154, STEP, 0, 0, "b+i never" },
		{ 155, BUSY, 0, 0, "b-a never" }, { 195, IDLE, 0, 0, "197" },
		{ 197, STEP, 0, 0, "200" },	  { 201, STEP, 0, 0, "215" },
		{ 214, STEP, 0, 0, "215" },	  { 215, STEP, 0, 0, "b+i never" },
	};

	wish.min = 0;
	online.cost = 10;
	RUN(lines);
	online.cost = 0;
}

/* A gap that begins when the clock does is one as any other. */
TEST(idle_at_0)
{
	static const struct line lines[] = {
		{ 0, BUSY, 0, 0, "b-a 100" },
		{ 0, IDLE, 0, 0, NULL },
		{ 2, STEP, 0, 0, "b+i never" },
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

	o.period_ns = 100;
	o.window_ns = 100;
	begin(&o);
	add_online(1);
	wish.min = 90;
	add_offline(1, 1);
	gpreempt_policy_busy(p, 0, true, 0);
	ck_assert_uint_eq(gpreempt_policy_step(p, 0, actions, &wake), 1);
	ck_assert_uint_eq(gpreempt_policy_step(p, 100, actions, &wake), 1);
	/* Due are 900 ns. */
	for (now = 101; now < 1000; now++)
		ck_assert_uint_eq(gpreempt_policy_step(p, now, actions, &wake), 0);
	ck_assert_uint_eq(gpreempt_policy_step(p, 1000, actions, &wake), 1);
}

TEST(places)
{
	struct gpreempt_policy_options o = figures();
	int i;

	begin(&o);
	for (i = 0; i < GPREEMPT_POLICY_ENTITIES; i++)
		ck_assert_int_eq(add_online(1), i);
	ck_assert_int_eq(add_offline(0, 1), -ENOSPC);
	gpreempt_policy_remove(p, 7);
	ck_assert_int_eq(gpreempt_policy_add(p, 1, 1), -EINVAL);
	ck_assert_int_eq(gpreempt_policy_add(p, GPREEMPT_POLICY_TENANTS, 1), -EINVAL);
	ck_assert_int_eq(add_offline(0, 1), 7);
	ck_assert_str_eq(gpreempt_policy_reason_name(GPREEMPT_POLICY_REASONS), "-");
}

TEST(bad_figures)
{
	struct gpreempt_policy_options o = figures();
	struct gpreempt_policy_tenant t = USUAL;

#define REFUSED(field, value)                                              \
	do {                                                               \
		o = figures();                                             \
		o.field = (value);                                         \
		ck_assert_int_eq(gpreempt_policy_new(&o, 0, &p), -EINVAL); \
	} while (0)
#define NO_TENANT(of, field, value)                                       \
	do {                                                              \
		t = (of);                                                 \
		t.field = (value);                                        \
		ck_assert_int_eq(gpreempt_policy_set(p, 5, &t), -EINVAL); \
	} while (0)
	REFUSED(size, 1);
	REFUSED(period_ns, 99);
	REFUSED(linger_ns, UINT64_MAX);
	REFUSED(slice_ns, UINT64_MAX);
	REFUSED(park_ns, UINT64_MAX);
	REFUSED(window_ns, 100 * MS - 1);
	REFUSED(window_ns, UINT64_MAX);
	REFUSED(order, "");
	o = figures();
	begin(&o);
	NO_TENANT(wish, size, 1);
	NO_TENANT(wish, role, GPREEMPT_ROLE_OFFLINE + 1);
	NO_TENANT(wish, weight, 10001);
	NO_TENANT(wish, min, 91);
	NO_TENANT(wish, max, 101);
	NO_TENANT(wish, max, 9);
	NO_TENANT(wish, cost, 1);
	NO_TENANT(online, cost, 1001);
	NO_TENANT(online, min, 1);
	NO_TENANT(online, max, 50);
	NO_TENANT(online, gang, true);
	ck_assert_int_eq(gpreempt_policy_set(p, GPREEMPT_POLICY_TENANTS, &wish), -EINVAL);
	ck_assert_int_eq(add_offline(5, 1), 0);
	ck_assert_int_eq(gpreempt_policy_set(p, 5, &online), -EBUSY);
}
