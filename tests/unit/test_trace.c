// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the driver's functions become operations with their phases; output and files of
 * trace.
 */
#include "lab/trace.h"
#include "unit-command.h"
#include "unit-trace.h"

static struct gp_trace *trace;
static uint64_t now;

static void add(int64_t tid, const char *symbol, bool leave, uint64_t a, uint64_t b)
{
	trace_event(trace, now, tid, symbol, leave, a, b);
}

/* A call of so many ns. */
static void call(int64_t tid, const char *symbol, uint64_t ns)
{
	add(tid, symbol, false, 0, 0);
	now += ns;
	add(tid, symbol, true, 0, 0);
}

static void enter_ioctl(int64_t tid, uint32_t pid, uint32_t op)
{
	add(tid, "kfd_ioctl_set_debug_trap", false, pid, op);
}

/* lock 10, unmap 20 + 1, fence 300, map 40, copy 50, other 5. */
static void suspend(int64_t tid, uint32_t pid, uint64_t stack)
{
	enter_ioctl(tid, pid, TRAP_SUSPEND);
	now += 10;
	add(tid, "suspend_queues", false, stack, 0);
	call(tid, "pm_send_unmap_queue", 20);
	call(tid, "pm_send_query_status", 1);
	call(tid, "amdkfd_fence_wait_timeout", 300);
	call(tid, "pm_send_runlist", 40);
	now += 2;
	add(900, "copy_context_work_handler", false, stack - 200, 0);
	now += 50;
	add(900, "copy_context_work_handler", true, 0, 0);
	now += 1;
	add(tid, "suspend_queues", true, 2, 0);
	now += 2;
	add(tid, "kfd_ioctl_set_debug_trap", true, 2, 0);
}

static void setup(void)
{
	trace = gp_trace_new();
	now = 1000;
}

static void teardown(void)
{
	gp_trace_free(trace);
}

static void check_suspend(const struct gp_trace_op *op)
{
	ck_assert_uint_eq(op->kind, GP_TRACE_SUSPEND);
	ck_assert(op->whole);
	ck_assert_int_eq(op->ret, 2);
	ck_assert_int_eq(op->phase_ns[GP_TRACE_LOCK], 10);
	ck_assert_int_eq(op->phase_ns[GP_TRACE_UNMAP], 21);
	ck_assert_int_eq(op->phase_ns[GP_TRACE_FENCE], 300);
	ck_assert_int_eq(op->phase_ns[GP_TRACE_MAP], 40);
	ck_assert_int_eq(op->phase_ns[GP_TRACE_COPY], 50);
	ck_assert_int_eq(op->phase_ns[GP_TRACE_OTHER], 5);
	ck_assert_int_eq(op->phase_ns[GP_TRACE_TOTAL], 426);
}

TEST(phases)
{
	const struct gp_trace_data *d;
	size_t i;

	suspend(7, 161, 0xffffc90000010000);
	d = trace_end(trace);
	ck_assert_uint_eq(d->n_ops, 1);
	check_suspend(d->ops);
	ck_assert_int_eq(d->ops->pid, 161);
	ck_assert_int_eq(d->ops->tid, 7);
	ck_assert_uint_eq(d->unpaired, 0);
	ck_assert_uint_eq(d->n_slices, 7);
	for (i = 0; i < d->n_slices; i++)
		ck_assert_uint_eq(d->slices[i].op, 0);
}

