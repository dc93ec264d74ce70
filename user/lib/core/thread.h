/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of the library's own. */
#ifndef GP_CORE_THREAD_H
#define GP_CORE_THREAD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A thread with a small stack: the holder locks its memory. quiet: the program's
 * signals are not for it. 0 or -errno.
 */
int gp_thread_start(pthread_t *thread, size_t stack, bool quiet,
		    void *(*run)(void *arg), void *arg);

/* Whatever signals come. */
void gp_sem_wait(sem_t *sem);

#endif
