// SPDX-License-Identifier: GPL-2.0-only
/* Keeps the rings filled, flat out or at a rate. */
#include "submit.h"

#include <unistd.h>

#define NS_PER_S     1000000000ULL
#define SLEEP_MIN_NS 500000
#define SLEEP_MAX_NS 10000000
/* Without packets in flight: a process of ROCm's sleeps in an ioctl then (hsaKmtWaitOnEvent()). */
#define SLEEP_REST_NS 100000000

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Packets that are due by now at the rate asked for. A ring that was full (its queue is
 * suspended, or the GPU too slow) makes no debt: the rate goes on from now.
 */
static uint64_t due_packets(struct load_queue *queue, uint64_t rate, uint64_t now, uint64_t room)
{
	uint64_t period = NS_PER_S / rate;
	uint64_t due;

	if (!queue->next_due_ns)
		queue->next_due_ns = now;
	if (now < queue->next_due_ns)
		return 0;
	due = (now - queue->next_due_ns) / period + 1;
	if (due > room) {
		queue->next_due_ns = now + period;
		return room;
	}
	queue->next_due_ns += due * period;
	return due;
}

/* Hardware sees a doorbell at once; the simulated GPU, when we notify it. */
static void ring_doorbell(const struct load_process *proc, struct load_queue *queue, uint64_t value)
{
	ssize_t n;

	__atomic_store_n(queue->doorbell, value, __ATOMIC_RELEASE);
	if (proc->kick < 0)
		return;
	n = write(proc->kick, "1", 1);
	(void)n;
}

static void top_up(const struct load_process *proc, struct load_queue *queue,
		   const struct load_args *args, uint64_t now)
{
	struct load_ring *ring = &queue->ring;
	uint64_t n, i;

	n = load_ring_room(ring, args->depth);
	if (args->count)
		n = min_u64(n, args->count - ring->head);
	if (args->rate)
		n = due_packets(queue, args->rate, now, n);
	else if (args->gap_ns || args->samples)
		n = load_requests_due(&queue->requests, args, ring, now, n);
	if (!n)
		return;
	for (i = 0; i < n; i++)
		load_ring_put(ring, &queue->verdict);
	/* The doorbell takes the index of the last packet written. */
	ring_doorbell(proc, queue, ring->head - 1);
}

static void top_up_sdma(struct load_queue *queue)
{
	struct load_sdma *sdma = &queue->sdma;

	if (load_sdma_fill(sdma, &queue->verdict))
		__atomic_store_n(queue->doorbell, sdma->head * LOAD_SDMA_GROUP_BYTES,
				 __ATOMIC_RELEASE);
}

void load_submit_round(struct load_process *proc, const struct load_args *args, uint64_t now_ns,
		       bool stop)
{
	struct load_queue *queue;
	unsigned int i;

	for (i = 0; i < proc->num_queues; i++) {
		queue = &proc->queues[i];
		load_queue_retire(queue);
		load_requests_collect(&queue->requests, &queue->ring);
		if (stop)
			continue;
		if (queue->type == LOAD_COMPUTE)
			top_up(proc, queue, args, now_ns);
		else if (args->sdma_work)
			top_up_sdma(queue);
	}
}

bool load_submit_drained(const struct load_process *proc)
{
	unsigned int i;

	for (i = 0; i < proc->num_queues; i++)
		if (!load_queue_drained(&proc->queues[i]))
			return false;
	return true;
}

bool load_submit_finished(const struct load_process *proc, const struct load_args *args)
{
	unsigned int i;

	if (!args->count)
		return false;
	for (i = 0; i < proc->num_queues; i++)
		if (proc->queues[i].type == LOAD_COMPUTE && proc->queues[i].ring.head < args->count)
			return false;
	return true;
}

/*
 * Half the time that the emptiest ring needs at least. Several queues of one
 * GPU share it, so this errs on the safe side.
 */
uint64_t load_submit_sleep(const struct load_process *proc, const struct load_args *args,
			   uint64_t now_ns)
{
	uint64_t sleep = SLEEP_MAX_NS, in_flight;
	const struct load_queue *queue;
	unsigned int i;

	if (!args->report_ns && !args->sdma_work && load_submit_drained(proc))
		sleep = SLEEP_REST_NS;
	for (i = 0; i < proc->num_queues; i++) {
		queue = &proc->queues[i];
		if (queue->type != LOAD_COMPUTE)
			continue;
		if (args->gap_ns) {
			sleep = min_u64(sleep, queue->requests.next_ns > now_ns ?
						       queue->requests.next_ns - now_ns :
						       0);
		} else if (args->rate) {
			if (queue->next_due_ns <= now_ns)
				return SLEEP_MIN_NS;
			sleep = min_u64(sleep, queue->next_due_ns - now_ns);
		} else {
			in_flight = queue->ring.head - queue->ring.tail;
			sleep = min_u64(sleep, in_flight * args->packet_ns / 2);
		}
	}
	if (args->gap_ns && sleep)
		return sleep;
	return sleep < SLEEP_MIN_NS ? SLEEP_MIN_NS : sleep;
}
