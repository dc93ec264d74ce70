// SPDX-License-Identifier: LGPL-2.1-or-later
/* The scheduler's rules, without I/O. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/internal.h"
#include "shared/util.h"
#include "policy.h"

/* Tenants, entities, and the caller's reports about them. */

#define MAX_MIN	       90
#define MAX_WEIGHT     10000
#define DEFAULT_WEIGHT 100
#define MAX_NS	       (365ULL * 24 * 3600 * NSEC_PER_SEC)
#define DELAY_NS       (500 * NSEC_PER_USEC) /* until an arrival was measured */
#define PURSE_HALVES   5		     /* a tenant saves up so many halves of a price() */
#define LONG_GAP       10		     /* in times of linger: a gap that mostly goes on */

static const char *const reason_names[] = {
	[GPREEMPT_POLICY_ARRIVAL] = "arrival",	 [GPREEMPT_POLICY_DUTY] = "duty",
	[GPREEMPT_POLICY_IDLE] = "idle",	 [GPREEMPT_POLICY_SHARE] = "share",
	[GPREEMPT_POLICY_RELEASED] = "released", [GPREEMPT_POLICY_JOB_CONTROL] = "job-control",
	[GPREEMPT_POLICY_TURN] = "turn",	 [GPREEMPT_POLICY_PARK] = "park",
};

const char *gpreempt_policy_reason_name(enum gpreempt_policy_reason reason)
{
	return reason < GPREEMPT_POLICY_REASONS ? reason_names[reason] : "-";
}

/* A tenant on the node at hand. */
struct claim {
	const struct gpreempt_policy_tenant *wish;
	const struct gp_policy_seat *seat;
	unsigned int rank;
};

struct gp_policy_order {
	const char *name;
	bool (*before)(const struct claim *a, const struct claim *b);
};

static bool least_used(const struct claim *a, const struct claim *b)
{
	return a->seat->used < b->seat->used;
}

static bool heaviest(const struct claim *a, const struct claim *b)
{
	if (a->wish->weight != b->wish->weight)
		return a->wish->weight > b->wish->weight;
	return least_used(a, b);
}

static bool earliest_deadline(const struct claim *a, const struct claim *b)
{
	return shr_later_ns(a->seat->ran_at, a->wish->deadline_ns) <
	       shr_later_ns(b->seat->ran_at, b->wish->deadline_ns);
}

static bool waits_longest(const struct claim *a, const struct claim *b)
{
	return a->seat->ran_at < b->seat->ran_at;
}

static bool ranked_first(const struct claim *a, const struct claim *b)
{
	return a->rank != b->rank ? a->rank < b->rank : least_used(a, b);
}

/* The order of a caller who ranks the tenants; no figures name it. */
static const struct gp_policy_order ranks = { "given", ranked_first };

static const struct gp_policy_order orders[] = {
	{ "fair", least_used },
	{ "priority", heaviest },
	{ "deadline", earliest_deadline },
	{ "fifo", waits_longest },
};

static const struct gp_policy_order *find_order(const char *name)
{
	size_t i;

	for (i = 0; name && i < ARRAY_SIZE(orders); i++)
		if (!strcmp(orders[i].name, name))
			return &orders[i];
	return name ? NULL : &orders[0];
}

bool gp_policy_has_order(const char *name)
{
	return find_order(name);
}

int gp_policy_change(struct gpreempt_policy *p, const struct gpreempt_policy_options *options)
{
	const struct gp_policy_order *order;
	struct gpreempt_policy_options o;
	int ret = gp_options_take(options, sizeof(o), &o, sizeof(o));

	if (ret)
		return ret;
	order = find_order(o.order);
	if (!order || o.linger_ns > MAX_NS || o.slice_ns > MAX_NS || o.park_ns > MAX_NS ||
	    o.period_ns < 100 || o.window_ns < o.period_ns || o.window_ns > MAX_NS)
		return -EINVAL;
	o.order = NULL;
	p->options = o;
	p->order = order;
	return 0;
}

