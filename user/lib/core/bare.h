/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process for what may wait for ever: as of fork(), but no handler is called,
 * and its end is no SIGCHLD and is seen by no wait() of the program that uses this
 * library. It has one end of a pipe open, and nothing else of ours.
 */
#ifndef GP_CORE_BARE_H
#define GP_CORE_BARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct gp_bare {
	pid_t pid;
	int pidfd;
	int answer; /* our end of the pipe */
};

/*
 * The process calls @work, with all signals blocked, and ends with EXIT_FAILURE
 * if that returns. It may only call the system, and writes a byte to GP_BARE_PIPE
 * when it is done. 0 or -errno. For gp_bare_end().
 */
#define GP_BARE_PIPE 0
int gp_bare_start(struct gp_bare *b, void (*work)(void *arg), void *arg);

/* 0: it is done. -ETIMEDOUT; -EIO: it has ended. */
int gp_bare_wait(const struct gp_bare *b, uint64_t ns);

/*
 * Kill it, and wait so long for its end. False: it can't be ended now, and @b->pid
 * is to be reaped with gp_bare_reap() when it has ended.
 */
bool gp_bare_end(struct gp_bare *b, uint64_t ns);
/* Has it ended? It is no process any more then. */
bool gp_bare_reap(pid_t pid);

#endif
