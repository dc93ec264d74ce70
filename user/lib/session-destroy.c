// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Queues that their process wants to destroy while they are suspended.
 *
 * The driver lets such a process wait in the ioctl until the queue is resumed,
 * tells nobody, and programs that end normally destroy their queues. So while
 * queues are suspended, look at what the threads of the process wait in: the
 * kernel shows the number and the arguments of a system call that sleeps, and
 * the argument points to the queue's id.
 */
#include <linux/kfd_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "lib/session.h"
#include "shared/clock.h"

/* How often to look; and how often after one was found: there come more. */
#define PERIOD_NS (10 * NSEC_PER_MSEC)
#define HOT_PERIOD_NS (NSEC_PER_MSEC / 2)
#define HOT_TIME_NS (100 * NSEC_PER_MSEC)
/* Mostly the same thread destroys them all; at the others look less often. */
#define OTHERS_PERIOD_NS (4 * NSEC_PER_MSEC)
/* Who destroys so many in short order is ending: do not let the rest wait. */
#define MANY_DESTROYS 4
/* With many threads a look takes long: spend a tenth of our time on it. */
#define COST_FACTOR 10
#define MAX_PERIOD_NS (25 * NSEC_PER_MSEC)

struct search {
	struct gpreempt_session *s;
	size_t found;		/* ids in s->ids */
};

/* Does this thread sleep in the destruction of a queue? Of which? */
static bool thread_destroys(struct gpreempt_session *s, const char *tid,
			    uint32_t *qid)
{
	struct kfd_ioctl_destroy_queue_args args;
	unsigned long long request, address;
	char text[256];
	long number;

	if (gp_read_small(s->g, text, sizeof(text), "/proc/%d/task/%s/syscall",
			  s->kfd.pid, tid) <= 0)
		return false;
	if (sscanf(text, "%ld %*x %llx %llx", &number, &request,
		   &address) != 3)
		return false;
	if (number != __NR_ioctl ||
	    (uint32_t)request != AMDKFD_IOC_DESTROY_QUEUE)
		return false;
	if (s->g->ops->read_memory(s->g->be, s->kfd.pid, address, &args,
				   sizeof(args)))
		return false;
	*qid = args.queue_id;
	return true;
}

static int look_at_thread(void *arg, const char *tid)
{
	struct search *search = arg;
	struct gpreempt_session *s = search->s;
	struct gpreempt_session_queue *queue;
	uint32_t qid;

	if (!thread_destroys(s, tid, &qid))
		return 0;
	queue = gp_session_find(s, qid);
	if (!queue)
		return 0;
	queue->leaving = true;
	if (tid != s->destroyer)
		snprintf(s->destroyer, sizeof(s->destroyer), "%s", tid);
	if (queue->held && search->found < GP_MAX_IDS)
		s->ids[search->found++] = qid;
	return 0;
}

static bool any_leaving(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].leaving)
			return true;
	return false;
}

/* Queues that were let go are gone now, or their destruction was interrupted. */
static int tidy_up(struct gpreempt_session *s)
{
	size_t i, before = s->count;
	int ret;

	if (!any_leaving(s))
		return 0;
	ret = gpreempt_session_refresh(s);
	if (ret)
		return ret;
	if (s->count < before && any_leaving(s)) {
		/* There still go some: those that run may be the next. */
		gp_session_hurry(s);
	} else {
		s->destroys = 0;
		for (i = 0; i < s->count; i++)
			s->queues[i].leaving = false;
	}
	ret = gp_session_apply(s);
	return ret ? ret : GPREEMPT_EVENT_QUEUES;
}

/*
 * One by one, each queue costs a look, a call of the driver and a new runlist.
 * All that is left when the process has done is suspended again.
 */
static void add_the_rest(struct search *search)
{
	struct gpreempt_session *s = search->s;
	size_t i;

	for (i = 0; i < s->count && search->found < GP_MAX_IDS; i++) {
		struct gpreempt_session_queue *queue = &s->queues[i];

		if (!queue->held || queue->leaving)
			continue;
		queue->leaving = true;
		s->ids[search->found++] = queue->qid;
	}
}

static int look_at_all(struct gpreempt_session *s, struct search *search)
{
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/task", s->kfd.pid);
	ret = s->g->ops->list_dir(s->g->be, path, look_at_thread, search);
	return ret == -ENOENT ? -ESRCH : ret;
}

static bool any_held(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].held)
			return true;
	return false;
}

static int look(struct gpreempt_session *s)
{
	struct search search = { .s = s };
	uint64_t now = shr_now_ns();
	int ret;

	/* Then nobody waits for us. */
	if (!any_held(s))
		return now < s->hot_until ? 0 : tidy_up(s);
	if (now < s->hot_until && s->destroyer[0]) {
		look_at_thread(&search, s->destroyer);
		if (!search.found && now < s->looked_at_all + OTHERS_PERIOD_NS)
			return 0;
	}
	if (!search.found) {
		s->looked_at_all = now;
		ret = look_at_all(s, &search);
		if (ret)
			return ret;
	}
	if (search.found) {
		s->destroys += search.found;
		if (s->destroys >= MANY_DESTROYS)
			add_the_rest(&search);
		gp_session_hurry(s);
		ret = gp_session_let_go(s, search.found);
		return ret ? ret : GPREEMPT_EVENT_DESTROY;
	}
	/* Not while there may come more: it costs time that they wait. */
	if (now < s->hot_until)
		return 0;
	s->destroyer[0] = '\0';
	return tidy_up(s);
}

int gp_session_look(struct gpreempt_session *s)
{
	uint64_t start = shr_now_ns();
	int ret = look(s);

	s->cost = shr_now_ns() - start;
	return ret;
}

void gp_session_hurry(struct gpreempt_session *s)
{
	s->hot_until = shr_now_ns() + HOT_TIME_NS;
	/* If it is armed, then for too late. */
	s->timer_armed = false;
}

static uint64_t next_period(const struct gpreempt_session *s)
{
	bool hot = shr_now_ns() < s->hot_until;
	uint64_t least = hot ? HOT_PERIOD_NS : PERIOD_NS;
	uint64_t period = s->cost * (hot ? 1 : COST_FACTOR);

	if (!any_held(s))
		return HOT_TIME_NS;
	if (period < least)
		return least;
	return period < MAX_PERIOD_NS ? period : MAX_PERIOD_NS;
}

void gp_session_arm(struct gpreempt_session *s)
{
	struct itimerspec when = { 0 };
	/* Lost: it wakes the owner again and again, see the dispatch. */
	bool wanted = any_held(s) || any_leaving(s) ||
		      s->state == GP_SESSION_LOST;

	if (s->timer < 0 || wanted == s->timer_armed)
		return;
	if (wanted)
		when.it_value.tv_nsec = next_period(s);
	timerfd_settime(s->timer, 0, &when, NULL);
	s->timer_armed = wanted;
}
