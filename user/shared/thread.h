/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads that get no signals, or a small stack. */
#ifndef SHARED_THREAD_H
#define SHARED_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * @stack: its size, small where a holder locks its memory; 0: the usual one. @quiet: the
 * program's signals are not for it. 0 or -errno.
 */
int shr_thread_start(pthread_t *thread, size_t stack, bool quiet, void *(*run)(void *arg),
		     void *arg);

/* Whatever signals come. */
void shr_sem_wait(sem_t *sem);

#endif