int gpreempt_policy_new(const struct gpreempt_policy_options *options, uint64_t now,
			struct gpreempt_policy **out)
{
	struct gpreempt_policy *p = calloc(1, sizeof(*p));
	int ret = p ? gp_policy_change(p, options) : -ENOMEM;

	if (ret) {
		free(p);
		return ret;
	}
	p->now = now;
	p->delay_ns = DELAY_NS;
	*out = p;
	return 0;
}

void gpreempt_policy_free(struct gpreempt_policy *p)
{
	free(p);
}

void gp_policy_rank(struct gpreempt_policy *p, const unsigned int *rank)
{
	p->ranked = rank;
	if (rank)
		memcpy(p->rank, rank, sizeof(p->rank));
}

static bool has_max(const struct gpreempt_policy_tenant *wish)
{
	return wish->max && wish->max < 100;
}

/*
 * Run time that a maximum saves up, in hundredths of ns. It is used up after that part of a period,
 * and saved again after the rest of it.
 */
static int64_t burst(const struct gpreempt_policy *p, const struct gpreempt_policy_tenant *wish)
{
	return p->options.period_ns * wish->max / 100 * (100 - wish->max);
}

static bool owns_any(const struct gpreempt_policy *p, unsigned int tenant)
{
	unsigned int i;

	for (i = 0; i < p->top; i++)
		if (p->entity[i].role != GPREEMPT_ROLE_NONE && p->entity[i].tenant == tenant)
			return true;
	return false;
}

static bool valid(const struct gpreempt_policy_tenant *w)
{
	if (w->weight > MAX_WEIGHT || w->min > MAX_MIN || w->max > 100 || w->cost > 1000)
		return false;
	if (w->max && w->min > w->max)
		return false;
	if (w->role == GPREEMPT_ROLE_ONLINE)
		return !w->min && !has_max(w) && !w->gang;
	return w->role == GPREEMPT_ROLE_OFFLINE && !w->cost && w->deadline_ns <= MAX_NS;
}

int gpreempt_policy_set(struct gpreempt_policy *p, unsigned int tenant,
			const struct gpreempt_policy_tenant *wish)
{
	struct gpreempt_policy_tenant w;
	struct gp_policy_tenant *t;
	int ret = gp_options_take(wish, sizeof(w), &w, sizeof(w));
	unsigned int n;

	if (ret)
		return ret;
	if (tenant >= GPREEMPT_POLICY_TENANTS || (w.role != GPREEMPT_ROLE_NONE && !valid(&w)))
		return -EINVAL;
	t = &p->tenant[tenant];
	if (t->wish.role != w.role && owns_any(p, tenant))
		return -EBUSY;
	if (t->wish.role != w.role)
		memset(t, 0, sizeof(*t));
	if (w.role != GPREEMPT_ROLE_NONE && tenant >= p->tenants)
		p->tenants = tenant + 1;
	if (!w.weight)
		w.weight = DEFAULT_WEIGHT;
	/* A new maximum begins with a full purse. */
	for (n = 0; n < GP_POLICY_NODES && w.max != t->wish.max; n++) {
		t->seat[n].left = burst(p, &w);
		t->seat[n].capped = false;
	}
	t->wish = w;
	return 0;
}

int gpreempt_policy_add(struct gpreempt_policy *p, unsigned int tenant, uint64_t nodes)
{
	unsigned int i = 0;

	if (tenant >= GPREEMPT_POLICY_TENANTS || p->tenant[tenant].wish.role == GPREEMPT_ROLE_NONE)
		return -EINVAL;
	while (i < p->top && p->entity[i].role != GPREEMPT_ROLE_NONE)
		i++;
	if (i == GPREEMPT_POLICY_ENTITIES)
		return -ENOSPC;
	p->top += i == p->top;
	p->entity[i] = (struct gpreempt_policy_entity){
		.role = p->tenant[tenant].wish.role,
		.tenant = tenant,
		.idle_since = GPREEMPT_POLICY_NEVER,
		.unpaid = GPREEMPT_POLICY_NEVER,
		.since = p->now,
		.ran_at = p->now,
	};
	gp_policy_nodes(p, i, nodes);
	return i;
}

