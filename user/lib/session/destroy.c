// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Queues that their process wants to destroy while they are suspended.
 *
 * The driver has such a process wait in the ioctl until the queue is resumed and reports it to
 * no one, and programs that end normally destroy their queues. So while queues are suspended,
 * look at what the threads of the process wait in: the kernel shows the number and the
 * arguments of a system call that sleeps, and the argument points to the queue's id. The
 * process can write another id there meanwhile; release.c deals with that.
 */
#include <linux/kfd_ioctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "lib/session/session.h"
#include "shared/clock.h"

/* Mostly the same thread destroys them all; at the others look less often. */
#define OTHERS_PERIOD_NS (4 * NSEC_PER_MSEC)
/* New queues and signals wait for us while we look: go on in the next look. */
#define LOOK_NS (2 * NSEC_PER_MSEC)

struct search {
	struct gpreempt_session *s;
	size_t found;	/* ids in s->ids */
	size_t threads; /* seen in this look */
	uint64_t deadline;
};

static int read_argument(struct gpreempt_session *s, uint64_t address,
			 struct kfd_ioctl_destroy_queue_args *args)
{
	int ret = 0;

	if (!s->reader)
		ret = gp_reader_start(s->g, s->kfd.pid, &s->reader);
	return ret ? ret : gp_reader_read(s->reader, address, args, sizeof(*args));
}

/* Does this thread sleep in the destruction of a queue? Of which? */
static bool thread_destroys(struct gpreempt_session *s, const char *tid, uint32_t *qid)
{
	struct kfd_ioctl_destroy_queue_args args;
	unsigned long long request, address;
	char text[256];
	long number;

	if (gp_read_small(s->g, text, sizeof(text), "/proc/%d/task/%s/syscall", s->kfd.pid, tid) <=
	    0)
		return false;
	if (sscanf(text, "%ld %*x %llx %llx", &number, &request, &address) != 3)
		return false;
	if (number != __NR_ioctl || (uint32_t)request != AMDKFD_IOC_DESTROY_QUEUE)
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
	if (!queue || !queue->held || queue->being_destroyed || search->found == GP_MAX_IDS)
		return;
	queue->being_destroyed = true;
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

/* Queues being destroyed, in s->ids. Returns their number or -errno. */
static int search_threads(struct gpreempt_session *s, uint64_t now)
{
	struct search search = { .s = s, .deadline = now + LOOK_NS };
	int ret;

	if (now < s->fast_until && s->destroyer[0]) {
		look_at_thread(&search, s->destroyer);
		if (search.found || now < s->looked_at_all + OTHERS_PERIOD_NS)
			return search.found;
	}
	s->looked_at_all = now;
	ret = look_at_all(s, &search);
	return ret < 0 ? ret : (int)search.found;
}

static int scan(struct gpreempt_session *s)
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
		gp_session_look_fast(s);
		found = gp_release(s, found);
		return found < 0 ? found : ret | found;
	}
	if (now >= s->fast_until)
		s->destroyer[0] = '\0';
	return ret;
}

int gp_session_scan_destroyers(struct gpreempt_session *s)
{
	uint64_t start = shr_now_ns();
	int ret = scan(s);

	s->cost = shr_now_ns() - start;
	return ret;
}
