// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/session/reader.h"
#include "lib/core/thread.h"
#include "shared/child.h"
#include "shared/clock.h"

#define STACK_SIZE (64 * 1024)

struct gp_reader {
	pthread_t thread;
	/* Its own copies: the caller may be gone when a read comes back. */
	const struct gp_backend_ops *ops;
	void *be;
	bool stays; /* be outlives the library's handle */
	pid_t pid;
	sem_t go;
	sem_t done;
	atomic_bool quit;
	atomic_int users; /* the thread and the caller: the last frees */
	bool pending;	  /* the caller's: done was not waited for */

	/* The caller's before go, the thread's until done. */
	uint64_t address;
	size_t size;
	int ret;
	unsigned char buf[GP_READER_MAX];
};

static void put_reader(struct gp_reader *r)
{
	if (atomic_fetch_sub(&r->users, 1) > 1)
		return;
	sem_destroy(&r->go);
	sem_destroy(&r->done);
	free(r);
}

static void *reader_thread(void *arg)
{
	struct gp_reader *r = arg;

	/*
	 * SIGKILL does not end a read that waits for a file system. The thread
	 * that stays then must not keep the locks and sockets of its process.
	 * A recording writes to its file here.
	 */
	if (r->stays && !unshare(CLONE_FILES))
		shr_close_others(0, NULL, 0);
	sem_post(&r->done);
	for (;;) {
		gp_sem_wait(&r->go);
		if (atomic_load(&r->quit))
			break;
		r->ret = r->ops->read_memory(r->be, r->pid, r->address, r->buf,
					     r->size);
		sem_post(&r->done);
	}
	put_reader(r);
	return NULL;
}

int gp_reader_start(const struct gpreempt *g, pid_t pid, struct gp_reader **out)
{
	struct gp_reader *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return -ENOMEM;
	r->ops = g->ops;
	r->be = g->be;
	r->stays = !g->end;
	r->pid = pid;
	atomic_init(&r->users, 2);
	sem_init(&r->go, 0, 0);
	sem_init(&r->done, 0, 0);
	ret = gp_thread_start(&r->thread, STACK_SIZE, true, reader_thread, r);
	if (ret) {
		sem_destroy(&r->go);
		sem_destroy(&r->done);
		free(r);
		return ret;
	}
	/* Until then it has copies of all descriptors: who closes one waits. */
	gp_sem_wait(&r->done);
	*out = r;
	return 0;
}

/* False: it has not come back. */
static bool wait_done(struct gp_reader *r, uint64_t ns)
{
	uint64_t end = shr_now_ns() + ns;
	struct timespec ts = {
		.tv_sec = end / NSEC_PER_SEC,
		.tv_nsec = end % NSEC_PER_SEC,
	};
	int ret;

	do {
		ret = ns ? sem_clockwait(&r->done, CLOCK_MONOTONIC, &ts) :
			   sem_trywait(&r->done);
	} while (ret < 0 && errno == EINTR);
	r->pending = ret < 0;
	return !ret;
}

int gp_reader_read(struct gp_reader *r, uint64_t address, void *buf,
		   size_t size)
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
	/* A recording gets what was read, also if that takes its time. */
	if (r->stays && r->pending && !wait_done(r, 0))
		pthread_detach(r->thread);
	else
		pthread_join(r->thread, NULL);
	put_reader(r);
}
