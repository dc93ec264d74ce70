/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The heartbeat of a process that holds a target. If it stops, the watchdog
 * ends the process, and the driver then resumes the target's queues. A tracer
 * that is stopped would otherwise make its target unkillable.
 */
#ifndef AGENT_HEARTBEAT_H
#define AGENT_HEARTBEAT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "shared/macro.h"

/*
 * A dead man's switch: the kernel kills this process with SIGKILL unless the
 * process pets the watchdog in time. That works on a process that is stopped
 * or frozen (cgroup v2) too, where no code of the process itself could.
 */

struct watchdog {
	timer_t timer;
};

/* 0 or -errno. It belongs to this process; a child inherits none. */
int watchdog_start(struct watchdog *w);
/* The process is killed in so many ns, unless this is called again before. */
void watchdog_pet(const struct watchdog *w, uint64_t ns);
void watchdog_stop(struct watchdog *w);

/* How often a process beats at least. */
#define HEARTBEAT_TICK_NS (200 * NSEC_PER_MSEC)
/* How long it may be silent, and how long while it is in the driver. */
#ifndef HEARTBEAT_SILENCE_NS
#define HEARTBEAT_SILENCE_NS (2 * NSEC_PER_SEC)
#endif
#define HEARTBEAT_BUSY_NS (20 * NSEC_PER_SEC)
/* The watchdog leaves another process that watches us that much more time. */
#define HEARTBEAT_SPARE_NS NSEC_PER_SEC
#define HEARTBEAT_WATCH_NS (HEARTBEAT_SILENCE_NS + HEARTBEAT_SPARE_NS)

struct heartbeat {
	struct watchdog watchdog;
	/*
	 * For busy and the order of beats: a short time that is set late would
	 * kill a thread that waits for the hardware.
	 */
	pthread_mutex_t lock;
	unsigned int busy; /* threads that are in the driver */
	/*
	 * Called at each beat, under the lock, for another process that
	 * watches us; or NULL. It must not wait.
	 */
	void (*also)(void *data, bool busy);
	void *data;
};

/* Start the watchdog and beat once. 0 or -errno. also and data are set. */
int heartbeat_start(struct heartbeat *h);
void heartbeat_stop(struct heartbeat *h);
/* Any thread. It must come within HEARTBEAT_SILENCE_NS. */
void heartbeat_beat(struct heartbeat *h);
/*
 * The calling thread enters the driver, or has returned from it: for
 * struct gpreempt_options, with the heartbeat as its data. Silence is allowed for longer only
 * in between: a process that is stopped elsewhere is missed soon.
 */
void heartbeat_busy(void *data, bool busy);

#endif
