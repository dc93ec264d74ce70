// SPDX-License-Identifier: GPL-2.0-only
/*
 * Time in which queues of an offline process ran although it was to be suspended:
 * it is run time in the policy's shares, the metrics and the figures, and it and too
 * much of it are events.
 */
#include "fake/guard.h"
#include "lib/preempt/policy.h"

static struct guard_offline *offline;
static struct guard_channel *c;

/* Set up a target that the policy holds on two of its three GPUs, for a second. */
static void setup(void)
{
	struct gpreempt_policy_entity *entity;
	uint64_t now;
	int i;

	guard_setup();
	name_offline("comm:train");
	world_add(200, "train", "/");
	world_queues(200, QUEUES "0 0x1 compute-aql 0x8 0x10 0x40 4096\n"
				 "1 0x2 compute-aql 0x8 0x10 0x40 4096\n"
				 "2 0x3 compute-aql 0x8 0x10 0x40 4096\n");
	look_until("process 200 is offline");
	forget_printed();
	offline = &guard.offline[0];
	c = offline->worker->channel;
	now = shr_now_ns();
	for (i = 0; i < 2; i++) {
		entity = &guard.policy->entity[offline->entity[i]];
		entity->suspended = true;
		entity->debt = 900 * NSEC_PER_MSEC;
		entity->counted = now;
	}
	guard.policy->entity[offline->entity[2]].debt = NSEC_PER_MSEC;
	guard.policy->entity[offline->entity[2]].counted = now;
	offline->want = 3;
	offline->held_since_ns = now - NSEC_PER_SEC;
}

static void teardown(void)
{
	guard_teardown();
	free(guard.work);
}

static uint64_t held(int node)
{
	return guard.policy->entity[offline->entity[node]].debt;
}

/* 50 ms of 900: these were no hold, and pay for nine times as much. */
TEST(share)
{
	guard.changed = false;
	/* The target was held in this test until now: that is counted. */
	unit_frozen_ns = shr_now_ns();
	atomic_store(&c->released_ns, 50 * NSEC_PER_MSEC);
	guard_take_results(&guard);
	ck_assert(guard.changed);
	ck_assert_uint_ge(held(0), 399 * NSEC_PER_MSEC);
	ck_assert_uint_lt(held(0), 900 * NSEC_PER_MSEC);
	ck_assert_uint_lt(held(1), 900 * NSEC_PER_MSEC);
	/* The target runs on the third GPU, and owes nothing there. */
	ck_assert_uint_eq(held(2), NSEC_PER_MSEC);
	/* The same report again changes nothing. */
	guard.policy->entity[offline->entity[0]].debt = 7;
	guard_take_results(&guard);
	ck_assert_uint_eq(held(0), 7);
	/* The time comes when all were resumed. */
	offline->want = 0;
	guard.policy->entity[offline->entity[0]].suspended = false;
	guard.policy->entity[offline->entity[0]].debt = NSEC_PER_SEC;
	guard.policy->entity[offline->entity[0]].counted = UINT64_MAX;
	atomic_store(&c->released_ns, 60 * NSEC_PER_MSEC);
	guard_take_results(&guard);
	ck_assert_uint_eq((held(0) + 500000) / NSEC_PER_MSEC, 900);
}

static double number(const char *text, const char *name)
{
	char line[64];
	const char *at;

	snprintf(line, sizeof(line), "\ngpreempt_guard_%s{", name);
	at = strstr(text, line);
	ck_assert_msg(at, "no %s in %s", name, text);
	return atof(strstr(at, "} ") + 2);
}

