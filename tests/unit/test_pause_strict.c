// SPDX-License-Identifier: GPL-2.0-only
/* A pause under a driver whose unpause crashes where an address space is missing. */
#include "lib/preempt/pause.h"
#include "unit-pausable.h"

#define NODES	   "/sys/class/kfd/kfd/topology/nodes/"
#define VIEW	   "/sys/kernel/debug/gpreempt/"
#define GPUS	   VIEW "pid/4194242/gpus"
#define GPUS_HEAD  "gpreempt-gpus - version: 1.1\n# gpu_id vm context\n"
#define LIST(text) "gpreempt-processes - version: 1.1\n# pid age_ms paused\n" text "\n"

static struct gp_pause_report report;
static struct gpreempt_error err;

static void show(const char *process)
{
	set_file(VIEW "processes", process);
}

/* Make the module's text follow the driver. */
static void follow(struct gp_loop *l, const char *call)
{
	(void)l;
	if (!strcmp(call, "pause"))
		show(LIST("4194242 0 1"));
	if (!strcmp(call, "unpause"))
		show(LIST("4194242 0 0"));
}

static void setup(void)
{
	unit_setup();
	unit_open_kfd(PID);
	set_file(NODES, "0\n1");
	set_file(NODES "0/gpu_id", "0\n");
	set_file(NODES "1/gpu_id", "63420\n");
	set_file(NODES "1/properties", "capability 0\n");
	set_file(GPUS, GPUS_HEAD "0xf7bc 1 -\n");
	show(LIST("4194242 0 0"));
	loop.before = follow;
	loop.pause_counts = true;
}

static int pause_it(void)
{
	return gp_pause(g, PID, 777, NULL, &report, &err);
}

static int unpause_it(void)
{
	return gp_unpause(g, PID, 777, &report, &err);
}

/* The driver got no operation, and the process no tracer. */
static void expect_untouched(void)
{
	ck_assert_ptr_null(strstr(loop.trace, "seize"));
	ck_assert_ptr_null(strstr(loop.trace, "pause"));
}

TEST(pauses_and_unpauses)
{
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_ptr_null(strstr(loop.trace, "unpause"));
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(report.before, GP_PAUSED_NO);
	ck_assert_int_eq(report.after, GP_PAUSED_YES);
	ck_assert_uint_eq(report.contexts, 1);
	ck_assert_uint_gt(report.ioctl_ns, 0);
	ck_assert_int_eq(unpause_it(), 0);
	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_int_eq(report.before, GP_PAUSED_YES);
	ck_assert_int_eq(report.after, GP_PAUSED_NO);
}

/* A process that is paused already is left alone. */
TEST(second_time)
{
	ck_assert_int_eq(pause_it(), 0);
	unit_clear_trace();
	ck_assert_int_eq(pause_it(), 0);
	expect_untouched();
	ck_assert_int_eq(report.before, GP_PAUSED_YES);
	ck_assert_int_eq(report.after, GP_PAUSED_YES);
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(unpause_it(), 0);
	unit_clear_trace();
	ck_assert_int_eq(unpause_it(), 0);
	expect_untouched();
	ck_assert_int_eq(report.before, GP_PAUSED_NO);
}

static const struct {
	const char *path, *text;
	enum gpreempt_reason reason;
} refused[] = {
	{ GPUS, NULL, GPREEMPT_PAUSE_UNSAFE },
	{ GPUS, GPUS_HEAD, GPREEMPT_PAUSE_UNSAFE },
	{ GPUS, GPUS_HEAD "0xf7bc 0 -\n", GPREEMPT_NO_ADDRESS_SPACE },
	{ GPUS, GPUS_HEAD "0xf7bc 1 -\n0x1 0 -\n", GPREEMPT_NO_ADDRESS_SPACE },
	{ GPUS, GPUS_HEAD "0xf7bc - -\n", GPREEMPT_NO_ADDRESS_SPACE },
	{ VIEW "processes", NULL, GPREEMPT_PAUSE_UNSAFE },
	{ VIEW "processes", LIST("77 0 0"), GPREEMPT_PAUSE_UNSAFE },
	{ VIEW "processes", LIST("4194242 0 -"), GPREEMPT_PAUSE_UNSAFE },
	{ VIEW "processes", LIST("4194242 40 0"), GPREEMPT_PAUSE_UNSAFE },
};

TEST_EACH(is_refused, ARRAY_SIZE(refused))
{
	unit_clear_trace();
	set_file(refused[_i].path, refused[_i].text);
	ck_assert_int_eq(pause_it(), -EOPNOTSUPP);
	ck_assert_int_eq(err.reason, refused[_i].reason);
	ck_assert_int_eq(gpreempt_error_class(&err), GPREEMPT_CLASS_UNSUPPORTED);
	ck_assert_int_eq(gp_pause_check(g, PID, &err), -EOPNOTSUPP);
	ck_assert_int_eq(err.reason, refused[_i].reason);
	/* A paused process is not resumed either. */
	ck_assert_int_eq(unpause_it(), -EOPNOTSUPP);
	expect_untouched();
}

/* Other drivers need no check: one that checks itself, and one that runs the queues itself. */
TEST_EACH(which_drivers, 2)
{
	static const char *const policies[] = { "0\n", "2\n" };

	set_file(NODES "1/properties", "capability 32768\n");
	set_file("/sys/module/amdgpu/parameters/sched_policy", policies[_i]);
	set_file(GPUS, GPUS_HEAD "0xf7bc 0 -\n");
	ck_assert_int_eq(pause_it(), _i ? -EOPNOTSUPP : 0);
	ck_assert_int_eq(loop.evicted, !_i);
}

/* The descriptor belongs to the program before exec(): its queues are never resumed. */
TEST(of_an_earlier_program)
{
	loop.before = NULL;
	ck_assert_int_eq(pause_it(), -EOPNOTSUPP);
	ck_assert_int_eq(err.reason, GPREEMPT_PAUSE_UNSAFE);
	ck_assert_ptr_nonnull(strstr(err.step, "program"));
	ck_assert_int_eq(report.before, GP_PAUSED_NO);
	ck_assert_int_eq(report.after, GP_PAUSED_UNKNOWN);
	ck_assert_int_eq(unpause_it(), 0);
	ck_assert_ptr_null(strstr(loop.trace, "unpause"));
}

/* One descriptor is enough; those of the parent, and those that are not paused, are passed over. */
TEST(several_descriptors)
{
	set_file("/proc/4194242/fd/0", "511");
	loop.foreign = 1;
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_int_eq(loop.evicted, 1);
	gp_loop_fail(&loop, "unpause", 1, -EINVAL);
	unit_clear_trace();
	ck_assert_int_eq(unpause_it(), 0);
	ck_assert_ptr_nonnull(strstr(loop.trace, "unpause device take seize unpause"));
	ck_assert_int_eq(loop.evicted, 0);
}

TEST(driver_fails)
{
	gp_loop_fail(&loop, "pause", 0, -ENOMEM);
	ck_assert_int_eq(pause_it(), -ENOMEM);
	ck_assert_int_eq(err.reason, GPREEMPT_PAUSE_FAILED);
	ck_assert_ptr_null(strstr(loop.trace, "unpause"));
	loop.foreign = 7;
	show(LIST("4194242 0 0"));
	ck_assert_int_eq(pause_it(), -ENXIO);
	ck_assert_uint_eq(report.foreign, 1);
}

TEST_FIXTURE(setup, unit_teardown)
