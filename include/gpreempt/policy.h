/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policy of a scheduler for online work (with deadlines) and offline work
 * (without): which process may use the GPU, and when.
 *
 * It knows nothing of processes, files or the driver. The caller reports processes, events and
 * the time, and carries out the answers. The policy does no I/O, has no threads and allocates
 * nothing after gpreempt_policy_new(). The same calls give the same answers, so a test runs
 * hours in a second. One thread at a time for each policy.
 *
 * An entity is a process, with a bit for each node that it uses. A tenant owns entities, and is
 * charged for all of them together, on each node apart: the time in which one of them may run
 * there and has work. The rules, each for one node:
 *
 * Online before offline: an offline entity is suspended on the nodes that it shares with an active
 * online one: one that has work, has a request open, or had one of them less than the linger time
 * ago. A tenant that accepts only a certain cost stays active in its gaps until coming back is
 * paid for.
 *
 * A tenant with a minimum does not starve: time in which it waits is owed to it, and run time pays.
 * When its minimum of a period is owed, it runs, beside online work too, until it is owed nothing.
 * Run time above its minimum in the last window counts for it: so in any span of time T in
 * which it has work it runs for at least min * (T - window), less what the caller is late by.
 *
 * A tenant with a maximum runs for that part of each period at most.
 *
 * With slots, so many offline entities run at once, for a slice each. The order of the policy
 * decides whose tenant's turn it is; among those of one tenant, it is that of who waits longest.
 * The entities of a gang run together on all of their nodes or not at all, and take one slot.
 */
#ifndef GPREEMPT_POLICY_H
#define GPREEMPT_POLICY_H

#include <gpreempt/core.h>

GPREEMPT_BEGIN_DECLS

/** GPREEMPT_POLICY_ENTITIES - how many there can be at once */
#define GPREEMPT_POLICY_ENTITIES 1024

/** GPREEMPT_POLICY_TENANTS - tenants that a policy has at most */
#define GPREEMPT_POLICY_TENANTS 256

/** GPREEMPT_POLICY_NEVER - a time that does not come */
#define GPREEMPT_POLICY_NEVER UINT64_MAX

enum gpreempt_role {
	GPREEMPT_ROLE_NONE,
	GPREEMPT_ROLE_ONLINE,
	GPREEMPT_ROLE_OFFLINE,
};

/** enum gpreempt_policy_reason - why an offline entity is to be switched */
enum gpreempt_policy_reason {
	GPREEMPT_POLICY_ARRIVAL,  /* suspend: there is online work */
	GPREEMPT_POLICY_DUTY,	  /* either: the maximum of its tenant */
	GPREEMPT_POLICY_IDLE,	  /* resume: no online work any more */
	GPREEMPT_POLICY_SHARE,	  /* resume: the minimum of its tenant is owed */
	GPREEMPT_POLICY_RELEASED, /* resume: it was requested */
	/* Either, by the caller: it is stopped or frozen, or continues. */
	GPREEMPT_POLICY_JOB_CONTROL,
	GPREEMPT_POLICY_TURN, /* either: it has the slot, or another one has */
	GPREEMPT_POLICY_PARK, /* either: it has had no work for long, or has some again */
	GPREEMPT_POLICY_REASONS,
};

/** gpreempt_policy_reason_name() - Return: a word for it */
const char *gpreempt_policy_reason_name(enum gpreempt_policy_reason reason);

/**
 * struct gpreempt_policy_options - the rules' figures
 * @size: sizeof(struct gpreempt_policy_options)
 * @linger_ns: how long an entity without work counts as active still
 * @slice_ns: how long an entity keeps a slot that another one wants
 * @period_ns: period of minimum and maximum, at least 100 ns
 * @window_ns: time over which a minimum is counted, at least @period_ns
 * @park_ns: 0, or how long an entity is without work before it is parked
 * @slots: 0, or how many offline entities run on a node at once
 * @order: whose turn it is: "fair" (least used by weight; NULL, too), "priority" (largest weight),
 *	"deadline" or "fifo" (who waits longest); not kept
 */
struct gpreempt_policy_options {
	size_t size;
	uint64_t linger_ns;
	uint64_t slice_ns;
	uint64_t period_ns;
	uint64_t window_ns;
	uint64_t park_ns;
	unsigned int slots;
	const char *order;
};

