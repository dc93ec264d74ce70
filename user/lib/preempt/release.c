// SPDX-License-Identifier: LGPL-2.1-or-later
/* Releases queues that the target destroys while they are suspended. */
#include <errno.h>
#include <linux/kfd_ioctl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "shared/util.h"
#include "session.h"

#define STACK_SIZE (64 * 1024)

struct gp_reader {
	pthread_t thread;
	/* The reader's own copies: the caller may be gone when a read comes back. */
	const struct gp_backend_ops *ops;
	void *be;
	pid_t pid;
	sem_t go;
	/* Lock and condition in place of a semaphore: its timed wait goes by the time of day. */
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

/* Wait for the read. False: it has not come back. */
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
	/* The thread has copies of all descriptors until then: a process that closes one waits. */
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

/*
 * Queues that their process wants to destroy while they are suspended.
 *
 * The driver has such a process wait in the ioctl until the queue is resumed and reports it to
 * no one, and programs that end normally destroy their queues. So while queues are suspended,
 * look at what the threads of the process wait in: the kernel shows the number and the
 * arguments of a system call that sleeps, and the argument points to the queue's id. The
 * process can write another id there meanwhile; release.c deals with that.
 */

/* Mostly the same thread destroys them all; at the others look less often. */
#define OTHERS_PERIOD_NS (4 * NSEC_PER_MSEC)
/* Longest time between two looks at all threads, whatever the CPU time of the process says. */
#define ASLEEP_NS NSEC_PER_SEC
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

/* Look at the next thread. Not 0: enough for now. */
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
	uint64_t cpu_ns;
	int ret;

	if (now < s->fast_until && s->destroyer[0]) {
		look_at_thread(&search, s->destroyer);
		if (search.found || now < s->looked_at_all + OTHERS_PERIOD_NS)
			return search.found;
	}
	/* No thread has run since none destroyed a queue: none does now. */
	cpu_ns = s->g->ops->cpu_time(s->g->be, s->kfd.pid);
	if (cpu_ns && cpu_ns == s->cpu_ns && now < s->looked_at_all + ASLEEP_NS)
		return 0;
	s->looked_at_all = now;
	ret = look_at_all(s, &search);
	s->cpu_ns = search.found || s->threads_seen ? 0 : cpu_ns;
	return ret < 0 ? ret : (int)search.found;
}

/*
 * How long queues have run although they are to be suspended, whatever the
 * reason, and how long their process waits for it: see release.c.
 */

/*
 * Percent of the window, and how many times as long the process then waits: what
 * runs in the rest of the window adds up to less than a tenth of it.
 */
#define SUSPECT_PERCENT 5
#define SUSPECT_PACE	24
#define MOST_PERCENT	9
#define MOST_PACE	100
/* Longest time that an unseen queue can have run when nothing else is held. */
#define UNSEEN_NS (25 * NSEC_PER_MSEC)
/* Time without a new queue after which a process may be ending. */
#define QUIET_NS NSEC_PER_SEC

void gp_release_note_new(struct gpreempt_session *s, uint32_t qid)
{
	struct gp_release *r = &s->release;
	uint64_t now = shr_now_ns();

	r->young[qid % GP_MAX_IDS] = true;
	r->made++;
	r->ended -= r->ended > 0;
	r->quiet_until = now + QUIET_NS;
	r->suspect_until = now + GP_METER_WINDOW;
	if (r->all)
		gp_session_look_fast(s);
}

void gp_release_start(struct gpreempt_session *s)
{
	int count = 0;

	ioctl(s->events, FIONREAD, &count);
	s->release.dispatched = shr_now_ns();
	s->release.missing = -count;
	s->release.late = 0;
}

/*
 * Count events whose queue was in no snapshot. The driver writes the event when the queue is
 * there already, so it may have been in the snapshot of the round before.
 */
static int64_t count_unseen(struct gp_release *r)
{
	int64_t count = r->missing, late = r->late;

	r->missing = 0;
	r->late = count < 0 ? -count : 0;
	return count - late;
}

/*
 * Note that the queues of the events that no snapshot explains are gone. They may have run since
 * the session last looked; when nothing is held there is no timer, and an event wakes it at once.
 */
void gp_release_note_unseen(struct gpreempt_session *s)
{
	struct gp_release *r = &s->release;
	uint64_t now = shr_now_ns(), from = r->dispatched;
	int64_t count = count_unseen(r);

	if (count <= 0 || !s->n_rules)
		return;
	r->unseen += count;
	r->made += count;
	r->ended = 0;
	r->quiet_until = now + QUIET_NS;
	r->suspect_until = now + GP_METER_WINDOW;
	if (!gp_session_any_held(s) && from + UNSEEN_NS < now)
		from = now - UNSEEN_NS;
	gp_meter_add(&r->ran, from, now);
}

