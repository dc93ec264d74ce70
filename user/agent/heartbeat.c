// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>

#include "agent/heartbeat.h"
#include "agent/ioctl-kick.h"
#include "shared/macro.h"

/* Under the lock. */
static void beat(struct heartbeat *h)
{
	watchdog_pet(&h->watchdog,
		     HEARTBEAT_SPARE_NS + (h->busy ? HEARTBEAT_BUSY_NS :
						     HEARTBEAT_SILENCE_NS));
	if (h->also)
		h->also(h->data, h->busy);
}

int heartbeat_start(struct heartbeat *h)
{
	int ret = watchdog_start(&h->watchdog);

	if (ret)
		return ret;
	pthread_mutex_init(&h->lock, NULL);
	ioctl_kick_start();
	heartbeat_beat(h);
	return 0;
}

void heartbeat_stop(struct heartbeat *h)
{
	watchdog_stop(&h->watchdog);
}

void heartbeat_beat(struct heartbeat *h)
{
	pthread_mutex_lock(&h->lock);
	/* A thread in the driver has set a longer time, which has to stay. */
	if (!h->busy)
		beat(h);
	pthread_mutex_unlock(&h->lock);
}

void heartbeat_busy(void *data, bool busy)
{
	struct heartbeat *h = data;

	pthread_mutex_lock(&h->lock);
	h->busy += busy ? 1 : -1;
	beat(h);
	pthread_mutex_unlock(&h->lock);
	ioctl_kick_busy(busy);
}

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