void gpreempt_policy_remove(struct gpreempt_policy *p, unsigned int entity)
{
	memset(&p->entity[entity], 0, sizeof(p->entity[entity]));
	while (p->top && p->entity[p->top - 1].role == GPREEMPT_ROLE_NONE)
		p->top--;
}

void gp_policy_move(struct gpreempt_policy *p, unsigned int entity, unsigned int tenant)
{
	if (p->tenant[tenant].wish.role == p->entity[entity].role)
		p->entity[entity].tenant = tenant;
}

void gp_policy_nodes(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes)
{
	p->entity[entity].nodes = nodes;
	if (p->entity[entity].role == GPREEMPT_ROLE_OFFLINE)
		p->nodes |= nodes;
}

void gp_policy_idle(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes, uint64_t now)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];

	a->idle = nodes;
	if (a->nodes & ~nodes)
		a->idle_since = GPREEMPT_POLICY_NEVER;
	else if (a->idle_since == GPREEMPT_POLICY_NEVER)
		a->idle_since = now;
}

void gp_policy_parks(struct gpreempt_policy *p, unsigned int entity, bool parks, bool crowded)
{
	p->entity[entity].parks = parks;
	p->entity[entity].crowded = crowded;
}

static bool working(const struct gpreempt_policy_entity *entity)
{
	return entity->busy || entity->requests;
}

/* The work of an online entity has begun, or ended, or neither. */
static void note_work(struct gpreempt_policy *p, struct gpreempt_policy_entity *a, bool before,
		      uint64_t now)
{
	if (before == working(a))
		return;
	if (before) {
		a->idle_since = now;
		p->tenant[a->tenant].busy_ns += now > a->since ? now - a->since : 0;
	} else {
		a->since = now;
	}
}

void gpreempt_policy_busy(struct gpreempt_policy *p, unsigned int entity, bool busy, uint64_t now)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];
	bool before = working(a);

	a->busy = busy;
	note_work(p, a, before, now);
}

int gpreempt_policy_request(struct gpreempt_policy *p, unsigned int entity, int by, uint64_t now)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];
	bool before = working(a);

	if (a->role != GPREEMPT_ROLE_ONLINE || (by < 0 && !a->requests) ||
	    (by > 0 && a->requests == INT32_MAX))
		return -EINVAL;
	a->requests += by < 0 ? -1 : 1;
	p->tenant[a->tenant].requests += by > 0;
	note_work(p, a, before, now);
	return a->requests;
}

void gpreempt_policy_release(struct gpreempt_policy *p, unsigned int entity, uint64_t until)
{
	p->entity[entity].until = until;
}

void gp_policy_failed(struct gpreempt_policy *p, unsigned int entity, uint64_t nodes, bool suspend,
		      uint64_t retry)
{
	struct gpreempt_policy_entity *a = &p->entity[entity];

	nodes &= suspend ? a->held : ~a->held;
	a->held ^= nodes;
	a->failed |= nodes;
	if (nodes)
		a->retry = retry;
}

void gp_policy_took(struct gpreempt_policy *p, uint64_t arrival, uint64_t end)
{
	uint64_t mean;

	if (end - arrival >= NSEC_PER_SEC)
		return;
	if (arrival != p->arrival) {
		p->arrival = arrival;
		p->before_ns = p->delay_ns;
		p->delay_ns = 0;
	}
	/* A sixteenth more: the hardware runs it later than we see. */
	mean = (7 * p->before_ns + (end - arrival) * 17 / 16) / 8;
	if (mean > p->delay_ns)
		p->delay_ns = mean;
}

/* Accounts: what time costs a tenant. */

/* Returns the lowest node of a mask, and takes it out. */
static unsigned int next_node(uint64_t *nodes)
{
	unsigned int n = __builtin_ctzll(*nodes);

	*nodes &= *nodes - 1;
	return n;
}