/* Does a queue run that has to be suspended? */
static bool any_runs(const struct gpreempt_session *s)
{
	size_t i;

	if (s->state != GP_SESSION_OPEN && s->state != GP_SESSION_LOST)
		return false;
	for (i = 0; i < s->count; i++)
		if (s->queues[i].wanted && !s->queues[i].held)
			return true;
	return false;
}

void gp_release_count(struct gpreempt_session *s, uint64_t now)
{
	gp_meter_set(&s->release.ran, any_runs(s), now);
}

static bool ran_percent(struct gpreempt_session *s, unsigned int percent, uint64_t now)
{
	struct gp_meter *ran = &s->release.ran;

	return gp_meter_recent(ran, now) >= GP_METER_WINDOW / 100 * percent;
}

/* Have queues run for longer than the process may have? */
static bool gp_release_over_budget(struct gpreempt_session *s, uint64_t now)
{
	return ran_percent(s, now < s->release.suspect_until ? SUSPECT_PERCENT : MOST_PERCENT, now);
}

/* No queue is released for a while: that is how long it has run since then. */
static void gp_release_pace(struct gpreempt_session *s, uint64_t ns, uint64_t now)
{
	struct gp_release *r = &s->release;
	uint64_t most = GP_METER_WINDOW, pause;
	uint64_t times = ran_percent(s, MOST_PERCENT, now) ? MOST_PACE : SUSPECT_PACE;

	pause = ns < most / times ? ns * times : most;
	if (r->paced_until < now + pause)
		r->paced_until = now + pause;
}

int gp_release_report(struct gpreempt_session *s)
{
	struct gp_release *r = &s->release;
	bool over = ran_percent(s, SUSPECT_PERCENT, shr_now_ns());
	bool news = over && !r->over;

	r->over = over;
	return news ? GPREEMPT_EVENT_CHURN : 0;
}

void gp_session_released(struct gpreempt_session *s, struct gpreempt_released *out)
{
	struct gp_release *r = &s->release;
	uint64_t now = shr_now_ns();

	*out = (struct gpreempt_released){
		.window_ns = GP_METER_WINDOW,
		.recent_ns = gp_meter_recent(&r->ran, now),
		.total_ns = gp_meter_total(&r->ran, now),
		.destroyed = r->count,
		.returned = r->returned,
		.made = r->made,
		.unseen = r->unseen,
		.churn = ran_percent(s, SUSPECT_PERCENT, now),
	};
}

/*
 * Releasing the queues that their process destroys, and nothing more.
 *
 * A process could use that to run: it makes queues and destroys them, or names another queue than
 * the one that it destroys, or has a signal interrupt the driver. So a queue that was released and
 * is still there is given back to the driver for suspension: the driver refuses one that is being
 * destroyed (suspend_single_queue() in amdkfd/kfd_device_queue_manager.c), and suspends any other.
 * At first that has TRUST_NS time; of a process that has deceived us, or makes queues, it is the
 * next thing that is done. All time that queues run although they are to be suspended is counted,
 * whatever the reason, and the process pays for it when it has made queues while it was held, or
 * deceived us: above a part of the last ten seconds, it waits a multiple of what the last release
 * took before the next.
 *
 * One by one, each queue costs a look, two calls of the driver and two run lists. A process that
 * destroys MANY queues which were there when they were suspended, and makes none, is ending: then
 * all are released together, until one of these is not so any more, or the budget is used up.
 */

#define MANY 4
/* Time that the driver takes to destroy a queue on the slowest host, at most. */
#define LONG_NS (200 * NSEC_PER_MSEC)
/* A process that never deceived us: its queue is gone by then, or it does now. */
#define TRUST_NS (20 * NSEC_PER_MSEC)
/* Shortest time that a look and two calls of the driver for nothing cost us. */
#define RETURN_NS (200 * NSEC_PER_USEC)

/*
 * Suspend again the queues that are not being destroyed; the others stay marked. Returns how
 * many were suspended, or -errno.
 */
static int take_back(struct gpreempt_session *s)
{
	size_t i;
	int ret, n = 0;

	/* A GPU that hangs is not asked again. */
	if (s->gpu_hung)
		return 0;
	for (i = 0; i < s->count; i++) {
		n += s->queues[i].being_destroyed;
		s->queues[i].being_destroyed = false;
	}
	ret = gp_session_apply(s);
	if (ret)
		return ret;
	for (i = 0; i < s->count; i++) {
		struct gpreempt_session_queue *queue = &s->queues[i];

		queue->being_destroyed = queue->wanted && !queue->held &&
					 queue->result == GPREEMPT_RESULT_REFUSED;
		n -= queue->being_destroyed;
	}
	return n > 0 ? n : 0;
}

/* Release all other queues, too. Returns 0 or -errno. */
static int release_all(struct gpreempt_session *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->count && n < GP_MAX_IDS; i++) {
		if (!s->queues[i].held)
			continue;
		s->queues[i].being_destroyed = true;
		s->ids[n++] = s->queues[i].qid;
	}
	s->release.all = true;
	s->release.left = s->count;
	return gp_session_resume_ids(s, n);
}

