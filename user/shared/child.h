/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Child processes for work that may never end: a driver that waits for the hardware, a file or
 * a page of another process that never answers. A process, not a thread: a thread that the
 * kernel can't interrupt would keep the descriptors of its process, its socket and locks among
 * them, after the death of that process.
 */
#ifndef SHARED_CHILD_H
#define SHARED_CHILD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Fork. The child has all memory of its parent and none of its threads, stdio and the
 * descriptors @keep (64 at most). It calls @work and exits with what that returns, and the
 * kernel kills it when the thread that made it ends. Returns its PID, or -errno.
 */
pid_t shr_child_start(int (*work)(void *arg), void *arg, const int *keep, size_t n_keep);

/* A process whose memory a child reads answers in microseconds, if it does. */
#ifndef SHR_CHILD_PATIENCE_MS
#define SHR_CHILD_PATIENCE_MS 500
#endif

/*
 * Have a child do work on the memory of other processes. @steps is in memory that both
 * see, and grows when the work begins with the next process. 0 when it has ended;
 * -ETIMEDOUT: a process did not answer for SHR_CHILD_PATIENCE_MS since then, and the
 * child is left behind; -EIO: the child was killed; or -errno. @beat, or NULL, is called
 * all the time meanwhile.
 */
int shr_child_run(int (*work)(void *arg), void *arg, const atomic_uint *steps,
		  void (*beat)(void *data), void *data);

/*
 * Kill it and do not wait: it may be where no signal ends that. If it has not ended
 * by then, init has it when we have.
 */
void shr_child_abandon(pid_t child);

/*
 * Has it ended? Then *child is 0 and *status is what waitpid() gave. Never waits.
 */
bool shr_child_gone(pid_t *child, int *status);

/* Close all descriptors from that number on, but @keep; negative ones are none. */
void shr_close_others(unsigned int from, const int *keep, size_t n);

#endif