/* The time that an arrival costs an online tenant, in thousandths of ns. */
static int64_t price(const struct gpreempt_policy *p)
{
	return 1000 * p->delay_ns;
}

static void charge(const struct gpreempt_policy_tenant *wish, struct gp_policy_seat *seat,
		   int64_t ns)
{
	seat->used += (uint64_t)ns * GP_POLICY_CHARGE * 100 / wish->weight;
	seat->left -= 100 * ns;
	seat->debt -= 100 * ns;
}

static void note_bounds(const struct gpreempt_policy *p, const struct gpreempt_policy_tenant *wish,
			struct gp_policy_seat *seat)
{
	int64_t due = p->options.period_ns * wish->min, most = p->options.window_ns * wish->min;
	int64_t full = burst(p, wish);

	if (seat->debt < due - most)
		seat->debt = due - most;
	/* The caller was away for long. */
	if (seat->debt > (int64_t)(100 * p->options.window_ns))
		seat->debt = 100 * p->options.window_ns;
	if (due && seat->debt >= due)
		seat->owed = true;
	else if (seat->debt <= 0)
		seat->owed = false;
	if (seat->left >= full || !has_max(wish)) {
		seat->left = full;
		seat->capped = false;
	} else if (seat->left <= 0) {
		seat->capped = true;
	}
}

/* Time has passed: charge it. */
static void account(struct gpreempt_policy *p, int64_t ns)
{
	int64_t most = price(p) * PURSE_HALVES / 2;
	struct gp_policy_tenant *t;

	for (t = p->tenant; t < p->tenant + p->tenants; t++) {
		uint64_t nodes = p->nodes;

		t->purse += ns * t->wish.cost;
		if (t->purse > most)
			t->purse = most;
		while (t->wish.role == GPREEMPT_ROLE_OFFLINE && nodes) {
			struct gp_policy_seat *seat = &t->seat[next_node(&nodes)];

			seat->left += ns * t->wish.max;
			if (seat->works)
				seat->debt += ns * t->wish.min;
			if (seat->runs) {
				charge(&t->wish, seat, ns);
				seat->ran_ns += ns;
				seat->ran_at = p->now;
			}
			note_bounds(p, &t->wish, seat);
		}
	}
}

uint64_t gp_policy_time(const struct gpreempt_policy *p, unsigned int tenant)
{
	const struct gp_policy_tenant *t = &p->tenant[tenant];
	uint64_t ns = t->busy_ns;
	unsigned int n;

	for (n = 0; n < GP_POLICY_NODES; n++)
		ns += t->seat[n].ran_ns;
	return ns;
}

void gp_policy_ran(struct gpreempt_policy *p, unsigned int entity, uint64_t ns)
{
	const struct gpreempt_policy_entity *a = &p->entity[entity];
	struct gp_policy_tenant *t = &p->tenant[a->tenant];
	/* The report may come when it is resumed. */
	uint64_t nodes = a->held ? a->held : a->nodes;

	while (a->role == GPREEMPT_ROLE_OFFLINE && nodes)
		charge(&t->wish, &t->seat[next_node(&nodes)], ns);
}

/* Step of the policy: actions that are due now, and the time of the next look. */

/* Taker of a slot: an entity, or all those of a gang. */
struct unit {
	unsigned int tenant;
	bool gang;
	bool denied;	/* a gang that cannot run on all of its nodes now */
	uint64_t nodes; /* where it has work */
	uint64_t held;
	uint64_t since;
	uint64_t ran_at;
	uint64_t given; /* nodes on which it has a slot */
};

