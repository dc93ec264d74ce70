// SPDX-License-Identifier: GPL-2.0-only
/* Who is there now: processes come and go, and so do their queues. */
#include <errno.h>
#include <string.h>

#include "ctl/guard.h"
#include "shared/clock.h"

#define MAX_REFUSED 256
#define RETRY_NS (100 * NSEC_PER_MSEC)
/* What is refused for so long is said; a process that starts is not ready. */
#define PATIENCE_NS NSEC_PER_SEC

/* Targets that we cannot take. */
static struct refused {
	struct gpreempt_target target;
	uint64_t first_ns;
	uint64_t retry_ns;
	bool said;
} refused[MAX_REFUSED];

/* The place of a target among the refused, made if need be. */
static struct refused *refusal(const struct gpreempt_target *target)
{
	struct refused *oldest = refused;
	size_t i;

	for (i = 0; i < MAX_REFUSED; i++) {
		if (guard_same(&refused[i].target, target))
			return &refused[i];
		if (refused[i].retry_ns < oldest->retry_ns)
			oldest = &refused[i];
	}
	*oldest = (struct refused){
		.target = *target, .first_ns = shr_now_ns(),
	};
	return oldest;
}

/* Not now, but perhaps later; said once, when it goes on for a while. */
static void refuse(struct guard *guard, const struct gpreempt_target *target,
		   const char *why, bool at_once)
{
	struct refused *r = refusal(target);
	uint64_t now = shr_now_ns();

	r->retry_ns = now + RETRY_NS;
	if (r->said || (!at_once && now < r->first_ns + PATIENCE_NS))
		return;
	r->said = true;
	guard_event(guard, "refused", target->pid, "process %d is left alone: %s",
		    target->pid, why);
}

static bool may_try(const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < MAX_REFUSED; i++)
		if (guard_same(&refused[i].target, target))
			return shr_now_ns() >= refused[i].retry_ns;
	return true;
}

static uint64_t node_bit(struct guard *guard, int64_t gpu_id)
{
	size_t i;

	for (i = 0; i < guard->n_nodes; i++)
		if (guard->gpu_id[i] == gpu_id)
			return 1ULL << i;
	if (i == GUARD_NODES || gpu_id == GPREEMPT_UNKNOWN)
		return 0;
	guard->gpu_id[guard->n_nodes++] = gpu_id;
	return 1ULL << i;
}

static uint64_t nodes_of(struct guard *guard, const struct gpreempt_view *view)
{
	uint64_t nodes = 0;
	size_t i;

	for (i = 0; i < view->count; i++)
		nodes |= node_bit(guard, view->queues[i].gpu_id);
	return nodes;
}

/* Keep what was seen of a queue that is the same still. */
static void set_queue(struct guard_queue *out, const struct guard_online *old,
		      const struct gpreempt_queue *queue)
{
	size_t i;

	*out = (struct guard_queue){
		.qid = queue->qid,
		.read_addr = queue->rptr_addr,
		.write_addr = queue->wptr_addr,
		.ring = queue->ring,
		.packets = queue->ring_size / 64,
	};
	for (i = 0; i < old->n; i++)
		if (old->queue[i].qid == out->qid &&
		    old->queue[i].write_addr == out->write_addr)
			*out = old->queue[i];
}

static bool can_be_seen(const struct gpreempt_queue *queue)
{
	return queue->type == GPREEMPT_QUEUE_COMPUTE_AQL &&
	       queue->rptr_addr > 0 && queue->wptr_addr > 0 &&
	       queue->ring > 0 && queue->ring_size > 0;
}

/* Without the module nobody knows where the indices are. */
static void note_source(struct guard *guard, enum gpreempt_source source)
{
	bool blind = source != GPREEMPT_SOURCE_MODULE;

	if (blind == guard->blind)
		return;
	guard->blind = blind;
	guard_event(guard, "module", 0, blind ?
		    "gpreempt.ko is gone: work cannot be seen, nobody is preempted" :
		    "gpreempt.ko is there again");
}

static void refresh_online(struct guard *guard, struct guard_online *online)
{
	static struct guard_online fresh;
	struct gpreempt_view *view;
	uint64_t nodes;
	size_t i;

	if (gpreempt_view_read(guard->g, online->target.pid, &view, NULL))
		return;
	note_source(guard, view->source);
	pthread_mutex_lock(&guard->lock);
	nodes = nodes_of(guard, view);
	fresh.n = 0;
	for (i = 0; i < view->count && fresh.n < GUARD_QUEUES; i++)
		if (can_be_seen(&view->queues[i]))
			set_queue(&fresh.queue[fresh.n++], online,
				  &view->queues[i]);
	memcpy(online->queue, fresh.queue, sizeof(fresh.queue));
	online->n = fresh.n;
	online->gone = false;
	if (nodes != online->nodes) {
		gpreempt_policy_nodes(&guard->policy, online->party, nodes);
		online->nodes = nodes;
		guard->changed = true;
	}
	pthread_mutex_unlock(&guard->lock);
	gpreempt_view_free(view);
}

