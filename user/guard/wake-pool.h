/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The eventfds by which guard wakes its workers. All are made before the first
 * thread that reads the memory of other processes: such a thread has descriptors
 * of its own, which are these and no others, so it can't have one that is made
 * later.
 */
#ifndef GUARD_WAKE_POOL_H
#define GUARD_WAKE_POOL_H

#include <stdbool.h>

#define GUARD_WAKES 64 /* workers at once */

struct guard_wake_pool {
	int fd[GUARD_WAKES];
	bool taken[GUARD_WAKES];
};

/* 0 or -errno; nothing is left open then. */
int guard_wake_open(struct guard_wake_pool *pool);
/* One that no other worker has, or -ENOSPC. */
int guard_wake_take(struct guard_wake_pool *pool);
/* Its worker is gone. */
void guard_wake_give(struct guard_wake_pool *pool, int fd);

/*
 * This thread has descriptors of its own from now on: those of the pool. What
 * it keeps open when it never ends wakes no one. 0 or -errno.
 */
int guard_wake_keep_only(const struct guard_wake_pool *pool);

#endif
