// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/view.h>

#include "lib/session/kfd.h"
#include "lib/observe/observe.h"
#include "lib/session/sampler.h"
#include "shared/clock.h"
#include "shared/thread.h"

#define STACK_SIZE (128 * 1024)
/* How long after the driver's return slots may be active still. */
#define PATIENCE_NS (100 * NSEC_PER_MSEC)
/* The module or the process is gone. */
#define NO_VIEW INT64_MIN

struct gp_sampler {
	const struct gpreempt *g;
	pid_t pid;
	pthread_t thread;
	bool armed; /* the caller's */
	bool wait;  /* it waits for ready */
	sem_t arm;
	sem_t ready; /* looked at once */
	sem_t done;
	atomic_bool quit;
	_Atomic uint64_t returned_ns; /* 0: the driver is at it */
	uint32_t ids[GP_MAX_IDS];
	size_t count;

	/* What was seen; the thread's until it is done. */
	uint64_t active_ns;   /* begin of the last look that saw a slot */
	uint64_t inactive_ns; /* end of the first that saw none */
};

/* Slots that the queues hold now, GPREEMPT_UNKNOWN, or NO_VIEW. */
static int64_t count_slots(const struct gp_sampler *sampler)
{
	struct gpreempt_view *view;
	int64_t active = 0;
	size_t i;

	if (gp_view_module(sampler->g, sampler->pid, &view))
		return NO_VIEW;
	for (i = 0; i < sampler->count; i++) {
		const struct gpreempt_queue *queue;

		queue = gpreempt_view_find(view, sampler->ids[i]);
		if (!queue)
			continue;
		if (queue->active == GPREEMPT_UNKNOWN) {
			active = GPREEMPT_UNKNOWN;
			break;
		}
		active += queue->active;
	}
	gpreempt_view_free(view);
	return active;
}

/* Look once. false: nothing is left to be seen. */
static bool look(struct gp_sampler *sampler)
{
	uint64_t begin = shr_now_ns();
	int64_t active = count_slots(sampler);

	if (active == NO_VIEW)
		return false;
	if (active > 0)
		sampler->active_ns = begin;
	if (active)
		return true;
	sampler->inactive_ns = shr_now_ns();
	return false;
}

static bool too_long(const struct gp_sampler *sampler)
{
	uint64_t returned = atomic_load(&sampler->returned_ns);

	return returned && shr_now_ns() > returned + PATIENCE_NS;
}

static void *sampler_thread(void *arg)
{
	struct gp_sampler *sampler = arg;

	for (;;) {
		bool more, last;

		shr_sem_wait(&sampler->arm);
		if (atomic_load(&sampler->quit))
			return NULL;
		sampler->active_ns = 0;
		sampler->inactive_ns = 0;
		more = look(sampler);
		if (sampler->wait)
			sem_post(&sampler->ready);
		while (more) {
			/* Once after the driver has returned, however late that is. */
			last = too_long(sampler);
			more = look(sampler) && !last;
		}
		sem_post(&sampler->done);
	}
}

static void free_sampler(struct gp_sampler *sampler)
{
	sem_destroy(&sampler->arm);
	sem_destroy(&sampler->ready);
	sem_destroy(&sampler->done);
	free(sampler);
}

static int start(const struct gpreempt *g, pid_t pid, struct gp_sampler **out)
{
	struct gp_sampler *sampler = calloc(1, sizeof(*sampler));
	int ret;

	if (!sampler)
		return -ENOMEM;
	sampler->g = g;
	sampler->pid = pid;
	sem_init(&sampler->arm, 0, 0);
	sem_init(&sampler->ready, 0, 0);
	sem_init(&sampler->done, 0, 0);
	ret = shr_thread_start(&sampler->thread, STACK_SIZE, true, sampler_thread, sampler);
	if (ret) {
		free_sampler(sampler);
		return ret;
	}
	*out = sampler;
	return 0;
}

void gp_sampler_stop(struct gp_sampler *sampler)
{
	if (!sampler)
		return;
	atomic_store(&sampler->quit, true);
	sem_post(&sampler->arm);
	pthread_join(sampler->thread, NULL);
	free_sampler(sampler);
}

int gp_sampler_switch(struct gp_sampler **sampler, bool on, struct gpreempt *g, pid_t pid,
		      struct gpreempt_error *err)
{
	static const char step[] = "watching the hardware slots";
	struct gpreempt_view *view;
	enum gpreempt_source source;
	int ret;

	if (!on) {
		gp_sampler_stop(*sampler);
		*sampler = NULL;
	}
	if (!on || *sampler)
		return 0;
	ret = gpreempt_view_read(g, pid, &view, err);
	if (ret)
		return ret;
	source = view->source;
	gpreempt_view_free(view);
	if (source != GPREEMPT_SOURCE_MODULE)
		return gp_error(err, -ENODATA, GPREEMPT_NO_MODULE, pid, step);
	ret = start(g, pid, sampler);
	return ret ? gp_error(err, ret, GPREEMPT_SYSTEM, pid, step) : 0;
}

void gp_sampler_arm(struct gp_sampler *sampler, const uint32_t *ids, size_t count, bool wait)
{
	memcpy(sampler->ids, ids, count * sizeof(*ids));
	sampler->count = count;
	atomic_store(&sampler->returned_ns, 0);
	sampler->armed = true;
	sampler->wait = wait;
	sem_post(&sampler->arm);
	if (wait)
		shr_sem_wait(&sampler->ready);
}

bool gp_sampler_armed(const struct gp_sampler *sampler)
{
	return sampler->armed;
}

void gp_sampler_finish(struct gp_sampler *sampler, uint64_t entry_ns, struct gpreempt_outcome *out)
{
	if (!sampler || !sampler->armed)
		return;
	atomic_store(&sampler->returned_ns, shr_now_ns());
	shr_sem_wait(&sampler->done);
	sampler->armed = false;
	if (!sampler->active_ns || sampler->inactive_ns <= entry_ns)
		return;
	out->slots_ns = sampler->inactive_ns - entry_ns;
	out->resolution_ns = sampler->inactive_ns - sampler->active_ns;
}
