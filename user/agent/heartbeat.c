// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "agent/heartbeat.h"
#include "shared/clock.h"
#include "shared/macro.h"

#ifndef sigev_notify_thread_id /* glibc has the field, but not this name of it */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/*
 * A thread that stays in an ioctl of the driver gets a signal that does nothing but
 * interrupt a wait. The end of a debug session may wait there for an interrupt of the
 * GPU that never comes (gfx 9.4.3); only a signal ends that wait, and the target may be
 * a process that is about to exit.
 *
 * Longer than any call of a driver that is well, but for a suspend's wait for the hardware,
 * which no signal ends; and short against the 100 ms in which a target may end.
 */
#define KICK_NS (20 * NSEC_PER_MSEC)

/* A thread's own timer, made with its first call of the driver. */
static __thread timer_t timer;
static __thread bool have_timer;
static pthread_key_t key;

static void do_nothing(int sig)
{
	(void)sig;
}

static void end_thread(void *value)
{
	(void)value;
	timer_delete(timer);
}

static void start_kicks(void)
{
	/*
	 * With SA_RESTART, so that what we print is not torn: the driver's
	 * wait ends all the same, and the driver goes on after it.
	 */
	struct sigaction action = {
		.sa_handler = do_nothing,
		.sa_flags = SA_RESTART,
	};

	sigaction(SIGALRM, &action, NULL);
	pthread_key_create(&key, end_thread);
}

static bool make_timer(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGALRM,
	};

	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0)
		return false;
	/* Any value but NULL has end_thread() called. */
	pthread_setspecific(key, &have_timer);
	return true;
}

/* The calling thread enters the driver, or has returned from it. */
static void kick(bool busy)
{
	struct itimerspec when = { 0 };

	/* Without one, what hangs is ended by the watchdog. */
	if (!have_timer)
		have_timer = make_timer();
	if (!have_timer)
		return;
	if (busy) {
		when.it_value.tv_nsec = KICK_NS;
		when.it_interval.tv_nsec = KICK_NS;
	}
	timer_settime(timer, 0, &when, NULL);
}

/* Under the lock. */
static void beat(struct heartbeat *h)
{
	watchdog_pet(&h->watchdog,
		     HEARTBEAT_SPARE_NS + (h->busy ? HEARTBEAT_BUSY_NS : HEARTBEAT_SILENCE_NS));
	if (h->also)
		h->also(h->data, h->busy);
}

int heartbeat_start(struct heartbeat *h)
{
	int ret = watchdog_start(&h->watchdog);

	if (ret)
		return ret;
	pthread_mutex_init(&h->lock, NULL);
	start_kicks();
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
	kick(busy);
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
	struct itimerspec when = { .it_value = shr_timespec(ns) };

	timer_settime(w->timer, 0, &when, NULL);
}

void watchdog_stop(struct watchdog *w)
{
	timer_delete(w->timer);
}
