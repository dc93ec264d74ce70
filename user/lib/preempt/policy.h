/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* State of the policy, for policy.c and for tests. */
#ifndef LIB_PREEMPT_POLICY_H
#define LIB_PREEMPT_POLICY_H

#include <gpreempt/policy.h>

#define GP_POLICY_NODES 64

/* Charge of weight 100 for a ns. */
#define GP_POLICY_CHARGE 100

/*
 * A tenant on one node: times are those of its entities together; debt and left in hundredths
 * of a ns.
 */
struct gp_policy_seat {
	uint64_t used;	 /* charge for its run time, by weight */
	uint64_t ran_ns; /* run time */
	uint64_t ran_at; /* end of its last run, or when it got work after that */
	int64_t debt;	 /* run time that its minimum owes it; below 0: it ran more */
	int64_t left;	 /* run time that its maximum leaves it */
	bool owed;	 /* runs until its debt is paid */
	bool capped;	 /* does not run until it may run for a while */
	bool works;	 /* has work since the last step */
	bool runs;	 /* and is not suspended */
};

/* Only the functions of the policy write to it. */
struct gp_policy_tenant {
	struct gpreempt_policy_tenant wish; /* role GPREEMPT_ROLE_NONE: there is no such tenant */
	int64_t purse;	   /* thousandths of ns by which arrivals may delay it, if it is online */
	uint64_t busy_ns;  /* time that its processes had work, if it is online */
	uint64_t requests; /* opened by them, ever */
	uint64_t suspends; /* ordered, if it is offline */
	struct gp_policy_seat seat[GP_POLICY_NODES];
};

/* A process that is scheduled, on some nodes. Only the functions of the policy write to it. */
struct gpreempt_policy_entity {
	enum gpreempt_role role; /* GPREEMPT_ROLE_NONE: this place is free */
	unsigned int tenant;
	uint64_t nodes; /* a bit for each node that it uses */

	/* Members of an online one: */
	bool busy;	       /* has work, by the last report */
	unsigned int requests; /* how many are open */

	uint64_t idle_since; /* when its work ended */
	uint64_t unpaid;     /* the same, of a gap that was not paid for at its beginning */

	/* Members of an offline one: */
	uint64_t held;	 /* nodes on which it is suspended, as the policy wishes */
	uint64_t failed; /* nodes that are not switched before retry */
	uint64_t idle;	 /* nodes on which it has no work, if it is not suspended there */
	bool parks;	 /* its work can be seen while it is suspended */
	bool crowded;	 /* more processes use its nodes than fit */
	bool parked;
	enum gpreempt_policy_reason why; /* reason of its last suspend */
	uint64_t until;			 /* released until then */
	uint64_t retry;
	uint64_t ran_at; /* end of its last run */

	uint64_t since; /* begin of its slice, or of its work */
};

/* All that the policy remembers. May be copied: tests do. */
struct gpreempt_policy {
	struct gpreempt_policy_options options;
	const struct gp_policy_order *order;
	uint64_t now;	    /* time of the last step */
	uint64_t nodes;	    /* all that offline entities use */
	uint64_t delay_ns;  /* mean time from an arrival to the end of its last suspend */
	uint64_t before_ns; /* the same without the last arrival */
	uint64_t arrival;   /* time of the last arrival */
	uint64_t park_at;   /* no tenant is parked before this time */
	uint64_t contested; /* nodes where an entity waits for a slot since the last step */
	uint64_t running;   /* nodes where an entity that has work is not suspended since then */
	bool ranked;	    /* the ranks decide whose turn it is, in place of the order */
	unsigned int rank[GPREEMPT_POLICY_TENANTS];
	unsigned int top;     /* places from here on are free */
	unsigned int tenants; /* from this number on there has been none */
	struct gpreempt_policy_entity entity[GPREEMPT_POLICY_ENTITIES];
	struct gp_policy_tenant tenant[GPREEMPT_POLICY_TENANTS];
};

/* Is there an order of that name? */
bool gp_policy_has_order(const char *name);

/*
 * Other figures from the next step on. An entity that is to be suspended before and after gets no
 * action for that. 0, or as gpreempt_policy_new(): nothing is changed.
 */
int gp_policy_change(struct gpreempt_policy *p, const struct gpreempt_policy_options *options);

/*
 * The tenants' turns are by these ranks from the next step on, the lowest first, and by least used
 * among equals. Copied. NULL: by the order of the figures again.
 */
void gp_policy_rank(struct gpreempt_policy *p, const unsigned int *rank);

/* An entity is owned by another tenant of its role from now on; its charges stay where they are. */
void gp_policy_move(struct gpreempt_policy *p, unsigned int entity, unsigned int tenant);

/* An entity uses these nodes from now on. */
void gp_policy_nodes(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes);

/*
 * An offline entity has no work on these nodes, and has on its others. It is not suspended where
 * it has none; where it is suspended already, it stays so. Where it is resumed, it may have work
 * until the next report.
 */
void gp_policy_idle(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes, uint64_t now);

/*
 * Returns how long a tenant has had a GPU, of all nodes together: offline, the time in which one of
 * its processes could run and had work; online, that in which each of them had work.
 */
uint64_t gp_policy_time(const struct gpreempt_policy *p, unsigned int tenant);

/*
 * Can an offline entity be parked: does the caller see its work while it is suspended? crowded: it
 * is parked as soon as it has no work, since its queues take turns in the slots with those of
 * others.
 */
void gp_policy_parks(struct gpreempt_policy *p, unsigned int entity, bool parks, bool crowded);

/* An arrival had come after a time, and waited for one of its suspends until @end. */
void gp_policy_took(struct gpreempt_policy *p, uint64_t arrival, uint64_t end);

/*
 * To suspend or resume an entity on these nodes did not work: where the policy wants that still,
 * not again before that time.
 */
void gp_policy_failed(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes, bool suspend,
		      uint64_t retry);

/*
 * An offline entity ran so long since the last call although it was to be suspended, such as by
 * queues that their process destroys. Call gpreempt_policy_step() afterwards.
 */
void gp_policy_ran(struct gpreempt_policy *p, unsigned int entity, uint64_t ns);

#endif
