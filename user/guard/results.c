// SPDX-License-Identifier: GPL-2.0-only
/* What the workers have done: for the figures, the policy and the user. */
#include <errno.h>
#include <string.h>

#include "guard/guard.h"
#include "output/table.h"
#include "shared/clock.h"

#define RETRY_NS (100 * NSEC_PER_MSEC)
/* The GPU is being reset, and each try may take the driver's 9 s again. */
#define RETRY_HANG_NS (10 * NSEC_PER_SEC)

static int64_t after(uint64_t from, uint64_t to)
{
	return from ? (int64_t)(to - from) : GPREEMPT_UNKNOWN;
}

/* From the arrival until no slot was active, if there was one to see. */
static int64_t to_slots(const struct guard_result *r)
{
	return r->arrival_ns && r->slots_ns != GPREEMPT_UNKNOWN ?
		       after(r->arrival_ns, r->start_ns + r->slots_ns) :
		       GPREEMPT_UNKNOWN;
}

static void add(struct json_object *o, const char *key,
		struct json_object *value)
{
	json_object_object_add(o, key, value);
}

static void print_switch(const struct guard *guard,
			 const struct guard_result *r)
{
	const char *reason = gpreempt_policy_reason_name(r->reason);
	struct json_object *o;

	if (!guard->options->json) {
		if (!guard->options->verbose)
			return;
		guard_clear_line();
		printf("%s %d: %s, %zu of %zu queues, ioctl %.1f us\n",
		       r->suspend ? "suspended" : "resumed", r->pid, reason,
		       r->done, r->requested, (r->end_ns - r->start_ns) / 1e3);
		fflush(stdout);
		return;
	}
	o = guard_new_event(guard, r->suspend ? "suspend" : "resume",
			    r->end_ns);
	add(o, "pid", out_json_number(r->pid));
	add(o, "reason", out_json_text(reason));
	add(o, "requested", out_json_number(r->requested));
	add(o, "done", out_json_number(r->done));
	add(o, "ioctl_us", out_json_us(r->end_ns - r->start_ns));
	add(o, "arrival_to_ioctl_us",
	    out_json_us(after(r->arrival_ns, r->start_ns)));
	add(o, "arrival_to_suspended_us",
	    out_json_us(after(r->arrival_ns, r->end_ns)));
	add(o, "arrival_to_slots_us", out_json_us(to_slots(r)));
	add(o, "simulated", out_json_flag(ctl_simulated()));
	guard_print_event(o);
}

static void say_failure(struct guard *guard, const struct guard_result *r)
{
	char text[512];

	gpreempt_error_text(&r->error, text, sizeof(text));
	guard_event(guard, "failed", r->pid, "process %d could not be %s: %s",
		    r->pid, r->suspend ? "suspended" : "resumed", text);
}

/* The policy took it that it worked. */
static void note_failure(struct guard *guard, struct guard_offline *offline,
			 const struct guard_result *r)
{
	bool hang = r->suspend && r->error.reason == GPREEMPT_HANG;
	uint64_t retry = shr_now_ns() + (hang ? RETRY_HANG_NS : RETRY_NS);
	size_t i;

	pthread_mutex_lock(&guard->lock);
	for (i = 0; i < GUARD_NODES; i++) {
		int entity = offline->entity[i];

		if (!(r->nodes & (1ULL << i)) || entity < 0 ||
		    gpreempt_policy_suspended(guard->policy, entity) !=
			    r->suspend)
			continue;
		gpreempt_policy_failed(guard->policy, entity, retry);
		offline->want ^= guard_nodes_of_entity(guard, offline, entity);
	}
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
	guard->figures.failures++;
	if (!offline->failed)
		say_failure(guard, r);
	offline->failed = true;
}

