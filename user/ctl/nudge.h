/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A signal that does nothing but interrupt what waits, for a thread that stays
 * in the driver. The end of a debug session may wait there for an interrupt of
 * the GPU that never comes (gfx 9.4.3); a signal is all that ends that wait,
 * and the target may be one that is about to exit.
 */
#ifndef CTL_NUDGE_H
#define CTL_NUDGE_H

#include <stdbool.h>

/* Once in a process, before the first nudge_busy(). */
void nudge_start(void);
/* The calling thread goes into the driver, or is back from it. */
void nudge_busy(bool busy);

#endif
