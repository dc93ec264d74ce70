// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace in a made-up tracing directory: what the cases trace/ of the virtual machine cannot
 * make happen. The events are pages of a ring buffer, read by the real libtraceevent.
 */
#include <sys/resource.h>

#include "lab/trace.h"
#include "fake/tracefs.h"
#include "unit-command.h"
#include "unit-trace.h"

#define TID   4300
#define IOCTL "kfd_ioctl_set_debug_trap"
#define US    1000

static int descriptors;

static void setup(void)
{
	system_setup();
	/* The process that traces: its start time is in the names that it gives. */
	set_file(unit_text("/proc/%d/stat", getpid()),
		 unit_text("%d (unit) S 1 1 1 0 -1 4194560 1 2 3 4 5 "
			   "6 7 8 20 0 3 0 888 100 200 1844\n",
			   getpid()));
	fake_tracefs_setup();
	descriptors = unit_count_descriptors();
}

/* The tracing directory is as it was found, and no descriptor is left. */
static void check_clean(void)
{
	ck_assert_str_eq(fake_instances(), "");
	ck_assert_str_eq(fake_events(), "");
	ck_assert(!fake_enabled);
	ck_assert_int_eq(unit_count_descriptors(), descriptors);
}

/* A suspend of a process: 10 us to the lock, 300 us in all. */
static void add_suspend(uint32_t pid, int32_t ret)
{
	fake_event(5 * US, TID, IOCTL, false, pid, TRAP_SUSPEND);
	fake_event(10 * US, TID, "suspend_queues", false, 0x1000, 0);
	fake_event(280 * US, TID, "suspend_queues", true, ret, 0);
	fake_event(10 * US, TID, IOCTL, true, ret, 0);
}

/* amdgpu is a part of the kernel: its symbols bear no module's name. */
TEST(built_in)
{
	fake_module = false;
	fake_kallsyms("ffffffff81000000 t " IOCTL "\n"
		      "ffffffff81000000 t suspend_queues\t[other]\n");
	fake_page(1000000 * US, false);
	fake_event(5 * US, TID, IOCTL, false, PID, TRAP_RESUME);
	fake_event(90 * US, TID, IOCTL, true, 2, 0);
	LAB(0, "trace 4194242 --duration 60ms --json");
	expect_number("operations", 1);
	expect_rows("functions", 1);
	check_clean();
}

/*
 * Events that the kernel overwrote before they were read: an operation around them does not
 * count.
 */
TEST(lost)
{
	fake_page(1000000 * US, false);
	fake_event(5 * US, TID, IOCTL, false, PID, TRAP_SUSPEND);
	fake_page(1001000 * US, true);
	fake_event(5 * US, TID, IOCTL, true, 2, 0);
	fake_page(1002000 * US, false);
	add_suspend(PID, 2);
	LAB(0, "trace 4194242 --duration 60ms");
	OUT_HAS(": 1 operations on 1 process");
	ERR_HAS("events were lost");
	ERR_HAS("1 operations are in the trace only in part");
	check_clean();
}

/* Calls that the probes did not see, at no known time: nothing is trusted. */
TEST(missed)
{
	fake_profile = "  " IOCTL "  40  3\n  other_event  5  9\n";
	fake_page(1000000 * US, false);
	add_suspend(PID, 2);
	LAB(0, "trace 4194242 --duration 60ms");
	OUT_HAS(": 0 operations on 1 process");
	ERR_HAS("3 events were lost");
	check_clean();
}

/* Instances and events of our killed predecessors are removed, and no others. */
TEST(stale)
{
	fake_add_instance("gpreempt_4194242_777"); /* lives */
	fake_add_instance("gpreempt_4194242_778"); /* the PID is another's */
	fake_add_instance("gpreempt_99_5");
	fake_add_instance("gpreempt_99_5x");
	fake_add_instance("others");
	fake_add_event("gpreempt_99_5", "x");
	fake_add_event("gpreempt_4194242_777", "x");
	fake_add_event("kprobes", "x");
	LAB(0, "trace 4194242 --duration 30ms");
	ck_assert_str_eq(fake_instances(), "gpreempt_4194242_777 gpreempt_99_5x "
					   "others ");
	ck_assert_str_eq(fake_events(), "gpreempt_4194242_777/x kprobes/x ");
}

/* Each step of the beginning can fail; nothing is left then. */
static const struct {
	const char *call;
	int code, status;
	const char *why;
} steps[] = {
	{ "kprobe_events", ENOENT, GPREEMPT_CLASS_UNSUPPORTED, "this kernel has no probe events" },
	{ "kprobe_events", EPERM, GPREEMPT_CLASS_PERMISSION,
	  "the kernel does not let us trace it" },
	{ "instance_create", ENOMEM, GPREEMPT_CLASS_FAILED,
	  "making an instance: Cannot allocate memory" },
	{ "instance_set_buffer_size", ENOMEM, GPREEMPT_CLASS_FAILED, "setting up the instance" },
	{ "instance_file_write", EACCES, GPREEMPT_CLASS_PERMISSION, "setting up the instance" },
	{ "dynevent_create", EACCES, GPREEMPT_CLASS_PERMISSION, "a probe event is refused" },
	{ "dynevent_create", EINVAL, GPREEMPT_CLASS_UNSUPPORTED,
	  "the driver's function " IOCTL " cannot be traced" },
	{ "trace_pipe_raw", EMFILE, GPREEMPT_CLASS_FAILED,
	  "opening the ring buffer: Too many open files" },
	{ "event_enable", EBUSY, GPREEMPT_CLASS_FAILED, "switching the events on" },
};

