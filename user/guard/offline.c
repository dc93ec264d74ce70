// SPDX-License-Identifier: GPL-2.0-only
/* Those that make way, each with a worker. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/owner-text.h"
#include "agent/pause-repair.h"
#include "guard/guard.h"
#include "output/message.h"
#include "shared/child.h"
#include "shared/clock.h"
#include "shared/macro.h"

/* How long the lock of a target may last that its worker and guardian had. */
#define REPAIR_NS	(2 * NSEC_PER_SEC)
#define REPAIR_PAUSE_NS (10 * NSEC_PER_MSEC)

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

static int add_entity(struct guard *guard, const struct guard_offline *offline, uint64_t nodes)
{
	return gpreempt_policy_add(guard->policy, GPREEMPT_ROLE_OFFLINE, nodes, offline->job,
				   shr_now_ns());
}

static void remove_entity(struct guard *guard, struct guard_offline *offline, int entity)
{
	size_t i;

	gpreempt_policy_remove(guard->policy, entity);
	for (i = 0; i < GUARD_NODES; i++)
		if (offline->entity[i] == entity)
			offline->entity[i] = -1;
}

/* An entity for each node that it has queues on; of a paused one, one for all. */
static void set_entities(struct guard *guard, struct guard_offline *offline, uint64_t nodes)
{
	int all = -1;
	size_t i;

	for (i = 0; i < GUARD_NODES; i++)
		if (offline->entity[i] >= 0 && (offline->whole || !(nodes & (1ULL << i))))
			remove_entity(guard, offline, offline->entity[i]);
	if (offline->whole && nodes)
		all = add_entity(guard, offline, nodes);
	offline->partly = false;
	for (i = 0; i < GUARD_NODES; i++)
		if ((nodes & (1ULL << i)) && offline->entity[i] < 0)
			offline->entity[i] = offline->whole ? all :
							      add_entity(guard, offline, 1ULL << i);
	for (i = 0; i < GUARD_NODES; i++)
		offline->partly |= (nodes & (1ULL << i)) && offline->entity[i] < 0;
}

/* It runs on these nodes, whatever online does. */
static void tell_partly(struct guard *guard, struct guard_offline *offline)
{
	if (offline->partly && !offline->told_partly)
		guard_event(guard, "full", offline->target.pid,
			    "process %d is left alone on some of its GPUs: the "
			    "policy has %d entities, one for each process and GPU",
			    offline->target.pid, GPREEMPT_POLICY_ENTITIES);
	guard->places[0].ever |= offline->partly;
	offline->told_partly = offline->partly;
}

static void set_nodes(struct guard *guard, struct guard_offline *offline, uint64_t nodes)
{
	uint64_t want;

	set_entities(guard, offline, nodes);
	want = offline->whole ? 0 : offline->want & nodes;
	/* A queue that it makes there later is the policy's to judge. */
	if (want != offline->want) {
		struct guard_order order = {
			.nodes = want,
			.reason = GPREEMPT_POLICY_RELEASED,
		};

		guard_worker_order(offline->worker, &order);
	}
	offline->want = want;
	offline->nodes = nodes;
	guard->changed = true;
}

/* Its worker has found that a session cannot hold it. */
static void note_route(struct guard *guard, struct guard_offline *offline)
{
	struct guard_channel *c = offline->worker->channel;
	char text[512];

	offline->whole = true;
	pthread_mutex_lock(&guard->lock);
	set_nodes(guard, offline, offline->nodes);
	pthread_mutex_unlock(&guard->lock);
	if (!c->why.reason)
		return;
	gpreempt_error_text(&c->why, text, sizeof(text));
	guard_event(guard, "paused", offline->target.pid, "%s; so it is paused", text);
}