struct step {
	struct gpreempt_policy *p;
	uint64_t wake;
	uint64_t busy;	     /* nodes where online work is */
	uint64_t contested;  /* nodes on which a unit waits for a slot */
	unsigned int n;	     /* units */
	struct unit *parked; /* unit of all that are parked; NULL: none is */
	struct unit *gang[GPREEMPT_POLICY_TENANTS];
	struct gpreempt_policy_action *actions;
	unsigned int count;
	bool arrival; /* an entity is suspended for online work */
	bool resumes; /* an entity is to be resumed */
	struct unit unit[GPREEMPT_POLICY_ENTITIES];
	struct unit *of[GPREEMPT_POLICY_ENTITIES]; /* unit of an entity; NULL: it has none */
};

static void wake_at(struct step *s, uint64_t when)
{
	if (when > s->p->now && when < s->wake)
		s->wake = when;
}

/* Wake when so much has been counted, at so much a ns. */
static void wake_after(struct step *s, int64_t count, unsigned int rate)
{
	if (count > 0 && rate)
		wake_at(s, shr_later_ns(s->p->now, (count + rate - 1) / rate));
}

/*
 * Does it keep the GPU? A gap is given away only if coming back is paid for: at its beginning, or
 * when it has become a long one. What is left of a short one is not worth it.
 */
static bool is_active(struct step *s, struct gpreempt_policy_entity *a)
{
	const struct gp_policy_tenant *t = &s->p->tenant[a->tenant];
	int64_t lacks = t->wish.cost ? price(s->p) - t->purse : 0;
	uint64_t end;

	if (working(a))
		return true;
	if (a->idle_since == GPREEMPT_POLICY_NEVER)
		return false;
	end = shr_later_ns(a->idle_since, s->p->options.linger_ns);
	wake_at(s, end);
	if (s->p->now < end)
		return true;
	if (lacks > 0)
		a->unpaid = a->idle_since;
	if (a->unpaid == a->idle_since) {
		end = shr_later_ns(a->idle_since, LONG_GAP * s->p->options.linger_ns);
		wake_at(s, end);
	}
	wake_after(s, lacks, t->wish.cost);
	return s->p->now < end || lacks > 0;
}

/* Is it up to us to suspend it at all? */
static bool is_ours(struct step *s, const struct gpreempt_policy_entity *a)
{
	if (s->p->now >= a->until)
		return true;
	if (a->until != GPREEMPT_POLICY_NEVER)
		wake_at(s, a->until);
	return false;
}

/* Nodes on which an offline entity has work, or may have. */
static uint64_t work_of(const struct gpreempt_policy_entity *a)
{
	return a->parked ? 0 : a->nodes & (a->held | ~a->idle);
}

/*
 * Park what has rested for long enough. Each park is a suspend, for which an arrival would wait:
 * one begins when the one before has had its time.
 */
static void note_park(struct step *s, struct gpreempt_policy_entity *a)
{
	uint64_t park = a->crowded ? 0 : s->p->options.park_ns, from;
	bool may = a->parks && (park || a->crowded);
	bool suspends = !a->parked && a->nodes & ~a->held;

	from = shr_later_ns(a->idle_since, park);
	if (suspends && from < s->p->park_at)
		from = s->p->park_at;
	a->parked = may && a->nodes && !(a->nodes & ~a->idle) && s->p->now >= from;
	if (a->parked && suspends)
		s->p->park_at = s->p->now + s->p->delay_ns;
	if (may && !a->parked && a->idle_since != GPREEMPT_POLICY_NEVER)
		wake_at(s, from);
}

static void join_unit(struct step *s, unsigned int entity)
{
	struct gpreempt_policy_entity *a = &s->p->entity[entity];
	bool gang = s->p->tenant[a->tenant].wish.gang;
	/* Parked ones take no slot: one unit is enough. */
	struct unit **place = gang ? &s->gang[a->tenant] : a->parked ? &s->parked : &s->of[entity];
	struct unit *u = *place;

	if (!u) {
		u = *place = &s->unit[s->n++];
		*u = (struct unit){
			.tenant = a->tenant,
			.gang = gang,
			.ran_at = GPREEMPT_POLICY_NEVER,
		};
	}
	s->of[entity] = u;
	u->nodes |= work_of(a);
	u->held |= a->held;
	if (a->since > u->since)
		u->since = a->since;
	if (a->ran_at < u->ran_at)
		u->ran_at = a->ran_at;
}

