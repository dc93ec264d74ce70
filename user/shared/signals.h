/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Signals that a loop reads, in place of handlers. */
#ifndef SHARED_SIGNALS_H
#define SHARED_SIGNALS_H

/*
 * Block these, up to 0. Returns a signalfd that does not wait, or -errno; then
 * they are not blocked, so that Ctrl-C works still.
 */
int shr_signals_open(const int *signals);

/* The same for SIGINT, SIGTERM and SIGHUP, which end a command that runs on. */
int shr_signals_open_stop(void);

#endif
