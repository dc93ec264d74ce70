// SPDX-License-Identifier: GPL-2.0-only
/* Packets, waits, times. */
#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "queue.h"

#define PATIENCE 5000 /* ms; the emulated CPU may be away */
#define LOOK	 60   /* ms that something must not happen in */

/* Waits for all of its signals. */
int check_barrier_and(struct check *c)
{
	hsa_signal_t dep[2], done;
	int i;

	for (i = 0; i < 2; i++)
		if (check_new_signal(1, &dep[i]))
			return -1;
	if (check_new_signal(1, &done))
		return -1;
	check_put_barrier(c, HSA_PACKET_TYPE_BARRIER_AND, dep, 2, done);
	check_ring(c);
	MUST(!check_zero_within(done, LOOK));
	hsa_signal_store_screlease(dep[0], 0);
	MUST(!check_zero_within(done, LOOK));
	hsa_signal_store_screlease(dep[1], 0);
	MUST(check_zero_within(done, PATIENCE));
	hsa_signal_destroy(dep[0]);
	hsa_signal_destroy(dep[1]);
	hsa_signal_destroy(done);
	return 0;
}

/* Check that a barrier-OR packet waits for one of its signals. */
int check_barrier_or(struct check *c)
{
	hsa_signal_t dep[3], done;
	int i;

	for (i = 0; i < 3; i++)
		if (check_new_signal(1, &dep[i]))
			return -1;
	if (check_new_signal(1, &done))
		return -1;
	check_put_barrier(c, HSA_PACKET_TYPE_BARRIER_OR, dep, 3, done);
	check_ring(c);
	MUST(!check_zero_within(done, LOOK));
	hsa_signal_store_screlease(dep[2], 0);
	MUST(check_zero_within(done, PATIENCE));
	for (i = 0; i < 3; i++)
		hsa_signal_destroy(dep[i]);
	hsa_signal_destroy(done);
	return 0;
}

static void put_barrier_value(struct check *c, hsa_signal_t signal, int64_t value,
			      hsa_signal_condition_t condition, hsa_signal_t done)
{
	hsa_amd_barrier_value_packet_t *packet = c->queue->base_address;

	packet += c->index & (c->queue->size - 1);
	memset((char *)packet + sizeof(uint16_t), 0, sizeof(*packet) - sizeof(uint16_t));
	packet->signal = signal;
	packet->value = value;
	packet->mask = INT64_MAX;
	packet->cond = condition;
	packet->completion_signal = done;
	rocm_packet_commit(packet, HSA_PACKET_TYPE_VENDOR_SPECIFIC,
			   HSA_AMD_PACKET_TYPE_BARRIER_VALUE);
	c->index++;
}

/* AMD's own packet: waits for a condition on a value. */
int check_barrier_value(struct check *c)
{
	static const struct {
		hsa_signal_condition_t condition;
		int64_t closed, open; /* against 5 */
	} tries[] = {
		{ HSA_SIGNAL_CONDITION_EQ, 4, 5 },
		{ HSA_SIGNAL_CONDITION_NE, 5, 6 },
		{ HSA_SIGNAL_CONDITION_LT, 5, 4 },
		{ HSA_SIGNAL_CONDITION_GTE, 4, 5 },
	};
	hsa_signal_t signal, done;
	size_t i;

	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		if (check_new_signal(tries[i].closed, &signal) || check_new_signal(1, &done))
			return -1;
		put_barrier_value(c, signal, 5, tries[i].condition, done);
		check_ring(c);
		MUST(!check_zero_within(done, LOOK));
		hsa_signal_store_screlease(signal, tries[i].open);
		MUST(check_zero_within(done, PATIENCE));
		hsa_signal_destroy(signal);
		hsa_signal_destroy(done);
	}
	return 0;
}

/* Each leaves its mark once, however many there are. */
int check_dispatch(struct check *c)
{
	uint64_t before = *c->cell;
	hsa_signal_t done;
	int i;

	if (check_new_signal(200, &done))
		return -1;
	for (i = 0; i < 200; i++)
		check_put_dispatch(c, 50000, i, done);
	check_ring(c);
	MUST(check_zero_within(done, PATIENCE));
	MUST(hsa_signal_load_scacquire(done) == 0);
	MUST(*c->cell - before == 199 * 200 / 2);
	MUST(hsa_queue_load_read_index_scacquire(c->queue) == c->index);
	hsa_signal_destroy(done);
	return 0;
}

