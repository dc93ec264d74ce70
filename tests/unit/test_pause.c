// SPDX-License-Identifier: GPL-2.0-only
/*
 * A pause without a session, under a driver that goes by the real one's rules, and under one
 * whose unpause crashes where an address space is missing.
 */
#include "lib/preempt/pause.h"
#include "unit-pausable.h"

/* The helper looks at descriptors 0 and 7, and at 9 when 7 is done. */
#define LOOKED "process " DEVICE DEVICE "take "
#define DEVICE "device "

static struct gp_pause_report report;
static struct gpreempt_error err;

static void setup(void)
{
	unit_setup();
	unit_open_kfd(PID);
}

static int pause_it(void)
{
	return gp_pause(g, PID, 777, NULL, &report, &err);
}

TEST(pauses_and_unpauses)
{
	unit_clear_trace();
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_str_eq(loop.trace, LOOKED "seize unpause pause device ");
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(report.before, GP_PAUSED_NO);
	ck_assert_int_eq(report.after, GP_PAUSED_YES);
	ck_assert_uint_eq(report.contexts, 1);
	ck_assert_uint_eq(report.foreign, 0);
	ck_assert_uint_gt(report.ioctl_ns, 0);
	ck_assert_uint_ge(report.return_ns, report.entry_ns);
	/* The process is traced without any option, least of all EXITKILL. */
	ck_assert_uint_eq(loop.seized, 0);

	unit_clear_trace();
	ck_assert_int_eq(gp_unpause(g, PID, 777, &report, &err), 0);
	ck_assert_str_eq(loop.trace, "process take seize unpause " DEVICE DEVICE DEVICE);
	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_int_eq(report.before, GP_PAUSED_YES);
	ck_assert_int_eq(report.after, GP_PAUSED_NO);
}

static void pause_and_unpause(void)
{
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_int_eq(gp_unpause(g, PID, 777, &report, &err), 0);
	unit_clear_trace();
}

/* The second time the search for descriptors comes after the pause. */
TEST(remembers_the_descriptor)
{
	pause_and_unpause();
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_str_eq(loop.trace, "process take seize unpause pause " DEVICE DEVICE DEVICE);
	ck_assert_uint_eq(report.contexts, 1);
	ck_assert_int_eq(report.before, GP_PAUSED_NO);
	ck_assert_int_eq(loop.evicted, 1);
}

/* The process closes its /dev/kfd and opens another, and then opens two. */
TEST(remembers_a_closed_one)
{
	pause_and_unpause();
	set_file("/proc/4194242/fd/7", "1028");
	set_file("/proc/4194242/fd/9", "511");
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_uint_eq(report.contexts, 1);
	ck_assert_int_eq(loop.evicted, 1);
	set_file("/proc/4194242/fd/7", "511");
	ck_assert_int_eq(gp_unpause(g, PID, 777, &report, &err), 0);
	ck_assert_uint_eq(report.contexts, 2);
	ck_assert_int_eq(report.before, GP_PAUSED_YES);
	ck_assert_int_eq(loop.evicted, 0);
}

/* The process is paused, but its other descriptors cannot be found: not left paused. */
TEST(others_are_not_found)
{
	pause_and_unpause();
	set_file("/proc/4194242/fd/", NULL);
	ck_assert_int_lt(pause_it(), 0);
	ck_assert_int_eq(report.before, GP_PAUSED_NO);
	ck_assert_int_eq(report.after, GP_PAUSED_UNKNOWN);
	ck_assert_int_eq(loop.evicted, 0);
}

/* The process closes the last one while it is paused: paused all the same. */
TEST(closed_since)
{
	pause_and_unpause();
	set_file("/proc/4194242/fd/", "0\n");
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_uint_eq(report.contexts, 1);
	ck_assert_int_eq(loop.evicted, 1);
}

/* Another process has the number now. */
TEST(remembered_of_another_process)
{
	pause_and_unpause();
	ck_assert_int_eq(gp_pause(g, PID, 778, NULL, &report, &err), -ESRCH);
	ck_assert_int_eq(err.reason, GPREEMPT_ENDED);
	ck_assert_int_eq(loop.evicted, 0);
}

/* The process that traced has ended: no task has its number. */
TEST(nothing_stays_attached)
{
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_int_ne(loop.tracer, gettid());
	ck_assert_int_eq(kill(loop.tracer, 0), -1);
}

TEST(unpause_of_one_that_is_not)
{
	ck_assert_int_eq(gp_unpause(g, PID, 777, &report, &err), 0);
	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_int_eq(report.before, GP_PAUSED_NO);
	ck_assert_int_eq(report.after, GP_PAUSED_NO);
}

/* Two pauses and one unpause: it runs, also where the driver counts. */
TEST_EACH(second_pause_is_not_counted, 2)
{
	loop.pause_counts = _i;
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_int_eq(report.before, GP_PAUSED_YES);
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(gp_unpause(g, PID, 777, &report, &err), 0);
	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_int_eq(gp_unpause(g, PID, 777, &report, &err), 0);
	ck_assert_int_eq(report.before, GP_PAUSED_NO);
}

