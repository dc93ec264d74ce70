// SPDX-License-Identifier: GPL-2.0-only
/* Offline processes: the workers that hold them, their orders and results. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/message.h"
#include "hold/escape.h"
#include "hold/owner.h"
#include "hold/pause-owner.h"
#include "shared/util.h"
#include "guard.h"

/* Tries to read an order: to write one takes nanoseconds, if its writer runs. */
#define ORDER_TRIES 1000

void *guard_channel_map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void guard_channel_order(struct guard_channel *c, const struct guard_order *order)
{
	atomic_fetch_add(&c->version, 1);
	c->order = *order;
	atomic_fetch_add(&c->version, 1);
}

bool guard_channel_get_order(struct guard_channel *c, struct guard_order *order)
{
	unsigned int before, i;

	for (i = 0; i < ORDER_TRIES; i++) {
		before = atomic_load(&c->version);
		*order = c->order;
		atomic_thread_fence(memory_order_acquire);
		if (!(before & 1) && atomic_load(&c->version) == before)
			return true;
		sched_yield();
	}
	return false;
}

bool guard_channel_give(struct guard_channel *c, const struct guard_result *result)
{
	unsigned int given = atomic_load(&c->given);

	if (given - atomic_load(&c->taken) == GUARD_RESULTS)
		return false;
	c->result[given % GUARD_RESULTS] = *result;
	atomic_store(&c->given, given + 1);
	return true;
}

bool guard_channel_take(struct guard_channel *c, struct guard_result *result)
{
	unsigned int taken = atomic_load(&c->taken);

	if (taken == atomic_load(&c->given))
		return false;
	*result = c->result[taken % GUARD_RESULTS];
	atomic_store(&c->taken, taken + 1);
	return true;
}

int guard_wake_open(struct guard_wake_pool *pool)
{
	int i;

	for (i = 0; i < GUARD_WAKES; i++) {
		pool->fd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (pool->fd[i] < 0)
			return -errno;
	}
	return 0;
}

/* Take an eventfd that no other worker has, or -ENOSPC. */
static int guard_wake_take(struct guard_wake_pool *pool)
{
	int i;

	for (i = 0; i < GUARD_WAKES; i++)
		if (!pool->taken[i]) {
			pool->taken[i] = true;
			return pool->fd[i];
		}
	return -ENOSPC;
}

/* Give the eventfd back once its worker is gone. */
static void guard_wake_give(struct guard_wake_pool *pool, int fd)
{
	eventfd_t count;
	int i;

	/* The next worker has no order yet. */
	eventfd_read(fd, &count);
	for (i = 0; i < GUARD_WAKES; i++)
		if (pool->fd[i] == fd)
			pool->taken[i] = false;
}

int guard_wake_keep_only(const struct guard_wake_pool *pool)
{
	if (unshare(CLONE_FILES) < 0)
		return -errno;
	shr_close_others(0, pool->fd, GUARD_WAKES);
	return 0;
}

/* Workers of offline processes, as guard sees them. */

static int work(void *arg)
{
	const struct guard_worker *w = arg;

	guard_work(&w->job, w->channel);
	return 0;
}

int guard_worker_start(const struct guard_job *job, struct guard_worker **out)
{
	const int keep[] = { job->lock, job->wake };
	struct guard_worker *w = calloc(1, sizeof(*w));
	pid_t child = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->job = *job;
	w->channel = guard_channel_map(sizeof(*w->channel));
	if (w->channel) {
		atomic_store(&w->channel->beat_ns, shr_now_ns());
		child = shr_child_start(work, w, keep, ARRAY_SIZE(keep));
	}
	if (child < 0) {
		guard_worker_free(w);
		return child;
	}
	w->child = child;
	*out = w;
	return 0;
}

void guard_worker_order(struct guard_worker *w, const struct guard_order *order)
{
	guard_channel_order(w->channel, order);
	eventfd_write(w->job.wake, 1);
}

void guard_worker_quit(struct guard_worker *w)
{
	atomic_store(&w->channel->quit, true);
	eventfd_write(w->job.wake, 1);
}

