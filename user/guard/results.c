// SPDX-License-Identifier: GPL-2.0-only
/* What the workers have done: for the figures, the policy and the user. */
#include <errno.h>
#include <string.h>

#include "guard/guard.h"
#include "shared/clock.h"

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

uint64_t guard_nodes_of_entity(const struct guard *guard, const struct guard_offline *offline,
			       int entity)
{
	uint64_t nodes = 0;
	size_t i;

	for (i = 0; i < guard->n_nodes; i++)
		if (offline->entity[i] == entity)
			nodes |= 1ULL << i;
	return nodes;
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

/* The policy took it that it worked. */
static void tell_policy(struct guard *guard, struct guard_offline *offline,
			const struct guard_result *r)
{
	bool hang = r->suspend && r->error.reason == GPREEMPT_HANG;
	uint64_t retry = shr_now_ns() + (hang ? RETRY_HANG_NS : RETRY_NS);
	size_t i;

	pthread_mutex_lock(&guard->lock);
	for (i = 0; i < GUARD_NODES; i++) {
		int entity = offline->entity[i];

		if (!(r->nodes & (1ULL << i)) || entity < 0 ||
		    gpreempt_policy_suspended(guard->policy, entity) != r->suspend)
			continue;
		gpreempt_policy_failed(guard->policy, entity, retry);
		offline->want ^= guard_nodes_of_entity(guard, offline, entity);
	}
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
}

static void note_failure(struct guard *guard, struct guard_offline *offline,
			 const struct guard_result *r)
{
	char text[512];

	/* What job control wants the worker tries again by itself. */
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

/* It is held from then on, or runs. */
static void note_held(struct guard *guard, struct guard_offline *offline,
		      const struct guard_result *r)
{
	bool held = offline->held_since_ns;

	if (r->suspend == held)
		return;
	pthread_mutex_lock(&guard->lock);
	if (r->suspend) {
		offline->held_since_ns = r->end_ns;
	} else {
		offline->times.held_ns += r->start_ns - offline->held_since_ns;
		offline->held_since_ns = 0;
	}
	pthread_mutex_unlock(&guard->lock);
}

static void take(struct guard *guard, const struct guard_result *r)
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
	if (r->arrival_ns)
		guard_add_sample(figures, &sample);
	if (!offline)
		return;
	offline->failed = false;
	note_held(guard, offline, r);
}

void guard_take_from(struct guard *guard, struct guard_worker *w)
{
	struct guard_result result;

	while (guard_channel_take(w->channel, &result))
		take(guard, &result);
}

/*
 * To the policy it was no hold. On which node it ran the library does not know: on all where it
 * is to be suspended; on any, if it was resumed meanwhile. Under the lock.
 */
static void pay_share(struct guard *guard, struct guard_offline *offline, uint64_t ns, uint64_t now)
{
	size_t i;

	/* A paused one, with one entity on all, has no such time. */
	for (i = 0; i < GUARD_NODES; i++)
		if (offline->entity[i] >= 0 && (!offline->want || (offline->want & (1ULL << i))))
			gpreempt_policy_ran(guard->policy, offline->entity[i], ns, now);
	guard->changed = true;
}

void guard_take_released(struct guard *guard, struct guard_offline *offline)
{
	uint64_t total, ns, now = shr_now_ns();

	total = atomic_load(&offline->worker->channel->released_ns);
	ns = total - offline->times.released_ns;
	if (!ns)
		return;
	pthread_mutex_lock(&guard->lock);
	offline->times.released_ns = total;
	offline->times.unseen = atomic_load(&offline->worker->channel->unseen);
	pay_share(guard, offline, ns, now);
	pthread_mutex_unlock(&guard->lock);
	guard_tell_ran(guard, offline->target.pid, ns);
}

/* It may be around that bound for hours. */
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
			    "driver counts pauses: it is off the GPU until it "
			    "ends" :
			    "another program let process %d run; it is taken "
			    "off again",
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
