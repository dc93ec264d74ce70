// SPDX-License-Identifier: GPL-2.0-only
/*
 * monitor and preempt as commands, over a made-up process; output of preempt for its
 * measurements.
 */
#include "ctl/preempt.h"
#include "unit-ctl.h"
#include "unit-host.h"

static pid_t child;

/* A real process, since both commands watch for its end. */
static void setup(void)
{
	child = unit_make_sleeper();
	unit_setup_for(child);
}

static void teardown(void)
{
	unit_end(child);
	unit_teardown();
}

#define VIEW_HEAD                          \
	"gpreempt-queues - version: 1.0\n" \
	"# qid gpu_id active slots suspended evicted priority\n"

static const char view[] = VIEW_HEAD "0 0xf7bc 1 4 0 0 7\n1 0xf7bc 2 4 0 0 3\n";
static const char two_queues[] = VIEW_HEAD "0 0xf7bc 0 4 1 0 7\n1 0xf7bc 0 4 1 0 3\n";

TEST(monitor)
{
	set_view(child, view);
	CTL(0, "monitor %d --interval 5ms --duration 30ms --json", child);
	expect_number("targets.0.pid", child);
	expect_text("targets.0.source", "module");
	expect_number("targets.0.ended", 0);
	expect_number("targets.0.active.max", 3);
	expect_rows("targets.0.seen", 2);
	expect_rows("targets.0.series", json_object_get_int(json_at("targets.0.samples")));
	expect_number("targets.0.series.0.slots", 8);
}

TEST(monitor_csv)
{
	set_view(child, view);
	CTL(0, "monitor %d --interval 5ms --duration 12ms --csv", child);
	expect_fixture_head("monitor.csv", ctl_out, 1);
}

/* Its queues change, and of one the slots are not known. */
static const char *change_view(struct gp_loop *l)
{
	static unsigned int n;

	(void)l;
	return n++ % 2 ? VIEW_HEAD "9 0xf7bc - 4 0 0 7\n" :
			 VIEW_HEAD "5 0xf7bc 1 4 0 0 7\n0 0xf7bc 1 4 0 0 7\n";
}

TEST(monitor_changes)
{
	double mean;

	set_view(child, view);
	loop.view = change_view;
	CTL(0, "monitor %d --interval 1ms --duration 200ms --json", child);
	expect_number("targets.0.queues.min", 1);
	expect_number("targets.0.queues.max", 2);
	expect_number("targets.0.queues.stable", 0);
	mean = json_object_get_double(json_at("targets.0.queues.mean"));
	ck_assert(mean > 1 && mean < 2);
	/* Unknown values do not count. */
	expect_number("targets.0.active.min", 2);
	expect_number("targets.0.active.stable", 1);
	expect_rows("targets.0.seen", 3);
	expect_number("targets.0.seen.0.qid", 0);
	expect_number("targets.0.seen.1.qid", 5);
	expect_number("targets.0.seen.2.qid", 9);
	ck_assert_int_eq(json_object_get_int(json_at("targets.0.seen.0.samples")) +
				 json_object_get_int(json_at("targets.0.seen.2.samples")),
			 json_object_get_int(json_at("targets.0.samples")));
}

TEST(preempt)
{
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	set_view(child, two_queues);
	CTL(0, "preempt %d --count 3 --hold 1ms --interval 1ms --json", child);
	expect_number("cycles", 3);
	expect_number("succeeded", 3);
	expect_number("resume_ioctl_us.n", 3);
	expect_null("error");
	/* The hold never stays. */
	ck_assert(!gp_loop_queue(&loop, 0)->suspended);
	ck_assert(!gp_loop_queue(&loop, 1)->suspended);
	ck_assert(!loop.debugged);
}

/* The online command runs once in each cycle, while the target is held. */
TEST(preempt_online)
{
	gp_loop_add_queue(&loop, 0);
	set_view(child, two_queues);
	CTL(0, "preempt %d --count 2 --interval 1ms --json -- true", child);
	expect_number("succeeded", 2);
	expect_number("online_us.n", 2);
	CTL(GPREEMPT_CLASS_FAILED, "preempt %d --count 2 -- false", child);
	ERR_HAS("ended with status 1");
	CTL(GPREEMPT_CLASS_FAILED, "preempt %d --count 2 -- /no/such", child);
	ERR_HAS("cannot run /no/such: No such file");
	/* Ctrl-C while it runs: it ends, and the queues run. */
	CTL(GPREEMPT_CLASS_FAILED, "preempt %d -- sh -c 'kill -INT $PPID; exec sleep 99'", child);
	ERR_HAS("interrupted in cycle 1; the queues run");
	ck_assert(!gp_loop_queue(&loop, 0)->suspended);
	ck_assert(!loop.debugged);
}

