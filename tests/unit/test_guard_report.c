// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of guard: figures as text and JSON, samples, events of workers; and the time in
 * which queues of an offline process ran although it was to be suspended.
 */
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "cli/table.h"
#include "fake/guard.h"
#include "lib/preempt/policy.h"
#include "unit-ctl.h"
#include "unit-host.h"

/* Three preemptions; the slots of one were not watched. */
static void set_figures(void)
{
	static const struct guard_sample samples[] = {
		{ { 1000, 11000, 6000 } },
		{ { 2000, 12000, GPREEMPT_UNKNOWN } },
		{ { 3000, 93000, 8000 } },
	};

	size_t i;

	for (i = 0; i < ARRAY_SIZE(samples); i++)
		guard_add_sample(&guard.figures, &samples[i]);
	ck_assert_ptr_nonnull(guard.figures.sample);
	guard.figures.suspends = 4;
	guard.figures.failures = 2;
	guard.figures.resumes[GPREEMPT_POLICY_IDLE] = 3;
	guard.figures.resumes[GPREEMPT_POLICY_SHARE] = 1;
	guard.figures.gone.held_ns = 3 * NSEC_PER_SEC;
	guard.figures.gone.kept_ns = 4 * NSEC_PER_SEC;
	guard.figures.gone.unseen = 5;
	/* The poller took 1 % of the 100 s that guard has run. */
	guard.figures.start_ns = shr_now_ns() - 100 * NSEC_PER_SEC;
	atomic_store(&guard.poll_cpu_ns, NSEC_PER_SEC);
}

TEST(text)
{
	set_figures();
	guard_summary(&guard);
	ck_assert_uint_eq(printed("preemptions 4 failures 2\n"), 1);
	ck_assert_uint_eq(printed("resumed idle 3 share 1 duty 0\n"), 1);
	ck_assert_uint_eq(printed("arrival_to_ioctl_us n=3 p50=2.0 "), 1);
	ck_assert_uint_eq(printed("arrival_to_suspended_us n=3 p50=12.0 "), 1);
	ck_assert_uint_eq(printed("max=93.0\n"), 1);
	ck_assert_uint_eq(printed("arrival_to_slots_us n=2 "), 1);
	ck_assert_uint_eq(printed("held_s 3.000 of 4.000\n"), 1);
	ck_assert_uint_eq(printed("unseen_queues 5\n"), 1);
	ck_assert_uint_eq(printed("offline_share_percent 25.0\n"), 1);
	ck_assert_uint_eq(printed("simulated"), 0);
}

TEST(nothing_yet)
{
	guard_summary(&guard);
	ck_assert_uint_eq(printed("preemptions 0 failures 0\n"), 1);
	ck_assert_uint_eq(printed("arrival_to_ioctl_us n=0 p50=- p99=- "
				  "max=-\n"),
			  1);
	ck_assert_uint_eq(printed("offline_share_percent 100.0\n"), 1);
	/* The live line is for terminals, which this is not. */
	forget_printed();
	guard_live(&guard);
	ck_assert_str_eq(output(), "");
}

TEST(as_json)
{
	name_online("comm:serve");
	args.json = 1;
	set_figures();
	guard_summary(&guard);
	read_json(output());
	expect_text("event", "summary");
	expect_number("preemptions", 4);
	expect_number("failures", 2);
	expect_number("arrival_to_slots_us.n", 2);
	expect_number("arrival_to_suspended_us.max", 93);
	expect_number("held_us", 3000000);
	expect_number("offline_share_percent", 25);
	expect_number("unseen_queues", 5);
	ck_assert_double_eq_tol(json_object_get_double(json_at("poll_cpu_ms_per_s")), 10, 1);
}

/* A line that must be there once. */
static void expect_metric(const char *text, const char *line)
{
	ck_assert_msg(unit_count(text, line) == 1, "%s in %s", line, text);
}

/* Cut what every host has of its own: its name, and with the values the numbers. */
static void cut_own(char *text, bool values)
{
	char *at, *end, *to = text;

	unit_drop_hostnames(text);
	for (at = text; values && *at; at = end + 1) {
		end = strchr(at, '\n');
		while (*at == '#' ? at < end : *at != ' ' || memchr(at + 1, ' ', end - at - 1))
			*to++ = *at++;
		*to++ = '\n';
	}
	if (values)
		*to = '\0';
}

