// SPDX-License-Identifier: LGPL-2.1-or-later
/* The thread of a process in a gang. */
#include <poll.h>
#include <unistd.h>

#include "lib/gang/gang.h"
#include "lib/session/session.h"
#include "shared/clock.h"
#include "shared/urgent.h"

#define STACK_SIZE (256 * 1024)

static void note_events(struct gp_member *m, int happened)
{
	uint64_t one = 1;
	ssize_t ret;

	if (!happened)
		return;
	pthread_mutex_lock(&m->gang->lock);
	m->public.events |= happened;
	if (happened & GPREEMPT_EVENT_ENDED)
		m->public.error = *gpreempt_session_error(m->keeper.session);
	pthread_mutex_unlock(&m->gang->lock);
	ret = write(m->gang->events, &one, sizeof(one));
	(void)ret;
}

/* How far the driver has to go through its GPUs for this process. */
static void note_gpus(struct gp_member *m)
{
	const struct gpreempt_session_queue *queues;
	size_t i, gpu, count;

	queues = gpreempt_session_queues(m->keeper.session, &count);
	pthread_mutex_lock(&m->gang->lock);
	m->last_gpu = 0;
	for (i = 0; i < count; i++)
		for (gpu = m->last_gpu; gpu < m->gang->n_gpus; gpu++)
			if (m->gang->gpus[gpu] == queues[i].gpu_id)
				m->last_gpu = gpu;
	pthread_mutex_unlock(&m->gang->lock);
}

static void note_loss(void *data, const struct gpreempt_error *err)
{
	(void)err;
	note_events(data, GPREEMPT_EVENT_LOST);
}

/*
 * A process whose session was lost for good is still traced: its signals are
 * passed on, and the loss is in the member already.
 */
static int dispatch_session(struct gp_member *m)
{
	int ret;

	if (!m->keeper.over)
		return gpreempt_keeper_dispatch(&m->keeper);
	ret = gpreempt_session_dispatch(m->keeper.session);
	return ret > 0 ? ret & ~GPREEMPT_EVENT_LOST : ret;
}

static void dispatch(struct gp_member *m)
{
	struct gpreempt_error err = { 0 };
	int ret = dispatch_session(m);

	if (ret < 0 && m->keeper.over)
		note_events(m, GPREEMPT_EVENT_LOST);
	if (ret > 0)
		note_events(m, ret);
	if (ret > 0 && (ret & GPREEMPT_EVENT_QUEUES))
		note_gpus(m);
	/* Without a loss, the member has what its last call gave. */
	if (ret >= 0 && !(ret & GPREEMPT_EVENT_LOST))
		return;
	if (ret < 0)
		err = *gpreempt_session_error(m->keeper.session);
	pthread_mutex_lock(&m->gang->lock);
	m->public.code = ret < 0 ? ret : 0;
	m->public.error = err;
	pthread_mutex_unlock(&m->gang->lock);
}

static void change(struct gp_member *m)
{
	struct gpreempt_outcome out = {
		.slots_ns = GPREEMPT_UNKNOWN,
		.resolution_ns = GPREEMPT_UNKNOWN,
	};
	uint64_t start;
	int ret;

	if (m->order == GP_ORDER_SUSPEND)
		gp_session_arm_sampler(m->keeper.session, m->which);
	sem_post(&m->ready);
	gp_sem_wait(&m->go);
	start = shr_now_ns();
	sem_post(&m->entered);
	ret = m->order == GP_ORDER_SUSPEND ?
		      gpreempt_keeper_suspend(&m->keeper, m->which, &out) :
		      gpreempt_keeper_resume(&m->keeper, m->which, &out);
	m->end_ns = shr_now_ns();
	/* When it did not come to the call. */
	gp_session_finish_sampler(m->keeper.session,
				  &(struct gpreempt_outcome){ 0 });
	pthread_mutex_lock(&m->gang->lock);
	m->public.code = ret;
	m->public.outcome = out;
	m->public.start_ns = start - m->gang->released_ns;
	if (ret || out.failed)
		m->public.error = *gpreempt_session_error(m->keeper.session);
	pthread_mutex_unlock(&m->gang->lock);
	sem_post(&m->done);
	/* What came meanwhile, and the timer: see gpreempt_session_fd(). */
	dispatch(m);
}

static void verify(struct gp_member *m)
{
	enum gpreempt_verdict verdict =
		gpreempt_session_verify(m->keeper.session);

	pthread_mutex_lock(&m->gang->lock);
	m->public.verdict = verdict;
	pthread_mutex_unlock(&m->gang->lock);
	sem_post(&m->done);
}

static void sample(struct gp_member *m, bool on)
{
	int ret = gpreempt_session_sample_slots(m->keeper.session,
						on ? GPREEMPT_SAMPLE_ON :
						     GPREEMPT_SAMPLE_OFF);

	pthread_mutex_lock(&m->gang->lock);
	m->public.code = ret;
	if (ret)
		m->public.error = *gpreempt_session_error(m->keeper.session);
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
	case GP_ORDER_NO_SAMPLE:
		sample(m, m->order == GP_ORDER_SAMPLE);
		break;
	default:
		change(m);
	}
}

static void run(struct gp_member *m)
{
	struct pollfd fds[2] = {
		{ .fd = m->wake, .events = POLLIN },
		{ .fd = gpreempt_session_fd(m->keeper.session),
		  .events = POLLIN },
	};

	for (;;) {
		uint64_t count;

		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue;
		if (fds[1].revents)
			dispatch(m);
		if (m->public.events & GPREEMPT_EVENT_ENDED)
			fds[1].fd = -1;
		if (read(m->wake, &count, sizeof(count)) < 0)
			continue;
		if (m->order == GP_ORDER_CLOSE)
			return;
		carry_out(m);
	}
}

static void *member_thread(void *arg)
{
	struct gp_member *m = arg;
	uint64_t start = shr_now_ns();

	m->keeper.lost = note_loss;
	m->keeper.data = m;
	m->tid = gettid();
	shr_ask_short_slices();
	m->public.code = gpreempt_session_open(m->gang->g, m->public.pid,
					       &m->keeper.session,
					       &m->public.error);
	m->public.open_ns = shr_now_ns() - start;
	if (!m->public.code && m->gang->sampling)
		gpreempt_session_sample_slots(m->keeper.session,
					      GPREEMPT_SAMPLE_ON);
	if (!m->public.code)
		note_gpus(m);
	sem_post(&m->done);
	if (m->public.code)
		return NULL;
	run(m);
	m->public.code = gpreempt_session_close(m->keeper.session);
	return NULL;
}

int gp_member_start(struct gp_member *m)
{
	return gp_thread_start(&m->thread, STACK_SIZE, false, member_thread, m);
}
