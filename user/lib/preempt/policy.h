/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the policy, for policy.c and for tests. */
#ifndef LIB_PREEMPT_POLICY_H
#define LIB_PREEMPT_POLICY_H

#include <gpreempt/policy.h>

/* A process that is scheduled, on some nodes. Only the functions of the policy write to it. */
struct gpreempt_policy_entity {
	enum gpreempt_role role; /* GPREEMPT_ROLE_NONE: this place is free */
	uint64_t nodes;		 /* a bit for each node that it uses */

	/* Members of an online one: */
	bool busy;	       /* has work, by the last report */
	unsigned int requests; /* how many are open */
	uint64_t idle_since;   /* when its work ended */

	/* Members of an offline one: */
	uint64_t held;	  /* nodes on which it is suspended, as the policy wishes */
	uint64_t failed;  /* nodes that are not switched before retry */
	uint64_t idle;	  /* nodes on which it has no work, if it is not suspended there */
	bool must_run;	  /* until its debt is paid */
	unsigned int job; /* 0: alone; else all of that number together */
	uint64_t until;	  /* released until then */
	uint64_t retry;
	uint64_t debt;	  /* held time that it has not been given run time for */
	uint64_t credit;  /* held time that it has been given run time for before */
	uint64_t rest;	  /* rest of a division of run time, so that nothing is lost */
	uint64_t counted; /* up to when debt is right */
};

/* All that the policy remembers. May be copied: tests do. */
struct gpreempt_policy {
	struct gpreempt_policy_options options;
	uint64_t payback_ns; /* how long an entity runs to pay for max_hold_ns of hold */
	uint64_t start;	     /* time of the first step, from which periods count */
	uint64_t now;	     /* time of the last step */
	unsigned int top;    /* places from here on are free */
	struct gpreempt_policy_entity entity[GPREEMPT_POLICY_ENTITIES];
};

/* An entity uses these nodes from now on. */
void gp_policy_nodes(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes);

/*
 * An offline entity has no work on these nodes, and has on its others. It is not suspended where
 * it has none; where it is suspended already, it stays so.
 */
void gp_policy_idle(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes);

/*
 * To suspend or resume an entity on these nodes did not work: where the policy wants that still,
 * not again before that time.
 */
void gp_policy_failed(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes, bool suspend,
		      uint64_t retry);

/*
 * An offline entity ran so long since the last call although it was to be suspended, such as by
 * queues that their process destroys. That time was counted as held, and counts as run time
 * instead. Call gpreempt_policy_step() afterwards.
 */
void gp_policy_ran(struct gpreempt_policy *p, unsigned int entity, uint64_t ns, uint64_t now);

#endif
