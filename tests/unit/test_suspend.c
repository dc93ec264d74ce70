// SPDX-License-Identifier: GPL-2.0-only
/* Suspending and resuming, over a made-up driver. */
#include <pthread.h>
#include <sys/ptrace.h>

#include "lib/preempt/session.h"
#include "unit-session.h"

TEST(suspend_all)
{
	open_with_queues(3);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_str_eq(loop.trace, "suspend ");
	ck_assert_uint_eq(out.requested, 3);
	ck_assert_uint_eq(out.done, 3);
	ck_assert(suspended(0) && suspended(1) && suspended(2));
	/* Suspended queues are not asked for again. */
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_str_eq(loop.trace, "suspend ");
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 3);
	ck_assert(!suspended(0) && !suspended(1) && !suspended(2));
}

static char busy_trace[256];

static void note_busy(void *data, bool busy)
{
	ck_assert_ptr_eq(data, busy_trace);
	strcat(busy_trace, busy ? "(" : ")");
}

/* The watchdog must know when we are in the driver. */
TEST(busy_in_driver)
{
	struct gpreempt_options options = {
		.size = sizeof(options),
		.busy = note_busy,
		.data = busy_trace,
	};

	gpreempt_free(g);
	ck_assert_int_eq(gp_new_backend(&options, &gp_backend_loop, &loop, &g), 0);
	open_with_queues(1);
	busy_trace[0] = '\0';
	gpreempt_session_suspend(s, NULL, &out);
	ck_assert_str_eq(busy_trace, "()");
	gpreempt_session_resume(s, NULL, &out);
	close_session();
	ck_assert_str_eq(busy_trace, "()()()()");
	options.size = 1;
	gpreempt_free(g);
	g = NULL;
	ck_assert_int_eq(gp_new_backend(&options, &gp_backend_loop, &loop, &g), -EINVAL);
}

TEST(suspend_some)
{
	open_with_queues(3);
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(2, 0), &out), 0);
	ck_assert_uint_eq(out.done, 2);
	ck_assert(suspended(0) && !suspended(1) && suspended(2));
	/* One of them is suspended already, and counts as done. */
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0, 1), &out), 0);
	ck_assert_uint_eq(out.requested, 2);
	ck_assert_uint_eq(out.done, 2);
	ck_assert(suspended(1));
	ck_assert_int_eq(gpreempt_session_resume(s, ONLY(2), &out), 0);
	ck_assert(suspended(0) && suspended(1) && !suspended(2));
	close_session();
	ck_assert(!suspended(0) && !suspended(1));
}

TEST(no_queues)
{
	open_with_queues(0);
	/* The driver would take an empty list for all. */
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), 0);
	ck_assert_uint_eq(out.requested, 0);
	ck_assert_str_eq(loop.trace, "");
}

TEST(refused_and_failed)
{
	const struct gpreempt_session_queue *queues;
	size_t count;

	open_with_queues(3);
	gp_loop_queue(&loop, 1)->destroying = true;
	gp_loop_queue(&loop, 2)->broken = true;
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0, 1, 2, 9), &out), 0);
	ck_assert_uint_eq(out.requested, 4);
	ck_assert_uint_eq(out.done, 1);
	ck_assert_uint_eq(out.refused, 2);
	ck_assert_uint_eq(out.failed, 1);
	queues = gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(queues[0].result, GPREEMPT_RESULT_DONE);
	ck_assert_int_eq(queues[1].result, GPREEMPT_RESULT_REFUSED);
	ck_assert(!queues[1].held);
	ck_assert_int_eq(queues[2].result, GPREEMPT_RESULT_FAILED);
	/* The driver has it marked as suspended, so it must be resumed. */
	ck_assert(queues[2].held);
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), 0);
	ck_assert(!suspended(2));
}

TEST(runtime_off)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	open_with_queues(1);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_RUNTIME_OFF);
	ck_assert_int_eq(gpreempt_error_class(gpreempt_session_error(s)),
			 GPREEMPT_CLASS_UNSUPPORTED);
}

/* The runtime was enabled before: the process is ending, and not one that cannot be suspended. */
TEST(runtime_goes)
{
	open_with_queues(1);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDING);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDING);
	ck_assert_int_eq(gpreempt_error_class(gpreempt_session_error(s)), GPREEMPT_CLASS_NO_TARGET);
	/* The event comes later, and changes nothing of that. */
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_DISABLED);
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_RUNTIME);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDING);
}

/* The same of one that enabled it in front of our eyes. */
TEST(runtime_comes_and_goes)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	open_with_queues(0);
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_ENABLED);
	gpreempt_session_dispatch(s);
	gp_loop_add_queue(&loop, 0);
	gpreempt_session_dispatch(s);
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDING);
}

