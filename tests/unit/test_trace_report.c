// SPDX-License-Identifier: GPL-2.0-only
/* Output and files of trace, and the whole command with a made-up tracefs. */
#include "lab/trace.h"
#include "unit-command.h"
#include "unit-trace.h"

#define TARGET 4194242
#define TID    4300

static struct gp_trace *trace;
static struct trace_kernel kernel;
static struct trace_report report;
static struct gpreempt_target target = { TARGET, 777 };

static void add(uint64_t ns, const char *symbol, bool leave, uint64_t a, uint64_t b)
{
	trace_event(trace, ns, TID, symbol, leave, a, b);
}

/* A suspend of a process: lock 10 us, unmap 20, fence 300, other 70. */
static void add_suspend(uint64_t at, uint32_t pid, int64_t ret)
{
	add(at, "kfd_ioctl_set_debug_trap", false, pid, TRAP_SUSPEND);
	add(at + 10000, "suspend_queues", false, 1, 0);
	add(at + 20000, "pm_send_unmap_queue", false, 0, 0);
	add(at + 40000, "pm_send_unmap_queue", true, 0, 0);
	add(at + 50000, "amdkfd_fence_wait_timeout", false, 0, 0);
	add(at + 350000, "amdkfd_fence_wait_timeout", true, 0, 0);
	add(at + 390000, "suspend_queues", true, ret, 0);
	add(at + 400000, "kfd_ioctl_set_debug_trap", true, ret, 0);
}

static void setup(void)
{
	system_setup();
	trace = gp_trace_new();
	kernel = (struct trace_kernel){
		.name = "gpreempt_1_2",
		.spool = -1,
		.cpus = 2,
		.page_size = 4096,
		.traced = { true, true },
		.comms = strdup("4300 worker\n4301 other\n"),
	};
	report = (struct trace_report){
		.kernel = &kernel,
		.targets = &target,
		.n_targets = 1,
		.duration_ns = 1500000000,
	};
}

static void teardown(void)
{
	free(kernel.comms);
	free(kernel.pages);
	free(report.packets.items);
	gp_trace_free(trace);
	system_teardown();
}

static void end(void)
{
	report.data = trace_end(trace);
}

static void print(enum out_mode mode)
{
	begin_capture();
	trace_print(mode, &report);
	end_capture();
	if (mode == OUT_JSON)
		expect_schema("trace", ctl_out);
}

TEST(table)
{
	add_suspend(1000000, TARGET, 2);
	add_suspend(2000000, TARGET, 2);
	add_suspend(3000000, 99, 2);
	end();
	print(out_mode());
	ck_assert_ptr_eq(strstr(ctl_out, "# traced 1.5 s: 2 operations on 1 "
					 "process, 1 on others\n"),
			 ctl_out);
	OUT_HAS("suspend\tlock\t2\t10.0\t10.0\t");
	OUT_HAS("suspend\tfence\t2\t300.0\t300.0\t");
	OUT_HAS("suspend\ttotal\t2\t400.0\t400.0\t");
	ck_assert_ptr_null(strstr(ctl_out, "resume\t"));
}

TEST(as_json)
{
	add_suspend(1000000, TARGET, 2);
	add_suspend(2000000, TARGET, -16);
	/* Another one puts queues on; a thread of the kernel copies, with a work on its stack. */
	add(3000000, "kfd_ioctl_set_debug_trap", false, TARGET, TRAP_SUSPEND);
	add(3010000, "suspend_queues", false, 0x80000, 0);
	add(3020000, "pm_send_runlist", false, 0, 0);
	add(3050000, "pm_send_runlist", true, 0, 0);
	trace_event(trace, 3060000, 900, "copy_context_work_handler", false, 0x80000 - 200, 0);
	trace_event(trace, 3080000, 900, "copy_context_work_handler", true, 0, 0);
	add(3090000, "suspend_queues", true, 2, 0);
	add(3100000, "kfd_ioctl_set_debug_trap", true, 2, 0);
	end();
	print(OUT_JSON);
	expect_number("operations", 2);
	expect_number("failed", 1);
	expect_number("others", 0);
	expect_rows("functions", 2);
	expect_rows("list", 3);
	expect_number("list.2.map_us", 30);
	expect_number("list.2.copy_us", 20);
	expect_number("list.1.ret", -16);
	expect_number("list.1.tid", TID);
	expect_number("list.1.total_us", 400);
}

