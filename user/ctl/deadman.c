// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>

#include "ctl/deadman.h"
#include "shared/macro.h"

int deadman_start(struct deadman *d)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGKILL,
	};

	if (timer_create(CLOCK_MONOTONIC, &event, &d->timer) < 0)
		return -errno;
	return 0;
}

void deadman_feed(const struct deadman *d, uint64_t ns)
{
	struct itimerspec when = {
		.it_value = {
			.tv_sec = ns / NSEC_PER_SEC,
			.tv_nsec = ns % NSEC_PER_SEC,
		},
	};

	timer_settime(d->timer, 0, &when, NULL);
}

void deadman_stop(struct deadman *d)
{
	timer_delete(d->timer);
}
