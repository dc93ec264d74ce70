// SPDX-License-Identifier: GPL-2.0-only
#include "lib/preempt/policy.h"
#include "unit-world.h"

struct world w;

unsigned int draw(unsigned int below)
{
	return rand_r(&w.state) % below;
}

uint64_t draw_ns(uint64_t mean)
{
	return mean * draw(2001) / 1000;
}

static uint64_t draw_nodes(void)
{
	uint64_t nodes = 1ULL << draw(8);

	while (draw(3) == 0)
		nodes |= 1ULL << draw(8);
	return nodes;
}

bool is_active(const struct process *a)
{
	return a->number >= 0 && a->role == GPREEMPT_ROLE_ONLINE && (a->busy || a->requests);
}

bool wanted_within(uint64_t nodes, uint64_t ns)
{
	int i;

	for (i = 0; i < ENTITIES; i++) {
		const struct process *a = &w.process[i];

		if (a->number < 0 || a->role != GPREEMPT_ROLE_ONLINE || !(a->nodes & nodes))
			continue;
		if (is_active(a) || (a->last_active != NEVER && w.now < a->last_active + ns))
			return true;
	}
	return false;
}

uint64_t nodes_of_job(const struct process *a)
{
	uint64_t nodes = 0;
	int i;

	if (!a->job)
		return a->nodes;
	for (i = 0; i < ENTITIES; i++)
		if (w.process[i].number >= 0 && w.process[i].job == a->job &&
		    w.now >= w.process[i].until)
			nodes |= w.process[i].nodes;
	return nodes;
}

static void come(struct process *a)
{
	bool offline = w.options.duty || draw(2);

	*a = (struct process){
		.role = offline ? GPREEMPT_ROLE_OFFLINE : GPREEMPT_ROLE_ONLINE,
		.job = offline && draw(3) == 0 ? 1 + draw(2) : 0,
		.nodes = draw_nodes(),
		.next = w.now + draw_ns(w.mean_idle),
		.last_active = NEVER,
		.since = w.now,
		.seen = w.now,
	};
	a->number = gpreempt_policy_add(w.policy, a->role, a->nodes, a->job, w.now);
	HOLDS(a->number >= 0);
}

static void go(struct process *a)
{
	gpreempt_policy_remove(w.policy, a->number);
	a->number = -1;
	a->next = w.now + draw_ns(10 * w.mean_idle);
}

void tell_busy(struct process *a, bool busy)
{
	if (a->busy && !busy && !a->requests)
		a->last_active = w.now;
	a->busy = busy;
	gpreempt_policy_busy(w.policy, a->number, busy, w.now);
}

static void tell_request(struct process *a)
{
	int open = a->requests;

	if (draw(2)) {
		a->requests++;
		HOLDS(gpreempt_policy_begin(w.policy, a->number) == open + 1);
	} else if (open) {
		a->requests--;
		HOLDS(gpreempt_policy_end(w.policy, a->number, w.now) == open - 1);
		if (!a->busy && !a->requests)
			a->last_active = w.now;
	} else {
		HOLDS(gpreempt_policy_end(w.policy, a->number, w.now) < 0);
	}
}

static void happen_online(struct process *a)
{
	if (draw(10) == 0)
		tell_request(a);
	else
		tell_busy(a, !a->busy);
	a->next = w.now + 1 + draw_ns(is_active(a) ? w.mean_busy : w.mean_idle);
}

/* Some of its queues ran although it is suspended. */
static void run_in_hold(struct process *a)
{
	uint64_t since = a->told > a->since ? a->told : a->since;
	uint64_t ns = draw(2) ? w.now - since : (w.now - since) / 16;

	a->told = w.now;
	a->ran_in_hold = true;
	a->ran += ns;
	a->lead += ns;
	if (a->lead > a->best)
		a->best = a->lead;
	gp_policy_ran(w.policy, a->number, ns, w.now);
}

static void happen_offline(struct process *a)
{
	if (a->suspended && draw(4) == 0) {
		run_in_hold(a);
	} else if (draw(4) == 0) {
		a->nodes = draw_nodes();
		gp_policy_nodes(w.policy, a->number, a->nodes);
	} else if (draw(4) == 0) {
		a->until = draw(2) ? w.now + draw_ns(20 * w.mean_idle) : 0;
		gpreempt_policy_release(w.policy, a->number, a->until);
	}
	a->next = w.now + 1 + draw_ns(20 * w.mean_idle);
}

void happen(struct process *a)
{
	if (a->number < 0)
		come(a);
	else if (w.churn && draw(200) == 0)
		go(a);
	else if (a->role == GPREEMPT_ROLE_ONLINE)
		happen_online(a);
	else
		happen_offline(a);
}