/* CPUs are read one after the other, so the order is not that of time. */
TEST(any_order)
{
	struct gp_trace_event events[14];
	const struct gp_trace_data *d;
	struct gp_trace *first = trace;
	size_t i, n = 0;

	suspend(7, 161, 0x10000);
	d = trace_end(trace);
	for (i = 0; i < d->n_slices; i++) {
		const struct gp_trace_slice *s = d->slices + i;

		events[n++] = (struct gp_trace_event){
			.ns = s->end_ns,
			.tid = s->tid,
			.leave = true,
			.function = s->function,
			.ret = 2,
		};
		events[n++] = (struct gp_trace_event){
			.ns = s->begin_ns,
			.tid = s->tid,
			.function = s->function,
		};
		if (s->function == trace_function("kfd_ioctl_set_debug_trap"))
			memcpy(events[n - 1].args, (uint64_t[]){ 161, 6 }, 16);
		if (s->function == trace_function("suspend_queues"))
			events[n - 1].args[0] = 0x10000;
		if (s->function == trace_function("copy_context_work_handler"))
			events[n - 1].args[0] = 0xff00;
	}
	trace = gp_trace_new();
	while (n--)
		gp_trace_add(trace, events + n);
	d = trace_end(trace);
	ck_assert_uint_eq(d->n_ops, 1);
	ck_assert_int_eq(d->ops->phase_ns[GP_TRACE_FENCE], 300);
	ck_assert_int_eq(d->ops->phase_ns[GP_TRACE_COPY], 50);
	ck_assert(d->ops->whole);
	gp_trace_free(first);
}

/* Two suspends at once: each copy goes to the one on whose stack its work is. */
TEST(two_at_once)
{
	const struct gp_trace_data *d;

	enter_ioctl(1, 161, TRAP_SUSPEND);
	enter_ioctl(2, 162, TRAP_SUSPEND);
	now += 10;
	add(1, "suspend_queues", false, 0x80000, 0);
	add(2, "suspend_queues", false, 0x20000, 0);
	add(900, "copy_context_work_handler", false, 0x7ff00, 0);
	now += 3;
	add(901, "copy_context_work_handler", false, 0x1ff00, 0);
	now += 4;
	add(900, "copy_context_work_handler", true, 0, 0);
	now += 6;
	add(901, "copy_context_work_handler", true, 0, 0);
	add(1, "suspend_queues", true, 1, 0);
	add(2, "suspend_queues", true, 1, 0);
	add(1, "kfd_ioctl_set_debug_trap", true, 1, 0);
	add(2, "kfd_ioctl_set_debug_trap", true, 1, 0);
	d = trace_end(trace);
	ck_assert_uint_eq(d->n_ops, 2);
	ck_assert_int_eq(d->ops[0].phase_ns[GP_TRACE_COPY], 7);
	ck_assert_int_eq(d->ops[1].phase_ns[GP_TRACE_COPY], 10);
}