/**
 * struct gpreempt_policy_tenant - what an operator wants for a tenant
 * @size: sizeof(struct gpreempt_policy_tenant)
 * @role: online or offline; none: there is no such tenant
 * @weight: 1 to 10000; two tenants with work use the GPU in the ratio of their weights; 0: 100
 * @min: percent of the time that it runs for, 0 to 90; offline
 * @max: percent of the time that it runs for at most, 1 to 99; 0 or 100: all; offline
 * @cost: thousandths of the time that it accepts as delay by preemptions; 0: any; online
 * @deadline_ns: with that order, how long a turn may come late; offline
 * @gang: all of its entities run together, or none; offline
 */
struct gpreempt_policy_tenant {
	size_t size;
	enum gpreempt_role role;
	unsigned int weight;
	unsigned int min;
	unsigned int max;
	unsigned int cost;
	uint64_t deadline_ns;
	bool gang;
};

/** struct gpreempt_policy - all that the policy remembers */
struct gpreempt_policy;

/**
 * struct gpreempt_policy_action - what the caller is to do
 * @entity: number of the offline entity
 * @suspend: true: suspend it on some nodes; it may be resumed on others at once. False: resume it
 * @reason: why
 * @nodes: a bit for each node on which it is to be suspended from now on; 0: it runs
 */
struct gpreempt_policy_action {
	unsigned int entity;
	bool suspend;
	enum gpreempt_policy_reason reason;
	uint64_t nodes;
};

/**
 * gpreempt_policy_new() - begin without any tenant
 * @options: figures
 * @now: the time; all times are of one clock, in ns
 * @out: gets the policy, for gpreempt_policy_free()
 *
 * Return: 0, -ENOMEM, -EINVAL for figures out of their limits, -EINVAL or
 * -E2BIG for @options that are none of this library's.
 */
int gpreempt_policy_new(const struct gpreempt_policy_options *options, uint64_t now,
			struct gpreempt_policy **out);

/** gpreempt_policy_free() - NULL is allowed */
void gpreempt_policy_free(struct gpreempt_policy *p);

/**
 * gpreempt_policy_set() - set up a tenant, or change it
 * @p: policy
 * @tenant: its number, below GPREEMPT_POLICY_TENANTS
 * @wish: what is wanted; its role cannot change while it owns entities
 *
 * Return: 0; -EINVAL for a number or figures out of their limits; -EBUSY: it owns entities of
 * the other role; -EINVAL or -E2BIG for a @wish that is none of this library's.
 */
int gpreempt_policy_set(struct gpreempt_policy *p, unsigned int tenant,
			const struct gpreempt_policy_tenant *wish);

/**
 * gpreempt_policy_add() - add a process
 * @p: policy
 * @tenant: number of the tenant who owns it
 * @nodes: a bit for each node that it uses
 *
 * Return: its number; -ENOSPC: there are too many; -EINVAL: no such tenant.
 */
int gpreempt_policy_add(struct gpreempt_policy *p, unsigned int tenant, uint64_t nodes);

/**
 * gpreempt_policy_remove() - remove a process; the caller has released it
 * @p: policy
 * @entity: number
 *
 * Its requests end with it, without a linger time.
 */
void gpreempt_policy_remove(struct gpreempt_policy *p, unsigned int entity);

/** gpreempt_policy_busy() - an online entity has work, or has none */
void gpreempt_policy_busy(struct gpreempt_policy *p, unsigned int entity, bool busy, uint64_t now);

/**
 * gpreempt_policy_request() - an online entity opens or closes requests
 * @p: policy
 * @entity: number
 * @by: 1: one is opened; -1: one is closed
 * @now: the time
 *
 * Return: how many are open now; -EINVAL: it is not online, or has none to close.
 */
int gpreempt_policy_request(struct gpreempt_policy *p, unsigned int entity, int by, uint64_t now);

/** gpreempt_policy_release() - leave an offline entity alone until that time */
void gpreempt_policy_release(struct gpreempt_policy *p, unsigned int entity, uint64_t until);

/**
 * gpreempt_policy_step() - what is to be done now?
 * @p: policy
 * @now: the time; one that is earlier than before counts as no later
 * @actions: room for GPREEMPT_POLICY_ENTITIES; at most one for each entity,
 *	suspends first
 * @wake: gets the time of the next step if nothing happens before,
 *	later than @now, or GPREEMPT_POLICY_NEVER
 *
 * The policy takes it that the actions are done at @now.
 *
 * Return: number of actions.
 */
unsigned int gpreempt_policy_step(struct gpreempt_policy *p, uint64_t now,
				  struct gpreempt_policy_action *actions, uint64_t *wake);

GPREEMPT_END_DECLS

#endif
