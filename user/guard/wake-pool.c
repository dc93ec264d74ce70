// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "guard/wake-pool.h"
#include "shared/child.h"

int guard_wake_open(struct guard_wake_pool *pool)
{
	int i, ret;

	for (i = 0; i < GUARD_WAKES; i++) {
		pool->taken[i] = false;
		pool->fd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (pool->fd[i] < 0)
			break;
	}
	if (i == GUARD_WAKES)
		return 0;
	ret = -errno;
	while (i-- > 0)
		close(pool->fd[i]);
	return ret;
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
