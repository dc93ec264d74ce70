// SPDX-License-Identifier: GPL-2.0-only
/* Events of the driver's functions become operations with their phases. */
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