TEST(ends_without_runtime)
{
	open_with_queues(1);
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	set_file("/proc/4194242/status", "Name:\tjob\nState:\tZ (zombie)\nTgid:\t4194242\n");
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -ESRCH);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDED);
}

/* New queues and queues being destroyed, just when the runtime goes. */
TEST(runtime_goes_unseen)
{
	open_with_queues(2);
	gpreempt_session_suspend(s, NULL, NULL);
	gp_loop_add_queue(&loop, 2);
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_QUEUES);
	ck_assert_int_eq(gp_session_resume_ids(s, 1), 0);
}

static void *end_soon(void *arg)
{
	usleep(20000);
	gp_loop_stop(&loop, *(int *)arg);
	return NULL;
}

TEST(awaits_queues)
{
	int exit_stop = PTRACE_EVENT_EXIT << 16 | SIGTRAP << 8 | 0x7f;
	pthread_t thread;

	open_with_queues(0);
	ck_assert_int_eq(gp_session_await_queues(s, 1000000), -ETIMEDOUT);
	gp_loop_add_queue(&loop, 0);
	ck_assert_int_eq(gp_session_await_queues(s, UINT64_MAX), 0);
	gp_loop_remove_queue(&loop, 0);
	gp_session_refresh(s);
	pthread_create(&thread, NULL, end_soon, &exit_stop);
	ck_assert_int_eq(gp_session_await_queues(s, UINT64_MAX), -ESRCH);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDED);
	pthread_join(thread, NULL);
}

TEST(awaits_queues_in_vain)
{
	open_with_queues(0);
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_DISABLED);
	ck_assert_int_eq(gp_session_await_queues(s, UINT64_MAX), -ESRCH);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDING);
	gp_loop_disable(&loop);
	ck_assert_int_eq(gp_session_await_queues(s, UINT64_MAX), -ENOTCONN);
}

TEST(process_ended)
{
	open_with_queues(1);
	gp_loop_fail(&loop, "suspend", 0, -ESRCH);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -ESRCH);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDED);
}

TEST(session_lost)
{
	open_with_queues(2);
	gp_loop_disable(&loop);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), -ENOTCONN);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_LOST);
	/* The loss is known from then on; the driver is not asked again. */
	unit_clear_trace();
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), -ENOTCONN);
	ck_assert_str_eq(loop.trace, "");
	/* Nor is it disabled, as it would be another's by now. */
	close_session();
	ck_assert_ptr_null(strstr(loop.trace, "disable"));
	ck_assert_ptr_nonnull(strstr(loop.trace, "detach"));
}

TEST(too_many_ids)
{
	static uint32_t ids[1025];
	const struct gpreempt_filter which = { .ids = ids, .n_ids = 1025 };

	open_with_queues(1);
	ck_assert_int_eq(gpreempt_session_suspend(s, &which, &out), -E2BIG);
	ck_assert_str_eq(loop.trace, "");
}

TEST(many_queues)
{
	uint32_t i;

	/* The order of the driver is not ours. */
	for (i = 0; i < 1000; i++)
		gp_loop_add_queue(&loop, i * 7 % 1000);
	s = unit_open();
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 1000);
	for (i = 0; i < 1000; i++)
		ck_assert(suspended(i));
}

#define HEAD  "gpreempt-queues - version: 1.1\n# qid priority\n"
#define NODES "/sys/class/kfd/kfd/topology/nodes/"

static const uint32_t gpu_a[] = { 0xaaaa }, gpu_b[] = { 0xbbbb };
static const struct gpreempt_filter on_a = { .gpu_ids = gpu_a, .n_gpu_ids = 1 };
static const struct gpreempt_filter on_b = { .gpu_ids = gpu_b, .n_gpu_ids = 1 };
static const struct gpreempt_filter low = {
	.by_priority = true,
	.priority_max = 5,
};

/* Queues 0 and 1 on GPU a, 2 and 3 on b. */
static void open_on_two_gpus(void)
{
	uint32_t i;

	for (i = 0; i < 4; i++)
		gp_loop_add_queue(&loop, i)->gpu_id = i < 2 ? 0xaaaa : 0xbbbb;
	s = unit_open();
	unit_clear_trace();
}

static void add_queue(uint32_t qid, uint32_t gpu_id)
{
	gp_loop_add_queue(&loop, qid)->gpu_id = gpu_id;
	ck_assert_int_eq(gpreempt_session_dispatch(s), GPREEMPT_EVENT_QUEUES);
}

TEST(by_gpu)
{
	open_on_two_gpus();
	ck_assert_int_eq(gpreempt_session_suspend(s, &on_b, &out), 0);
	ck_assert_uint_eq(out.requested, 2);
	ck_assert(!suspended(0) && !suspended(1));
	ck_assert(suspended(2) && suspended(3));
	/* Later queues match as well, but only there. */
	add_queue(4, 0xaaaa);
	add_queue(5, 0xbbbb);
	ck_assert(!suspended(4) && suspended(5));
}