void guard_worker_watch(const struct guard_worker *w)
{
	uint64_t limit = atomic_load(&w->channel->busy) ? HEARTBEAT_BUSY_NS : HEARTBEAT_SILENCE_NS;

	if (shr_now_ns() > atomic_load(&w->channel->beat_ns) + limit)
		kill(w->child, SIGKILL);
}

bool guard_worker_gone(struct guard_worker *w)
{
	if (shr_child_gone(&w->child, &w->status))
		return true;
	guard_worker_watch(w);
	return false;
}

void guard_worker_why(const struct guard_worker *w, char *text, size_t size)
{
	if (WIFSIGNALED(w->status))
		snprintf(text, size, "its worker was killed by signal %d", WTERMSIG(w->status));
	else
		gpreempt_error_text(&w->channel->error, text, size);
}

void guard_worker_free(struct guard_worker *w)
{
	if (w->channel)
		munmap(w->channel, sizeof(*w->channel));
	free(w);
}

/* Results of the workers: for the figures, the policy and the user. */

#define RETRY_NS (100 * NSEC_PER_MSEC)
/* The GPU is being reset, and each try may take the driver's 9 s again. */
#define RETRY_HANG_NS (10 * NSEC_PER_SEC)

struct guard_offline *guard_find_offline(struct guard *guard, pid_t pid)
{
	size_t i;

	for (i = 0; i < guard->n_offline; i++)
		if (guard->offline[i].target.pid == pid)
			return &guard->offline[i];
	return NULL;
}

static int64_t after(uint64_t from, uint64_t to)
{
	return from ? (int64_t)(to - from) : GPREEMPT_UNKNOWN;
}

static struct guard_sample sample_of(const struct guard_result *r)
{
	int64_t slots = r->slots_ns == GPREEMPT_UNKNOWN ?
				GPREEMPT_UNKNOWN :
				after(r->arrival_ns, r->start_ns + r->slots_ns);

	return (struct guard_sample){ {
		[GUARD_TO_IOCTL] = after(r->arrival_ns, r->start_ns),
		[GUARD_TO_SUSPENDED] = after(r->arrival_ns, r->end_ns),
		[GUARD_TO_SLOTS] = slots,
	} };
}

/* Correct the policy, which took the action as done. */
static void tell_policy(struct guard *guard, struct guard_offline *offline,
			const struct guard_result *r)
{
	bool hang = r->suspend && r->error.reason == GPREEMPT_HANG;
	uint64_t retry = shr_now_ns() + (hang ? RETRY_HANG_NS : RETRY_NS);

	pthread_mutex_lock(&guard->lock);
	gp_policy_failed(guard->policy, offline->entity, r->nodes, r->suspend, retry);
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
}

static void note_failure(struct guard *guard, struct guard_offline *offline,
			 const struct guard_result *r)
{
	char text[512];

	/* The worker itself tries again what job control wants. */
	if (r->reason != GPREEMPT_POLICY_JOB_CONTROL)
		tell_policy(guard, offline, r);
	guard->figures.failures++;
	if (offline->failed)
		return;
	offline->failed = true;
	gpreempt_error_text(&r->error, text, sizeof(text));
	guard_event(guard, "failed", r->pid, "process %d could not be %s: %s", r->pid,
		    r->suspend ? "suspended" : "resumed", text);
}

/* Note when the target was suspended, on some nodes at least, or resumed. */
static void note_held(struct guard *guard, struct guard_offline *offline,
		      const struct guard_result *r)
{
	if (!r->held == !offline->held_since_ns)
		return;
	pthread_mutex_lock(&guard->lock);
	if (r->held) {
		offline->held_since_ns = r->end_ns;
	} else {
		offline->times.held_ns += r->start_ns - offline->held_since_ns;
		offline->held_since_ns = 0;
	}
	pthread_mutex_unlock(&guard->lock);
}

