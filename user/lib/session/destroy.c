// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Queues that their process wants to destroy while they are suspended.
 *
 * The driver has such a process wait in the ioctl until the queue is resumed and
 * reports it to no one, and programs that end normally destroy their queues. So
 * while queues are suspended, look at what the threads of the process wait in:
 * the kernel shows the number and the arguments of a system call that sleeps,
 * and the argument points to the queue's id. The process can write another id
 * there meanwhile; release.c deals with that.
 */
#include <linux/kfd_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "lib/session/session.h"
#include "shared/clock.h"

/* How often to look; and how often after one was found: there come more. */
#define PERIOD_NS (10 * NSEC_PER_MSEC)
#define HOT_PERIOD_NS (NSEC_PER_MSEC / 2)
#define HOT_TIME_NS (100 * NSEC_PER_MSEC)
/* Mostly the same thread destroys them all; at the others look less often. */
#define OTHERS_PERIOD_NS (4 * NSEC_PER_MSEC)
/* With many threads a look takes long: spend a tenth of our time on it. */
#define COST_FACTOR 10
#define MAX_PERIOD_NS (25 * NSEC_PER_MSEC)
/* New queues and signals wait for us while we look: go on in the next look. */
#define LOOK_NS (2 * NSEC_PER_MSEC)

struct search {
	struct gpreempt_session *s;
	size_t found;		/* ids in s->ids */
	size_t threads;		/* seen in this look */
	uint64_t deadline;
};

static int read_argument(struct gpreempt_session *s, uint64_t address,
			 struct kfd_ioctl_destroy_queue_args *args)
{
	int ret = 0;

	if (!s->reader)
		ret = gp_reader_start(s->g, s->kfd.pid, &s->reader);
	return ret ? ret :
		     gp_reader_read(s->reader, address, args, sizeof(*args));
}

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
	if (read_argument(s, address, &args))
		return false;
	*qid = args.queue_id;
	return true;
}

static void look_at_thread(struct search *search, const char *tid)
{
	struct gpreempt_session *s = search->s;
	struct gpreempt_session_queue *queue;
	uint32_t qid;

	if (!thread_destroys(s, tid, &qid))
		return;
	queue = gp_session_find(s, qid);
	/* Several threads can name the same queue. */
	if (!queue || !queue->held || queue->leaving ||
	    search->found == GP_MAX_IDS)
		return;
	queue->leaving = true;
	if (tid != s->destroyer)
		snprintf(s->destroyer, sizeof(s->destroyer), "%s", tid);
	s->ids[search->found++] = qid;
}

/* Not 0: enough for now. */
static int look_at_next(void *arg, const char *tid)
{
	struct search *search = arg;

	if (search->threads++ < search->s->threads_seen)
		return 0;
	look_at_thread(search, tid);
	return shr_now_ns() > search->deadline;
}

static int look_at_all(struct gpreempt_session *s, struct search *search)
{
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/proc/%d/task", s->kfd.pid);
	ret = s->g->ops->list_dir(s->g->be, path, look_at_next, search);
	s->threads_seen = ret > 0 ? search->threads : 0;
	if (ret > 0)
		return 0;
	return ret == -ENOENT ? -ESRCH : ret;
}

bool gp_session_any_held(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].held)
			return true;
	return false;
}

bool gp_session_any_leaving(const struct gpreempt_session *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].leaving)
			return true;
	return false;
}

/* Queues being destroyed, in s->ids. Returns their number or -errno. */
static int search_threads(struct gpreempt_session *s, uint64_t now)
{
	struct search search = { .s = s, .deadline = now + LOOK_NS };
	int ret;

	if (now < s->hot_until && s->destroyer[0]) {
		look_at_thread(&search, s->destroyer);
		if (search.found || now < s->looked_at_all + OTHERS_PERIOD_NS)
			return search.found;
	}
	s->looked_at_all = now;
	ret = look_at_all(s, &search);
	return ret < 0 ? ret : (int)search.found;
}

static int look(struct gpreempt_session *s)
{
	uint64_t now = shr_now_ns();
	int ret, found = 0;

	ret = gp_release_check(s, now);
	if (ret < 0)
		return ret;
	if (gp_session_any_held(s) && now >= s->release.paced_until)
		found = search_threads(s, now);
	if (found < 0)
		return found;
	if (found) {
		gp_session_hurry(s);
		found = gp_release(s, found);
		return found < 0 ? found : ret | found;
	}
	if (now >= s->hot_until)
		s->destroyer[0] = '\0';
	return ret;
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
	uint64_t now = shr_now_ns();
	bool hot = now < s->hot_until;
	uint64_t least = hot ? HOT_PERIOD_NS : PERIOD_NS;
	uint64_t period = s->cost * (hot ? 1 : COST_FACTOR);

	if (s->state == GP_SESSION_LOST)
		return HOT_TIME_NS;
	/* All run: what is to be seen is that they get fewer, and no new one. */
	if (s->release.all)
		return now < s->release.quiet_until ? HOT_PERIOD_NS :
						      HOT_TIME_NS / 2;
	if (period < least)
		period = least;
	if (period > MAX_PERIOD_NS)
		period = MAX_PERIOD_NS;
	/* Nothing is released before then. */
	if (!gp_session_any_leaving(s) && s->release.paced_until > now + period)
		period = s->release.paced_until - now;
	return period;
}

void gp_session_arm(struct gpreempt_session *s)
{
	struct itimerspec when = { 0 };
	/* Lost: it wakes the owner again and again, see the dispatch. */
	bool wanted = gp_session_any_held(s) || gp_session_any_leaving(s) ||
		      s->state == GP_SESSION_LOST;
	uint64_t period;

	if (s->timer < 0 || wanted == s->timer_armed)
		return;
	if (wanted) {
		period = next_period(s);
		when.it_value.tv_sec = period / NSEC_PER_SEC;
		when.it_value.tv_nsec = period % NSEC_PER_SEC;
	}
	timerfd_settime(s->timer, 0, &when, NULL);
	s->timer_armed = wanted;
}
