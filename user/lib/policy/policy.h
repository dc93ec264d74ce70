/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy, as its own files see it. */
#ifndef GP_POLICY_H
#define GP_POLICY_H

#include <gpreempt/policy.h>

/*
 * struct gpreempt_policy_party - one of those who use the GPU
 * @role: GPREEMPT_ROLE_NONE: this place is free
 * @busy: online: it has work
 * @suspended: offline: as the policy wants it
 * @owed: offline: it runs until it has had its due
 * @requests: online: how many are open
 * @job: offline: 0: alone; else all of that number together
 * @nodes: a bit for each node that it uses
 * @idle_since: online: when its work ended
 * @until: offline: released until then
 * @retry: offline: not tried again before
 * @held: offline: held time that is not paid for
 * @rest: offline: rest of a division, so that nothing is lost
 * @counted: offline: up to when @held is right
 *
 * Only the functions of the policy write to it.
 */
struct gpreempt_policy_party {
	enum gpreempt_role role;
	bool busy;
	bool suspended;
	bool owed;
	unsigned int requests;
	unsigned int job;
	uint64_t nodes;
	uint64_t idle_since;
	uint64_t until;
	uint64_t retry;
	uint64_t held;
	uint64_t rest;
	uint64_t counted;
};

/*
 * struct gpreempt_policy - all that the policy remembers
 * @options: as given
 * @due_ns: what a party runs for after max_hold_ns of hold
 * @start: time of the first step, from which periods count
 * @now: time of the last step
 * @top: places from here on are free
 * @party: by number
 *
 * May be copied: tests do.
 */
struct gpreempt_policy {
	struct gpreempt_policy_options options;
	uint64_t due_ns;
	uint64_t start;
	uint64_t now;
	unsigned int top;
	struct gpreempt_policy_party party[GPREEMPT_POLICY_PARTIES];
};

/* As gpreempt_policy_new(), in the caller's memory. */
int gp_policy_init(struct gpreempt_policy *p,
		   const struct gpreempt_policy_options *options,
		   uint64_t now);

/* Held time counts up; run time counts it down, at the rate of the due. */
void gp_policy_count(const struct gpreempt_policy *p,
		     struct gpreempt_policy_party *a, uint64_t now);
/* It ran for so long: the second half of that. */
void gp_policy_pay(const struct gpreempt_policy *p,
		   struct gpreempt_policy_party *a, uint64_t ns);

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
