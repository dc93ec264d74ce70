// SPDX-License-Identifier: GPL-2.0-only
/*
 * The worker of an offline process, with a session, or with pauses of all of it:
 * guard_work() in a thread of its own, on the made-up driver. The test is guard: it gives
 * orders and reads results.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>

#include "guard/guard.h"
#include "hold/run-dir.h"
#include "unit-holder.h"
#include "unit-pausable.h"

#define GPU_A 0xf7bc /* node 0, as the made-up queues have it */
#define GPU_B 0x1234 /* node 1 */

static struct guard_common common;
static struct guard_channel channel;
static struct guard_job job;

static pthread_t thread;
static bool started;

/* After unit_setup_for(): it is that process's, and has no lock. */
static void guard_worker_setup(pid_t pid)
{
	common = (struct guard_common){
		.gpu_id = { GPU_A, GPU_B },
		.late_ns = 3600 * NSEC_PER_SEC,
	};
	atomic_store(&common.beat_ns, shr_now_ns());
	job = (struct guard_job){
		.target = pid,
		.lock = -1,
		.common = &common,
		.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
	};
}

static void *work(void *arg)
{
	(void)arg;
	guard_work(&job, &channel);
	return NULL;
}

static void wake_worker(void)
{
	uint64_t one = 1;

	ck_assert_int_eq(write(job.wake, &one, sizeof(one)), sizeof(one));
}

static void start_worker(void)
{
	ck_assert_int_eq(pthread_create(&thread, NULL, work, NULL), 0);
	started = true;
	UNIT_WAIT(atomic_load(&channel.state) != GUARD_OPENING);
}

static void stop_worker(void)
{
	if (!started)
		return;
	atomic_store(&channel.quit, true);
	wake_worker();
	pthread_join(thread, NULL);
	started = false;
	ck_assert_int_eq(atomic_load(&channel.state), GUARD_ENDED);
}

/* Stops it, too. */
static void guard_worker_teardown(void)
{
	stop_worker();
	close(job.wake);
}

static void order_nodes(uint64_t nodes)
{
	struct guard_order o = {
		.nodes = nodes,
		.arrival_ns = shr_now_ns(),
		.reason = GPREEMPT_POLICY_ARRIVAL,
	};

	guard_channel_order(&channel, &o);
	wake_worker();
}

static struct guard_result next_result(void)
{
	struct guard_result r;

	UNIT_WAIT(guard_channel_take(&channel, &r));
	return r;
}

/* The order was carried out, whatever was in its way. */
static void expect_done(uint64_t nodes, bool suspend)
{
	struct guard_result r = next_result();

	ck_assert_int_eq(r.code, 0);
	ck_assert_int_eq(r.suspend, suspend);
	ck_assert_uint_eq(r.nodes, nodes);
}

/* And it has suspended both nodes. */
static void start_held(void)
{
	start_worker();
	order_nodes(3);
	expect_done(3, true);
}

/* Wait for the worker, which ends by itself. */
static void wait_for_worker(void)
{
	UNIT_WAIT(atomic_load(&channel.state) == GUARD_ENDED);
	pthread_join(thread, NULL);
	started = false;
}

/* The session is ended just before the driver sees that call. */
static const char *end_before;
static atomic_int ends;

static void before(struct gp_loop *l, const char *call)
{
	if (end_before && !strcmp(call, end_before) && atomic_fetch_sub(&ends, 1) > 0)
		gp_loop_disable(l);
}

static void setup(void)
{
	unit_setup();
	guard_worker_setup(PID);
	job.how = GPREEMPT_HOW_DEBUG;
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1)->gpu_id = GPU_B;
	loop.before = before;
}

static void teardown(void)
{
	guard_worker_teardown();
	unit_teardown();
}

static void queues_are(bool first, bool second)
{
	UNIT_WAIT(gp_loop_queue(&loop, 0)->suspended == first &&
		  gp_loop_queue(&loop, 1)->suspended == second);
}

