// SPDX-License-Identifier: GPL-2.0-only
/*
 * guard --simulate: the tenants of a configuration on one GPU that is made up, in a time that is
 * made up. The policy is guard's own, and so are the command of --policy and the report.
 *
 * The processes that run and have work share the GPU evenly. Each switch of one stops the GPU.
 */
#include <errno.h>

#include "cli/message.h"
#include "guard.h"

#define NEVER GPREEMPT_POLICY_NEVER
#define GPU   1 /* mask of its one node */

/* A process of a tenant, without an end of its work if that has no length. */
struct process {
	const struct guard_tenant *tenant;
	unsigned int entity;
	uint64_t left; /* time on the GPU until its work is done; 0: it rests */
	uint64_t next; /* when work comes, if it rests */
	uint64_t ends; /* when another one takes its place */
};

struct world {
	struct guard *guard;
	struct guard_sim *time;
	struct process process[GPREEMPT_POLICY_ENTITIES];
	size_t n;
	uint64_t from; /* the GPU is stopped until then */
	uint64_t tell; /* when the tenants' times are printed next */
};

static bool is_online(const struct process *p)
{
	return p->tenant->wish.role == GPREEMPT_ROLE_ONLINE;
}

static bool is_held(const struct world *w, const struct process *p)
{
	return w->guard->policy->entity[p->entity].held;
}

static bool runs(const struct world *w, const struct process *p)
{
	return p->left && !is_held(w, p);
}

static unsigned int running(const struct world *w)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < w->n; i++)
		n += runs(w, &w->process[i]);
	return n;
}

static void set_work(struct world *w, struct process *p, uint64_t left)
{
	p->left = left;
	if (is_online(p))
		gpreempt_policy_busy(w->guard->policy, p->entity, left, w->time->now);
	else
		gp_policy_idle(w->guard->policy, p->entity, left ? 0 : GPU, w->time->now);
}

static bool begin(struct world *w, struct process *p, const struct guard_tenant *t)
{
	int entity = gpreempt_policy_add(w->guard->policy, t->number, GPU);

	if (entity < 0)
		return false;
	*p = (struct process){
		.tenant = t,
		.entity = entity,
		.ends = t->load.life_ns ? shr_later_ns(w->time->now, t->load.life_ns) : NEVER,
	};
	return true;
}

/* Do what is due. */
static void happen(struct world *w, struct process *p)
{
	const struct guard_load *load = &p->tenant->load;

	if (w->time->now >= p->ends) {
		gpreempt_policy_remove(w->guard->policy, p->entity);
		begin(w, p, p->tenant);
	}
	if (!p->left && w->time->now >= p->next)
		set_work(w, p, load->work_ns ? load->work_ns : NEVER);
}

/* Time passes, in which the GPU works since it is not stopped any more. */
static void pass(struct world *w, uint64_t now)
{
	unsigned int n = running(w);
	uint64_t part = n && now > w->from ? (now - w->from) / n : 0, ns = now - w->time->now;
	struct process *p;

	w->time->now = now;
	w->from = now > w->from ? now : w->from;
	for (p = w->process; p < w->process + w->n; p++) {
		if (!is_online(p)) {
			w->guard->figures.gone.kept_ns += ns;
			w->guard->figures.gone.held_ns += is_held(w, p) ? ns : 0;
		}
		if (!runs(w, p))
			continue;
		w->time->gpu_ns[p->tenant->number] += part;
		if (p->left != NEVER)
			p->left -= part;
		if (p->left)
			continue;
		p->next = shr_later_ns(now, p->tenant->load.gap_ns);
		set_work(w, p, 0);
	}
}

/* The tenants' times are printed once a period. */
static void pass_and_tell(struct world *w, uint64_t now)
{
	for (; w->tell <= now; w->tell += w->guard->config.figures.period_ns) {
		pass(w, w->tell);
		guard_tell_tenants(w->guard);
	}
	pass(w, now);
}

/* The next time at which something happens. */
static uint64_t next_time(const struct world *w, uint64_t next)
{
	unsigned int n = running(w);
	const struct process *p;

	for (p = w->process; p < w->process + w->n; p++) {
		uint64_t at = p->left ? NEVER : p->next;

		if (runs(w, p) && p->left != NEVER)
			at = shr_later_ns(w->from, p->left * n);
		at = p->ends < at ? p->ends : at;
		next = at < next ? at : next;
	}
	return next > w->from ? next : w->from;
}

/* One switch after the other. Returns when the policy wants the next step. */
static uint64_t step(struct world *w)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
	struct guard *guard = w->guard;
	uint64_t wake;
	unsigned int n = gpreempt_policy_step(guard->policy, w->time->now, actions, &wake), i;

	w->from = w->time->now;
	for (i = 0; i < n; i++) {
		struct guard_result r = {
			.pid = actions[i].entity + 1,
			.suspend = actions[i].suspend,
			.reason = actions[i].reason,
			.start_ns = w->from,
			.end_ns = w->from + guard->config.run.switch_ns,
			.slots_ns = GPREEMPT_UNKNOWN,
			.requested = 1,
			.done = 1,
		};

		if (r.suspend && r.reason == GPREEMPT_POLICY_ARRIVAL)
			r.arrival_ns = w->time->now;
		guard_take_result(guard, &r);
		w->from = r.end_ns;
	}
	w->time->stopped_ns += w->from - w->time->now;
	if (guard->policy->contested)
		guard_ask_wake(guard);
	guard_ask_tell(guard);
	return wake;
}

static bool fill(struct world *w)
{
	const struct guard_config *c = &w->guard->config;
	unsigned int role, i, j;

	for (role = 0; role < 2; role++)
		for (i = 0; i < c->n[role]; i++)
			for (j = 0; !j || j < c->tenant[role][i].load.processes; j++)
				if (w->n == ARRAY_SIZE(w->process) ||
				    !begin(w, &w->process[w->n++], &c->tenant[role][i]))
					return false;
	return true;
}

int guard_simulate(struct guard *guard)
{
	static struct guard_common common;
	static struct world w;
	struct guard_sim *time = guard->sim;
	uint64_t end = time->now + guard->config.run.time_ns, next;
	size_t i;
	int ret;

	w = (struct world){ .guard = guard, .time = time, .from = time->now };
	w.tell = w.from + guard->config.figures.period_ns;
	guard->common = &common;
	guard->figures.start_ns = time->now;
	if (!fill(&w))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "give the loads fewer processes",
				     "there are more than %d processes", GPREEMPT_POLICY_ENTITIES);
	ret = guard_ask_start(guard);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	while (time->now < end) {
		for (i = 0; i < w.n; i++)
			happen(&w, &w.process[i]);
		next = next_time(&w, step(&w));
		pass_and_tell(&w, next < end ? next : w.from < end ? end : w.from);
	}
	guard_ask_stop(guard);
	guard_event(guard, "simulated", 0,
		    "%.1f s of a GPU that is made up; switches took %.2f percent of it",
		    guard->config.run.time_ns / 1e9,
		    100.0 * time->stopped_ns / guard->config.run.time_ns);
	guard_summary(guard);
	return 0;
}