/* A party for each node that it has queues on. */
static void set_nodes(struct guard *guard, struct guard_offline *offline,
		      uint64_t nodes)
{
	uint64_t want = offline->want;
	size_t i;

	for (i = 0; i < GUARD_NODES; i++) {
		uint64_t bit = 1ULL << i;
		int *party = &offline->party[i];

		if ((nodes & bit) && *party < 0)
			*party = gpreempt_policy_add(&guard->policy,
						     GPREEMPT_ROLE_OFFLINE,
						     bit, offline->job,
						     shr_now_ns());
		if (!(nodes & bit) && *party >= 0) {
			gpreempt_policy_remove(&guard->policy, *party);
			*party = -1;
			want &= ~bit;
		}
	}
	/* A queue that it makes there later is the policy's to judge. */
	if (want != offline->want) {
		struct guard_order order = {
			.nodes = want, .reason = GPREEMPT_POLICY_IDLE,
		};

		guard_worker_order(offline->worker, &order);
	}
	offline->want = want;
	offline->nodes = nodes;
	guard->changed = true;
}

static void refresh_offline(struct guard *guard, struct guard_offline *offline)
{
	struct gpreempt_view *view;
	uint64_t nodes;

	if (atomic_load(&offline->worker->state) != GUARD_READY ||
	    gpreempt_view_read(guard->g, offline->target.pid, &view, NULL))
		return;
	pthread_mutex_lock(&guard->lock);
	nodes = nodes_of(guard, view);
	if (nodes != offline->nodes)
		set_nodes(guard, offline, nodes);
	pthread_mutex_unlock(&guard->lock);
	gpreempt_view_free(view);
}

static void take_online(struct guard *guard, const struct guard_found *f)
{
	struct guard_online *online = &guard->online[guard->n_online];
	int party;

	if (guard->n_online == GUARD_TARGETS) {
		refuse(guard, &f->target, "there are too many online", true);
		return;
	}
	pthread_mutex_lock(&guard->lock);
	party = gpreempt_policy_add(&guard->policy, GPREEMPT_ROLE_ONLINE, 0,
				    0, shr_now_ns());
	if (party >= 0) {
		memset(online, 0, sizeof(*online));
		online->target = f->target;
		online->party = party;
		guard->n_online++;
	}
	pthread_mutex_unlock(&guard->lock);
	if (party >= 0)
		guard_event(guard, "joined", f->target.pid,
			    "process %d is online", f->target.pid);
}

static void take_offline(struct guard *guard, const struct guard_found *f)
{
	struct hold_owner owner = { .role = HOLD_ROLE_GUARD, .pid = getpid() };
	struct guard_offline offline = {
		.target = f->target, .job = f->job, .since_ns = shr_now_ns(),
	};
	char why[96];
	size_t i;

	if (guard->n_offline == GUARD_TARGETS) {
		refuse(guard, &f->target, "there are too many offline", true);
		return;
	}
	for (i = 0; i < GUARD_NODES; i++)
		offline.party[i] = -1;
	offline.lock = hold_lock(f->target.pid);
	if (offline.lock < 0) {
		hold_read_owner(f->target.pid, &owner);
		snprintf(why, sizeof(why), "it is held by gpreempt-ctl %s "
			 "(%llu)", hold_role_name(owner.role),
			 (unsigned long long)owner.pid);
		refuse(guard, &f->target, why, false);
		return;
	}
	hold_write_owner(offline.lock, &owner);
	if (guard_worker_start(guard, f->target.pid, &offline.worker)) {
		foreground_drop(f->target.pid, offline.lock);
		return;
	}
	pthread_mutex_lock(&guard->lock);
	guard->offline[guard->n_offline++] = offline;
	pthread_mutex_unlock(&guard->lock);
}

static void drop_online(struct guard *guard, size_t i)
{
	pid_t pid = guard->online[i].target.pid;

	pthread_mutex_lock(&guard->lock);
	gpreempt_policy_remove(&guard->policy, guard->online[i].party);
	guard->online[i] = guard->online[--guard->n_online];
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
	if (!guard->ending)
		guard_event(guard, "left", pid,
			    "process %d is not online any more", pid);
}

