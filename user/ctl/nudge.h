/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A signal from time to time that does nothing but interrupt what waits. The
 * end of a debug session may wait in the driver for an interrupt of the GPU
 * that never comes (gfx 9.4.3); a signal is all that ends that wait.
 */
#ifndef CTL_NUDGE_H
#define CTL_NUDGE_H

/* Until the process ends. poll() and its like see EINTR from then on. */
void nudge_start(void);
/*
 * The same for all threads: a signal of the process goes to its first thread,
 * and it may be another one that waits. 0 or -errno.
 */
int nudge_threads_start(void);

#endif