static void take(struct guard *guard, const struct guard_result *r)
{
	struct guard_offline *offline = guard_find_offline(guard, r->pid);
	struct guard_figures *figures = &guard->figures;

	print_switch(guard, r);
	if (r->code) {
		if (offline && r->code != -ENOTCONN)
			note_failure(guard, offline, r);
		return;
	}
	if (offline)
		offline->failed = false;
	if (r->suspend)
		figures->suspends++;
	else
		figures->resumes[r->reason]++;
	if (r->arrival_ns)
		guard_add_sample(figures,
				 &(struct guard_sample){
					 .to_ioctl_ns = after(r->arrival_ns,
							      r->start_ns),
					 .to_suspended_ns = after(r->arrival_ns,
								  r->end_ns),
					 .to_slots_ns = to_slots(r),
				 });
	if (!offline)
		return;
	if (r->suspend && !offline->held_since_ns) {
		offline->held_since_ns = r->end_ns;
		guard_draw_held(guard, offline->lane, true, r->end_ns);
	} else if (!r->suspend && offline->held_since_ns) {
		offline->held_ns += r->start_ns - offline->held_since_ns;
		offline->held_since_ns = 0;
		guard_draw_held(guard, offline->lane, false, r->start_ns);
	}
}

void guard_take_from(struct guard *guard, struct guard_worker *w)
{
	struct guard_result result;

	while (guard_channel_take(w->channel, &result))
		take(guard, &result);
}

/*
 * To the policy it was no hold. On which node it ran the library does not know:
 * on all where it is to be suspended; on any, if it was resumed meanwhile.
 * Under the lock.
 */
static void pay_share(struct guard *guard, struct guard_offline *offline,
		      uint64_t ns, uint64_t now)
{
	size_t i;

	/* A paused one, with one entity on all, has no such time. */
	for (i = 0; i < GUARD_NODES; i++)
		if (offline->entity[i] >= 0 &&
		    (!offline->want || (offline->want & (1ULL << i))))
			gpreempt_policy_ran(guard->policy, offline->entity[i],
					    ns, now);
	guard->changed = true;
}

void guard_take_released(struct guard *guard, struct guard_offline *offline)
{
	uint64_t total, ns, now = shr_now_ns();

	total = atomic_load(&offline->worker->channel->released_ns);
	ns = total - offline->released_ns;
	if (!ns)
		return;
	pthread_mutex_lock(&guard->lock);
	offline->released_ns = total;
	offline->unseen = atomic_load(&offline->worker->channel->unseen);
	pay_share(guard, offline, ns, now);
	pthread_mutex_unlock(&guard->lock);
	guard_draw_ran(guard, offline->lane, now - ns, now);
}

static void print_churn(const struct guard *guard,
			const struct guard_offline *offline)
{
	struct guard_channel *c = offline->worker->channel;
	uint64_t recent = atomic_load(&c->recent_ns);
	uint64_t window = atomic_load(&c->window_ns);
	pid_t pid = offline->target.pid;
	struct json_object *o;
	char text[192];

	snprintf(text, sizeof(text),
		 "process %d %s queues while it is held: "
		 "ran %.1f s of the last %.0f",
		 pid, atomic_load(&c->made) ? "makes and destroys" : "destroys",
		 recent / 1e9, window / 1e9);
	if (!guard->options->json) {
		guard_event(guard, "churn", pid, "%s", text);
		return;
	}
	o = guard_new_event(guard, "churn", shr_now_ns());
	add(o, "pid", out_json_number(pid));
	add(o, "text", out_json_text(text));
	add(o, "recent_us", out_json_us(recent));
	add(o, "window_us", out_json_us(window));
	guard_print_event(o);
}

/* It may be around that bound for hours. */
static void tell_churn(struct guard *guard, struct guard_offline *offline)
{
	unsigned int churns = atomic_load(&offline->worker->channel->churns);

	if (churns == offline->churns)
		return;
	offline->churns = churns;
	if (report_pause_over(&offline->churn_pause, shr_now_ns()))
		print_churn(guard, offline);
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
	}
}
