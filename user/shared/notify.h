/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tell systemd, if it has started us, how we are. See sd_notify(3); it needs no library.
 */
#ifndef CTL_NOTIFY_H
#define CTL_NOTIFY_H

#include <stdint.h>

/* "READY=1", "STOPPING=1", "WATCHDOG=1". Does nothing without a manager. */
void notify_manager(const char *state);

/* "WATCHDOG=1" must come that often; 0: no manager waits for it. */
uint64_t notify_watchdog_ns(void);

#endif