/* Say why its session has ended, if it was not by our will. */
static void tell_end(struct guard *guard, const struct guard_offline *offline)
{
	struct gpreempt_error *err = &offline->worker->error;
	pid_t pid = offline->target.pid;
	char text[512];

	if (guard->ending)
		return;
	if (atomic_load(&offline->worker->state) != GUARD_ENDED ||
	    err->reason == GPREEMPT_ENDED) {
		if (offline->announced)
			guard_event(guard, "left", pid,
				    "process %d is not offline any more", pid);
		return;
	}
	gpreempt_error_text(err, text, sizeof(text));
	refuse(guard, &offline->target, text, offline->announced);
}

static void drop_offline(struct guard *guard, size_t i)
{
	struct guard_offline offline;

	pthread_mutex_lock(&guard->lock);
	offline = guard->offline[i];
	set_nodes(guard, &guard->offline[i], 0);
	guard->offline[i] = guard->offline[--guard->n_offline];
	pthread_mutex_unlock(&guard->lock);
	tell_end(guard, &offline);
	/* It may be in the driver, which waits for the hardware for seconds. */
	foreground_well(&guard->deadman, true);
	guard_worker_end(offline.worker);
	foreground_well(&guard->deadman, false);
	foreground_drop(offline.target.pid, offline.lock);
	if (offline.held_since_ns)
		offline.held_ns += shr_now_ns() - offline.held_since_ns;
	guard->figures.held_ns += offline.held_ns;
	guard->figures.kept_ns += shr_now_ns() - offline.since_ns;
}

static void release(struct guard *guard, size_t i, uint64_t ns)
{
	struct gpreempt_target target = guard->offline[i].target;
	struct refused *r = refusal(&target);
	uint64_t now = shr_now_ns();

	guard_event(guard, "released", target.pid,
		    "process %d is let go of, as somebody wants it",
		    target.pid);
	r->retry_ns = now + ns < now ? UINT64_MAX : now + ns;
	r->said = true;
	drop_offline(guard, i);
}

static void drop_gone(struct guard *guard)
{
	size_t i;

	for (i = guard->n_online; i-- > 0;)
		if (!guard_find_found(&guard->online[i].target, true))
			drop_online(guard, i);
	for (i = guard->n_offline; i-- > 0;)
		if (!guard_find_found(&guard->offline[i].target, false) ||
		    atomic_load(&guard->offline[i].worker->state) ==
		    GUARD_ENDED)
			drop_offline(guard, i);
}

static bool is_online(const struct guard *guard,
		      const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < guard->n_online; i++)
		if (guard_same(&guard->online[i].target, target))
			return true;
	return false;
}

static void take_new(struct guard *guard)
{
	const struct guard_found *f;
	size_t i;

	for (i = 0; (f = guard_found_at(i)); i++) {
		if (f->online && f->offline)
			refuse(guard, &f->target,
			       "it is named as online and as offline", true);
		else if (f->online && !is_online(guard, &f->target))
			take_online(guard, f);
		else if (f->offline && !guard_find(guard, f->target.pid) &&
			 may_try(&f->target))
			take_offline(guard, f);
	}
}

/* Somebody else wants these for a while. */
static void release_some(struct guard *guard)
{
	struct guard_release releases[ARRAY_SIZE(guard->releases)];
	size_t n, i, j;

	pthread_mutex_lock(&guard->lock);
	n = guard->n_releases;
	memcpy(releases, guard->releases, sizeof(releases));
	guard->n_releases = 0;
	pthread_mutex_unlock(&guard->lock);
	for (i = 0; i < n; i++)
		for (j = guard->n_offline; j-- > 0;)
			if (guard->offline[j].target.pid == releases[i].pid)
				release(guard, j, releases[i].ns);
}

void guard_targets_look(struct guard *guard)
{
	size_t i;

	release_some(guard);

	if (guard_find_all(guard))
		return;
	drop_gone(guard);
	take_new(guard);
	for (i = 0; i < guard->n_online; i++)
		refresh_online(guard, &guard->online[i]);
	for (i = 0; i < guard->n_offline; i++) {
		struct guard_offline *offline = &guard->offline[i];

		refresh_offline(guard, offline);
		if (!offline->nodes || offline->announced)
			continue;
		offline->announced = true;
		guard_event(guard, "joined", offline->target.pid,
			    "process %d is offline", offline->target.pid);
	}
}

void guard_targets_drop(struct guard *guard)
{
	while (guard->n_offline)
		drop_offline(guard, guard->n_offline - 1);
	while (guard->n_online)
		drop_online(guard, guard->n_online - 1);
}
