// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <sys/time.h>

#include "ctl/nudge.h"

#define PERIOD_US 200000

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