/* The process opens it once more: counted once, too. */
TEST_EACH(two_descriptors, 2)
{
	loop.pause_counts = _i;
	set_file("/proc/4194242/fd/9", "511");
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_uint_eq(report.contexts, 2);
	ck_assert_int_eq(report.before, GP_PAUSED_NO);
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(gp_unpause(g, PID, 777, &report, &err), 0);
	ck_assert_int_eq(report.before, GP_PAUSED_YES);
	ck_assert_int_eq(loop.evicted, 0);
}

/* The second one fails: the first is not left paused. */
TEST_EACH(second_descriptor_fails, 2)
{
	set_file("/proc/4194242/fd/9", "511");
	gp_loop_fail(&loop, _i ? "pause" : "take", 2, _i ? -ENOMEM : -EMFILE);
	ck_assert_int_lt(pause_it(), 0);
	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_int_eq(report.after, GP_PAUSED_UNKNOWN);
}

/* The process opens /dev/kfd again and again: only the first ones are tried. */
TEST(many_descriptors)
{
	set_file("/proc/4194242/fd/", "7\n9\n10\n11\n12\n");
	set_file("/proc/4194242/fd/9", "511");
	set_file("/proc/4194242/fd/10", "511");
	set_file("/proc/4194242/fd/11", "511");
	set_file("/proc/4194242/fd/12", "511");
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_uint_eq(report.contexts, 4);
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(gp_unpause(g, PID, 777, &report, &err), 0);
	ck_assert_int_eq(report.before, GP_PAUSED_YES);
	ck_assert_int_eq(loop.evicted, 0);
}

/* The process has more contexts than we pause: none is left paused. */
TEST(many_contexts)
{
	set_file("/sys/class/kfd/kfd/proc/4194242//",
		 "queues\ncontext_1\ncontext_2\ncontext_3\ncontext_4\n");
	ck_assert_int_eq(pause_it(), -E2BIG);
	ck_assert_int_eq(report.before, GP_PAUSED_NO);
	ck_assert_int_eq(report.after, GP_PAUSED_UNKNOWN);
	ck_assert_int_eq(loop.evicted, 0);
}

TEST(skips_what_its_parent_opened)
{
	set_file("/proc/4194242/fd/9", "511");
	loop.foreign = 7;
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_uint_eq(report.contexts, 1);
	ck_assert_uint_eq(report.foreign, 1);
	ck_assert_int_eq(loop.evicted, 1);
}

static const struct {
	const char *call;
	int code;
	enum gpreempt_reason reason;
	enum gpreempt_class class;
} failures[] = {
	{ "process", -ESRCH, GPREEMPT_ENDED, GPREEMPT_CLASS_NO_TARGET },
	{ "process", -EMFILE, GPREEMPT_SYSTEM, GPREEMPT_CLASS_FAILED },
	{ "seize", -ESRCH, GPREEMPT_ENDED, GPREEMPT_CLASS_NO_TARGET },
	{ "seize", -EPERM, GPREEMPT_TRACE_DENIED, GPREEMPT_CLASS_PERMISSION },
	{ "seize", -EIO, GPREEMPT_SYSTEM, GPREEMPT_CLASS_FAILED },
	{ "take", -ESRCH, GPREEMPT_ENDED, GPREEMPT_CLASS_NO_TARGET },
	{ "take", -EPERM, GPREEMPT_TRACE_DENIED, GPREEMPT_CLASS_PERMISSION },
	{ "take", -EMFILE, GPREEMPT_SYSTEM, GPREEMPT_CLASS_FAILED },
	{ "unpause", -EACCES, GPREEMPT_PAUSE_DENIED, GPREEMPT_CLASS_PERMISSION },
	{ "unpause", -ENOTTY, GPREEMPT_NO_PAUSE, GPREEMPT_CLASS_UNSUPPORTED },
	{ "unpause", -EIO, GPREEMPT_PAUSE_FAILED, GPREEMPT_CLASS_FAILED },
	{ "pause", -ENODEV, GPREEMPT_NOT_GPU, GPREEMPT_CLASS_NO_TARGET },
	{ "pause", -ENOMEM, GPREEMPT_PAUSE_FAILED, GPREEMPT_CLASS_FAILED },
};

TEST_EACH(fails, ARRAY_SIZE(failures))
{
	gp_loop_fail(&loop, failures[_i].call, 0, failures[_i].code);
	ck_assert_int_eq(pause_it(), failures[_i].code);
	ck_assert_int_eq(err.code, failures[_i].code);
	ck_assert_int_eq(err.reason, failures[_i].reason);
	ck_assert_int_eq(gpreempt_error_class(&err), failures[_i].class);
	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_int_eq(report.after, GP_PAUSED_UNKNOWN);
}

/* An error of the driver is not answered with a second try. */
TEST(does_not_try_again)
{
	gp_loop_fail(&loop, "pause", 1, -ENOMEM);
	unit_clear_trace();
	ck_assert_int_eq(pause_it(), -ENOMEM);
	ck_assert_str_eq(loop.trace, LOOKED "seize unpause pause ");
}

