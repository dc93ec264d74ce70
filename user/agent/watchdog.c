// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>

#include "agent/watchdog.h"
#include "shared/macro.h"

int watchdog_start(struct watchdog *w)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGKILL,
	};

	if (timer_create(CLOCK_MONOTONIC, &event, &w->timer) < 0)
		return -errno;
	return 0;
}

void watchdog_pet(const struct watchdog *w, uint64_t ns)
{
	struct itimerspec when = {
		.it_value = {
			.tv_sec = ns / NSEC_PER_SEC,
			.tv_nsec = ns % NSEC_PER_SEC,
		},
	};

	timer_settime(w->timer, 0, &when, NULL);
}

void watchdog_stop(struct watchdog *w)
{
	timer_delete(w->timer);
}