/* A wait without a limit, on a dispatch of 40 ms. */
static int wait_one(struct check *c, hsa_wait_state_t state)
{
	uint64_t before, took;
	hsa_signal_t done;

	if (check_new_signal(1, &done))
		return -1;
	before = rocm_now_ns();
	check_put_dispatch(c, 40 * MS, 0, done);
	check_ring(c);
	hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, state);
	took = rocm_now_ns() - before;
	printf("  waited %.1f ms\n", (double)took / MS);
	MUST(hsa_signal_load_scacquire(done) == 0);
	MUST(took >= 40 * MS && took < PATIENCE * MS);
	hsa_signal_destroy(done);
	return 0;
}

int check_wait_interrupt(struct check *c)
{
	return wait_one(c, HSA_WAIT_STATE_BLOCKED);
}

int check_wait_polling(struct check *c)
{
	return wait_one(c, HSA_WAIT_STATE_ACTIVE);
}

static bool handler(hsa_signal_value_t value, void *data)
{
	(void)value;
	__atomic_store_n((bool *)data, true, __ATOMIC_RELEASE);
	return false;
}

/* ROCr's own thread calls back. */
int check_handler(struct check *c)
{
	uint64_t until = rocm_now_ns() + PATIENCE * MS;
	bool called = false;
	hsa_signal_t done;

	if (check_new_signal(1, &done))
		return -1;
	TRY(hsa_amd_signal_async_handler(done, HSA_SIGNAL_CONDITION_LT, 1, handler, &called));
	check_put_dispatch(c, MS, 0, done);
	check_ring(c);
	while (!__atomic_load_n(&called, __ATOMIC_ACQUIRE) && rocm_now_ns() < until)
		rocm_sleep_ns(MS);
	MUST(called);
	hsa_signal_destroy(done);
	return 0;
}

/* Start and end of a dispatch of 5 ms, in the system's ticks. */
int check_profiling(struct check *c)
{
	hsa_amd_profiling_dispatch_time_t first, second;
	uint64_t frequency, ns;
	hsa_signal_t done[2];

	TRY(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
	TRY(hsa_amd_profiling_set_profiler_enabled(c->queue, 1));
	if (check_new_signal(1, &done[0]) || check_new_signal(1, &done[1]))
		return -1;
	check_put_dispatch(c, 5 * MS, 0, done[0]);
	check_put_dispatch(c, 5 * MS, 0, done[1]);
	check_ring(c);
	MUST(check_zero_within(done[1], PATIENCE));
	TRY(hsa_amd_profiling_get_dispatch_time(c->gpus.gpu[0].agent, done[0], &first));
	TRY(hsa_amd_profiling_get_dispatch_time(c->gpus.gpu[0].agent, done[1], &second));
	ns = (second.end - second.start) * (1000 * MS / frequency);
	printf("  5 ms took %.3f ms by its signal\n", (double)ns / MS);
	MUST(first.start < first.end && first.end <= second.start + frequency / 10000);
	/* Two clocks are matched to each other, which is not exact. */
	MUST(ns > 45 * MS / 10 && ns < 60 * MS / 10);
	hsa_signal_destroy(done[0]);
	hsa_signal_destroy(done[1]);
	return 0;
}

/* Create, change, use and destroy queues, again and again. */
int check_queues(struct check *c)
{
	static const hsa_amd_queue_priority_t priorities[] = {
		HSA_AMD_QUEUE_PRIORITY_LOW,
		HSA_AMD_QUEUE_PRIORITY_HIGH,
		HSA_AMD_QUEUE_PRIORITY_NORMAL,
	};
	struct rocm_queue queue;
	int i, j;

	for (i = 0; i < 12; i++) {
		TRY(rocm_queue_create(&c->gpus, 0, 256, 100000, &c->error, &queue));
		TRY(hsa_amd_queue_set_priority(queue.queue, priorities[i % 3]));
		rocm_queue_put(&queue, 20);
		MUST(queue.head == 20);
		for (j = 0; j < PATIENCE && queue.tail < queue.head; j++) {
			rocm_queue_retire(&queue);
			rocm_sleep_ns(MS);
		}
		rocm_queue_finish(&queue);
		MUST(queue.verdict.completed == 20 && !queue.verdict.lost);
		MUST(!queue.verdict.doubled && !queue.verdict.disordered);
		TRY(rocm_queue_destroy(&queue));
	}
	return 0;
}