void guard_take_result(struct guard *guard, const struct guard_result *r)
{
	struct guard_offline *offline = guard_find_offline(guard, r->pid);
	struct guard_figures *figures = &guard->figures;
	struct guard_sample sample = sample_of(r);

	guard_tell_switch(guard, r, &sample);
	if (r->code) {
		if (offline && r->code != -ENOTCONN)
			note_failure(guard, offline, r);
		return;
	}
	if (r->suspend)
		figures->suspends++;
	else
		figures->resumes[r->reason]++;
	if (r->arrival_ns) {
		guard_add_sample(figures, &sample);
		pthread_mutex_lock(&guard->lock);
		gp_policy_took(guard->policy, r->arrival_ns, r->end_ns);
		pthread_mutex_unlock(&guard->lock);
	}
	if (!offline)
		return;
	offline->failed = false;
	note_held(guard, offline, r);
}

void guard_take_from(struct guard *guard, struct guard_worker *w)
{
	struct guard_result result;

	while (guard_channel_take(w->channel, &result))
		guard_take_result(guard, &result);
}

/* Take the time that the target ran although it was to be suspended. */
static void guard_take_released(struct guard *guard, struct guard_offline *offline)
{
	uint64_t total, ns;

	total = atomic_load(&offline->worker->channel->released_ns);
	ns = total - offline->times.released_ns;
	if (!ns)
		return;
	pthread_mutex_lock(&guard->lock);
	offline->times.released_ns = total;
	offline->times.unseen = atomic_load(&offline->worker->channel->unseen);
	gp_policy_ran(guard->policy, offline->entity, ns);
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
	guard_tell_ran(guard, offline->target.pid, ns);
}

/* Report the target's churn, with pauses: it may be around the bound for hours. */
static void tell_churn(struct guard *guard, struct guard_offline *offline)
{
	struct guard_channel *c = offline->worker->channel;
	unsigned int churns = atomic_load(&c->churns);

	if (churns == offline->churns)
		return;
	offline->churns = churns;
	if (shr_report_due(&offline->churn_pause, shr_now_ns()))
		guard_tell_churn(guard, offline->target.pid, c);
}

static void tell_loss(struct guard *guard, struct guard_offline *offline)
{
	unsigned int losses = atomic_load(&offline->worker->channel->losses);

	if (losses == offline->losses)
		return;
	offline->losses = losses;
	guard_event(guard, "lost", offline->target.pid,
		    atomic_load(&offline->worker->channel->off) ?
			    "another program paused process %d, too, and this "
			    "driver counts pauses: it is off the GPU until it ends" :
			    "another program let process %d run; it is taken off again",
		    offline->target.pid);
}

void guard_take_results(struct guard *guard)
{
	struct guard_offline *offline;
	size_t i;

	for (i = 0; i < guard->n_offline; i++) {
		offline = &guard->offline[i];
		guard_take_from(guard, offline->worker);
		guard_take_released(guard, offline);
		tell_churn(guard, offline);
		tell_loss(guard, offline);
	}
}

/* Offline processes, each with a worker. */

static uint64_t node_bit(struct guard *guard, int64_t gpu_id)
{
	size_t i;

	for (i = 0; i < guard->n_nodes; i++)
		if (guard->common->gpu_id[i] == gpu_id)
			return 1ULL << i;
	if (i == GUARD_NODES || gpu_id == GPREEMPT_UNKNOWN)
		return 0;
	guard->common->gpu_id[guard->n_nodes++] = gpu_id;
	return 1ULL << i;
}

uint64_t guard_nodes_of(struct guard *guard, const struct gpreempt_view *view)
{
	uint64_t nodes = 0;
	size_t i;

	for (i = 0; i < view->count; i++)
		nodes |= node_bit(guard, view->queues[i].gpu_id);
	return nodes;
}

/* Note that the worker has found no session that can hold the target. */
static void note_method(struct guard *guard, struct guard_offline *offline)
{
	struct guard_channel *c = offline->worker->channel;
	char text[512];

	offline->paused = true;
	if (!c->why.reason)
		return;
	gpreempt_error_text(&c->why, text, sizeof(text));
	guard_event(guard, "paused", offline->target.pid, "%s; so it is paused", text);
}