TEST(of_a_traced_process)
{
	set_file("/proc/4194242/status", "Name:\ta\nState:\tS (sleeping)\nTgid:\t4194242\n"
					 "TracerPid:\t99\nUid:\t0\t0\nThreads:\t1\n");
	set_file("/proc/99/comm", "gdb\n");
	gp_loop_fail(&loop, "seize", 0, -EPERM);
	ck_assert_int_eq(pause_it(), -EBUSY);
	ck_assert_int_eq(err.reason, GPREEMPT_TRACED);
	ck_assert_int_eq(err.other, 99);
	ck_assert_str_eq(err.name, "gdb");
	ck_assert_int_eq(gp_pause_check(g, PID, &err), -EBUSY);
}

TEST(of_one_that_has_closed_it)
{
	set_file("/proc/4194242/fd/", "0\n");
	ck_assert_int_eq(pause_it(), -ENXIO);
	ck_assert_int_eq(err.reason, GPREEMPT_KFD_CLOSED);
	ck_assert_int_eq(gp_pause_check(g, PID, &err), -ENXIO);
	ck_assert_int_eq(err.reason, GPREEMPT_KFD_CLOSED);
}

/* The names of descriptors can be listed, and the files behind them cannot be read. */
TEST(without_right_to_look)
{
	gp_loop_fail(&loop, "device", 0, -EACCES);
	ck_assert_int_eq(gp_pause_check(g, PID, &err), -EPERM);
	ck_assert_int_eq(err.reason, GPREEMPT_TRACE_DENIED);
}

/* The process has only descriptors that its parent opened. */
TEST(of_one_with_others_only)
{
	loop.foreign = 7;
	ck_assert_int_eq(pause_it(), -ENXIO);
	ck_assert_int_eq(err.reason, GPREEMPT_KFD_CLOSED);
	ck_assert_uint_eq(report.foreign, 1);
}

/* Another file has the number, between the look and the copy. */
TEST_EACH(of_one_that_closes_it_now, 2)
{
	gp_loop_fail(&loop, "take", 0, _i ? -ENODEV : -EBADF);
	ck_assert_int_eq(pause_it(), -ENXIO);
	ck_assert_int_eq(err.reason, GPREEMPT_KFD_CLOSED);
}

TEST(of_another_process_with_that_number)
{
	unit_clear_trace();
	ck_assert_int_eq(gp_pause(g, PID, 778, NULL, &report, &err), -ESRCH);
	ck_assert_int_eq(err.reason, GPREEMPT_ENDED);
	ck_assert_str_eq(loop.trace, "process ");
	ck_assert_int_eq(gp_pause(g, PID, 0, NULL, NULL, NULL), 0);
	ck_assert_int_eq(loop.evicted, 1);
}

/* Root is not asked for: the driver and the kernel go by capabilities. */
TEST(without_root)
{
	loop.root = false;
	ck_assert_int_eq(gp_pause_check(g, PID, &err), 0);
	ck_assert_int_eq(pause_it(), 0);
}

TEST_FIXTURE(setup, unit_teardown)

#define NODES	   "/sys/class/kfd/kfd/topology/nodes/"
#define VIEW	   "/sys/kernel/debug/gpreempt/"
#define GPUS	   VIEW "pid/4194242/gpus"
#define GPUS_HEAD  "gpreempt-gpus - version: 1.1\n# gpu_id vm context\n"
#define LIST(text) "gpreempt-processes - version: 1.1\n# pid age_ms paused\n" text "\n"

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

static void strict_setup(void)
{
	unit_setup();
	unit_open_kfd(PID);
	unit_one_gpu("capability 0\n");
	set_file(GPUS, GPUS_HEAD "0xf7bc 1 -\n");
	show(LIST("4194242 0 0"));
	loop.before = follow;
	loop.pause_counts = true;
}

/* The list of processes is gone when the driver has paused it. */
static void lose(struct gp_loop *l, const char *call)
{
	(void)l;
	if (!strcmp(call, "pause"))
		show(NULL);
}

/* A pause that cannot be seen is none that was made. */
TEST(strict_unseen)
{
	loop.before = lose;
	ck_assert_int_lt(pause_it(), 0);
	ck_assert_int_ne(report.after, GP_PAUSED_YES);
}

/* The driver is busy with the process for 20 ms: meanwhile the module has older facts. */
static void see_again(int number)
{
	(void)number;
	if (strstr(loop.trace, "pause"))
		show(LIST("4194242 0 1"));
}

static void be_busy(struct gp_loop *l, const char *call)
{
	(void)l;
	if (!strcmp(call, "pause"))
		show(LIST("4194242 40 0"));
}

TEST(strict_busy)
{
	signal(SIGALRM, see_again);
	loop.before = be_busy;
	ualarm(20000, 20000);
	ck_assert_int_eq(pause_it(), 0);
	ck_assert_int_eq(report.after, GP_PAUSED_YES);
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

TEST(strict_pauses)
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
TEST(strict_descriptors)
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

TEST(strict_driver_fails)
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

TEST_FIXTURE(strict_setup, unit_teardown)