TEST(empty_is_all)
{
	const struct gpreempt_filter all = { .n_ids = 0 };

	open_on_two_gpus();
	ck_assert_int_eq(gpreempt_session_suspend(s, &all, &out), 0);
	ck_assert_uint_eq(out.done, 4);
	add_queue(4, 0xaaaa);
	ck_assert(suspended(4));
	ck_assert_int_eq(gpreempt_session_resume(s, &all, &out), 0);
	ck_assert_uint_eq(out.done, 5);
	add_queue(5, 0xaaaa);
	ck_assert(!suspended(5));
}

TEST(ids_on_gpu)
{
	const uint32_t ids[] = { 1, 2, 9 };
	const struct gpreempt_filter both = {
		.ids = ids,
		.n_ids = 3,
		.gpu_ids = gpu_a,
		.n_gpu_ids = 1,
	};

	open_on_two_gpus();
	/* 2 is on the other GPU; the GPU of 9 is unknown. */
	ck_assert_int_eq(gpreempt_session_suspend(s, &both, &out), 0);
	ck_assert_uint_eq(out.requested, 1);
	ck_assert(suspended(1) && !suspended(2));
}

TEST(ids_twice)
{
	open_on_two_gpus();
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(1, 1), &out), 0);
	ck_assert_uint_eq(out.requested, 1);
	ck_assert_uint_eq(out.done, 1);
}

/* The last call that matches a new queue decides. */
TEST(last_rule_counts)
{
	open_on_two_gpus();
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, NULL), 0);
	ck_assert_int_eq(gpreempt_session_resume(s, &on_a, &out), 0);
	ck_assert_uint_eq(out.done, 2);
	ck_assert(!suspended(0) && suspended(2));
	add_queue(4, 0xaaaa);
	add_queue(5, 0xbbbb);
	ck_assert(!suspended(4) && suspended(5));
	ck_assert_int_eq(gpreempt_session_suspend(s, &on_a, NULL), 0);
	add_queue(6, 0xaaaa);
	ck_assert(suspended(6));
	/* Ids are no rule. */
	ck_assert_int_eq(gpreempt_session_resume(s, ONLY(6), NULL), 0);
	add_queue(7, 0xaaaa);
	ck_assert(!suspended(6) && suspended(7));
}

TEST(too_many_rules)
{
	uint32_t gpu;
	struct gpreempt_filter which = { .gpu_ids = &gpu, .n_gpu_ids = 1 };

	open_with_queues(1);
	for (gpu = 1; gpu <= 8; gpu++)
		ck_assert_int_eq(gpreempt_session_suspend(s, &which, NULL), 0);
	ck_assert_int_eq(gpreempt_session_suspend(s, &which, NULL), -ENOSPC);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_SYSTEM);
	/* The same filter once more adds nothing. */
	gpu = 1;
	ck_assert_int_eq(gpreempt_session_suspend(s, &which, NULL), 0);
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, NULL), 0);
	gpu = 9;
	ck_assert_int_eq(gpreempt_session_suspend(s, &which, NULL), 0);
	which.n_gpu_ids = 129;
	ck_assert_int_eq(gpreempt_session_suspend(s, &which, NULL), -E2BIG);
}

TEST(by_priority)
{
	set_view(PID, HEAD "0 0\n1 5\n2 6\n3 15\n");
	open_on_two_gpus();
	ck_assert_int_eq(gpreempt_session_suspend(s, &low, &out), 0);
	ck_assert_uint_eq(out.done, 2);
	ck_assert(suspended(0) && suspended(1));
	ck_assert(!suspended(2) && !suspended(3));
	set_view(PID, HEAD "0 0\n1 5\n2 6\n3 15\n4 7\n5 1\n");
	add_queue(4, 0xaaaa);
	add_queue(5, 0xaaaa);
	ck_assert(!suspended(4) && suspended(5));
}

/* sysfs has no priorities: nothing is guessed. */
TEST(no_priorities)
{
	open_on_two_gpus();
	ck_assert_int_eq(gpreempt_session_suspend(s, &low, &out), -ENODATA);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_NO_MODULE);
	ck_assert_ptr_null(strstr(loop.trace, "suspend"));
	/* The filter does not stay. */
	add_queue(4, 0xaaaa);
	ck_assert(!suspended(4));
}

/* A new queue that the view does not have yet: it runs, and the outcome reports it. */
TEST(priority_comes_late)
{
	set_view(PID, HEAD "0 0\n1 5\n2 6\n3 15\n");
	open_on_two_gpus();
	ck_assert_int_eq(gpreempt_session_suspend(s, &low, &out), 0);
	add_queue(4, 0xaaaa);
	ck_assert(!suspended(4));
}

