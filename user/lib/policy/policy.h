/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy, as its own files see it. */
#ifndef GP_POLICY_H
#define GP_POLICY_H

#include <gpreempt/policy.h>

/*
 * struct gpreempt_policy_entity - what is scheduled: a process, on some nodes
 * @role: GPREEMPT_ROLE_NONE: this place is free
 * @busy: online: it has work
 * @suspended: offline: as the policy wants it
 * @must_run: offline: it runs until its debt is paid
 * @requests: online: how many are open
 * @job: offline: 0: alone; else all of that number together
 * @nodes: a bit for each node that it uses
 * @idle_since: online: when its work ended
 * @until: offline: released until then
 * @retry: offline: not tried again before
 * @debt: offline: held time that it has not been given run time for
 * @rest: offline: rest of a division of run time, so that nothing is lost
 * @counted: offline: up to when @debt is right
 *
 * Only the functions of the policy write to it.
 */
struct gpreempt_policy_entity {
	enum gpreempt_role role;
	bool busy;
	bool suspended;
	bool must_run;
	unsigned int requests;
	unsigned int job;
	uint64_t nodes;
	uint64_t idle_since;
	uint64_t until;
	uint64_t retry;
	uint64_t debt;
	uint64_t rest;
	uint64_t counted;
};

/*
 * struct gpreempt_policy - all that the policy remembers
 * @options: as given
 * @payback_ns: how long an entity runs to pay for max_hold_ns of hold
 * @start: time of the first step, from which periods count
 * @now: time of the last step
 * @top: places from here on are free
 * @entity: by number
 *
 * May be copied: tests do.
 */
struct gpreempt_policy {
	struct gpreempt_policy_options options;
	uint64_t payback_ns;
	uint64_t start;
	uint64_t now;
	unsigned int top;
	struct gpreempt_policy_entity entity[GPREEMPT_POLICY_ENTITIES];
};

/* As gpreempt_policy_new(), in the caller's memory. */
int gp_policy_init(struct gpreempt_policy *p,
		   const struct gpreempt_policy_options *options, uint64_t now);

/* Held time adds to the debt; run time pays, at the rate of payback_ns. */
void gp_policy_count(const struct gpreempt_policy *p,
		     struct gpreempt_policy_entity *a, uint64_t now);
/* It ran for so long: the second half of that. */
void gp_policy_pay(const struct gpreempt_policy *p,
		   struct gpreempt_policy_entity *a, uint64_t ns);

/* When + ns, or never. */
static inline uint64_t gp_policy_later(uint64_t when, uint64_t ns)
{
	return when + ns < when ? GPREEMPT_POLICY_NEVER : when + ns;
}

/* value * up / down, rounded down; no more than the largest number. */
static inline uint64_t gp_policy_scale(uint64_t value, uint64_t up,
				       uint64_t down)
{
	unsigned __int128 scaled = (unsigned __int128)value * up / down;

	return scaled < UINT64_MAX ? (uint64_t)scaled : UINT64_MAX;
}

#endif