/* A program at work has gaps between its packets: one without work had none for so long. */
#define WORK_NS (200 * NSEC_PER_MSEC)

enum work {
	IDLE,
	WORKS,
	OUT,  /* its registers are not known while it is in no slot */
	DARK, /* all its packets are begun, and its waves are not known, as with MES */
};

static enum work work_of(const struct gpreempt_queue *q)
{
	uint64_t ring = q->unit == GP_VIEW_UNIT_DWORDS ? q->ring_size / 4 : q->ring_size;
	bool bytes = q->unit == GP_VIEW_UNIT_BYTES;

	if (q->rptr == GPREEMPT_UNKNOWN || q->wptr == GPREEMPT_UNKNOWN || !ring)
		return OUT;
	if ((uint64_t)(q->wptr - q->rptr) % ring || (!bytes && q->waves > 0))
		return WORKS;
	return !bytes && q->waves == GPREEMPT_UNKNOWN ? DARK : IDLE;
}

/*
 * Has it no work, though its queues are in no slots? They were in them without work, and the poller
 * has seen no packet since. Equal indices alone do not tell that: packets may execute.
 */
static bool is_still(const struct guard_offline *offline)
{
	return offline->watch.looked && offline->rested_ns > offline->moved_ns;
}

/* Has the poller looked lately, and seen neither packets nor a signal that waits? */
static bool seen_at_rest(const struct guard_offline *offline, uint64_t now)
{
	return now < offline->looked_ns + WORK_NS && now > offline->moved_ns + WORK_NS;
}

/* Note which queues it has: nothing is known of another set. */
static void note_set(struct guard_offline *offline, const struct gpreempt_view *view)
{
	uint64_t set = 0;
	size_t i;

	for (i = 0; i < view->count; i++)
		set = 31 * set + view->queues[i].qid + view->queues[i].ring;
	if (set != offline->set)
		offline->rested_ns = 0;
	offline->set = set;
}

/* Is a session being opened? The driver changes its run list for that, more than once. */
static bool opens_any(const struct guard *guard)
{
	size_t i;

	for (i = 0; i < guard->n_offline; i++)
		if (atomic_load(&guard->offline[i].worker->channel->state) == GUARD_OPENING)
			return true;
	return false;
}

/*
 * Report to the policy where the process has work. A look while the driver changes the run list
 * shows none of its queues, and tells nothing. Under the lock.
 */
static void note_work(struct guard *guard, struct guard_offline *offline,
		      const struct gpreempt_view *view, uint64_t now)
{
	struct gpreempt_policy_entity *entity = &guard->policy->entity[offline->entity];
	uint64_t idle, written = 0, worked = 0, unknown = 0, dark = 0;
	size_t i;

	/* The poller sees its work, which its registers do not show. */
	if (entity->parked)
		return;
	/* While it is suspended nothing is learnt: the last answer stays. */
	offline->worked[0] |= offline->worked[1] & entity->held;
	if (now >= offline->work_ns + WORK_NS) {
		offline->worked[1] = offline->worked[0];
		offline->worked[0] &= entity->held;
		offline->work_ns = now;
	}
	for (i = 0; i < view->count; i++) {
		uint64_t node = node_bit(guard, view->queues[i].gpu_id);
		enum work work = work_of(&view->queues[i]);

		written += view->queues[i].wptr;
		worked |= work == WORKS ? node : 0;
		unknown |= work == OUT ? node : 0;
		dark |= work == DARK ? node : 0;
	}
	offline->watch.dark = dark;
	if (!seen_at_rest(offline, now))
		worked |= dark;
	/* Work that came and went between two looks. */
	if (!unknown && written != offline->written) {
		worked = offline->nodes;
		offline->written = written;
	}
	/*
	 * Not in its slots twice: there are more processes than fit, and each is in the way, until
	 * it is parked. But what is held is in no slot, which tells nothing.
	 */
	unknown &= ~entity->held;
	offline->missing &= unknown;
	if (offline->missing && !opens_any(guard))
		for (i = 0; i < guard->n_nodes; i++)
			if (offline->missing >> i & 1)
				guard->crowded_ns[i] = now;
	offline->worked[0] |= worked | (is_still(offline) ? 0 : offline->missing);
	offline->missing = unknown;
	if (worked)
		offline->rested_ns = 0;
	else if (!unknown && !entity->held)
		offline->rested_ns = now;
	idle = ~(offline->worked[0] | offline->worked[1]);
	guard->changed |= idle != entity->idle;
	gp_policy_idle(guard->policy, offline->entity, idle, now);
}