/* Each try costs 9 s and a reset: only the next suspend tries again, whatever is resumed before. */
TEST(hang_is_not_tried_again)
{
	const struct gpreempt_error *err;
	char text[512];

	open_on_two_gpus();
	gp_loop_queue(&loop, 2)->broken = true;
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 3);
	ck_assert_uint_eq(out.failed, 1);
	err = gpreempt_session_error(s);
	ck_assert_int_eq(err->reason, GPREEMPT_HANG);
	ck_assert_str_eq(err->name, "0xbbbb");
	gpreempt_error_text(err, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "GPU 0xbbbb did not release"));
	ck_assert_int_eq(gpreempt_session_resume(s, ONLY(0), NULL), 0);
	unit_clear_trace();
	/* New queues are acknowledged, but the GPU is left alone. */
	add_queue(4, 0xbbbb);
	ck_assert_ptr_nonnull(strstr(loop.trace, "snapshot"));
	ck_assert_ptr_null(strstr(loop.trace, "suspend"));
	/* A request asks the GPU again. */
	ck_assert_int_eq(gpreempt_session_resume(s, ONLY(2), &out), 0);
	gp_loop_queue(&loop, 2)->broken = false;
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert(suspended(0) && suspended(2) && suspended(4));
	add_queue(5, 0xbbbb);
	ck_assert(suspended(5));
}

static const struct {
	uint32_t units;
	int ret;
	uint32_t set;
} graces[] = {
	{ 0, 0, 1 },
	{ 1, 0, 1 },
	{ 255, 0, 255 },
	{ 256, -ERANGE, GPREEMPT_GRACE_DEFAULT },
	{ 300, -ERANGE, GPREEMPT_GRACE_DEFAULT },
	{ GPREEMPT_GRACE_DEFAULT - 1, -ERANGE, GPREEMPT_GRACE_DEFAULT },
	{ GPREEMPT_GRACE_DEFAULT, 0, GPREEMPT_GRACE_DEFAULT },
};

TEST_EACH(grace, ARRAY_SIZE(graces))
{
	open_with_queues(1);
	ck_assert_int_eq(gp_session_set_grace(s, graces[_i].units), graces[_i].ret);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, NULL), 0);
	ck_assert_uint_eq(loop.grace, graces[_i].set);
}

static void set_clock(const char *properties)
{
	unit_one_gpu(properties);
	/* A GPU that the process may not use. */
	set_file(NODES, "0\n1\n2");
	set_file(NODES "2/gpu_id", "1234\n");
	set_file(NODES "2/properties", "max_engine_clk_fcompute 4000\n");
	/* The process has memory on some of its GPUs only. */
	set_file("/sys/class/kfd/kfd/proc/4194242/", "pasid\nqueues\nvram_63420\nsdma_1234");
}

TEST(grace_in_time)
{
	struct gpreempt_error err;
	uint32_t units = 0;
	char text[256];

	set_clock("vendor_id 4098\nmax_engine_clk_fcompute 2100\n"
		  "max_engine_clk_ccompute 3\n");
	/* A unit is 1024 / 2100 MHz, 487.6 ns. */
	ck_assert_int_eq(gp_grace_units(g, PID, 0, &units, &err), 0);
	ck_assert_uint_eq(units, 1);
	ck_assert_int_eq(gp_grace_units(g, PID, 487, &units, &err), 0);
	ck_assert_uint_eq(units, 1);
	ck_assert_int_eq(gp_grace_units(g, PID, 488, &units, &err), 0);
	ck_assert_uint_eq(units, 2);
	/* 255 * 1024 / 2100 = 124342.8 ns */
	ck_assert_int_eq(gp_grace_units(g, PID, 124342, &units, &err), 0);
	ck_assert_uint_eq(units, 255);
	ck_assert_int_eq(gp_grace_units(g, PID, 124343, &units, &err), -ERANGE);
	ck_assert_int_eq(err.reason, GPREEMPT_GRACE);
	ck_assert_uint_eq(err.limit_ns, 124342);
	gpreempt_error_text(&err, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "124us"));
	ck_assert_int_eq(gp_grace_units(g, PID, UINT64_MAX, &units, &err), -ERANGE);
	ck_assert_uint_eq(units, 255);
}

TEST(no_clock)
{
	struct gpreempt_error err;
	uint32_t units;

	ck_assert_int_eq(gp_grace_units(g, PID, 1000, &units, &err), -ENODATA);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_CLOCK);
	set_clock("max_engine_clk_fcompute 0\n");
	ck_assert_int_eq(gp_grace_units(g, PID, 1000, &units, NULL), -ENODATA);
}

TEST_FIXTURE(session_setup, session_teardown)
