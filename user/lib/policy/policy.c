// SPDX-License-Identifier: LGPL-2.1-or-later
/* The processes that take part, and what the caller reports of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/options.h"
#include "lib/policy/policy.h"
#include "shared/macro.h"

#define MAX_SHARE 90
#define MAX_NS	  (365ULL * 24 * 3600 * NSEC_PER_SEC)

static const char *const reason_names[] = {
	[GPREEMPT_POLICY_ARRIVAL] = "arrival",
	[GPREEMPT_POLICY_DUTY] = "duty",
	[GPREEMPT_POLICY_IDLE] = "idle",
	[GPREEMPT_POLICY_SHARE] = "share",
	[GPREEMPT_POLICY_RELEASED] = "released",
};

const char *gpreempt_policy_reason_name(enum gpreempt_policy_reason reason)
{
	return reason < GPREEMPT_POLICY_REASONS ? reason_names[reason] : "-";
}

static bool valid(const struct gpreempt_policy_options *o)
{
	if (o->share > MAX_SHARE || o->duty > 99)
		return false;
	if (!o->max_hold_ns || o->max_hold_ns > MAX_NS ||
	    o->linger_ns > MAX_NS || o->min_run_ns > MAX_NS)
		return false;
	return !o->duty ||
	       (o->period_ns >= 100 && o->period_ns <= o->max_hold_ns);
}

int gp_policy_init(struct gpreempt_policy *p,
		   const struct gpreempt_policy_options *options, uint64_t now)
{
	struct gpreempt_policy_options o;
	uint64_t payback;
	int ret;

	ret = gp_options_take(options, sizeof(o), &o, sizeof(o));
	if (ret)
		return ret;
	if (!valid(&o))
		return -EINVAL;
	memset(p, 0, sizeof(*p));
	p->options = o;
	/* The share of hold and run together, so more than that of the hold. */
	payback = gp_policy_scale(o.max_hold_ns, o.share, 100 - o.share);
	/* Rounded up, or it would lose a little in each round. */
	payback += payback > 0;
	p->payback_ns = payback > o.min_run_ns ? payback : o.min_run_ns;
	p->start = now;
	p->now = now;
	return 0;
}

int gpreempt_policy_new(const struct gpreempt_policy_options *options,
			uint64_t now, struct gpreempt_policy **out)
{
	struct gpreempt_policy *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return -ENOMEM;
	ret = gp_policy_init(p, options, now);
	if (ret)
		free(p);
	else
		*out = p;
	return ret;
}

void gpreempt_policy_free(struct gpreempt_policy *p)
{
	free(p);
}

int gpreempt_policy_add(struct gpreempt_policy *p, enum gpreempt_role role,
			uint64_t nodes, unsigned int job, uint64_t now)
{
	unsigned int i;

	if ((role != GPREEMPT_ROLE_ONLINE && role != GPREEMPT_ROLE_OFFLINE) ||
	    job > GPREEMPT_POLICY_ENTITIES ||
	    (role == GPREEMPT_ROLE_ONLINE && p->options.duty))
		return -EINVAL;
	for (i = 0; i < p->top; i++)
		if (p->entity[i].role == GPREEMPT_ROLE_NONE)
			break;
	if (i == GPREEMPT_POLICY_ENTITIES)
		return -ENOSPC;
	if (i == p->top)
		p->top++;
	p->entity[i] = (struct gpreempt_policy_entity){
		.role = role,
		.nodes = nodes,
		.job = job,
		.idle_since = GPREEMPT_POLICY_NEVER,
		.counted = now > p->now ? now : p->now,
	};
	return i;
}

void gpreempt_policy_remove(struct gpreempt_policy *p, unsigned int entity)
{
	memset(&p->entity[entity], 0, sizeof(p->entity[entity]));
	while (p->top && p->entity[p->top - 1].role == GPREEMPT_ROLE_NONE)
		p->top--;
}

void gpreempt_policy_nodes(struct gpreempt_policy *p, unsigned int entity,
			   uint64_t nodes)
{
	p->entity[entity].nodes = nodes;
}

static bool working(const struct gpreempt_policy_entity *entity)
{
	return entity->busy || entity->requests;
}

void gpreempt_policy_busy(struct gpreempt_policy *p, unsigned int entity,
			  bool busy, uint64_t now)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];
	bool before = working(a);

	a->busy = busy;
	if (before && !working(a))
		a->idle_since = now;
}

int gpreempt_policy_begin(struct gpreempt_policy *p, unsigned int entity)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];

	if (a->role != GPREEMPT_ROLE_ONLINE || a->requests == INT32_MAX)
		return -EINVAL;
	return ++a->requests;
}

int gpreempt_policy_end(struct gpreempt_policy *p, unsigned int entity,
			uint64_t now)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];

	if (a->role != GPREEMPT_ROLE_ONLINE || !a->requests)
		return -EINVAL;
	a->requests--;
	if (!working(a))
		a->idle_since = now;
	return a->requests;
}

void gp_policy_pay(const struct gpreempt_policy *p,
		   struct gpreempt_policy_entity *a, uint64_t ns)
{
	unsigned __int128 paid;

	if (p->payback_ns && a->debt) {
		paid = (unsigned __int128)ns * p->options.max_hold_ns + a->rest;
		a->rest = paid % p->payback_ns;
		if (paid / p->payback_ns < a->debt) {
			a->debt -= paid / p->payback_ns;
			return;
		}
	}
	a->debt = 0;
	a->rest = 0;
}

void gp_policy_count(const struct gpreempt_policy *p,
		     struct gpreempt_policy_entity *a, uint64_t now)
{
	uint64_t ns = now > a->counted ? now - a->counted : 0;

	if (now > a->counted)
		a->counted = now;
	if (a->suspended)
		a->debt = gp_policy_later(a->debt, ns);
	else
		gp_policy_pay(p, a, ns);
}

void gpreempt_policy_ran(struct gpreempt_policy *p, unsigned int entity,
			 uint64_t ns, uint64_t now)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];

	if (a->role != GPREEMPT_ROLE_OFFLINE)
		return;
	gp_policy_count(p, a, now > p->now ? now : p->now);
	a->debt -= ns < a->debt ? ns : a->debt;
	gp_policy_pay(p, a, ns);
}

void gpreempt_policy_release(struct gpreempt_policy *p, unsigned int entity,
			     uint64_t until)
{
	p->entity[entity].until = until;
}

bool gpreempt_policy_suspended(const struct gpreempt_policy *p,
			       unsigned int entity)
{
	return p->entity[entity].suspended;
}

void gpreempt_policy_failed(struct gpreempt_policy *p, unsigned int entity,
			    uint64_t retry)
{
	p->entity[entity].suspended = !p->entity[entity].suspended;
	p->entity[entity].retry = retry;
}
