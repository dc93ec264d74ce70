// SPDX-License-Identifier: GPL-2.0-only
/* monitor and preempt as commands, over a made-up process. */
#include <sys/ptrace.h>

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
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	unit_teardown();
}

#define VIEW_HEAD                          \
	"gpreempt-queues - version: 1.0\n" \
	"# qid gpu_id active slots suspended evicted priority\n"

static const char view[] = VIEW_HEAD "0 0xf7bc 1 4 0 0 7\n1 0xf7bc 2 4 0 0 3\n";
static const char one_queue[] = VIEW_HEAD "0 0xf7bc 0 4 1 0 7\n";
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

TEST(monitor_text)
{
	set_view(child, view);
	CTL(0, "monitor %d --interval 5ms --duration 12ms --priority <=5", child);
	ck_assert(!strncmp(ctl_out, "# t_s\tpid\tqueues\tactive\tslots\t", 30));
	OUT_HAS("\t1\t2\t4\t0\t0\t1\n");
	OUT_HAS("#   queues mean 1.0 min 1 max 1 stable\n");
	OUT_HAS("#   active slots mean 2.0 min 2 max 2 stable\n");
	OUT_HAS("#   queue 1 in ");
	CTL(0, "monitor %d --interval 5ms --duration 12ms --csv", child);
	ck_assert_ptr_null(strchr(ctl_out, '#'));
	expect_fixture_head("monitor.csv", ctl_out, 1);
	OUT_HAS("\"0,1\"\n");
	ERR_HAS(" missed\n");
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

/* Another start time is another process. */
TEST(monitor_ended)
{
	set_view(child, view);
	kill(child, SIGKILL);
	CTL(0, "monitor %d --interval 5ms --duration 5s", child);
	ERR_HAS("has ended");
	OUT_HAS("; it has ended\n");
}

TEST(monitor_refused)
{
	CTL(GPREEMPT_CLASS_USAGE, "monitor %d --interval 0s", child);
	ERR_HAS("--interval 0 would never wait");
	CTL(GPREEMPT_CLASS_NO_TARGET, "monitor 4194303 --duration 5ms");
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

TEST(preempt_text)
{
	gp_loop_add_queue(&loop, 0);
	set_view(child, one_queue);
	CTL(0, "preempt %d --count 2 --hold 1ms --interval 1ms --verbose", child);
	OUT_HAS("cycle 2: 1 of 1 queues");
	OUT_HAS("cycles 2 succeeded 2 rate 100.0%");
	CTL(0, "preempt %d --count 2 --interval 1ms -- true", child);
	OUT_HAS("online_us n=2 ");
	CTL(GPREEMPT_CLASS_FAILED,
	    "preempt %d --count 2 --interval 1ms -- tests/unit/fixtures/exit 3", child);
	ERR_HAS("ended with status 3 in cycle 1");
	OUT_HAS("cycles 1 succeeded 1");
	CTL(GPREEMPT_CLASS_FAILED, "preempt %d --count 2 -- /no/such/program", child);
	ERR_HAS("starting the online command");
	ck_assert(!gp_loop_queue(&loop, 0)->suspended);
}

TEST(preempt_refused)
{
	gp_loop_add_queue(&loop, 0);
	CTL(GPREEMPT_CLASS_FAILED, "preempt %d --samples /no/such/file", child);
	ERR_HAS("opening the file of samples");
	loop.kfd = false;
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "preempt %d --count 2", child);
	ck_assert(!loop.debugged);
}

/*
 * Another process on the same GPU
 */

static const char header[] = "gpreempt-processes - version: 1.0\n"
			     "# pid ns_pid comm gpus queues aql pm4 sdma xgmi active slots "
			     "suspended evicted debugged age_ms\n";

static unsigned int looks_at_other(void)
{
	return gp_loop_reads(&loop, "/sys/kernel/debug/gpreempt/pid/77/queues");
}

/*
 * A suspend takes its queue off until that was seen; there is no test of how long it was.
 */
static void take_off(struct gp_loop *l, const char *call)
{
	unsigned int looks;

	(void)l;
	if (strcmp(call, "suspend"))
		return;
	set_view(77, VIEW_HEAD "5 0xf7bc 0 4 0 0 7\n");
	looks = looks_at_other();
	/* The second one begins when what the first one saw is noted. */
	UNIT_WAIT(looks_at_other() > looks + 1);
	set_view(77, VIEW_HEAD "5 0xf7bc 4 4 0 0 7\n");
	looks = looks_at_other();
	/* The last one: it is noted after the suspend. */
	UNIT_WAIT(looks_at_other() > looks);
}

static void add_other(const char *gpu)
{
	set_file("/sys/kernel/debug/gpreempt/version",
		 "gpreempt-version - version: 1.1\n# key value\n"
		 "module 0.1.0\n");
	set_file("/sys/kernel/debug/gpreempt/processes",
		 unit_text("%s%d - job 1 1 1 0 0 0 1 4 0 0 0 0\n"
			   "77 - job\\033two 1 1 1 0 0 0 1 4 0 0 0 0\n",
			   header, child));
	set_view(77, unit_text(VIEW_HEAD "5 %s 4 4 0 0 7\n", gpu));
	set_view(child, one_queue);
	gp_loop_add_queue(&loop, 0);
}

TEST(disturbed)
{
	add_other("0xf7bc");
	loop.before = take_off;
	CTL(0, "preempt %d --count 5 --hold 1ms --interval 1ms --json", child);
	expect_rows("disturbed", 1);
	expect_number("disturbed.0.pid", 77);
	/* A name that a process has chosen does no harm to a terminal. */
	ck_assert_ptr_null(strchr(json_text("disturbed.0.comm"), '\033'));
	expect_number("disturbed.0.suspend_us.calls", 5);
	ck_assert_str_ne(json_text("disturbed.0.suspend_us.n"), "0");
	expect_number("disturbed.0.resume_us.calls", 5);
	expect_number("disturbed.0.resume_us.n", 0);
}

TEST(disturbed_text)
{
	add_other("0xf7bc");
	CTL(0, "preempt %d --count 2 --hold 1ms --interval 1ms", child);
	OUT_HAS("disturbed 1 other process on these GPUs\n"
		"disturbed_us pid=77 comm=");
	OUT_HAS(" by=suspend calls=2 seen=0 ");
	OUT_HAS(" by=resume calls=2 seen=0 ");
}

/* On another GPU it is not disturbed. */
TEST(not_disturbed)
{
	add_other("0x1234");
	CTL(0, "preempt %d --count 2 --hold 1ms --interval 1ms", child);
	OUT_HAS("disturbed 0 other processes on these GPUs\n");
}

/* The process ends in the second cycle: its tracer learns it first. */
static void end_at_second_suspend(struct gp_loop *l, const char *call)
{
	static int n;

	if (!strcmp(call, "suspend") && ++n == 2)
		gp_loop_stop(l, PTRACE_EVENT_EXIT << 16 | SIGTRAP << 8 | 0x7f);
}

TEST(preempt_target_ends)
{
	gp_loop_add_queue(&loop, 0);
	set_view(child, one_queue);
	loop.before = end_at_second_suspend;
	CTL(GPREEMPT_CLASS_NO_TARGET, "preempt %d --count 50 --hold 5ms --interval 5ms", child);
	ERR_HAS("has ended");
	OUT_HAS("cycles 2 ");
	ck_assert(!gp_loop_queue(&loop, 0)->suspended);
}

TEST_FIXTURE(setup, teardown)
