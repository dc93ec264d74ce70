// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/leave-command.h"

static void reset_signals(void)
{
	sigset_t none;
	int sig;

	for (sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	/* A terminal or a session that ends is none of its business. */
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

int leave_command(void)
{
	setsid();
	reset_signals();
	/* Late answers look like death to those who watch. */
	setpriority(PRIO_PROCESS, 0, -20);
	return chdir("/") < 0 ? -errno : 0;
}