/* A work that lies on no stack of a suspend belongs to none. */
TEST(foreign_work)
{
	const struct gp_trace_data *d;

	enter_ioctl(1, 161, TRAP_SUSPEND);
	add(1, "suspend_queues", false, 0x80000, 0);
	add(900, "copy_context_work_handler", false, 0x80010, 0);
	now += 3;
	add(900, "copy_context_work_handler", true, 0, 0);
	add(1, "suspend_queues", true, 1, 0);
	add(1, "kfd_ioctl_set_debug_trap", true, 1, 0);
	d = trace_end(trace);
	ck_assert_int_eq(d->ops[0].phase_ns[GP_TRACE_COPY], GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(d->n_slices, 3);
}

TEST(kinds)
{
	static const uint32_t ops[] = {
		TRAP_ENABLE, TRAP_QUERY, TRAP_SUSPEND, TRAP_RESUME, TRAP_DISABLE,
	};
	static const char *const names[] = { "attach", "suspend", "resume", "detach" };
	const struct gp_trace_data *d;
	size_t i;

	for (i = 0; i < 5; i++) {
		enter_ioctl(7, 161, ops[i]);
		now += 5;
		add(7, "kfd_ioctl_set_debug_trap", true, -22, 0);
		now++;
	}
	d = trace_end(trace);
	ck_assert_uint_eq(d->n_ops, 4);
	for (i = 0; i < 4; i++) {
		ck_assert_str_eq(gp_trace_kinds[d->ops[i].kind], names[i]);
		ck_assert_int_eq(d->ops[i].ret, -22);
		ck_assert_int_eq(d->ops[i].phase_ns[GP_TRACE_TOTAL], 5);
		ck_assert_int_eq(d->ops[i].phase_ns[GP_TRACE_OTHER], 5);
		ck_assert_int_eq(d->ops[i].phase_ns[GP_TRACE_FENCE], GPREEMPT_UNKNOWN);
	}
	ck_assert_str_eq(gp_trace_phases[GP_TRACE_FENCE], "fence");
}

/* A call that began before the trace or goes on after its end is not whole. */
TEST(cut)
{
	const struct gp_trace_data *d;

	add(7, "pm_send_runlist", true, 0, 0);
	add(7, "kfd_ioctl_set_debug_trap", true, 1, 0);
	suspend(7, 161, 0x10000);
	enter_ioctl(7, 161, TRAP_RESUME);
	call(7, "pm_send_runlist", 4);
	d = trace_end(trace);
	ck_assert_uint_eq(d->n_ops, 2);
	check_suspend(d->ops);
	ck_assert(!d->ops[1].whole);
	ck_assert_int_eq(d->ops[1].phase_ns[GP_TRACE_TOTAL], GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(d->unpaired, 3);
}

/* The return of a function was missed, then the entry of another one. */
TEST(unpaired)
{
	const struct gp_trace_data *d;

	enter_ioctl(7, 161, TRAP_SUSPEND);
	add(7, "amdkfd_fence_wait_timeout", false, 0, 0);
	now += 9;
	add(7, "kfd_ioctl_set_debug_trap", true, 1, 0);
	enter_ioctl(7, 161, TRAP_RESUME);
	add(7, "pm_send_runlist", true, 0, 0);
	add(7, "kfd_ioctl_set_debug_trap", true, 1, 0);
	suspend(7, 161, 0x10000);
	d = trace_end(trace);
	ck_assert_uint_eq(d->n_ops, 3);
	ck_assert(!d->ops[0].whole);
	ck_assert(!d->ops[1].whole);
	check_suspend(d->ops + 2);
	ck_assert_uint_eq(d->unpaired, 2);
}

TEST(lost)
{
	const struct gp_trace_data *d;
	uint64_t at[4];
	size_t i;

	for (i = 0; i < 4; i++) {
		at[i] = now;
		suspend(7, 161, 0x10000);
		now += 100;
	}
	/* Within the second, and around the third's end. */
	gp_trace_lost(trace, at[2] + 400, at[2] + 500, 0);
	gp_trace_lost(trace, at[1] + 30, at[1] + 40, 12);
	d = trace_end(trace);
	ck_assert_uint_eq(d->n_ops, 4);
	ck_assert(d->ops[0].whole);
	ck_assert(!d->ops[1].whole);
	ck_assert(!d->ops[2].whole);
	ck_assert(d->ops[3].whole);
	ck_assert_uint_eq(d->lost, 13);
}

TEST(nothing)
{
	const struct gp_trace_data *d = trace_end(trace);

	ck_assert_uint_eq(d->n_ops, 0);
	ck_assert_uint_eq(d->n_slices, 0);
	gp_trace_free(NULL);
}

/* Numbers without any sense: no crash, and no phase that is more than the whole. */
TEST_EACH(hostile, 20)
{
	const struct gp_trace_data *d;
	uint64_t seed = _i + 1;
	size_t i, p;

	for (i = 0; i < 20000; i++) {
		struct gp_trace_event event;

		seed = seed * 6364136223846793005 + 1442695040888963407;
		event = (struct gp_trace_event){
			.ns = seed >> (_i % 2 ? 50 : 0),
			.tid = seed >> 8 & 7,
			.function = (seed >> 16) % 12,
			.leave = seed >> 40 & 1,
			.args = { seed >> 33, seed >> 45 & 7 },
			.ret = seed,
		};
		gp_trace_add(trace, &event);
		if (i % 5000 == 0)
			gp_trace_lost(trace, seed, seed >> 3, seed);
	}
	d = trace_end(trace);
	ck_assert_uint_eq(d->events, 20000);
	ck_assert_uint_gt(d->refused, 0);
	for (i = 0; i < d->n_ops; i++) {
		const struct gp_trace_op *op = d->ops + i;
		int64_t sum = 0;

		for (p = 0; op->whole && p < GP_TRACE_TOTAL; p++)
			if (op->phase_ns[p] != GPREEMPT_UNKNOWN)
				sum += op->phase_ns[p];
		if (op->whole)
			ck_assert_int_eq(sum, op->phase_ns[GP_TRACE_TOTAL]);
	}
	for (i = 0; i < d->n_slices; i++)
		ck_assert(d->slices[i].op == GP_TRACE_NO_OP || d->slices[i].op < d->n_ops);
}

TEST_FIXTURE(setup, teardown)

#define TARGET 4194242
#define TID    4300

static struct trace_kernel kernel;
static struct trace_report report;
static struct gpreempt_target target = { TARGET, 777 };

static void add_at(uint64_t ns, const char *symbol, bool leave, uint64_t a, uint64_t b)
{
	trace_event(trace, ns, TID, symbol, leave, a, b);
}

/* A suspend of a process: lock 10 us, unmap 20, fence 300, other 70. */
static void add_suspend(uint64_t at, uint32_t pid, int64_t ret)
{
	add_at(at, "kfd_ioctl_set_debug_trap", false, pid, TRAP_SUSPEND);
	add_at(at + 10000, "suspend_queues", false, 1, 0);
	add_at(at + 20000, "pm_send_unmap_queue", false, 0, 0);
	add_at(at + 40000, "pm_send_unmap_queue", true, 0, 0);
	add_at(at + 50000, "amdkfd_fence_wait_timeout", false, 0, 0);
	add_at(at + 350000, "amdkfd_fence_wait_timeout", true, 0, 0);
	add_at(at + 390000, "suspend_queues", true, ret, 0);
	add_at(at + 400000, "kfd_ioctl_set_debug_trap", true, ret, 0);
}

static void report_setup(void)
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

static void report_teardown(void)
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

TEST(as_json)
{
	add_suspend(1000000, TARGET, 2);
	add_suspend(2000000, TARGET, -16);
	/* Another one puts queues on; a thread of the kernel copies, with a work on its stack. */
	add_at(3000000, "kfd_ioctl_set_debug_trap", false, TARGET, TRAP_SUSPEND);
	add_at(3010000, "suspend_queues", false, 0x80000, 0);
	add_at(3020000, "pm_send_runlist", false, 0, 0);
	add_at(3050000, "pm_send_runlist", true, 0, 0);
	trace_event(trace, 3060000, 900, "copy_context_work_handler", false, 0x80000 - 200, 0);
	trace_event(trace, 3080000, 900, "copy_context_work_handler", true, 0, 0);
	add_at(3090000, "suspend_queues", true, 2, 0);
	add_at(3100000, "kfd_ioctl_set_debug_trap", true, 2, 0);
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
	add_at(500, "kfd_ioctl_set_debug_trap", false, TARGET, 6);
	add_suspend(1000000, TARGET, -16);
	gp_trace_lost(trace, 600, 700, 5);
	kernel.full = true;
	report.packets.files = 1;
	report.packets.dropped = 3;
	report.packets.problems = 4;
	end();
	print(out_mode());
	ERR_HAS("5 events were lost");
	ERR_HAS("1 operations failed");
	ERR_HAS("temporary files is full");
	ERR_HAS("no packet is in the AMD log: ROCm logs packets from AMD_LOG_LEVEL=5 on");
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
	add_at(5000000, "pm_send_runlist", false, 0, 0);
	add_at(5001000, "pm_send_runlist", true, 0, 0);
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

TEST_FIXTURE(report_setup, report_teardown)
