/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_HOLD_START_H
#define GP_HOLD_START_H

#include <sys/types.h>

/* The program that becomes a holder (user/holder/main.c). */
extern const char gp_holder_path[];

/*
 * Start it for a process. A connection to it, or -errno; *child is to be waited
 * for when it has answered: it has forked by then, or failed.
 */
int gp_holder_start(pid_t target, pid_t *child);

#endif