/* A counter of its own, and no part of held_seconds_total; the rest is its share. */
TEST(metrics)
{
	char text[16384] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	guard.figures.gone.held_ns = 100 * NSEC_PER_SEC;
	guard.figures.gone.released_ns = 20 * NSEC_PER_SEC;
	guard.figures.gone.kept_ns = 200 * NSEC_PER_SEC;
	offline->held_since_ns = 0;
	offline->since_ns = shr_now_ns();
	atomic_store(&c->released_ns, 5 * NSEC_PER_SEC);
	guard_take_results(&guard);
	ck_assert_int_eq(guard_print_metrics(&guard, f), 0);
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "\n# TYPE "
					   "gpreempt_guard_released_seconds_total counter\n"));
	ck_assert_double_eq(number(text, "released_seconds_total"), 25);
	ck_assert_double_eq(number(text, "held_seconds_total"), 75);
	ck_assert_double_eq_tol(number(text, "offline_share_ratio"), 125 / 200.0, 0.05);
	guard_summary(&guard);
	ck_assert_uint_eq(printed("held_s 75.000 of "), 1);
	ck_assert_uint_eq(printed("released_s 25.000\n"), 1);
	/* The time stays when the process is a target no more. */
	guard_drop_offline(&guard, 0);
	ck_assert_uint_eq(guard.figures.gone.released_ns, 25 * NSEC_PER_SEC);
}

/* The event is only for a reader who needs all of a timeline's lane. */
TEST(ran_event)
{
	args.json = 1;
	atomic_store(&c->released_ns, 100 * NSEC_PER_MSEC);
	guard_take_results(&guard);
	ck_assert_str_eq(output(), "");
	args.verbose = 1;
	ck_assert_int_eq(guard_work_open(&guard), 0);
	atomic_store(&c->released_ns, 300 * NSEC_PER_MSEC);
	guard_take_results(&guard);
	ck_assert_uint_eq(printed("{\"event\":\"ran\",\"t_us\":"), 1);
	ck_assert_uint_eq(printed("\"pid\":200,\"ran_us\":200000.000}\n"), 1);
}

static void churn(double recent, bool made)
{
	atomic_store(&c->recent_ns, (uint64_t)(recent * 1e9));
	atomic_store(&c->window_ns, 10 * NSEC_PER_SEC);
	atomic_store(&c->made, made);
	atomic_fetch_add(&c->churns, 1);
	guard_take_results(&guard);
}

/* The target is named; once, and again after a pause if it goes over the bound again. */
TEST(event)
{
	guard_take_results(&guard);
	ck_assert_str_eq(output(), "");
	churn(0.5, true);
	ck_assert_uint_eq(printed("process 200 makes and destroys queues while "
				  "it is held: ran 0.5 s of the last 10\n"),
			  1);
	guard_take_results(&guard);
	churn(0.6, true);
	ck_assert_uint_eq(printed("process 200"), 1);
	offline->churn_pause.until_ns = shr_now_ns();
	guard_take_results(&guard);
	ck_assert_uint_eq(printed("process 200"), 1);
	churn(0.7, false);
	ck_assert_uint_eq(printed("process 200 destroys queues while it is "
				  "held: ran 0.7 s of the last 10\n"),
			  1);
	/* Twice as long now. */
	ck_assert_uint_gt(offline->churn_pause.until_ns, shr_now_ns() + 19 * NSEC_PER_SEC);
}

TEST(event_as_json)
{
	args.json = 1;
	churn(0.5, true);
	ck_assert_uint_eq(printed("{\"event\":\"churn\","), 1);
	ck_assert_uint_eq(printed("\"pid\":200,\"text\":\"process 200 makes and "
				  "destroys queues while it is held: ran 0.5 s "
				  "of the last 10\",\"recent_us\":500000.000,"
				  "\"window_us\":10000000.000}\n"),
			  1);
}

TEST(pauses)
{
	struct shr_report_pause p = { 0 };
	uint64_t now = 5, i, ns = 10;

	for (i = 0; i < 10; i++) {
		ck_assert(shr_report_due(&p, now));
		ck_assert(!shr_report_due(&p, now + ns * NSEC_PER_SEC - 1));
		now += ns * NSEC_PER_SEC;
		ns = ns < 640 ? 2 * ns : 640;
	}
}

TEST_FIXTURE(setup, teardown)
