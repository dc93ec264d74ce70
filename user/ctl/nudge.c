// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "ctl/nudge.h"
#include "shared/clock.h"
#include "shared/macro.h"

#define PERIOD_US 200000
#define STACK_SIZE (64 * 1024)

static void do_nothing(int sig)
{
	(void)sig;
}

void nudge_start(void)
{
	/*
	 * With SA_RESTART, so that what we print is not torn: the driver's
	 * wait ends all the same, and the driver goes on after it.
	 */
	struct sigaction action = {
		.sa_handler = do_nothing,
		.sa_flags = SA_RESTART,
	};
	struct itimerval period = {
		.it_value.tv_usec = PERIOD_US,
		.it_interval.tv_usec = PERIOD_US,
	};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &period, NULL);
}

/* One that blocks the signal keeps it pending, which does no harm. */
static void nudge_others(void)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/task");

	while (dir && (entry = readdir(dir))) {
		pid_t tid = atoi(entry->d_name);

		if (tid > 0 && tid != gettid())
			tgkill(getpid(), tid, SIGALRM);
	}
	if (dir)
		closedir(dir);
}

static void *nudge_thread(void *arg)
{
	(void)arg;
	for (;;) {
		shr_sleep_ns(PERIOD_US * NSEC_PER_USEC);
		nudge_others();
	}
	return NULL;
}

int nudge_threads_start(void)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_t thread;
	int ret;

	nudge_start();
	ret = pthread_attr_init(&attr);
	if (ret)
		return -ret;
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&thread, &attr, nudge_thread, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -ret;
}