/* Looks at usage for each look at the queues of a process without work. */
#define RESTS 5
/* Time between two looks at a parked one. */
#define PARKED_NS (10 * NSEC_PER_SEC)

/* Has it as many queues as before, none of them with work? Only usage of all of them tells that. */
static bool rests(const struct guard *guard, struct guard_offline *offline,
		  struct gpreempt_usages **usages)
{
	const struct gpreempt_policy_entity *entity = &guard->policy->entity[offline->entity];
	int64_t queues = 0;
	size_t i;

	if (!offline->announced || (offline->nodes & ~entity->idle))
		return false;
	/* The poller sees its packets, and its session the queues that come. */
	if (entity->parked && !offline->paused)
		return atomic_load(&offline->worker->channel->queues) == offline->seen &&
		       shr_now_ns() < offline->viewed_ns + PARKED_NS;
	if (++offline->rests >= RESTS)
		return false;
	if (!*usages && gpreempt_usage_read(guard->g, 0, usages, NULL)) {
		*usages = NULL;
		return false;
	}
	for (i = 0; i < (*usages)->count; i++) {
		const struct gpreempt_usage *u = &(*usages)->usages[i];

		if (u->pid != offline->target.pid)
			continue;
		if (u->busy || u->queues == GPREEMPT_UNKNOWN)
			return false;
		queues += u->queues;
	}
	return (size_t)queues == offline->queues;
}

/* Each process takes its turn in the slots more often. */
#define CROWDED_NS (2 * NSEC_PER_SEC)

/* Had a process there no slots lately, while it could run? */
static bool is_crowded(const struct guard *guard, uint64_t nodes)
{
	uint64_t now = shr_now_ns();
	size_t i;

	for (i = 0; i < guard->n_nodes; i++)
		if (nodes >> i & 1 && now < shr_later_ns(guard->crowded_ns[i], CROWDED_NS))
			return true;
	return false;
}

/* Note the queues that the poller watches while it is parked, or may be. Under the lock. */
static void note_queues(struct guard *guard, struct guard_offline *offline,
			const struct gpreempt_view *view)
{
	struct guard_online *watch = &offline->watch;
	bool all;

	/* A process that was parked for the others stays so until its next packet. */
	if (!guard->policy->entity[offline->entity].parked)
		offline->crowded = is_crowded(guard, offline->nodes);
	all = (guard->config.figures.park_ns || offline->crowded || watch->dark) &&
	      guard_watch_queues(watch, view);
	if (all && !watch->sight)
		watch->sight = calloc(1, sizeof(*watch->sight));
	if (watch->sight)
		watch->sight->pid = offline->target.pid;
	gp_policy_parks(guard->policy, offline->entity, all && watch->sight, offline->crowded);
}

/* The processes that were there before guard have been taken by then. */
#define BEGIN_NS (2 * NSEC_PER_SEC)

void guard_refresh_offline(struct guard *guard, struct guard_offline *offline,
			   struct gpreempt_usages **usages)
{
	struct guard_channel *channel = offline->worker->channel;
	struct gpreempt_view *view;
	uint64_t nodes, now;
	unsigned int seen;

