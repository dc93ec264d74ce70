// SPDX-License-Identifier: GPL-2.0-only
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "agent/ioctl-kick.h"
#include "shared/macro.h"

#ifndef sigev_notify_thread_id /* glibc has the field, but not this name of it */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/*
 * Longer than any call of a driver that is well, but for a suspend's wait for
 * the hardware, which no signal ends; and short against the 100 ms in which a
 * target may end.
 */
#define PERIOD_NS (20 * NSEC_PER_MSEC)

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

void ioctl_kick_start(void)
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

void ioctl_kick_busy(bool busy)
{
	struct itimerspec when = { 0 };

	/* Without one, what hangs is ended by the watchdog. */
	if (!have_timer)
		have_timer = make_timer();
	if (!have_timer)
		return;
	if (busy) {
		when.it_value.tv_nsec = PERIOD_NS;
		when.it_interval.tv_nsec = PERIOD_NS;
	}
	timer_settime(timer, 0, &when, NULL);
}
