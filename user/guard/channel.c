// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guard/worker.h"
#include "shared/child.h"

/* To write an order takes nanoseconds, if its writer runs. */
#define ORDER_TRIES 1000

void *guard_channel_map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void guard_channel_order(struct guard_channel *c, const struct guard_order *order)
{
	atomic_fetch_add(&c->version, 1);
	c->order = *order;
	atomic_fetch_add(&c->version, 1);
}

bool guard_channel_get_order(struct guard_channel *c, struct guard_order *order)
{
	unsigned int before, i;

	for (i = 0; i < ORDER_TRIES; i++) {
		before = atomic_load(&c->version);
		*order = c->order;
		atomic_thread_fence(memory_order_acquire);
		if (!(before & 1) && atomic_load(&c->version) == before)
			return true;
		sched_yield();
	}
	return false;
}

bool guard_channel_give(struct guard_channel *c, const struct guard_result *result)
{
	unsigned int given = atomic_load(&c->given);

	if (given - atomic_load(&c->taken) == GUARD_RESULTS)
		return false;
	c->result[given % GUARD_RESULTS] = *result;
	atomic_store(&c->given, given + 1);
	return true;
}

bool guard_channel_take(struct guard_channel *c, struct guard_result *result)
{
	unsigned int taken = atomic_load(&c->taken);

	if (taken == atomic_load(&c->given))
		return false;
	*result = c->result[taken % GUARD_RESULTS];
	atomic_store(&c->taken, taken + 1);
	return true;
}

int guard_wake_open(struct guard_wake_pool *pool)
{
	int i;

	for (i = 0; i < GUARD_WAKES; i++) {
		pool->fd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (pool->fd[i] < 0)
			return -errno;
	}
	return 0;
}

int guard_wake_take(struct guard_wake_pool *pool)
{
	int i;

	for (i = 0; i < GUARD_WAKES; i++)
		if (!pool->taken[i]) {
			pool->taken[i] = true;
			return pool->fd[i];
		}
	return -ENOSPC;
}

void guard_wake_give(struct guard_wake_pool *pool, int fd)
{
	uint64_t count;
	ssize_t n;
	int i;

	/* The next worker has no order yet. */
	n = read(fd, &count, sizeof(count));
	(void)n;
	for (i = 0; i < GUARD_WAKES; i++)
		if (pool->fd[i] == fd)
			pool->taken[i] = false;
}

int guard_wake_keep_only(const struct guard_wake_pool *pool)
{
	if (unshare(CLONE_FILES) < 0)
		return -errno;
	shr_close_others(0, pool->fd, GUARD_WAKES);
	return 0;
}
