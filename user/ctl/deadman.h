/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A dead man's switch: the kernel kills this process with SIGKILL unless it
 * says in time that it is well. It works on a process that is stopped or
 * frozen too, which nothing in the process itself could.
 */
#ifndef CTL_DEADMAN_H
#define CTL_DEADMAN_H

#include <stdint.h>
#include <time.h>

struct deadman {
	timer_t timer;
};

/* 0 or -errno. Belongs to this process; a child has none. */
int deadman_start(struct deadman *d);
/* Well for so much longer. */
void deadman_feed(const struct deadman *d, uint64_t ns);
void deadman_stop(struct deadman *d);

#endif