static bool is_ending(struct gpreempt_session *s, uint64_t now)
{
	const struct gp_release *r = &s->release;

	return r->ended >= MANY && now >= r->quiet_until && now >= r->paced_until &&
	       gp_session_any_held(s) && !gp_release_over_budget(s, now);
}

/* Suspend again the queues that were not being destroyed, and pay the price. */
static int confirm(struct gpreempt_session *s)
{
	struct gp_release *r = &s->release;
	int back = take_back(s);
	uint64_t now;

	r->confirm_at = 0;
	if (back <= 0)
		return back;
	now = shr_now_ns();
	r->returned += back;
	r->ended = 0;
	r->suspect_until = now + GP_METER_WINDOW;
	gp_release_pace(s, now - r->start + RETURN_NS, now);
	return 0;
}

int gp_release(struct gpreempt_session *s, size_t count)
{
	struct gp_release *r = &s->release;
	int ret;

	r->start = shr_now_ns();
	r->count += count;
	ret = gp_session_resume_ids(s, count);
	/* Wait before the check: each call of the driver delays the thread that destroys. */
	r->confirm_at = r->start + TRUST_NS;
	if (!ret && r->start < r->suspect_until)
		ret = confirm(s);
	return ret ? ret : GPREEMPT_EVENT_DESTROY;
}

/* Check queues that were all released: is the process still ending? */
static int check_all(struct gpreempt_session *s, uint64_t now)
{
	struct gp_release *r = &s->release;
	bool fewer = s->count < r->left;

	r->left = s->count;
	if (now >= r->quiet_until && !gp_release_over_budget(s, now)) {
		if (fewer)
			gp_session_look_fast(s);
		if (now < s->fast_until)
			return 0;
	}
	r->all = false;
	r->ended = 0;
	return take_back(s);
}

/* Note that the queues that were released one by one are gone. */
static void all_gone(struct gpreempt_session *s, uint64_t now)
{
	struct gp_release *r = &s->release;
	uint64_t took = now - r->start;

	if (gp_release_over_budget(s, now) && (now < r->suspect_until || took > LONG_NS))
		gp_release_pace(s, took, now);
	r->start = 0;
}

/*
 * Is a queue that was released still there? The driver's sysfs knows without
 * the locks that the thread needs which destroys it.
 */
static bool any_gone(const struct gpreempt_session *s)
{
	char text[32];
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].being_destroyed &&
		    gp_read_small(s->g, text, sizeof(text), GP_SYSFS_PROC "/%d/queues/%u/gpuid",
				  s->kfd.pid, s->queues[i].qid) < 0)
			return true;
	return false;
}

/* Refresh, and count old queues that are gone. Returns 0 or -errno. */
static int refresh(struct gpreempt_session *s)
{
	uint32_t old[GP_MAX_IDS];
	size_t i, n = 0;
	int ret;

	for (i = 0; i < s->count; i++)
		if (s->queues[i].being_destroyed &&
		    !s->release.young[s->queues[i].qid % GP_MAX_IDS])
			old[n++] = s->queues[i].qid;
	ret = gp_session_refresh(s);
	for (i = 0; !ret && i < n; i++) {
		const struct gpreempt_session_queue *queue;

		queue = gp_session_find(s, old[i]);
		s->release.ended += !queue || !queue->being_destroyed;
	}
	return ret;
}

/* Check queues that were released one by one. Returns 0 or -errno. */
static int check_some(struct gpreempt_session *s, uint64_t now)
{
	struct gp_release *r = &s->release;
	int ret = 0;

	/* The thread was interrupted after all, or never destroyed the queue. */
	if (gp_session_any_destroyed(s) &&
	    (r->confirm_at ? now >= r->confirm_at : now >= s->fast_until))
		ret = confirm(s);
	if (ret || gp_session_any_destroyed(s))
		return ret;
	if (r->start)
		all_gone(s, now);
	return is_ending(s, now) ? release_all(s) : 0;
}

/* Look at released queues. GPREEMPT_EVENT_ bits or -errno. */
static int gp_release_check(struct gpreempt_session *s, uint64_t now)
{
	struct gp_release *r = &s->release;
	size_t before = s->count;
	int ret;

	if (!gp_session_any_destroyed(s)) {
		if (now >= s->fast_until)
			r->ended = 0;
		r->all = false;
		return 0;
	}
	if (!r->all && now < s->fast_until && (!r->confirm_at || now < r->confirm_at) &&
	    !any_gone(s))
		return 0;
	ret = refresh(s);
	if (ret)
		return ret;
	now = shr_now_ns();
	ret = r->all ? check_all(s, now) : check_some(s, now);
	if (ret < 0)
		return ret;
	return s->count != before || !gp_session_any_destroyed(s) ? GPREEMPT_EVENT_QUEUES : 0;
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
