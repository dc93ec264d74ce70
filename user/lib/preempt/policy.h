/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the policy, for policy.c and for tests. */
#ifndef LIB_PREEMPT_POLICY_H
#define LIB_PREEMPT_POLICY_H

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

/* An entity uses these nodes from now on. */
void gp_policy_nodes(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes);

/* The last action on an entity did not work: not again before that time. */
void gp_policy_failed(struct gpreempt_policy *p, unsigned int entity, uint64_t retry);

/*
 * An offline entity ran so long since the last call although it was to be suspended, such as by
 * queues that their process destroys. That time was counted as held, and counts as run time
 * instead. Call gpreempt_policy_step() afterwards.
 */
void gp_policy_ran(struct gpreempt_policy *p, unsigned int entity, uint64_t ns, uint64_t now);

/* Does the policy want it suspended? */
bool gp_policy_suspended(const struct gpreempt_policy *p, unsigned int entity);

#endif
