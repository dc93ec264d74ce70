/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A disposable process for what a target can make wait for ever: PTRACE_SEIZE waits
 * while the target executes a program, close() waits for the server of a FUSE file,
 * and an ioctl waits for a lock of the driver. Not even SIGKILL ends the last two.
 *
 * The process has a descriptor table of its own, a single descriptor in it, and all
 * signals blocked. Its end is no SIGCHLD, and no wait() of the program that uses this
 * library sees it. It shares the memory of its caller, which makes it cheap. Where the
 * caller has /dev/kfd open, the process gets a copy of the memory instead: KFD ends
 * the debug sessions of a process, and takes its queues away, when its memory goes,
 * and a process that is stuck would keep the shared memory for ever.
 */
#ifndef LIB_CORE_APART_H
#define LIB_CORE_APART_H

#include <stdbool.h>
#include <stdint.h>

#include <gpreempt/core.h>

/*
 * Longest time without progress, and then in the ioctl of a pause: together less than the
 * 20 s that a watchdog of the caller's grants (hold/escape.h). The driver can take 9 s.
 */
#ifndef GP_APART_WAIT_NS
#define GP_APART_WAIT_NS (1000 * 1000 * 1000ULL)
#endif
#define GP_APART_IOCTL_NS (18 * GP_APART_WAIT_NS)
/* Longest time with progress. */
#define GP_APART_MOST_NS (10 * GP_APART_WAIT_NS)

/* Bytes that the caller and the process share, at most. */
#define GP_APART_SIZE 4096

/* Returns zeroed memory; NULL without memory. */
void *gp_apart_new(void);
/* Free the memory; not after -ETIMEDOUT. */
void gp_apart_free(void *shared);

/*
 * Call @work in a process of its own that has the descriptor @keep open, and wait for
 * its end. @work gets @shared, calls the system and nothing else, and takes no memory.
 * Once it has entered the ioctl, it gets GP_APART_WAIT_NS and then @ioctl_ns for it.
 * @g: NULL, or the caller's busy() is called when the wait is longer than GP_APART_WAIT_NS,
 * which is less than a watchdog grants without that.
 * 0: the process has ended. -ETIMEDOUT: it is abandoned at *@place, and @shared belongs
 * to it. -EBUSY: too many are abandoned. -EINTR: a signal has killed the process. Another
 * -errno: there was no process.
 */
int gp_apart_run(const struct gpreempt *g, void *shared, int keep, void (*work)(void *shared),
		 uint64_t ioctl_ns, int *place);

/*
 * Start the process for the next gp_apart_run() with these arguments. It waits for that
 * call, which saves the call 150 us on an emulated CPU. Where no process can wait (the
 * caller may have sessions: see above) the call starts one, as without this.
 */
void gp_apart_ready(void *shared, int keep, void (*work)(void *shared));

/* Report the place of @work. Each call makes the caller wait on. */
void gp_apart_at(void *shared, int place);
/*
 * Call these before the ioctl, between two ioctls, and after the last one. False: the caller has
 * given up or ended: do not make the ioctl; after it: undo it.
 */
bool gp_apart_enter(void *shared);
bool gp_apart_is_wanted(void *shared);
bool gp_apart_leave(void *shared);

/*
 * Note that this process is about to open /dev/kfd: from now on, each helper gets a copy of its
 * memory. -EBUSY: a helper that shares the memory is stuck.
 */
int gp_apart_own_memory(void);

#endif
