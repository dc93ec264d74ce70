// SPDX-License-Identifier: LGPL-2.1-or-later
/* Measures in a thread how long the slots of suspended queues stay active. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>

#include <gpreempt/view.h>

#include "lib/see/see.h"
#include "shared/util.h"
#include "session.h"

/* Timer of the looks for queues that are being destroyed. */

/* Times between two looks; the hot one holds after a find: more queues will come. */
#define PERIOD_NS     (10 * NSEC_PER_MSEC)
#define HOT_PERIOD_NS (NSEC_PER_MSEC / 2)
#define HOT_TIME_NS   (100 * NSEC_PER_MSEC)
/* Factor that makes looks take a tenth of our time: with many threads a look takes long. */
#define COST_FACTOR   10
#define MAX_PERIOD_NS (25 * NSEC_PER_MSEC)
/*
 * A process that destroyed nothing for so long is looked at less often, and waits longer then.
 * Later the time grows: a step would make the looks at many, suspended together, fall together.
 */
#define CALM_NS	       NSEC_PER_SEC
#define CALM_PERIOD_NS (100 * NSEC_PER_MSEC)
#define REST_NS	       (5 * NSEC_PER_SEC)
#define REST_FACTOR    10
#define REST_PERIOD_NS (500 * NSEC_PER_MSEC)

void gp_session_look_fast(struct gpreempt_session *s)
{
	s->active_ns = shr_now_ns();
	s->fast_until = s->active_ns + HOT_TIME_NS;
	/* If it is armed, then for too late. */
	s->timer_armed = false;
}

static uint64_t next_period(const struct gpreempt_session *s)
{
	uint64_t now = shr_now_ns();
	bool hot = now < s->fast_until;
	uint64_t least = hot ? HOT_PERIOD_NS : PERIOD_NS;
	uint64_t period = s->cost * (hot ? 1 : COST_FACTOR);

	if (s->state == GP_SESSION_LOST)
		return HOT_TIME_NS;
	/* All queues run: only watch that they get fewer, and no new one comes. */
	if (s->release.all)
		return now < s->release.quiet_until ? HOT_PERIOD_NS : HOT_TIME_NS / 2;
	if (period < least)
		period = least;
	if (period > MAX_PERIOD_NS)
		period = MAX_PERIOD_NS;
	if (now > s->active_ns + CALM_NS)
		period = CALM_PERIOD_NS;
	if (now > s->active_ns + REST_NS)
		period += (now - s->active_ns - REST_NS) / REST_FACTOR;
	if (period > REST_PERIOD_NS)
		period = REST_PERIOD_NS;
	/* No queue is released before then. */
	if (!gp_session_any_destroyed(s) && s->release.paced_until > now + period)
		period = s->release.paced_until - now;
	return period;
}

void gp_session_arm(struct gpreempt_session *s)
{
	struct itimerspec when = { 0 };
	/* Lost: it wakes the owner again and again, see the dispatch. */
	bool wanted = gp_session_any_held(s) || gp_session_any_destroyed(s) ||
		      s->state == GP_SESSION_LOST;

	if (!wanted || !s->active_ns)
		s->active_ns = wanted ? shr_now_ns() : 0;
	if (s->timer < 0 || wanted == s->timer_armed)
		return;
	if (wanted)
		when.it_value = shr_timespec(next_period(s));
	timerfd_settime(s->timer, 0, &when, NULL);
	s->timer_armed = wanted;
}

#define SLOTS (GP_METER_SLOTS + 1)

/* Move the ring on to slot @number; clear the slots in between. */
static void advance(struct gp_meter *m, uint64_t number)
{
	if (number > m->newest + SLOTS) {
		memset(m->slot, 0, sizeof(m->slot));
		m->newest = number;
	}
	while (m->newest < number)
		m->slot[++m->newest % SLOTS] = 0;
}

static void add(struct gp_meter *m, uint64_t from, uint64_t to)
{
	m->total += to - from;
	m->end = to;
	/* No slot covers the time before the window. */
	if (to - from > GP_METER_WINDOW)
		from = to - GP_METER_WINDOW;
	while (from < to) {
		uint64_t number = from / GP_METER_SLOT_NS;
		uint64_t end = (number + 1) * GP_METER_SLOT_NS;

		if (end > to)
			end = to;
		advance(m, number);
		m->slot[number % SLOTS] += end - from;
		from = end;
	}
}

void gp_meter_set(struct gp_meter *m, bool so, uint64_t now)
{
	if (m->since && now > m->since)
		add(m, m->since, now);
	m->since = so ? now : 0;
}

void gp_meter_add(struct gp_meter *m, uint64_t from, uint64_t now)
{
	uint64_t to = m->since ? m->since : now;

	if (from < m->end)
		from = m->end;
	if (from < to)
		add(m, from, to);
}

uint64_t gp_meter_recent(struct gp_meter *m, uint64_t now)
{
	uint64_t sum = 0;
	size_t i;

	gp_meter_set(m, m->since, now);
	advance(m, now / GP_METER_SLOT_NS);
	for (i = 0; i < SLOTS; i++)
		sum += m->slot[i];
	return sum;
}

uint64_t gp_meter_total(struct gp_meter *m, uint64_t now)
{
	gp_meter_set(m, m->since, now);
	return m->total;
}

#define STACK_SIZE (128 * 1024)
/* How long after the driver's return slots may be active still. */
#define PATIENCE_NS (100 * NSEC_PER_MSEC)
/* The module or the process is gone. */
#define NO_VIEW INT64_MIN

struct gp_sampler {
	const struct gpreempt *g;
	pid_t pid;
	pthread_t thread;
	bool armed; /* the caller's own: armed and not finished */
	bool wait;  /* the caller waits for ready */
	sem_t arm;
	sem_t ready; /* looked at once */
	sem_t done;
	atomic_bool quit;
	_Atomic uint64_t returned_ns; /* 0: the driver is at it */
	uint32_t ids[GP_MAX_IDS];
	size_t count;

	/* Results; the thread alone uses them until done. */
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

		queue = gp_view_find(view, sampler->ids[i]);
		if (!queue)
			continue;
		if (queue->active == GPREEMPT_UNKNOWN) {
			active = GPREEMPT_UNKNOWN;
			break;
		}
		active += queue->active;
	}
	gpreempt_list_free(view);
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
			uint64_t returned = atomic_load(&sampler->returned_ns);

			/* Look once after the driver has returned, however late that is. */
			last = returned && shr_now_ns() > returned + PATIENCE_NS;
			/* The ioctl goes first where CPUs are few; after it, the caller waits. */
			if (!returned)
				sched_yield();
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
	gpreempt_list_free(view);
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