void guard_refresh_offline(struct guard *guard, struct guard_offline *offline)
{
	struct gpreempt_view *view;
	uint64_t nodes;

	if (atomic_load(&offline->worker->channel->state) != GUARD_READY)
		return;
	if (!offline->whole && atomic_load(&offline->worker->channel->paused))
		note_route(guard, offline);
	if (gpreempt_view_read(guard->g, offline->target.pid, &view, NULL))
		return;
	pthread_mutex_lock(&guard->lock);
	nodes = guard_nodes_of(guard, view);
	if (nodes != offline->nodes)
		set_nodes(guard, offline, nodes);
	pthread_mutex_unlock(&guard->lock);
	gpreempt_view_free(view);
	tell_partly(guard, offline);
	if (!offline->nodes || offline->announced)
		return;
	offline->announced = true;
	guard_backoff_reset(guard, &offline->target);
	guard_tell_joined(guard, offline->target.pid, false);
}

static void refuse_locked(struct guard *guard, const struct gpreempt_target *target, int code)
{
	struct hold_owner owner = { 0 };

	if (code == -EWOULDBLOCK) {
		hold_read_owner(target->pid, &owner);
		guard_refuse(guard, target, false, "it is held by gpreempt-ctl %s (%llu)",
			     hold_role_name(owner.role),
			     (unsigned long long)hold_command_of(&owner));
	} else if (code == -EALREADY) {
		guard_refuse(guard, target, false, "it is paused by gpreempt-ctl suspend");
	} else {
		guard_refuse(guard, target, false, "it cannot be locked in " HOLD_DIR ": %s",
			     strerror(-code));
	}
}

bool guard_take_offline(struct guard *guard, const struct guard_found *f)
{
	struct hold_owner owner = {
		.role = HOLD_ROLE_GUARD,
		.guardian = getpid(),
	};
	struct guard_offline offline = {
		.target = f->target,
		.job = f->job,
		.since_ns = shr_now_ns(),
	};
	struct guard_job job = {
		.target = f->target.pid,
		.common = guard->common,
		.sample_each = guard->options->samples,
		.how = guard->options->how,
		.follow = guard->options->follow,
		.guard = getpid(),
	};
	size_t i;
	int ret;

	/* The one that had its place is about to end. */
	if (guard->n_offline + guard->n_going >= GUARD_TARGETS)
		return false;
	for (i = 0; i < GUARD_NODES; i++)
		offline.entity[i] = -1;
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
	/* Over the record that has been written: that needs no room. */
	owner.pid = offline.worker->child;
	hold_write_owner(job.lock, &owner);
	pthread_mutex_lock(&guard->lock);
	guard->offline[guard->n_offline++] = offline;
	pthread_mutex_unlock(&guard->lock);
	return true;
}

/* Say why its session has ended, if it was not by our will. */
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
	offline = guard->offline[i];
	set_nodes(guard, &offline, 0);
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
	uint64_t end = shr_now_ns() + REPAIR_NS;
	pid_t pid = *(pid_t *)target;
	struct pause_report r;
	struct gpreempt *g;

	if (gpreempt_new(NULL, &g))
		return 1;
	for (pause_look(g, pid, &r); r.finding == PAUSE_ANSWERED && shr_now_ns() < end;
	     pause_look(g, pid, &r))
		shr_sleep_ns(REPAIR_PAUSE_NS);
	return pause_repair_target(g, pid);
}

/*
 * Of a worker that has ended: it was killed with the guardian of its pause, or its
 * guardian undoes that. In a process of its own: guard does not wait for a target.
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
		/* After the summary there are no figures and no events. */
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
	/* One may be in the driver, which waits for the hardware for seconds. */
	while (guard->n_going) {
		guard_heartbeat(guard);
		shr_sleep_ns(NSEC_PER_MSEC);
		guard_reap(guard);
	}
}

static void release(struct guard *guard, size_t i, uint64_t ns)
{
	struct gpreempt_target target = guard->offline[i].target;

	guard_event(guard, "released", target.pid, "process %d is released, as requested",
		    target.pid);
	guard_backoff_for(guard, &target, ns);
	guard_drop_offline(guard, i);
}

void guard_release_some(struct guard *guard)
{
	uint64_t ns;
	bool asked;
	size_t i;

	for (i = guard->n_offline; i-- > 0;) {
		pthread_mutex_lock(&guard->lock);
		asked = guard->offline[i].unwanted;
		ns = guard->offline[i].away_ns;
		pthread_mutex_unlock(&guard->lock);
		if (asked)
			release(guard, i, ns);
	}
}
