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
#define HOT_PERIOD_NS NSEC_PER_MSEC
#define HOT_TIME_NS (100 * NSEC_PER_MSEC)
/* With many threads a look takes long: spend a twentieth of our time on it. */
#define COST_FACTOR 20
#define MAX_PERIOD_NS (50 * NSEC_PER_MSEC)

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
	if (queue->held && search->found < GP_MAX_IDS)
		s->ids[search->found++] = qid;
	return 0;
}

/* Marks of the last look; those that still destroy get them again. */
static bool clear_marks(struct gpreempt_session *s)
{
	bool any = false;
	size_t i;

	for (i = 0; i < s->count; i++) {
		any |= s->queues[i].leaving;
		s->queues[i].leaving = false;
	}
	return any;
}

static int find_destroyed(struct gpreempt_session *s)
{
	struct search search = { .s = s };
	bool marked;
	char path[64];
	int ret;

	marked = clear_marks(s);
	snprintf(path, sizeof(path), "/proc/%d/task", s->kfd.pid);
	ret = s->g->ops->list_dir(s->g->be, path, look_at_thread, &search);
	if (ret)
		return ret == -ENOENT ? -ESRCH : ret;
	if (search.found) {
		s->hot_until = shr_now_ns() + HOT_TIME_NS;
		ret = gp_session_let_go(s, search.found);
		return ret ? ret : GPREEMPT_EVENT_DESTROY;
	}
	if (!marked)
		return 0;
	/* Those are gone now, or their destruction was interrupted. */
	ret = gpreempt_session_refresh(s);
	if (!ret)
		ret = gp_session_apply(s);
	return ret ? ret : GPREEMPT_EVENT_QUEUES;
}

int gp_session_look(struct gpreempt_session *s)
{
	uint64_t start = shr_now_ns(), period;
	int ret = find_destroyed(s);

	period = COST_FACTOR * (shr_now_ns() - start);
	if (period < PERIOD_NS)
		period = PERIOD_NS;
	s->period = period < MAX_PERIOD_NS ? period : MAX_PERIOD_NS;
	return ret;
}

static bool must_look(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].held || s->queues[i].leaving)
			return true;
	return false;
}

void gp_session_arm(struct gpreempt_session *s)
{
	struct itimerspec when = { 0 };
	bool wanted = must_look(s);

	if (s->timer < 0 || wanted == s->timer_armed)
		return;
	if (wanted)
		when.it_value.tv_nsec = shr_now_ns() < s->hot_until ?
			HOT_PERIOD_NS : s->period ? s->period : PERIOD_NS;
	timerfd_settime(s->timer, 0, &when, NULL);
	s->timer_armed = wanted;
}