static struct gp_policy_seat *seat_of(const struct step *s, const struct unit *u, unsigned int n)
{
	return &s->p->tenant[u->tenant].seat[n];
}

/* Does its slice there go on? */
static bool keeps(const struct step *s, const struct unit *u, unsigned int n)
{
	return !(u->held >> n & 1) && s->p->now - u->since < s->p->options.slice_ns;
}

/* A gang waits for several nodes at once: what is left of a slice is no reason against it. */
static bool is_wide(const struct unit *u)
{
	return u->gang && u->nodes & (u->nodes - 1);
}

static struct claim claim_of(const struct step *s, const struct unit *u, unsigned int n)
{
	return (struct claim){
		.wish = &s->p->tenant[u->tenant].wish,
		.seat = seat_of(s, u, n),
		.rank = s->p->rank[u->tenant],
	};
}

static bool goes_before(const struct step *s, unsigned int n, const struct unit *a,
			const struct unit *b)
{
	const struct gp_policy_order *order = s->p->ranked ? &ranks : s->p->order;
	const struct claim ca = claim_of(s, a, n), cb = claim_of(s, b, n);
	bool ka = keeps(s, a, n), kb = keeps(s, b, n);

	if (ca.seat->owed != cb.seat->owed)
		return ca.seat->owed;
	if (ka != kb && !is_wide(ka ? b : a))
		return ka;
	if (a->tenant == b->tenant)
		return a->ran_at < b->ran_at;
	return order->before(&ca, &cb);
}

static bool may_run(const struct step *s, const struct unit *u, unsigned int n)
{
	const struct gp_policy_seat *seat = seat_of(s, u, n);

	return u->nodes >> n & 1 && !u->denied && !seat->capped &&
	       (!(s->busy >> n & 1) || seat->owed);
}

/* Give the slots of a node. */
static void give_slots(struct step *s, unsigned int n)
{
	unsigned int slots = s->p->options.slots, given;
	uint64_t bit = 1ULL << n;
	struct unit *u, *best;

	for (u = s->unit; !slots && u < s->unit + s->n; u++)
		if (may_run(s, u, n))
			u->given |= bit;
	for (given = 0; given <= slots && slots; given++) {
		best = NULL;
		for (u = s->unit; u < s->unit + s->n; u++)
			if (!(u->given & bit) && may_run(s, u, n) &&
			    (!best || goes_before(s, n, u, best)))
				best = u;
		if (!best)
			break;
		if (given < slots)
			best->given |= bit;
		else
			s->contested |= bit;
	}
}

/* Give all slots. A gang that has one on some of its nodes only gives them back. */
static void give_all(struct step *s)
{
	struct unit *u;
	bool again;

	do {
		uint64_t nodes = s->p->nodes;

		for (u = s->unit; u < s->unit + s->n; u++)
			u->given = 0;
		while (nodes)
			give_slots(s, next_node(&nodes));
		again = false;
		for (u = s->unit; u < s->unit + s->n; u++) {
			if (!u->gang || u->denied || !(u->nodes & ~u->given))
				continue;
			u->denied = true;
			again |= u->given != 0;
			if (u->given && s->p->options.slots)
				s->contested |= u->nodes;
		}
	} while (again);
}

/* Nodes on which an entity is to be suspended. */
static uint64_t wanted(const struct step *s, unsigned int i)
{
	const struct gpreempt_policy_entity *a = &s->p->entity[i];

	if (!s->of[i])
		return 0;
	if (a->parked)
		return a->nodes;
	if (s->of[i]->gang)
		return s->of[i]->nodes & ~s->of[i]->given ? a->nodes : 0;
	return work_of(a) & ~s->of[i]->given;
}

/* Leave nodes alone on which the last action did not work. */
static uint64_t without_failed(struct step *s, struct gpreempt_policy_entity *a, uint64_t want)
{
	if (s->p->now >= a->retry)
		a->failed = 0;
	if ((want ^ a->held) & a->failed)
		wake_at(s, a->retry);
	return (want & ~a->failed) | (a->held & a->failed);
}