TEST(orders)
{
	start_held();
	queues_are(true, true);
	order_nodes(2);
	expect_done(1, false);
	queues_are(false, true);
	order_nodes(1);
	expect_done(1, true);
	expect_done(2, false);
	queues_are(true, false);
	order_nodes(0);
	expect_done(1, false);
	queues_are(false, false);
	stop_worker();
	ck_assert(!loop.debugged);
	ck_assert_int_eq(channel.error.code, 0);
}

/* Slots are watched beside the ioctl, for which there must be a processor, or for each sample. */
TEST_EACH(watches_slots, 3)
{
	unsigned int reads;
	cpu_set_t one;

	sched_getaffinity(0, sizeof(one), &one);
	while (_i < 2 && CPU_COUNT(&one) > 1)
		CPU_CLR(__builtin_ctzl(one.__bits[0]), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	job.sample_each = _i == 1;
	set_view(PID, "gpreempt-queues - version: 1.1\n# qid active\n0 4\n1 0\n");
	start_held();
	order_nodes(0);
	expect_done(3, false);
	reads = gp_loop_reads(&loop, "/sys/kernel/debug/gpreempt/pid/4194242/queues");
	if (_i < 2 || CPU_COUNT(&one) > 1)
		ck_assert_int_eq(reads > 0, _i > 0);
}

/* The session is lost between two orders: the renewal suspends the same queues. */
TEST(lost_between)
{
	int i;

	start_held();
	end_before = "query";
	for (i = 0; i < 5; i++) {
		atomic_store(&ends, 1);
		loop.exceptions = 0;
		/* The session asks for events when a queue is made. */
		gp_loop_add_queue(&loop, 2 + i);
		UNIT_WAIT(atomic_load(&ends) <= 0);
		queues_are(true, true);
	}
	order_nodes(0);
	expect_done(3, false);
	queues_are(false, false);
}

/* Guard learns that queues came, without a look at them. */
TEST(new_queue)
{
	unsigned int before;

	start_held();
	before = atomic_load(&channel.queues);
	gp_loop_add_queue(&loop, 2);
	UNIT_WAIT(atomic_load(&channel.queues) > before);
}

/* The session is lost again and again: the worker gives up with a reason, and the queues run. */
TEST(lost_too_often)
{
	struct guard_result r;

	start_worker();
	end_before = "suspend";
	atomic_store(&ends, 1000);
	order_nodes(3);
	r = next_result();
	ck_assert_int_eq(r.code, -ENOTCONN);
	ck_assert_int_eq(r.error.reason, GPREEMPT_LOST);
	wait_for_worker();
	ck_assert_int_eq(channel.error.reason, GPREEMPT_LOST);
	queues_are(false, false);
}

/* Neither queue counts as suspended; the broken one is resumed, as the driver marks it. */
TEST(hung)
{
	struct guard_result r;

	start_worker();
	gp_loop_queue(&loop, 1)->broken = true;
	order_nodes(3);
	r = next_result();
	ck_assert_int_eq(r.code, -EIO);
	ck_assert_int_eq(r.error.reason, GPREEMPT_HANG);
	queues_are(false, false);
	gp_loop_queue(&loop, 1)->broken = false;
	order_nodes(3);
	expect_done(3, true);
	queues_are(true, true);
}

/* A runtime that comes later is no failure. */
TEST(no_runtime_yet)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	start_held();
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_ENABLED);
	queues_are(true, true);
}

/* The poller is gone: the queues run until it is back. */
TEST(poller_is_late)
{
	start_held();
	queues_are(true, true);
	common.late_ns = 0;
	wake_worker();
	expect_done(3, false);
	queues_are(false, false);
	common.late_ns = 3600 * NSEC_PER_SEC;
	wake_worker();
	expect_done(3, true);
	queues_are(true, true);
}

TEST(target_ends)
{
	start_held();
	gp_loop_stop(&loop, 6 << 16 | 0x57f);
	wait_for_worker();
	ck_assert_int_eq(channel.error.reason, GPREEMPT_ENDED);
	queues_are(false, false);
}

TEST(not_opened)
{
	gp_loop_fail(&loop, "seize", 0, -EPERM);
	start_worker();
	wait_for_worker();
	ck_assert_int_eq(channel.error.code, -EPERM);
	ck_assert_int_eq(channel.error.reason, GPREEMPT_TRACE_DENIED);
}

