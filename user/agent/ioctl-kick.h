/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A signal that does nothing but interrupt a wait, for a thread that stays in
 * an ioctl of the driver. The end of a debug session may wait there for an
 * interrupt of the GPU that never comes (gfx 9.4.3); only a signal ends that
 * wait, and the target may be a process that is about to exit.
 */
#ifndef AGENT_IOCTL_KICK_H
#define AGENT_IOCTL_KICK_H

#include <stdbool.h>

/* Once in a process, before the first ioctl_kick_busy(). */
void ioctl_kick_start(void);
/* The calling thread enters the driver, or has returned from it. */
void ioctl_kick_busy(bool busy);

#endif
