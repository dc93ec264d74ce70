// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "lib/session/reader.h"
#include "shared/child.h"
#include "shared/clock.h"
#include "shared/thread.h"

#define STACK_SIZE (64 * 1024)

struct gp_reader {
	pthread_t thread;
	/* Its own copies: the caller may be gone when a read comes back. */
	const struct gp_backend_ops *ops;
	void *be;
	pid_t pid;
	sem_t go;
	/* Not a semaphore, whose wait is by the time of day where it ends in time. */
	pthread_mutex_t lock;
	pthread_cond_t done_cond;
	bool done; /* under the lock */
	atomic_bool quit;
	atomic_int users; /* the thread and the caller: the last frees */
	bool pending;	  /* the caller's: done was not waited for */

	/* The caller's before go, the thread's until done. */
	uint64_t address;
	size_t size;
	int ret;
	unsigned char buf[GP_READER_MAX];
};

static struct gp_reader *make_reader(void)
{
	struct gp_reader *r = calloc(1, sizeof(*r));
	pthread_condattr_t attr;

	if (!r)
		return NULL;
	sem_init(&r->go, 0, 0);
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->done_cond, &attr);
	pthread_condattr_destroy(&attr);
	return r;
}

static void free_reader(struct gp_reader *r)
{
	sem_destroy(&r->go);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->done_cond);
	free(r);
}

static void put_reader(struct gp_reader *r)
{
	if (atomic_fetch_sub(&r->users, 1) > 1)
		return;
	free_reader(r);
}

static void note_done(struct gp_reader *r)
{
	pthread_mutex_lock(&r->lock);
	r->done = true;
	pthread_cond_signal(&r->done_cond);
	pthread_mutex_unlock(&r->lock);
}

static void *reader_thread(void *arg)
{
	struct gp_reader *r = arg;

	/*
	 * SIGKILL does not end a read that waits for a file system. The thread
	 * that stays then must not keep the locks and sockets of its process.
	 */
	if (!unshare(CLONE_FILES))
		shr_close_others(0, NULL, 0);
	note_done(r);
	for (;;) {
		shr_sem_wait(&r->go);
		if (atomic_load(&r->quit))
			break;
		r->ret = r->ops->read_memory(r->be, r->pid, r->address, r->buf, r->size);
		note_done(r);
	}
	put_reader(r);
	return NULL;
}

/* False: it has not come back. */
static bool wait_done(struct gp_reader *r, uint64_t ns)
{
	uint64_t end = shr_now_ns() + ns;
	struct timespec ts = shr_timespec(end);
	int ret = ns ? 0 : ETIMEDOUT;

	pthread_mutex_lock(&r->lock);
	while (!r->done && !ret)
		ret = pthread_cond_timedwait(&r->done_cond, &r->lock, &ts);
	r->pending = !r->done;
	r->done = false;
	pthread_mutex_unlock(&r->lock);
	return !r->pending;
}

int gp_reader_start(const struct gpreempt *g, pid_t pid, struct gp_reader **out)
{
	struct gp_reader *r = make_reader();
	int ret;

	if (!r)
		return -ENOMEM;
	r->ops = g->ops;
	r->be = g->be;
	r->pid = pid;
	atomic_init(&r->users, 2);
	ret = shr_thread_start(&r->thread, STACK_SIZE, true, reader_thread, r);
	if (ret) {
		free_reader(r);
		return ret;
	}
	/* Until then it has copies of all descriptors: who closes one waits. */
	while (!wait_done(r, NSEC_PER_SEC))
		;
	*out = r;
	return 0;
}

int gp_reader_read(struct gp_reader *r, uint64_t address, void *buf, size_t size)
{
	if (size > GP_READER_MAX)
		return -E2BIG;
	if (r->pending && !wait_done(r, 0))
		return -EBUSY;
	r->address = address;
	r->size = size;
	sem_post(&r->go);
	if (!wait_done(r, GP_READER_NS))
		return -ETIMEDOUT;
	if (!r->ret)
		memcpy(buf, r->buf, size);
	return r->ret;
}

void gp_reader_stop(struct gp_reader *r)
{
	if (!r)
		return;
	atomic_store(&r->quit, true);
	sem_post(&r->go);
	if (r->pending && !wait_done(r, 0))
		pthread_detach(r->thread);
	else
		pthread_join(r->thread, NULL);
	put_reader(r);
}