/* Guard sees that it is well, and in the driver. */
static bool busy_seen;

static void see_busy(struct gp_loop *l, const char *call)
{
	(void)l;
	if (!strcmp(call, "suspend"))
		busy_seen = atomic_load(&channel.busy);
}

TEST(heartbeat)
{
	uint64_t then;

	loop.before = see_busy;
	start_held();
	ck_assert(busy_seen);
	ck_assert(!atomic_load(&channel.busy));
	then = shr_now_ns();
	UNIT_WAIT(atomic_load(&channel.beat_ns) >= then);
}

/*
 * A thread sleeps in the destruction of queue 0, which is released, and does not
 * get on: guard reads how long it runs, and that it is too much.
 */
TEST(released)
{
	uint64_t recent;

	start_held();
	ck_assert_uint_eq(atomic_load(&channel.released_ns), 0);
	gp_loop_queue(&loop, 0)->destroying = true;
	set_file("/proc/4194242/task/4194242/syscall",
		 "16 0x3 0xc0084b03 0x0 0x0 0x0 0x0 0x1 0x2\n");
	UNIT_WAIT(atomic_load(&channel.churns));
	recent = atomic_load(&channel.recent_ns);
	ck_assert_uint_ge(recent, NSEC_PER_SEC / 2);
	ck_assert_uint_le(recent, atomic_load(&channel.released_ns));
	ck_assert_uint_eq(atomic_load(&channel.window_ns), 10 * NSEC_PER_SEC);
	ck_assert(!atomic_load(&channel.made));
}

TEST_FIXTURE(setup, teardown)

static void pause_setup(void)
{
	const struct hold_owner as = { .role = HOLD_ROLE_GUARD, .guardian = getpid() };

	pausable_setup();
	guard_worker_setup(target);
	job.how = GPREEMPT_HOW_PAUSE;
	job.guard = getpid();
	/* The worker's copy, which the keepers have then. */
	job.lock = hold_take(target, &as);
	ck_assert_int_ge(job.lock, 0);
}

static void pause_teardown(void)
{
	guard_worker_teardown();
	unit_wait_until_free(target);
	unit_expect_unpaused(target);
	holder_teardown();
}

TEST(paused_orders)
{
	struct hold_owner owner;
	struct pause_entry e;

	start_worker();
	ck_assert(atomic_load(&channel.paused));
	ck_assert_int_eq(channel.why.reason, GPREEMPT_OK);
	/* The entry is written before the first pause, and the lock names guard. */
	ck_assert_int_eq(pause_journal_read(target, &e), 0);
	ck_assert_int_eq(hold_read_owner(target, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_GUARD);
	ck_assert_uint_eq(owner.guardian, getpid());
	order_nodes(1);
	expect_done(1, true);
	ck_assert_int_eq(loop.evicted, 1);
	/* The process is off the other GPU already, and stays off while one is wanted. */
	order_nodes(3);
	order_nodes(2);
	shr_sleep_ns(50 * NSEC_PER_MSEC);
	ck_assert_int_eq(loop.evicted, 1);
	order_nodes(0);
	expect_done(2, false);
	ck_assert_int_eq(loop.evicted, 0);
	stop_worker();
	ck_assert_int_eq(channel.error.code, 0);
	ck_assert(!strstr(loop.trace, "enable"));
}

/*
 * The session is refused at the start, or at the first suspend: the worker pauses, and guard
 * gets the reason.
 */
TEST_EACH(automatic, 2)
{
	job.how = GPREEMPT_HOW_AUTO;
	if (_i)
		loop.minor = 12;
	else
		loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	start_worker();
	ck_assert(atomic_load(&channel.paused) == _i);
	order_nodes(1);
	expect_done(1, true);
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert(atomic_load(&channel.paused));
	ck_assert_int_eq(channel.why.reason, _i ? GPREEMPT_KFD_VERSION : GPREEMPT_RUNTIME_OFF);
	order_nodes(0);
	expect_done(1, false);
	ck_assert_int_eq(loop.evicted, 0);
}

TEST_FIXTURE(pause_setup, pause_teardown)