/* Is a tenant owed its minimum on one of these nodes, or is it at its maximum there? */
static bool is_bound_on(const struct gp_policy_tenant *t, uint64_t nodes, bool owed)
{
	while (nodes) {
		const struct gp_policy_seat *seat = &t->seat[next_node(&nodes)];

		if (owed ? seat->owed : seat->capped)
			return true;
	}
	return false;
}

static enum gpreempt_policy_reason why(const struct step *s, unsigned int i, uint64_t want)
{
	const struct gpreempt_policy_entity *a = &s->p->entity[i];
	const struct gp_policy_tenant *t = &s->p->tenant[a->tenant];
	uint64_t nodes = want & ~a->held, all = a->held;

	if (!nodes && !s->of[i])
		return GPREEMPT_POLICY_RELEASED;
	if (s->of[i] && s->of[i]->gang)
		all |= s->of[i]->nodes;
	if (!nodes && is_bound_on(t, all & s->busy, true))
		return GPREEMPT_POLICY_SHARE;
	if (!nodes)
		return a->why == GPREEMPT_POLICY_ARRIVAL ? GPREEMPT_POLICY_IDLE : a->why;
	if (a->parked)
		return GPREEMPT_POLICY_PARK;
	if (s->of[i]->gang)
		nodes |= all;
	if (nodes & s->busy)
		return GPREEMPT_POLICY_ARRIVAL;
	return is_bound_on(t, nodes, false) ? GPREEMPT_POLICY_DUTY : GPREEMPT_POLICY_TURN;
}

/* Switch an entity if it has to be, and if it is the turn of such a switch. */
static void decide(struct step *s, unsigned int i, bool suspends)
{
	struct gpreempt_policy_entity *a = &s->p->entity[i];
	enum gpreempt_policy_reason reason;
	uint64_t want;
	bool suspend;

	/* Most are parked, and stay so, where there are many. */
	if (a->parked && a->held == a->nodes && s->of[i])
		return;
	want = without_failed(s, a, wanted(s, i));
	suspend = want & ~a->held;
	s->resumes |= want != a->held && !suspend;
	if (want == a->held || suspend != suspends)
		return;
	reason = why(s, i, want);
	if (suspend) {
		a->why = reason;
		s->p->tenant[a->tenant].suspends++;
	}
	/* While it was suspended it may have got work: the next report tells. */
	a->idle &= ~(a->held & ~want);
	if (a->held & ~want)
		a->since = s->p->now;
	s->arrival |= reason == GPREEMPT_POLICY_ARRIVAL;
	a->held = want;
	s->actions[s->count++] = (struct gpreempt_policy_action){
		.entity = i,
		.suspend = suspend,
		.reason = reason,
		.nodes = want,
	};
}

/* A tenant that has been without work has saved nothing up. */
static void enter(struct step *s, unsigned int tenant, unsigned int n)
{
	struct gp_policy_seat *seat = &s->p->tenant[tenant].seat[n];
	uint64_t least = UINT64_MAX;
	unsigned int i;

	if (s->p->now - seat->ran_at <= s->p->options.linger_ns)
		return;
	seat->ran_at = s->p->now;
	for (i = 0; i < s->p->tenants; i++) {
		const struct gp_policy_seat *other = &s->p->tenant[i].seat[n];

		if (i != tenant && other->works && other->used < least)
			least = other->used;
	}
	if (least != UINT64_MAX && seat->used < least)
		seat->used = least;
}

