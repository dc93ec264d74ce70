// SPDX-License-Identifier: GPL-2.0-only
#include <pthread.h>
#include <sys/eventfd.h>

#include "unit-guard-worker.h"

struct guard_common common;
struct guard_channel channel;
struct guard_job job;

static pthread_t thread;
static bool started;

void guard_worker_setup(pid_t target)
{
	memset(&channel, 0, sizeof(channel));
	common = (struct guard_common){
		.gpu_id = { GPU_A, GPU_B },
		.late_ns = 3600 * NSEC_PER_SEC,
	};
	atomic_store(&common.beat_ns, shr_now_ns());
	job = (struct guard_job){
		.target = target,
		.lock = -1,
		.common = &common,
		.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
	};
	started = false;
}

static void *work(void *arg)
{
	(void)arg;
	guard_work(&job, &channel);
	return NULL;
}

void wake_worker(void)
{
	uint64_t one = 1;

	ck_assert_int_eq(write(job.wake, &one, sizeof(one)), sizeof(one));
}

void start_worker(void)
{
	ck_assert_int_eq(pthread_create(&thread, NULL, work, NULL), 0);
	started = true;
	UNIT_WAIT(atomic_load(&channel.state) != GUARD_OPENING);
}

void start_held(void)
{
	start_worker();
	order_nodes(3);
	expect_done(3, true);
}

void stop_worker(void)
{
	if (!started)
		return;
	atomic_store(&channel.quit, true);
	wake_worker();
	pthread_join(thread, NULL);
	started = false;
	ck_assert_int_eq(atomic_load(&channel.state), GUARD_ENDED);
}

void guard_worker_teardown(void)
{
	stop_worker();
	close(job.wake);
}

void order_nodes(uint64_t nodes)
{
	struct guard_order o = {
		.nodes = nodes,
		.arrival_ns = shr_now_ns(),
		.reason = GPREEMPT_POLICY_ARRIVAL,
	};

	guard_channel_order(&channel, &o);
	wake_worker();
}

struct guard_result next_result(void)
{
	struct guard_result r;

	UNIT_WAIT(guard_channel_take(&channel, &r));
	return r;
}

void expect_done(uint64_t nodes, bool suspend)
{
	struct guard_result r = next_result();

	ck_assert_int_eq(r.code, 0);
	ck_assert_int_eq(r.suspend, suspend);
	ck_assert_uint_eq(r.nodes, nodes);
}

void wait_for_worker(void)
{
	UNIT_WAIT(atomic_load(&channel.state) == GUARD_ENDED);
	pthread_join(thread, NULL);
	started = false;
}
