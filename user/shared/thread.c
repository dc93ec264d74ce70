// SPDX-License-Identifier: LGPL-2.1-or-later
#include <signal.h>

#include "shared/thread.h"

int shr_thread_start(pthread_t *thread, size_t stack, bool quiet, void *(*run)(void *arg),
		     void *arg)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int ret;

	ret = pthread_attr_init(&attr);
	if (ret)
		return -ret;
	if (stack)
		pthread_attr_setstacksize(&attr, stack);
	sigfillset(&all);
	if (quiet)
		pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(thread, &attr, run, arg);
	if (quiet)
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -ret;
}

void shr_sem_wait(sem_t *sem)
{
	while (sem_wait(sem) < 0)
		;
}