/* The driver says that they are off, and the slots say that they are not. */
TEST(preempt_contradicted)
{
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	set_view(child, view);
	CTL(GPREEMPT_CLASS_FAILED, "preempt %d --count 2 --hold 1ms --interval 1ms --json", child);
	expect_number("succeeded", 0);
	expect_number("verified.no", 2);
	expect_number("verified.yes", 0);
	expect_number("verified_by.slots", 0);
	ERR_HAS("2 of 2 cycles did not succeed");
}

/* Another process on the GPU. A name that a process has chosen does no harm to a terminal. */
TEST(disturbed)
{
	set_file("/sys/kernel/debug/gpreempt/version",
		 "gpreempt-version - version: 1.1\n# key value\nmodule 0.1.0\n");
	set_file("/sys/kernel/debug/gpreempt/processes",
		 unit_text("gpreempt-processes - version: 1.0\n"
			   "# pid comm queues active slots suspended evicted\n"
			   "%d job 1 1 4 0 0\n77 job\\033two 1 1 4 0 0\n",
			   child));
	set_view(77, VIEW_HEAD "5 0xf7bc 4 4 0 0 7\n");
	set_view(child, two_queues);
	gp_loop_add_queue(&loop, 0);
	CTL(0, "preempt %d --count 5 --hold 1ms --interval 1ms --json", child);
	expect_rows("disturbed", 1);
	expect_number("disturbed.0.pid", 77);
	ck_assert_ptr_null(strchr(json_text("disturbed.0.comm"), '\033'));
	expect_number("disturbed.0.suspend_us.calls", 5);
}

/* Waves in flight of a queue that no slot holds. */
TEST(preempt_waves)
{
	gp_loop_add_queue(&loop, 0);
	set_view(child, "gpreempt-queues - version: 1.4\n"
			"# qid gpu_id type active slots waves\n"
			"0 0xf7bc compute-aql 0 4 3\n");
	CTL(GPREEMPT_CLASS_FAILED, "preempt %d --count 1 --hold 1ms --interval 1ms --verbose",
	    child);
	OUT_HAS("verified: no (waves in flight)");
	set_view(child, "gpreempt-queues - version: 1.4\n"
			"# qid gpu_id type active slots waves\n"
			"0 0xf7bc compute-aql 0 4 0\n");
	CTL(0, "preempt %d --count 1 --hold 1ms --interval 1ms", child);
	OUT_HAS("\nverified_by slots+waves 1 slots 0\n");
}

TEST_FIXTURE(setup, teardown)

static struct preempt_args args;
static struct preempt_target targets[2];
static struct preempt p;

static void add(struct preempt_series *s, uint64_t from, uint64_t step, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		preempt_add_sample(s, from + i * step);
}

static void figures_setup(void)
{
	targets[0].pid = 4711;
	targets[1].pid = 4712;
	p = (struct preempt){
		.args = &args,
		.targets = targets,
		.n_targets = 1,
		.cycles = 100,
		.all.succeeded = 99,
		.all.first_ns = 7500,
		.all.open_ns = 123456,
	};
	p.all.verdicts[GPREEMPT_VERIFIED] = 100;
	p.all.by_waves = 60;
	/* 1 to 99 us, the largest first. */
	add(&p.all.suspend, 99000, -1000, 99);
	add(&p.all.resume, 2000, 0, 100);
}

static void report(enum out_mode mode, const char *error)
{
	args.mode = mode;
	begin_capture();
	preempt_print_result(&p, error);
	end_capture();
	if (mode == OUT_JSON)
		expect_schema("preempt", ctl_out);
}

static void is_us(const char *path, double us)
{
	ck_assert_double_eq_tol(json_object_get_double(json_at(path)), us, 0.0001);
}

TEST(as_json)
{
	report(OUT_JSON, NULL);
	expect_number("cycles", 100);
	expect_number("succeeded", 99);
	expect_number("suspend_ioctl_us.n", 99);
	is_us("suspend_ioctl_us.min", 1);
	is_us("suspend_ioctl_us.mean", 50);
	is_us("suspend_ioctl_us.p50", 50);
	is_us("suspend_ioctl_us.p90", 90);
	is_us("suspend_ioctl_us.p99", 99);
	is_us("suspend_ioctl_us.p999", 99);
	is_us("suspend_ioctl_us.max", 99);
	is_us("resume_ioctl_us.p50", 2);
	is_us("first_suspend_us", 7.5);
	is_us("session_open_us", 123.456);
	expect_null("error");
}

