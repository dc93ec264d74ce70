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
 * The rules:
 *
 * An entity is a process, with a bit for each node that it uses. An offline one is suspended on
 * the nodes that it shares with an active online one: one that has work, has a request open, or
 * had one of them less than the linger time ago.
 *
 * No offline entity starves. Time in which it is held, on one node or more, counts up, and run
 * time counts it down. When as much as max_hold_ns has been counted, the entity runs on all nodes
 * until it has had its due for that: its share, or min_run_ns if that is longer. Nothing preempts
 * it in that time. What it ran more than its due in the last window_ns counts for it: so in any
 * span of time T it runs for at least share * (T - max_hold_ns), or share * (T - window_ns) with
 * a window, less what the caller is late by. With a due of zero nothing is owed and max_hold_ns
 * does nothing.
 *
 * Offline entities of one job are suspended and resumed together, on all of their nodes: when one
 * has to be, all are, and when one is owed its share, all run.
 *
 * With a duty there is no online entity: each offline entity runs for that part of each period.
 */
#ifndef GPREEMPT_POLICY_H
#define GPREEMPT_POLICY_H

#include <gpreempt/core.h>

GPREEMPT_BEGIN_DECLS

/** GPREEMPT_POLICY_ENTITIES - how many there can be at once */
#define GPREEMPT_POLICY_ENTITIES 1024

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
	GPREEMPT_POLICY_DUTY,	  /* either: its part of the period */
	GPREEMPT_POLICY_IDLE,	  /* resume: no online work any more */
	GPREEMPT_POLICY_SHARE,	  /* resume: its share is owed */
	GPREEMPT_POLICY_RELEASED, /* resume: it was requested */
	/* Either, by the caller: it is stopped or frozen, or continues. */
	GPREEMPT_POLICY_JOB_CONTROL,
	GPREEMPT_POLICY_REASONS,
};

/** gpreempt_policy_reason_name() - Return: a word for it */
const char *gpreempt_policy_reason_name(enum gpreempt_policy_reason reason);

/**
 * struct gpreempt_policy_options - the rules' figures
 * @size: sizeof(struct gpreempt_policy_options)
 * @linger_ns: how long an entity without work counts as active still
 * @max_hold_ns: longest hold while a share is owed, at least 1
 * @min_run_ns: shortest run after that
 * @share: part of the time that each offline entity gets, 0 to 90 percent
 * @duty: 0, or part of each period that each offline entity gets, in percent
 * @period_ns: with a duty; at most max_hold_ns
 * @window_ns: 0, or at least max_hold_ns: time over which its share is counted
 */
struct gpreempt_policy_options {
	size_t size;
	uint64_t linger_ns;
	uint64_t max_hold_ns;
	uint64_t min_run_ns;
	unsigned int share;
	unsigned int duty;
	uint64_t period_ns;
	uint64_t window_ns;
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
 * gpreempt_policy_new() - begin without any entity
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
 * gpreempt_policy_add() - add a process
 * @p: policy
 * @role: online or offline
 * @nodes: a bit for each node that it uses
 * @job: offline: 0, or a number from 1 to GPREEMPT_POLICY_ENTITIES that it has
 *	in common with those it is suspended with
 * @now: the time
 *
 * Return: its number; -ENOSPC: there are too many; -EINVAL: no such role or
 * job, or online where a duty is set.
 */
int gpreempt_policy_add(struct gpreempt_policy *p, enum gpreempt_role role, uint64_t nodes,
			unsigned int job, uint64_t now);

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
 * gpreempt_policy_begin() - an online entity opens a request
 *
 * Return: how many are open now, or -EINVAL for an entity that is not online.
 */
int gpreempt_policy_begin(struct gpreempt_policy *p, unsigned int entity);

/** gpreempt_policy_end() - it closes one. Return: as begin; -EINVAL: none */
int gpreempt_policy_end(struct gpreempt_policy *p, unsigned int entity, uint64_t now);

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