TEST_EACH(step_fails, ARRAY_SIZE(steps))
{
	fake_fail_call = steps[_i].call;
	fake_fail_code = steps[_i].code;
	LAB(steps[_i].status, "trace 4194242 --duration 30ms");
	ERR_HAS(steps[_i].why);
	ERR_HAS("next: ");
	check_clean();
}

/* A function that is not needed is left out. */
TEST(function_refused)
{
	fake_refused_symbol = "resume_queues";
	fake_fail_code = EINVAL;
	LAB(0, "trace 4194242 --duration 30ms");
	ERR_HAS("counts as other: resume_queues, ");
	fake_refused_symbol = "resume_queues";
	fake_fail_code = EPERM;
	LAB(GPREEMPT_CLASS_PERMISSION, "trace 4194242 --duration 30ms");
	check_clean();
}

TEST(nothing_to_trace)
{
	fake_mounted = false;
	LAB(GPREEMPT_CLASS_UNSUPPORTED, "trace 4194242");
	ERR_HAS("tracing directory is not mounted");
	fake_mounted = true;
	fake_amdgpu = false;
	LAB(GPREEMPT_CLASS_UNSUPPORTED, "trace 4194242");
	ERR_HAS("the driver amdgpu is not loaded");
	fake_amdgpu = true;
	fake_kallsyms(NULL);
	LAB(GPREEMPT_CLASS_PERMISSION, "trace 4194242");
	ERR_HAS("reading /proc/kallsyms");
	fake_kallsyms("ffffffffc0a1b2c0 t suspend_queues\t[amdgpu]\n");
	LAB(GPREEMPT_CLASS_UNSUPPORTED, "trace 4194242");
	ERR_HAS("function " IOCTL " cannot be traced");
	check_clean();
}

/* A line that is cut between two pieces of /proc/kallsyms, and a last one without end. */
TEST(long_kallsyms)
{
	enum { PIECE = 1 << 18, LINE = 50 }; /* PIECE: as in trace-kernel.c */
	static char text[2 * PIECE];
	size_t len = 0;

	while (len < PIECE - LINE)
		len += sprintf(text + len, "ffffffff81000000 T %0*zu\n", LINE - 20, len);
	len += sprintf(text + len, "ffffffffc0000000 t " IOCTL "\t[amdgpu]\n");
	ck_assert(len > PIECE);
	while (len < 2 * PIECE - 2 * LINE)
		len += sprintf(text + len, "ffffffffc0000000 t x%zu\t[amdgpu]\n", len);
	sprintf(text + len, "ffffffffc0000000 t suspend_queues\t[amdgpu]");
	fake_kallsyms(text);
	/* Without that function it fails. */
	LAB(0, "trace 4194242 --duration 60ms --json");
	expect_rows("functions", 1);
}

/* The file system of temporary files is full: said, and what is there is shown. */
TEST(full)
{
	struct rlimit limit = { 4096, RLIM_INFINITY };

	fake_page(1000000 * US, false);
	add_suspend(PID, 2);
	fake_page(1001000 * US, false);
	add_suspend(PID, 2);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	LAB(0, "trace 4194242 --duration 60ms");
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	OUT_HAS(": 1 operations on 1 process");
	ERR_HAS("the directory of temporary files is full");
	check_clean();
}

/* The files of a command, and of a target. */
TEST(files)
{
	take_programs();
	fake_page(1000000 * US, false);
	LAB(3, "trace --json -o out -- sh -c 'kill -USR1 $PPID; sleep 0.3; exit 3'");
	expect_rows("targets", 1);
	ck_assert_int_eq(access("out/trace.json", F_OK), 0);
	expect_schema("trace", unit_file("out/report.json"));
	LAB(1, "trace -o out -- true");
	ERR_HAS("cannot make the directory out: File exists");
	loop.before_list = NULL;
	LAB(0, "trace 4194242 --duration 30ms -o one");
	ck_assert_int_eq(access("one.json", F_OK), 0);
	LAB(1, "trace 4194242 --duration 30ms -o none/one");
	ERR_HAS("cannot write none/one.json");
	check_clean();
	LAB(2, "trace");
	LAB(2, "trace 4194242 --amd-log 3");
}

static void terminate(void)
{
	kill(getpid(), SIGTERM);
}

/* SIGTERM ends the command, and with it the trace; all is removed. */
TEST(stopped)
{
	fake_on_enabled = terminate;
	make_text("run", "#!/bin/sh\nexec sleep 60\n");
	chmod("run", 0755);
	LAB(128 + SIGTERM, "trace -- ./run");
	check_clean();
}

TEST_FIXTURE(setup, system_teardown)