	if (atomic_load(&channel->state) != GUARD_READY)
		return;
	if (!offline->paused && atomic_load(&channel->paused))
		note_method(guard, offline);
	if (rests(guard, offline, usages))
		return;
	guard_heartbeat(guard);
	seen = atomic_load(&channel->queues);
	if (gpreempt_view_read(guard->g, offline->target.pid, &view, NULL))
		return;
	offline->seen = seen;
	offline->rests = 0;
	offline->queues = view->count;
	pthread_mutex_lock(&guard->lock);
	now = offline->viewed_ns = shr_now_ns();
	nodes = guard_nodes_of(guard, view);
	if (nodes != offline->nodes) {
		offline->nodes = nodes;
		gp_policy_nodes(guard->policy, offline->entity, nodes);
		guard->changed = true;
	}
	note_set(offline, view);
	note_queues(guard, offline, view);
	note_work(guard, offline, view, now);
	/* A new process has run before it was seen, and its tenant is charged for that. */
	if (nodes && !offline->announced && offline->since_ns > guard->figures.start_ns + BEGIN_NS)
		gp_policy_ran(guard->policy, offline->entity, now - offline->bare_ns);
	if (!nodes)
		offline->bare_ns = now;
	pthread_mutex_unlock(&guard->lock);
	gpreempt_list_free(view);
	if (!offline->nodes || offline->announced)
		return;
	offline->announced = true;
	guard_backoff_reset(guard, &offline->target);
	guard_tell_joined(guard, offline->target.pid, false);
}

static void refuse_locked(struct guard *guard, const struct gpreempt_target *target, int code)
{
	struct hold_owner owner = { 0 };
	char by[HOLD_OWNER_TEXT];

	if (code == -EWOULDBLOCK) {
		hold_read_owner(target->pid, &owner);
		guard_refuse(guard, target, false, "it is held by %s", hold_owner_text(&owner, by));
	} else if (code == -EALREADY) {
		guard_refuse(guard, target, false, "it is paused by gpreempt-ctl suspend");
	} else {
		guard_refuse(guard, target, false, "it cannot be locked in " HOLD_DIR ": %s",
			     strerror(-code));
	}
}

bool guard_take_offline(struct guard *guard, const struct guard_found *f)
{
	struct hold_owner owner = { .role = HOLD_ROLE_GUARD, .guardian = getpid() };
	struct guard_offline offline = {
		.target = f->target,
		.since_ns = shr_now_ns(),
		.bare_ns = shr_now_ns() - GUARD_TICK_NS,
		.worked = { UINT64_MAX, UINT64_MAX },
		.work_ns = shr_now_ns(),
	};
	struct guard_job job = {
		.target = f->target.pid,
		.common = guard->common,
		.sample_each = guard->options->samples,
		.how = guard->options->how,
		.follow = guard->options->follow,
		.guard = getpid(),
	};
	int ret;

	/* The target that had the place is about to end. */
	if (guard->n_offline + guard->n_going >= GUARD_TARGETS)
		return false;
	job.lock = pause_take(f->target.pid, &owner);
	if (job.lock < 0) {
		refuse_locked(guard, &f->target, job.lock);
		return false;
	}
	job.wake = guard_wake_take(&guard->wakes);
	ret = guard_worker_start(&job, &offline.worker);
	if (ret) {
		guard_wake_give(&guard->wakes, job.wake);
		hold_drop(f->target.pid, job.lock);
		guard_refuse(guard, &f->target, false, "its worker cannot be started: %s",
			     strerror(-ret));
		return false;
	}
	/* Write over the present record: that needs no room on the disk. */
	owner.pid = offline.worker->child;
	hold_write_owner(job.lock, &owner);
	pthread_mutex_lock(&guard->lock);
	/* There are more places for entities than for processes. */
	offline.entity = gpreempt_policy_add(guard->policy, guard_tenant_of(guard, f), 0);
	offline.watch = (struct guard_online){
		.target = f->target,
		.offline = true,
		.entity = offline.entity,
	};
	guard->offline[guard->n_offline++] = offline;
	pthread_mutex_unlock(&guard->lock);
	return true;
}

/* Report why the session has ended, if not by our wish. */
static void tell_end(struct guard *guard, struct guard_offline *offline)
{
	struct guard_worker *w = offline->worker;
	pid_t pid = offline->target.pid;
	char text[512];

	if (guard->ending)
		return;
	if (w->child || (atomic_load(&w->channel->state) == GUARD_ENDED &&
			 w->channel->error.reason == GPREEMPT_ENDED)) {
		if (offline->announced)
			guard_event(guard, "left", pid, "process %d is not offline any more", pid);
		return;
	}
	guard_worker_why(w, text, sizeof(text));
	guard_refuse(guard, &offline->target, offline->announced, "%s", text);
}

