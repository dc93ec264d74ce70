// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has an online process work? Its AQL indices show packets that the GPU has
 * not begun. Equal indices do not mean that the last packet is done: its
 * completion signal shows that, if it has one.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "guard/guard.h"

#define PACKET_SIZE   64
#define PACKET_SIGNAL 56 /* completion_signal in any AQL packet */
#define SIGNAL_VALUE  8	 /* in amd_signal_t */

struct indices {
	uint64_t read;
	uint64_t written;
};

static int read_word(pid_t pid, uint64_t address, uint64_t *out)
{
	struct iovec here = { out, sizeof(*out) };
	struct iovec there = { (void *)(uintptr_t)address, sizeof(*out) };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof(*out) ? 0 : -EFAULT;
}

/* All indices of all queues in one call. */
static int read_indices(const struct guard_sight *sight, struct indices *indices)
{
	struct iovec there[2 * GUARD_QUEUES];
	struct iovec here = { indices, sight->n * sizeof(*indices) };
	ssize_t n;
	size_t i;

	for (i = 0; i < sight->n; i++) {
		const struct guard_queue *queue = &sight->queue[i];

		there[2 * i].iov_base = (void *)(uintptr_t)queue->read_addr;
		there[2 * i].iov_len = sizeof(indices->read);
		there[2 * i + 1].iov_base = (void *)(uintptr_t)queue->write_addr;
		there[2 * i + 1].iov_len = sizeof(indices->written);
	}
	n = process_vm_readv(sight->pid, &here, 1, there, 2 * sight->n, 0);
	if (n < 0)
		return -errno;
	return (size_t)n == here.iov_len ? 0 : -EFAULT;
}

/* The signal of the last packet, which stays in the ring when it is begun. */
static uint64_t find_signal(const struct guard_sight *sight, const struct guard_queue *queue)
{
	uint64_t at, signal;

	if (!queue->written || !queue->packets)
		return 0;
	at = queue->ring + (queue->written - 1) % queue->packets * PACKET_SIZE;
	if (read_word(sight->pid, at + PACKET_SIGNAL, &signal))
		return 0;
	return signal;
}

/* A signal counts down; one that cannot be read says nothing. */
static bool signal_waits(const struct guard_sight *sight, const struct guard_queue *queue)
{
	uint64_t value;

	return queue->signal && !read_word(sight->pid, queue->signal + SIGNAL_VALUE, &value) &&
	       (int64_t)value > 0;
}

/* True: it had work since the last look. */
static bool look_at(const struct guard_sight *sight, struct guard_queue *queue,
		    const struct indices *indices)
{
	bool moved = queue->known && indices->written != queue->written;
	bool found = !queue->known || moved;

	queue->written = indices->written;
	queue->known = true;
	if (indices->read != indices->written) {
		/* The last packet is not written as long as it comes. */
		queue->signal = 0;
		queue->busy = true;
		return true;
	}
	if (found || (queue->busy && !queue->signal))
		queue->signal = find_signal(sight, queue);
	queue->busy = signal_waits(sight, queue);
	/* Done: what the program does with the signal now is its own. */
	if (!queue->busy)
		queue->signal = 0;
	return moved || queue->busy;
}

int guard_look(struct guard_sight *sight)
{
	struct indices indices[GUARD_QUEUES];
	bool busy = false, worked = false;
	size_t i;
	int ret;

	if (!sight->n)
		return GUARD_IDLE;
	ret = read_indices(sight, indices);
	if (ret)
		return ret;
	for (i = 0; i < sight->n; i++) {
		worked |= look_at(sight, &sight->queue[i], &indices[i]);
		busy |= sight->queue[i].busy;
	}
	return busy ? GUARD_BUSY : worked ? GUARD_PULSE : GUARD_IDLE;
}

void guard_sight_update(struct guard_sight *sight, const struct guard_online *online)
{
	struct guard_queue fresh[GUARD_QUEUES];
	size_t i, j;

	for (i = 0; i < online->n; i++) {
		fresh[i] = online->queue[i];
		for (j = 0; j < sight->n; j++)
			if (sight->queue[j].qid == fresh[i].qid &&
			    sight->queue[j].write_addr == fresh[i].write_addr)
				fresh[i] = sight->queue[j];
	}
	memcpy(sight->queue, fresh, online->n * sizeof(*fresh));
	sight->n = online->n;
}