TEST(metrics)
{
	char text[16384] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	set_figures();
	guard.options = &(struct guard_options){ .metrics = "/srv/a.prom" };
	guard.n_online = 1;
	ck_assert_int_eq(guard_print_metrics(&guard, f), 0);
	guard.n_online = 0;
	fclose(f);
	cut_own(text, false);
#define NAME "\ngpreempt_guard_"
	expect_metric(text, NAME "preemptions_total{guard=\"a\"} 4\n");
	expect_metric(text, NAME "failures_total{guard=\"a\"} 2\n");
	expect_metric(text, NAME "held_seconds_total{guard=\"a\"} 3\n");
	expect_metric(text, NAME "offline_share_ratio{guard=\"a\"} 0.25\n");
	expect_metric(text, NAME "poll_cpu_seconds_total{guard=\"a\"} 1\n");
	expect_metric(text, NAME "targets{guard=\"a\",role=\"online\"} 1\n");
	expect_metric(text, NAME "targets{guard=\"a\",role=\"offline\"} 0\n");
#define TIMES NAME "arrival_to_"
	expect_metric(text, TIMES "ioctl_seconds_sum{guard=\"a\"} 0.000006\n");
	expect_metric(text, TIMES "suspended_seconds_bucket{guard=\"a\",le=\"5e-05\"} 2\n");
	expect_metric(text, TIMES "suspended_seconds_bucket{guard=\"a\",le=\"0.0001\"} 3\n");
	expect_metric(text, TIMES "suspended_seconds_sum{guard=\"a\"} 0.000116\n");
	expect_metric(text, TIMES "suspended_seconds_count{guard=\"a\"} 3\n");
	/* The slots were not watched in one of the three suspends. */
	expect_metric(text, TIMES "slots_seconds_bucket{guard=\"a\",le=\"+Inf\"} 2\n");
	expect_metric(text, TIMES "slots_seconds_count{guard=\"a\"} 2\n");
}

/* The page of report is tested with what guard prints today. */
TEST(page_file)
{
	char text[16384] = "", *fixture = strdup(unit_file("tests/report/fixtures/guard.prom"));
	FILE *f = fmemopen(text, sizeof(text), "w");

	name_online("comm:serve");
	name_offline("comm:train");
	guard.options = &(struct guard_options){ .metrics = "/srv/guard.prom" };
	ck_assert_int_eq(guard_print_metrics(&guard, f), 0);
	fclose(f);
	cut_own(text, true);
	cut_own(fixture, true);
	ck_assert_str_eq(fixture, text);
	free(fixture);
}

/* Write the text for Prometheus, for "make check-metrics", which names a directory. */
TEST_EACH(file, getenv("METRICS_DIR") ? 2 : 0)
{
	const char *path = unit_text("%s/%s.prom", getenv("METRICS_DIR"), _i ? "other" : "guard");
	struct guard_options named = *guard.options;
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	set_figures();
	named.metrics = path;
	guard.options = &named;
	ck_assert_int_eq(guard_print_metrics(&guard, f), 0);
	fclose(f);
}

TEST(samples)
{
	char buf[4096] = "";
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	set_figures();
	guard_print_samples(&guard, f);
	fclose(f);
	ck_assert_str_eq(buf, "# arrival_to_ioctl_ns\tarrival_to_suspended_ns\t"
			      "arrival_to_slots_ns\n1000\t11000\t6000\n"
			      "2000\t12000\t-\n3000\t93000\t8000\n");
	expect_fixture_head("guard.samples", buf, 1);
}

/* The last GUARD_SAMPLES of them, the oldest first. */
TEST(many_samples)
{
	char *text = NULL, *line;
	size_t size;
	FILE *f;

	set_figures();
	guard.figures.sample[2].ns[GUARD_TO_IOCTL] = 777;
	guard.figures.samples = GUARD_SAMPLES + 2;
	f = open_memstream(&text, &size);
	guard_print_samples(&guard, f);
	fclose(f);
	ck_assert_uint_eq(unit_count(text, "\n"), GUARD_SAMPLES + 1);
	line = strchr(text, '\n') + 1;
	ck_assert_int_eq(strncmp(line, "777\t", 4), 0);
	ck_assert_str_eq(text + size - strlen("2000\t12000\t-\n"), "2000\t12000\t-\n");
	free(text);
}

/* Results of a worker as events. */
TEST(switches)
{
	struct guard_worker w = {
		.channel = guard_channel_map(sizeof(*w.channel)),
	};
	struct guard_result result = {
		.pid = 200,
		.suspend = true,
		.reason = GPREEMPT_POLICY_ARRIVAL,
		.arrival_ns = 1000,
		.start_ns = 3000,
		.end_ns = 8000,
		.slots_ns = 4000,
		.requested = 3,
		.done = 2,
	};

	ck_assert(guard_channel_give(w.channel, &result));
	guard_take_from(&guard, &w);
	/* The price of an arrival is the time until its last suspend was done, and more. */
	ck_assert_uint_eq(guard.policy->delay_ns, (7 * 500000 + 7000 * 17 / 16) / 8);
	/* Print them only with --verbose, or as JSON. */
	ck_assert_str_eq(output(), "");
	args.json = 1;
	ck_assert(guard_channel_give(w.channel, &result));
	guard_take_from(&guard, &w);
	read_json(output());
	expect_text("reason", "arrival");
	expect_number("pid", 200);
	expect_number("requested", 3);
	expect_number("done", 2);
	expect_number("ioctl_us", 5);
	expect_number("arrival_to_ioctl_us", 2);
	expect_number("arrival_to_suspended_us", 7);
	expect_number("arrival_to_slots_us", 6);
	ck_assert_uint_eq(guard.figures.suspends, 2);
	/* Two suspends of one arrival are paid for together: by the one that ends last. */
	result.end_ns = 17000;
	ck_assert(guard_channel_give(w.channel, &result));
	result.end_ns = 9000;
	ck_assert(guard_channel_give(w.channel, &result));
	guard_take_from(&guard, &w);
	ck_assert_uint_eq(guard.policy->delay_ns, (7 * 500000 + 16000 * 17 / 16) / 8);
	munmap(w.channel, sizeof(*w.channel));
}

