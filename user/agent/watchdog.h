/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A dead man's switch: the kernel kills this process with SIGKILL unless the
 * process pets the watchdog in time. That works on a process that is stopped
 * or frozen (cgroup v2) too, where no code of the process itself could.
 */
#ifndef AGENT_WATCHDOG_H
#define AGENT_WATCHDOG_H

#include <stdint.h>
#include <time.h>

struct watchdog {
	timer_t timer;
};

/* 0 or -errno. It belongs to this process; a child inherits none. */
int watchdog_start(struct watchdog *w);
/* The process is killed in so many ns, unless this is called again before. */
void watchdog_pet(const struct watchdog *w, uint64_t ns);
void watchdog_stop(struct watchdog *w);

#endif