/* Missing parts are named on stderr, and are no figures. */
TEST(missing)
{
	add(500, "kfd_ioctl_set_debug_trap", false, TARGET, 6);
	add_suspend(1000000, TARGET, -16);
	gp_trace_lost(trace, 600, 700, 5);
	kernel.full = true;
	report.packets.dropped = 3;
	report.packets.problems = 4;
	end();
	print(out_mode());
	ERR_HAS("5 events were lost");
	ERR_HAS("1 operations failed");
	ERR_HAS("temporary files is full");
	ERR_HAS("3 packets of the AMD log");
	ERR_HAS("4 lines of the AMD log");
}

TEST(comms)
{
	char *name = trace_comm(&kernel, 4301);

	ck_assert_str_eq(name, "other");
	free(name);
	ck_assert_ptr_null(trace_comm(&kernel, 430));
	ck_assert(trace_is_target(&report, TARGET));
	ck_assert(!trace_is_target(&report, TID));
}

static const char *event_text(size_t nth, const char *key)
{
	return json_text(unit_text("traceEvents.%zu.%s", nth, key));
}

/* Chrome's format: names first, then slices, each below its process. */
TEST(timeline)
{
	struct gp_amdlog_packet packet = {
		.pid = TARGET,
		.us = 1100,
		.dispatch = true,
		.hwq = 0x7f00,
		.rptr = 1,
		.wptr = 2,
		.line = 12,
	};
	size_t i, n, slices = 0, instants = 0, outside = 0;

	add_suspend(1000000, TARGET, 2);
	add(5000000, "pm_send_runlist", false, 0, 0);
	add(5001000, "pm_send_runlist", true, 0, 0);
	end();
	report.packets.items = malloc(sizeof(packet));
	report.packets.items[0] = packet;
	report.packets.count = 1;
	ck_assert_int_eq(trace_write_timeline(&report, "t.json"), 0);
	read_json(unit_file("t.json"));
	n = json_object_array_length(json_at("traceEvents"));
	for (i = 0; i < n; i++) {
		char phase = *event_text(i, "ph");

		slices += phase == 'X';
		outside += phase == 'X' && !strcmp(event_text(i, "pid"), "0");
		instants += phase == 'i';
		if (phase == 'i')
			ck_assert_str_eq(event_text(i, "ts"), "1100.000");
	}
	ck_assert_uint_eq(instants, 1);
	ck_assert_uint_gt(slices, 3);
	ck_assert_uint_eq(outside, 1);
	ck_assert_ptr_nonnull(strstr(unit_file("t.json"), "\"worker 4300\""));
	ck_assert_ptr_nonnull(strstr(unit_file("t.json"), "\"target 4194242\""));
	ck_assert_int_eq(trace_write_timeline(&report, "/no/such/dir/f"), -ENOENT);
	ck_assert_int_eq(trace_write_timeline(&report, "/dev/full"), -ENOSPC);
}

/* The AMD log that a command left in its directory. */
TEST(log_of_a_command)
{
	ck_assert(copy_fixture("tests/unit/fixtures/hip-5.7.1/amd-log-4", "run/amd.log_1"));
	trace_log_read("run", &report.packets);
	ck_assert_uint_eq(report.packets.files, 1);
	/* grep -cE "(Dispatch|Barrier[A-Z]*) Header" of that file. */
	ck_assert_uint_eq(report.packets.count, 5);
	ck_assert_uint_eq(report.packets.problems, 0);
}

TEST(log_level)
{
	char dir[PATH_MAX];

	ck_assert_ptr_nonnull(getcwd(dir, sizeof(dir)));
	unsetenv("AMD_LOG_LEVEL");
	trace_log_set(dir, 0);
	ck_assert_ptr_null(getenv("AMD_LOG_LEVEL"));
	trace_log_set("/no/such/dir", 4);
	ck_assert_ptr_null(getenv("AMD_LOG_LEVEL"));
	trace_log_set(dir, 4);
	ck_assert_str_eq(getenv("AMD_LOG_LEVEL"), "4");
	ck_assert_str_eq(getenv("AMD_LOG_LEVEL_FILE"), unit_text("%s/amd.log", dir));
}

TEST(refused)
{
	LAB(GPREEMPT_CLASS_USAGE, "trace");
	ERR_HAS("a target is needed, or a command behind \"--\"");
	LAB(GPREEMPT_CLASS_USAGE, "trace 4194242 --amd-log 4");
	ERR_HAS("--amd-log is for a command");
	LAB(GPREEMPT_CLASS_NO_TARGET, "trace 4194243");
	LAB(GPREEMPT_CLASS_FAILED, "trace -o /no/such/dir/x -- true");
	ERR_HAS("cannot make the directory");
}

TEST_FIXTURE(setup, teardown)