/* The live line is no longer than the terminal is wide, and events replace it. */
TEST(live)
{
	struct winsize size = { .ws_row = 20, .ws_col = 42 };
	int slave, terminal = unit_terminal_open(&slave);
	char text[512] = "";

	ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &size), 0);
	ck_assert_int_eq(dup2(slave, STDOUT_FILENO), STDOUT_FILENO);
	guard.n_online = 2;
	guard.online[1].busy = true;
	guard.n_offline = 3;
	guard.offline[2].held_since_ns = 1;
	guard.figures.suspends = 7;
	guard_live(&guard);
	guard.n_online = guard.n_offline = 0;
	/* The line is there at once, and not with the next line. */
	unit_terminal_read(terminal, text, sizeof(text), "3 held");
	guard_event(&guard, "x", 1, "something");
	unit_terminal_read(terminal, text, sizeof(text), "\n");
	ck_assert_str_eq(text, "\r\033[Konline: 1 of 2 busy; offline: 1 of "
			       "3 held\r\033[Ksomething\r\n");
	args.json = 1;
	guard_live(&guard);
	ck_assert_int_lt(read(terminal, text, sizeof(text)), 0);
	close(slave);
	close(terminal);
}

TEST_FIXTURE(guard_setup, guard_teardown)

static struct guard_offline *offline;
static struct guard_channel *c;

/* Set up a target that the policy holds on two of its three GPUs, for a second. */
static void released_setup(void)
{
	struct gpreempt_policy_entity *entity;
	int i;

	guard_setup();
	guard.figures.start_ns = shr_now_ns() - 3 * NSEC_PER_SEC;
	name_offline("comm:train");
	world_add(200, "train", "/");
	world_queues(200, QUEUES "0 0x1 compute-aql 0x8 0x10 0x40 4096\n"
				 "1 0x2 compute-aql 0x8 0x10 0x40 4096\n"
				 "2 0x3 compute-aql 0x8 0x10 0x40 4096\n");
	look_until("process 200 is offline");
	forget_printed();
	offline = &guard.offline[0];
	c = offline->worker->channel;
	entity = entity_of(0);
	/* Its tenant is charged for the time before guard saw it, which is a look at least. */
	for (i = 0; i < 3; i++) {
		int64_t *debt = &guard.policy->tenant[entity->tenant].seat[i].debt;

		ck_assert_int_le(*debt, -100 * (int64_t)GUARD_TICK_NS);
		*debt = 0;
	}
	entity->held = 3;
	offline->held_since_ns = shr_now_ns() - NSEC_PER_SEC;
}

static void released_teardown(void)
{
	guard_teardown();
	free(guard.work);
}

/* Time that it ran in a hold is charged to its tenant, where it is held; or where it was. */
TEST(share)
{
	struct gp_policy_seat *seat = guard.policy->tenant[entity_of(0)->tenant].seat;

	guard.changed = false;
	atomic_store(&c->released_ns, 50 * NSEC_PER_MSEC);
	guard_take_results(&guard);
	ck_assert(guard.changed);
	ck_assert_int_eq(seat[1].debt, -50 * 100 * (int64_t)NSEC_PER_MSEC);
	ck_assert_int_eq(seat[2].debt, 0);
	/* The same report again changes nothing. */
	guard_take_results(&guard);
	ck_assert_int_eq(seat[1].debt, -50 * 100 * (int64_t)NSEC_PER_MSEC);
	/* The time comes when all were resumed. */
	entity_of(0)->held = 0;
	atomic_store(&c->released_ns, 60 * NSEC_PER_MSEC);
	guard_take_results(&guard);
	ck_assert_int_eq(seat[2].debt, -10 * 100 * (int64_t)NSEC_PER_MSEC);
}

static double metric_of(const char *text, const char *name)
{
	const char *at = strstr(text, unit_text("\ngpreempt_guard_%s{", name));

	ck_assert_msg(at, "no %s in %s", name, text);
	return atof(strstr(at, "} ") + 2);
}

/* A counter of its own, and no part of held_seconds_total; the rest is its share. */
TEST(released_metrics)
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
	ck_assert_double_eq(metric_of(text, "released_seconds_total"), 25);
	ck_assert_double_eq(metric_of(text, "held_seconds_total"), 75);
	ck_assert_double_eq_tol(metric_of(text, "offline_share_ratio"), 125 / 200.0, 0.05);
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

TEST_FIXTURE(released_setup, released_teardown)
