// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include "lib/backend/watch.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "shared/thread.h"

#define STACK_SIZE	(64 * 1024)
#define STOP_TIMEOUT_NS (2 * NSEC_PER_SEC)

struct gp_watch {
	pthread_t thread;
	pid_t pid;
	int fd;
	sem_t next;
	atomic_bool quit;
	atomic_bool done; /* the thread will not touch this any more */
};

static void *watch_thread(void *arg)
{
	struct gp_watch *w = arg;

	while (!atomic_load(&w->quit)) {
		siginfo_t info;

		/* WNOWAIT: the tracer collects it, this only looks. */
		if (waitid(P_PID, w->pid, &info,
			   WEXITED | WSTOPPED | WNOWAIT | __WALL) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (atomic_load(&w->quit))
			break;
		eventfd_write(w->fd, 1);
		shr_sem_wait(&w->next);
	}
	atomic_store(&w->done, true);
	eventfd_write(w->fd, 1);
	return NULL;
}

int gp_watch_start(void *be, pid_t pid, void **out, int *fd)
{
	struct gp_watch *w = calloc(1, sizeof(*w));
	int ret;

	(void)be;
	if (!w)
		return -ENOMEM;
	w->pid = pid;
	w->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->fd < 0) {
		ret = -errno;
		goto err_free;
	}
	sem_init(&w->next, 0, 0);
	ret = shr_thread_start(&w->thread, STACK_SIZE, true, watch_thread, w);
	if (ret)
		goto err_close;
	*out = w;
	*fd = w->fd;
	return 0;

err_close:
	close(w->fd);
err_free:
	free(w);
	return ret;
}

void gp_watch_next(void *be, void *watch)
{
	struct gp_watch *w = watch;
	eventfd_t count;

	(void)be;
	eventfd_read(w->fd, &count);
	sem_post(&w->next);
}

/* Wait until the thread has said that it is done. */
static bool wait_done(struct gp_watch *w)
{
	uint64_t count, deadline = shr_now_ns() + STOP_TIMEOUT_NS;
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	while (!atomic_load(&w->done)) {
		uint64_t now = shr_now_ns();

		if (now > deadline)
			return false;
		/* What is there to read may be of an earlier stop. */
		if (poll(&p, 1, (deadline - now) / NSEC_PER_MSEC + 1) > 0 &&
		    read(w->fd, &count, sizeof(count)) < 0)
			continue;
	}
	return true;
}

int gp_watch_stop(void *be, void *watch)
{
	struct gp_watch *w = watch;

	(void)be;
	atomic_store(&w->quit, true);
	sem_post(&w->next);
	if (!wait_done(w)) {
		/*
		 * The thread sleeps in the kernel until the process stops or
		 * this one ends; it keeps its memory and its descriptor.
		 */
		pthread_detach(w->thread);
		return -ETIMEDOUT;
	}
	pthread_join(w->thread, NULL);
	sem_destroy(&w->next);
	close(w->fd);
	free(w);
	return 0;
}
