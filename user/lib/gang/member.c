// SPDX-License-Identifier: LGPL-2.1-or-later
/* The thread of a process in a gang. */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/gang/gang.h"
#include "shared/clock.h"
#include "shared/urgent.h"

#define STACK_SIZE (256 * 1024)

static void note_events(struct gp_member *m, int happened)
{
	if (!happened)
		return;
	pthread_mutex_lock(&m->gang->lock);
	m->public.events |= happened;
	if (happened & GPREEMPT_EVENT_ENDED)
		m->public.error = *m->route.ops->error(&m->route);
	pthread_mutex_unlock(&m->gang->lock);
	eventfd_write(m->gang->events, 1);
}

/* Under the gang's lock. */
static void note_gpu(void *data, uint32_t gpu_id)
{
	struct gp_member *m = data;
	size_t gpu;

	for (gpu = m->last_gpu; gpu < m->gang->n_nodes; gpu++)
		if (m->gang->nodes[gpu].gpu_id == gpu_id)
			m->last_gpu = gpu;
}

/* How far the driver has to go through its GPUs for this process. */
static void note_gpus(struct gp_member *m)
{
	pthread_mutex_lock(&m->gang->lock);
	m->last_gpu = 0;
	m->route.ops->each_gpu(&m->route, note_gpu, m);
	pthread_mutex_unlock(&m->gang->lock);
}

static void note_loss(void *data, const struct gpreempt_error *err)
{
	(void)err;
	note_events(data, GPREEMPT_EVENT_LOST);
}

/*
 * A process whose session was lost for good is still traced: its signals are
 * passed on, and the loss has been reported.
 */
static int dispatch_route(struct gp_member *m)
{
	int ret;

	if (!m->route.keeper.over)
		return m->route.ops->dispatch(&m->route);
	ret = gpreempt_session_dispatch(m->route.keeper.session);
	return ret > 0 ? ret & ~GPREEMPT_EVENT_LOST : ret;
}

static void dispatch(struct gp_member *m)
{
	bool over = m->route.keeper.over;
	struct gpreempt_error err = { 0 };
	int ret = dispatch_route(m);

	if (ret > 0)
		note_events(m, ret);
	if (ret > 0 && (ret & GPREEMPT_EVENT_QUEUES))
		note_gpus(m);
	/* Without a loss, the member has what its last call gave. */
	if (ret >= 0 && !(ret & GPREEMPT_EVENT_LOST))
		return;
	if (ret < 0)
		err = *m->route.ops->error(&m->route);
	if (ret < 0 && !over && m->route.keeper.over)
		note_loss(m, &err);
	pthread_mutex_lock(&m->gang->lock);
	m->public.code = ret < 0 ? ret : 0;
	m->public.error = err;
	pthread_mutex_unlock(&m->gang->lock);
}

static void change(struct gp_member *m)
{
	const struct gp_route_ops *ops = m->route.ops;
	struct gpreempt_outcome out = {
		.slots_ns = GPREEMPT_UNKNOWN,
		.resolution_ns = GPREEMPT_UNKNOWN,
	};
	uint64_t start;
	int ret;

	if (m->order == GP_ORDER_SUSPEND)
		ops->prepare(&m->route, m->which);
	sem_post(&m->ready);
	shr_sem_wait(&m->go);
	start = shr_now_ns();
	sem_post(&m->entered);
	ret = m->order == GP_ORDER_SUSPEND ? ops->suspend(&m->route, m->which, &out) :
					     ops->resume(&m->route, m->which, &out);
	m->end_ns = shr_now_ns();
	pthread_mutex_lock(&m->gang->lock);
	m->public.code = ret;
	m->public.outcome = out;
	m->public.start_ns = start - m->gang->released_ns;
	if (ret || out.failed)
		m->public.error = *ops->error(&m->route);
	pthread_mutex_unlock(&m->gang->lock);
	sem_post(&m->done);
	/* What came meanwhile, and the timer: see gpreempt_session_fd(). */
	dispatch(m);
}

static void verify(struct gp_member *m)
{
	enum gpreempt_verified_by by;
	enum gpreempt_verdict verdict = m->route.ops->verify(&m->route, &by);

	pthread_mutex_lock(&m->gang->lock);
	m->public.verdict = verdict;
	m->public.verified_by = by;
	pthread_mutex_unlock(&m->gang->lock);
	sem_post(&m->done);
}

static void sample(struct gp_member *m)
{
	int ret = m->route.ops->sample(&m->route, m->gang->sampling);

	pthread_mutex_lock(&m->gang->lock);
	m->public.code = ret;
	if (ret)
		m->public.error = *m->route.ops->error(&m->route);
	pthread_mutex_unlock(&m->gang->lock);
	sem_post(&m->done);
}

static void carry_out(struct gp_member *m)
{
	switch (m->order) {
	case GP_ORDER_VERIFY:
		verify(m);
		break;
	case GP_ORDER_SAMPLE:
		sample(m);
		break;
	default:
		change(m);
	}
}

static void run(struct gp_member *m)
{
	struct pollfd fds[2] = {
		{ .fd = m->wake, .events = POLLIN },
		{ .fd = m->route.ops->fd(&m->route), .events = POLLIN },
	};

	for (;;) {
		eventfd_t count;

		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue;
		if (fds[1].revents)
			dispatch(m);
		if (m->public.events & GPREEMPT_EVENT_ENDED)
			fds[1].fd = -1;
		if (eventfd_read(m->wake, &count) < 0)
			continue;
		if (m->order == GP_ORDER_CLOSE)
			return;
		carry_out(m);
	}
}

static void *member_thread(void *arg)
{
	struct gp_member *m = arg;
	const struct gp_route_ops *ops = m->route.ops;
	uint64_t start = shr_now_ns();

	m->route.keeper.lost = note_loss;
	m->route.keeper.data = m;
	m->tid = gettid();
	shr_ask_short_slices();
	m->public.code = ops->open(&m->route);
	m->public.open_ns = shr_now_ns() - start;
	if (m->public.code) {
		m->public.error = m->route.error;
		sem_post(&m->done);
		return NULL;
	}
	if (m->gang->sampling)
		ops->sample(&m->route, true);
	note_gpus(m);
	sem_post(&m->done);
	run(m);
	m->public.code = ops->close(&m->route);
	return NULL;
}

int gp_member_start(struct gp_member *m)
{
	return shr_thread_start(&m->thread, STACK_SIZE, false, member_thread, m);
}