void guard_drop_offline(struct guard *guard, size_t i)
{
	uint64_t now = shr_now_ns();
	struct guard_offline offline;

	guard_take_released(guard, &guard->offline[i]);
	pthread_mutex_lock(&guard->lock);
	guard_watch_end(&guard->offline[i].watch);
	offline = guard->offline[i];
	gpreempt_policy_remove(guard->policy, offline.entity);
	guard->offline[i] = guard->offline[--guard->n_offline];
	pthread_mutex_unlock(&guard->lock);
	tell_end(guard, &offline);
	guard_add_times(&guard->figures.gone, &offline, now);
	guard_worker_quit(offline.worker);
	guard->going[guard->n_going++] = offline.worker;
	guard_reap(guard);
}

/* A guardian that is alive undoes the pause; one that was killed has ended by then. */
static int repair(void *target)
{
	uint64_t deadline = 0;
	pid_t pid = *(pid_t *)target;
	struct hold_state s;
	struct gpreempt *g;

	if (gpreempt_new(NULL, &g))
		return 1;
	do {
		hold_look(g, pid, &s);
	} while (s.finding == PAUSE_ANSWERED && hold_retry(&deadline));
	return pause_repair_target(g, pid);
}

/*
 * Has the pause of a worker that has ended been undone? The guardian undoes it, or was killed,
 * too. A process of its own waits for that, since guard does not wait for a target.
 */
static bool is_repaired(struct guard_worker *w)
{
	struct pause_entry entry;
	pid_t target = w->job.target;
	int status;

	if (w->job.lock >= 0) {
		hold_drop(target, w->job.lock);
		w->job.lock = -1;
		if (pause_journal_read(target, &entry) != -ENOENT)
			w->repair = shr_child_start(repair, &target, NULL, 0);
	}
	return w->repair <= 0 || shr_child_gone(&w->repair, &status);
}

void guard_reap(struct guard *guard)
{
	size_t i;

	for (i = guard->n_going; i-- > 0;) {
		struct guard_worker *w = guard->going[i];

		if (!guard_worker_gone(w) || !is_repaired(w))
			continue;
		/* There are no figures and no events after the summary. */
		if (!guard->ending)
			guard_take_from(guard, w);
		guard_wake_give(&guard->wakes, w->job.wake);
		if (w->channel->error.reason == GPREEMPT_PAUSE_OFF)
			guard->status = ctl_fail(&w->channel->error);
		guard_worker_free(w);
		guard->going[i] = guard->going[--guard->n_going];
	}
}

bool guard_is_going(const struct guard *guard, pid_t pid)
{
	size_t i;

	for (i = 0; i < guard->n_going; i++)
		if (guard->going[i]->job.target == pid)
			return true;
	return false;
}

void guard_end_all(struct guard *guard)
{
	while (guard->n_offline)
		guard_drop_offline(guard, guard->n_offline - 1);
	/* A worker may be in the driver, which waits for the hardware for seconds. */
	while (guard->n_going) {
		guard_heartbeat(guard);
		shr_sleep_ns(NSEC_PER_MSEC);
		guard_reap(guard);
	}
}

void guard_release_some(struct guard *guard)
{
	uint64_t ns;
	bool asked;
	size_t i;

	for (i = guard->n_offline; i-- > 0;) {
		const struct gpreempt_target *target = &guard->offline[i].target;

		pthread_mutex_lock(&guard->lock);
		asked = guard->offline[i].unwanted;
		ns = guard->offline[i].away_ns;
		pthread_mutex_unlock(&guard->lock);
		if (!asked)
			continue;
		guard_event(guard, "released", target->pid, "process %d is released, as requested",
			    target->pid);
		guard_backoff_for(guard, target, ns);
		guard_drop_offline(guard, i);
	}
}