/* There are no slots without the module, and no other process is seen. */
TEST(no_slots)
{
	strcpy(targets[0].why, "no runtime");
	report(OUT_JSON, "it ended");
	expect_text("targets.0.not_debug_because", "no runtime");
	expect_null("suspend_slots_us");
	expect_null("disturbed");
	expect_null("online_us");
	expect_text("error", "it ended");
	report(OUT_PIPE, NULL);
	OUT_HAS("\nsuspend_slots_us -\n");
	OUT_HAS("\ndisturbed -\n");
}

TEST(slots)
{
	add(&p.all.slots, 40000, 0, 3);
	add(&p.all.resolution, 1000, 1000, 3);
	report(OUT_JSON, NULL);
	is_us("suspend_slots_us.p50", 40);
	is_us("suspend_slots_us.resolution_us", 2);
	is_us("suspend_slots_us.resolution_max_us", 3);
}

/* The command behind "--", and how long it ran. */
TEST(online)
{
	args.command = (char *[]){ "serve", NULL };
	add(&p.online, 3000, 1000, 2);
	report(OUT_JSON, NULL);
	expect_number("online_us.n", 2);
	is_us("online_us.max", 4);
}

/* No sample is no figure, and not a figure of 0. */
TEST(no_samples)
{
	p.all.suspend.n = 0;
	p.all.first_ns = GPREEMPT_UNKNOWN;
	report(OUT_JSON, NULL);
	expect_number("suspend_ioctl_us.n", 0);
	expect_null("suspend_ioctl_us.p50");
	expect_null("first_suspend_us");
	report(OUT_PIPE, NULL);
	OUT_HAS("\nfirst_suspend_us -\n");
}

TEST(lines)
{
	static const char *const expected[] = {
		("suspend_ioctl_us n=99 min=1.0 p50=50.0 p90=90.0 p99=99.0 "
		 "p99.9=99.0 max=99.0 mean=50.0\n"),
		"\nfirst_suspend_us 7.5\n",
		"\nverified yes 100 no 0 not_checked 0\n"
		"verified_by slots+waves 60 slots 40\n",
		"\ncycles 100 succeeded 99 rate 99.0%\n",
	};
	size_t i;

	report(args.mode, NULL);
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		OUT_HAS(expected[i]);
	ck_assert_ptr_null(strstr(ctl_out, "target "));
	p.n_targets = 2;
	add(&targets[1].figures.resume, 5000, 0, 2);
	report(args.mode, NULL);
	OUT_HAS("\ntarget 4712 resume_ioctl_us n=2 min=5.0 ");
}

/* Samples have a line for each target and one for all; an unknown value is "-". */
TEST(samples)
{
	static const char expected[] =
		"gpreempt-samples - version: 1.1\n"
		"# cycle pid requested done suspend_ioctl_ns suspend_slots_ns "
		"slots_resolution_ns held_ns resume_ioctl_ns verified "
		"verified_by\n"
		"3 4711 4 4 1000 900 50 7000 2000 1 slots+waves\n"
		"3 4712 1 0 1100 - - 7000 2100 - -\n"
		"3 - 5 4 1200 - - 7000 2200 0 waves\n";
	char path[] = "/tmp/gpreempt-samples-XXXXXX";

	close(mkstemp(path));
	args.samples = path;
	p.n_targets = 2;
	p.cycles = 3;
	targets[0].now = (struct preempt_cycle){
		4, 4, 1000, 900, 50, 7000, 2000, 0, GPREEMPT_VERIFIED, GPREEMPT_BY_SLOTS_WAVES, true
	};
	targets[1].now =
		(struct preempt_cycle){ 1,    0,    1100, GPREEMPT_UNKNOWN,	GPREEMPT_UNKNOWN,
					7000, 2100, 0,	  GPREEMPT_NOT_CHECKED, GPREEMPT_BY_NOTHING,
					false };
	p.now = (struct preempt_cycle){ 5,    4,    1200, GPREEMPT_UNKNOWN,	 GPREEMPT_UNKNOWN,
					7000, 2200, 0,	  GPREEMPT_CONTRADICTED, GPREEMPT_BY_WAVES,
					false };
	ck_assert_int_eq(preempt_open_samples(&p), 0);
	preempt_put_samples(&p);
	ck_assert_int_eq(preempt_close_samples(&p), 0);
	ck_assert_str_eq(unit_file(path), expected);
	unlink(path);
	expect_fixture_head("preempt.samples", expected, 2);
}

TEST(full_disk)
{
	args.samples = "/dev/full";
	ck_assert_int_eq(preempt_open_samples(&p), 0);
	preempt_put_samples(&p);
	ck_assert_int_eq(preempt_close_samples(&p), -ENOSPC);
	args.samples = "/no/such/directory/samples";
	ck_assert_int_eq(preempt_open_samples(&p), -ENOENT);
}

TEST_FIXTURE(figures_setup, NULL)