/* Times at which the answer may be another. */
static void look_ahead(struct step *s, const struct gp_policy_tenant *t, unsigned int n)
{
	const struct gpreempt_policy_tenant *wish = &t->wish;
	const struct gp_policy_seat *seat = &t->seat[n];

	if (seat->works && !seat->runs && wish->min && !seat->owed)
		wake_after(s, s->p->options.period_ns * wish->min - seat->debt, wish->min);
	if (seat->runs && seat->owed && (s->busy | s->contested) >> n & 1)
		wake_after(s, seat->debt, 100 - wish->min);
	if (has_max(wish) && seat->works)
		wake_after(s, seat->runs ? seat->left : burst(s->p, wish) - seat->left,
			   seat->runs ? 100 - wish->max : wish->max);
}

/* Note what is true until the next step. */
static void settle(struct step *s)
{
	uint64_t works[GPREEMPT_POLICY_TENANTS] = { 0 }, runs[GPREEMPT_POLICY_TENANTS] = { 0 };
	struct gpreempt_policy *p = s->p;
	unsigned int i;

	p->contested = s->contested;
	p->running = 0;
	for (i = 0; i < p->top; i++) {
		struct gpreempt_policy_entity *a = &p->entity[i];
		uint64_t work = a->role == GPREEMPT_ROLE_OFFLINE ? work_of(a) : 0;
		uint64_t run = work & ~a->held;

		works[a->tenant] |= work;
		runs[a->tenant] |= run;
		p->running |= run;
		if (!(run & s->contested))
			continue;
		/* No other one went before it: its next slice begins. */
		if (s->p->now - a->since >= p->options.slice_ns)
			a->since = s->p->now;
		wake_at(s, shr_later_ns(a->since, p->options.slice_ns));
	}
	for (i = 0; i < p->tenants; i++) {
		uint64_t nodes = p->nodes;

		while (p->tenant[i].wish.role == GPREEMPT_ROLE_OFFLINE && nodes) {
			unsigned int n = next_node(&nodes);
			struct gp_policy_seat *seat = &p->tenant[i].seat[n];

			if ((works[i] >> n & 1) && !seat->works)
				enter(s, i, n);
			seat->works = works[i] >> n & 1;
			seat->runs = runs[i] >> n & 1;
			look_ahead(s, &p->tenant[i], n);
		}
	}
}

/* Online tenants pay for the suspends that their arrival needed. */
static void pay(struct step *s)
{
	unsigned int i;

	if (!s->arrival)
		return;
	for (i = 0; i < s->p->top; i++) {
		const struct gpreempt_policy_entity *a = &s->p->entity[i];

		if (a->role == GPREEMPT_ROLE_ONLINE && working(a) && a->nodes & s->busy)
			s->p->tenant[a->tenant].purse -= price(s->p);
	}
}

static void look_at(struct step *s, unsigned int i)
{
	struct gpreempt_policy_entity *a = &s->p->entity[i];

	s->of[i] = NULL;
	if (a->role == GPREEMPT_ROLE_ONLINE && is_active(s, a))
		s->busy |= a->nodes;
	if (a->role != GPREEMPT_ROLE_OFFLINE)
		return;
	if (work_of(a) & ~a->held)
		a->ran_at = s->p->now;
	note_park(s, a);
	if (is_ours(s, a))
		join_unit(s, i);
}

unsigned int gpreempt_policy_step(struct gpreempt_policy *p, uint64_t now,
				  struct gpreempt_policy_action *actions, uint64_t *wake)
{
	struct step s;
	unsigned int i, suspends;
	int64_t ns = now > p->now ? now - p->now : 0;

	memset(&s, 0, offsetof(struct step, unit));
	p->now += ns;
	s.p = p;
	s.wake = GPREEMPT_POLICY_NEVER;
	s.actions = actions;
	account(p, ns);
	for (i = 0; i < p->top; i++)
		look_at(&s, i);
	give_all(&s);
	/* Suspend first: online work waits for that. What was switched has no second turn. */
	for (suspends = 2; suspends-- > 0 && (suspends || s.resumes);)
		for (i = 0; i < p->top; i++)
			if (p->entity[i].role == GPREEMPT_ROLE_OFFLINE)
				decide(&s, i, suspends);
	pay(&s);
	settle(&s);
	*wake = s.wake;
	return s.count;
}
