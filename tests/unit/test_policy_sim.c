// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy of the scheduler, simulated: hours of made-up online and offline processes on
 * up to four nodes, in random mixtures, against what must hold whatever happens. The checks
 * know the rules only from what the header promises: they watch from outside who is busy and
 * who is suspended. GP_SIM_SEED=n has one run of its own; the seed is in each failure.
 */
#include <gpreempt/policy.h>

#include "lib/preempt/policy.h"
#include "unit.h"

#define US	 NSEC_PER_USEC
#define MS	 NSEC_PER_MSEC
#define NEVER	 GPREEMPT_POLICY_NEVER
#define ENTITIES 24
#define TENANTS	 6
#define NODES	 4
#define ONLINE	 TENANTS

/* A process of the made-up world, and what is watched of it. */
struct process {
	int number; /* at the policy; -1: it is not there */
	unsigned int tenant;
	uint64_t nodes;
	uint64_t next; /* when something happens to it */
	/* Online. */
	bool busy;
	unsigned int requests;
	uint64_t last_active; /* end of its last work or request */
	/* Offline. */
	uint64_t held;	  /* nodes on which it is suspended */
	uint64_t idle;	  /* nodes on which it has no work */
	uint64_t until;	  /* released until then */
	uint64_t blocked; /* an action has failed: not before then */
};

/* A tenant on a node: what it ran for, less its minimum and its maximum of that time. */
struct seat {
	bool works, runs;
	bool released; /* one of its processes is */
	double above_min, best, above_max, least;
};

struct world {
	struct gpreempt_policy_options options;
	struct gpreempt_policy_tenant tenant[TENANTS];
	struct seat seat[TENANTS][NODES];
	struct gpreempt_policy *policy;
	struct process process[ENTITIES];
	unsigned int seed;
	unsigned int state;
	uint64_t now;
	uint64_t late; /* the caller is late by up to that */
	unsigned int fail_percent;
	bool churn; /* processes come and go */
	uint64_t mean_busy;
	uint64_t mean_idle;
	uint64_t switches;
	uint64_t reasons[GPREEMPT_POLICY_REASONS];
};

/* Not ck_assert(): that writes to a file each time. */
#define HOLDS(condition)                                                                         \
	do {                                                                                     \
		if (!(condition))                                                                \
			ck_abort_msg("seed %u, at %.6f s: %s", w.seed, w.now / 1e9, #condition); \
	} while (0)

static struct world w;

static const char *const orders[] = { "fair", "priority", "deadline", "fifo" };

static unsigned int draw(unsigned int below)
{
	return rand_r(&w.state) % below;
}

/* Between nothing and twice the mean. */
static uint64_t draw_ns(uint64_t mean)
{
	return mean * draw(2001) / 1000;
}

static uint64_t draw_nodes(void)
{
	uint64_t nodes = 1ULL << draw(NODES);

	while (draw(3) == 0)
		nodes |= 1ULL << draw(NODES);
	return nodes;
}

static bool is_offline(const struct process *a)
{
	return a->number >= 0 && a->tenant != ONLINE;
}

static bool is_active(const struct process *a)
{
	return a->number >= 0 && a->tenant == ONLINE && (a->busy || a->requests);
}

/* Was there online work on one of these nodes within the last so many ns? */
static bool wanted_within(uint64_t nodes, uint64_t ns)
{
	int i;

	for (i = 0; i < ENTITIES; i++) {
		const struct process *a = &w.process[i];

		if (a->number < 0 || a->tenant != ONLINE || !(a->nodes & nodes))
			continue;
		if (is_active(a) || (a->last_active != NEVER && w.now < a->last_active + ns))
			return true;
	}
	return false;
}

/* Nodes on which it has work, or may have. */
static uint64_t work_of(const struct process *a)
{
	return is_offline(a) ? a->nodes & (a->held | ~a->idle) : 0;
}

static bool may_park(const struct process *a)
{
	return w.options.park_ns || w.policy->entity[a->number].crowded;
}

static bool is_gang(const struct process *a)
{
	return is_offline(a) && w.tenant[a->tenant].gang;
}

static void come(struct process *a)
{
	*a = (struct process){
		.tenant = draw(2) ? draw(TENANTS) : ONLINE,
		.nodes = draw_nodes(),
		.next = w.now + draw_ns(w.mean_idle),
		.last_active = NEVER,
	};
	a->number = gpreempt_policy_add(w.policy, a->tenant, a->nodes);
	HOLDS(a->number >= 0);
	gp_policy_parks(w.policy, a->number, true, !draw(4));
}

static void go(struct process *a)
{
	gpreempt_policy_remove(w.policy, a->number);
	a->number = -1;
	a->next = w.now + draw_ns(10 * w.mean_idle);
}

/* Begin or end the process's work, and report that to the policy. */
static void tell_busy(struct process *a, bool busy)
{
	if (a->busy && !busy && !a->requests)
		a->last_active = w.now;
	a->busy = busy;
	gpreempt_policy_busy(w.policy, a->number, busy, w.now);
}

static void tell_request(struct process *a)
{
	int by = draw(2) ? 1 : -1, open = a->requests + by;

	HOLDS(gpreempt_policy_request(w.policy, a->number, by, w.now) ==
	      (open < 0 ? -EINVAL : open));
	if (open < 0)
		return;
	a->requests = open;
	if (by < 0 && !a->busy && !a->requests)
		a->last_active = w.now;
}

static void happen_online(struct process *a)
{
	if (draw(10) == 0)
		tell_request(a);
	else
		tell_busy(a, !a->busy);
	a->next = w.now + 1 + draw_ns(is_active(a) ? w.mean_busy : w.mean_idle);
}

static void happen_offline(struct process *a)
{
	if (draw(4) == 0) {
		a->nodes = draw_nodes();
		gp_policy_nodes(w.policy, a->number, a->nodes);
	} else if (draw(3) == 0) {
		a->idle = draw(2) ? draw_nodes() : draw(2) ? ~0ULL : 0;
		gp_policy_idle(w.policy, a->number, a->idle, w.now);
	} else if (draw(4) == 0) {
		a->until = draw(2) ? w.now + draw_ns(20 * w.mean_idle) : 0;
		gpreempt_policy_release(w.policy, a->number, a->until);
	}
	a->next = w.now + 1 + draw_ns(20 * w.mean_idle);
}

/* Do all that is due with the process. */
static void happen(struct process *a)
{
	if (a->number < 0)
		come(a);
	else if (w.churn && draw(200) == 0)
		go(a);
	else if (a->tenant == ONLINE)
		happen_online(a);
	else
		happen_offline(a);
}

#define RUNS   60
#define RUN_NS (10 * 60 * NSEC_PER_SEC)

/* Time has passed up to now: what each tenant had of it. */
static void advance(uint64_t when)
{
	double ns = when - w.now;
	int t, n;

	w.now = when;
	for (t = 0; t < TENANTS; t++)
		for (n = 0; n < NODES; n++) {
			const struct gpreempt_policy_tenant *wish = &w.tenant[t];
			struct seat *s = &w.seat[t][n];
			double most = wish->max ? wish->max / 100.0 : 1;
			double lag = wish->min / 100.0 * (w.options.window_ns + 2.0 * w.late + 2);

			s->above_min += s->works ? s->runs * ns - ns * wish->min / 100 : 0;
			s->above_max += s->runs * ns - ns * most;
			/* With slots the minimum of one waits for that of another. */
			if (s->above_min > s->best || w.options.slots)
				s->best = s->above_min;
			if (s->above_max < s->least || s->released)
				s->least = s->above_max;
			if (w.fail_percent)
				continue;
			HOLDS(wish->gang || wish->max || s->above_min >= s->best - lag);
			HOLDS(s->above_max <= s->least + most * (1 - most) * w.options.period_ns +
						      2.0 * w.late + 2 ||
			      wish->gang);
		}
}

/* Check that a switch is right, seen from outside. */
static void watch_switch(struct process *a, const struct gpreempt_policy_action *action)
{
	uint64_t add = action->nodes & ~a->held, drop = a->held & ~action->nodes, rest;

	HOLDS(is_offline(a));
	HOLDS(add | drop);
	HOLDS(action->suspend == !!add);
	HOLDS(w.now >= a->until || !action->suspend);
	w.reasons[action->reason]++;
	switch (action->reason) {
	case GPREEMPT_POLICY_ARRIVAL:
		HOLDS(wanted_within(add, w.options.linger_ns) || is_gang(a));
		HOLDS(is_gang(a) || !(add & a->idle));
		break;
	case GPREEMPT_POLICY_IDLE:
		/* Nodes that it has left are resumed, too. */
		for (rest = drop & a->nodes; rest && !is_gang(a); rest &= rest - 1)
			HOLDS(!wanted_within(rest & -rest, w.options.linger_ns));
		break;
	case GPREEMPT_POLICY_SHARE:
		HOLDS(w.tenant[a->tenant].min);
		break;
	case GPREEMPT_POLICY_RELEASED:
		HOLDS(w.now < a->until);
		break;
	case GPREEMPT_POLICY_DUTY:
		HOLDS(w.tenant[a->tenant].max || w.fail_percent);
		break;
	case GPREEMPT_POLICY_PARK:
		HOLDS(may_park(a));
		break;
	default:
		HOLDS(action->reason == GPREEMPT_POLICY_TURN);
		HOLDS(w.options.slots || !action->suspend);
	}
	a->idle &= ~drop;
	a->held = action->nodes;
	w.switches++;
}

static struct process *find(unsigned int number)
{
	int i;

	for (i = 0; i < ENTITIES; i++)
		if (w.process[i].number == (int)number)
			return &w.process[i];
	HOLDS(!"an entity that is there");
	return NULL;
}

/* To suspend or resume it on these nodes may fail. */
static void call(struct process *a, uint64_t nodes, bool suspend)
{
	if (!nodes || draw(100) >= w.fail_percent)
		return;
	a->held ^= nodes;
	a->blocked = w.now + draw_ns(5 * MS);
	gp_policy_failed(w.policy, a->number, nodes, suspend, a->blocked);
	HOLDS(w.policy->entity[a->number].held == a->held);
	/* The policy wants it no more, and takes no note of the second. */
	gp_policy_failed(w.policy, a->number, nodes, suspend, NEVER);
}

static void carry_out(const struct gpreempt_policy_action *action)
{
	struct process *a = find(action->entity);
	uint64_t before = a->held;

	watch_switch(a, action);
	call(a, action->nodes & ~before, true);
	call(a, before & ~action->nodes, false);
}

/* How many run there, or could. A gang is one. */
static unsigned int running_on(unsigned int n)
{
	unsigned int count = 0, gangs = 0;
	int i;

	for (i = 0; i < ENTITIES; i++) {
		const struct process *a = &w.process[i];

		if (!(work_of(a) & ~a->held & 1ULL << n) || w.now < a->until ||
		    w.policy->entity[a->number].parked)
			continue;
		count += !is_gang(a) || !(gangs >> a->tenant & 1);
		gangs |= is_gang(a) ? 1U << a->tenant : 0;
	}
	return count;
}

/* Check the state between two steps, for an offline process on a node. */
static void watch_seat(const struct process *a, unsigned int n)
{
	const struct gp_policy_seat *seat = &w.policy->tenant[a->tenant].seat[n];
	bool parked = w.policy->entity[a->number].parked, held = a->held >> n & 1;

	if (w.now < a->blocked || is_gang(a))
		return;
	/* No process stays suspended by oversight. */
	if (held && !parked && !seat->capped && !wanted_within(1ULL << n, w.options.linger_ns))
		HOLDS(w.fail_percent || (w.options.slots && running_on(n) >= w.options.slots));
	HOLDS(!held || w.now >= a->until);
	/* Online work is protected at once, unless a minimum is owed. */
	if (!held && w.now >= a->until && !seat->owed)
		HOLDS(!wanted_within(work_of(a) & 1ULL << n, 0));
}

static void watch_state(void)
{
	unsigned int n;
	int i, j;

	for (i = 0; i < TENANTS * NODES; i++)
		w.seat[i / NODES][i % NODES].works = w.seat[i / NODES][i % NODES].runs =
			w.seat[i / NODES][i % NODES].released = false;
	for (i = 0; i < ENTITIES; i++) {
		const struct process *a = &w.process[i];

		for (n = 0; is_offline(a) && n < NODES; n++) {
			bool works = work_of(a) >> n & 1 && !w.policy->entity[a->number].parked;

			watch_seat(a, n);
			w.seat[a->tenant][n].works |= works;
			w.seat[a->tenant][n].released |= w.now < a->until;
			w.seat[a->tenant][n].runs |= works && !(a->held >> n & 1);
		}
		/* Processes of a gang that are not released are in the same state. */
		for (j = 0; j < i && is_gang(a) && !w.fail_percent; j++) {
			const struct process *b = &w.process[j];

			HOLDS(!is_offline(b) || b->tenant != a->tenant || w.now < a->until ||
			      w.now < b->until || w.now < a->blocked || w.now < b->blocked ||
			      may_park(a) || may_park(b) || !a->held == !b->held);
		}
	}
	for (n = 0; n < NODES && w.options.slots && !w.fail_percent; n++)
		HOLDS(running_on(n) <= w.options.slots);
}

static uint64_t step(void)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
	struct gpreempt_policy_action again[GPREEMPT_POLICY_ENTITIES];
	static struct gpreempt_policy copy;
	uint64_t wake, wake_again;
	unsigned int n, i;
	bool twice = draw(64) == 0;

	if (twice)
		copy = *w.policy;
	n = gpreempt_policy_step(w.policy, w.now, actions, &wake);
	/* The step is a function: the same again from the same state. */
	if (twice) {
		HOLDS(gpreempt_policy_step(&copy, w.now, again, &wake_again) == n);
		HOLDS(wake == wake_again);
	}
	HOLDS(wake > w.now);
	for (i = 0; i < n; i++) {
		HOLDS(!i || actions[i].suspend <= actions[i - 1].suspend);
		carry_out(&actions[i]);
	}
	/* A failure has changed the state: ask again for when to wake up. */
	if (n && w.fail_percent)
		n = gpreempt_policy_step(w.policy, w.now, actions, &wake);
	for (i = 0; i < n && w.fail_percent; i++)
		carry_out(&actions[i]);
	watch_state();
	return wake;
}

static uint64_t next_event(void)
{
	uint64_t next = NEVER;
	int i;

	for (i = 0; i < ENTITIES; i++)
		if (w.process[i].next < next)
			next = w.process[i].next;
	return next;
}

/* Other figures while it runs: what is suspended before and after gets no action. */
static void change_figures(void)
{
	w.options.slots = draw(2) ? draw(4) : 0;
	w.options.order = orders[draw(ARRAY_SIZE(orders))];
	HOLDS(!gp_policy_change(w.policy, &w.options));
}

static void choose_options(void)
{
	static const uint64_t means[] = { 200 * US, 5 * MS, 60 * MS };

	w.options = (struct gpreempt_policy_options){
		.size = sizeof(w.options),
		.linger_ns = draw(3) ? draw_ns(2 * MS) : 0,
		.slice_ns = draw_ns(50 * MS),
		.period_ns = 100 + draw_ns(200 * MS),
		.slots = draw(2) ? 1 + draw(3) : 0,
		.order = orders[draw(ARRAY_SIZE(orders))],
	};
	w.options.window_ns = w.options.period_ns * (1 + draw(10));
	if (draw(3) == 0)
		w.options.park_ns = draw_ns(300 * MS);
	w.mean_busy = means[draw(3)];
	w.mean_idle = means[draw(3)];
	w.late = draw(2) ? draw_ns(MS) : 0;
	w.fail_percent = draw(4) ? 0 : 20;
	w.churn = draw(2);
}

static void choose_tenants(void)
{
	const struct gpreempt_policy_tenant online = {
		.size = sizeof(online),
		.role = GPREEMPT_ROLE_ONLINE,
	};
	int i;

	HOLDS(!gpreempt_policy_set(w.policy, ONLINE, &online));
	for (i = 0; i < TENANTS; i++) {
		w.tenant[i] = (struct gpreempt_policy_tenant){
			.size = sizeof(w.tenant[i]),
			.role = GPREEMPT_ROLE_OFFLINE,
			.weight = draw(3) ? draw(10001) : 0,
			.min = draw(2) ? draw(91) : 0,
			.deadline_ns = draw_ns(200 * MS),
			.gang = draw(4) == 0,
		};
		if (draw(4) == 0)
			w.tenant[i].max = w.tenant[i].min + 1 + draw(99 - w.tenant[i].min);
		HOLDS(!gpreempt_policy_set(w.policy, i, &w.tenant[i]));
	}
}

/* All online work ends, and no one waits for a turn: so must every hold end. */
static void end_all(void)
{
	uint64_t wake;
	int i;

	for (i = 0; i < ENTITIES; i++) {
		struct process *a = &w.process[i];

		a->next = NEVER;
		if (a->number >= 0)
			gpreempt_policy_remove(w.policy, a->number);
		if (a->tenant == ONLINE || (a->number >= 0 && w.tenant[a->tenant].max))
			a->number = -1;
		if (a->number < 0)
			continue;
		a->number = gpreempt_policy_add(w.policy, a->tenant, a->nodes);
		w.policy->entity[a->number].held = a->held = a->nodes;
	}
	w.fail_percent = 0;
	w.options.slots = 0;
	HOLDS(!gp_policy_change(w.policy, &w.options));
	wake = step();
	HOLDS(wake == NEVER);
	for (i = 0; i < ENTITIES; i++)
		HOLDS(!is_offline(&w.process[i]) || !w.process[i].held);
}

static void simulate(unsigned int seed, uint64_t ns)
{
	uint64_t steps = 0, wake;
	int i;

	gpreempt_policy_free(w.policy);
	memset(&w, 0, sizeof(w));
	w.seed = seed;
	w.state = seed;
	choose_options();
	HOLDS(!gpreempt_policy_new(&w.options, 0, &w.policy));
	choose_tenants();
	for (i = 0; i < ENTITIES; i++) {
		w.process[i].number = -1;
		w.process[i].next = draw_ns(draw(3) ? 10 * MS : 10000 * MS);
	}
	wake = step();
	/* Each run has its end by time or by effort. */
	while (w.now < ns && steps++ < 20000) {
		uint64_t event = next_event();

		if (event <= wake || wake == NEVER) {
			advance(event > w.now ? event : w.now);
			for (i = 0; i < ENTITIES; i++)
				if (w.process[i].next <= w.now)
					happen(&w.process[i]);
			if (draw(1000) == 0)
				change_figures();
		} else {
			advance(wake);
			if (w.late)
				advance(w.now + draw(w.late + 1));
		}
		wake = step();
	}
	end_all();
}

TEST(random_worlds)
{
	const char *one = getenv("GP_SIM_SEED");
	uint64_t simulated = 0, switches = 0, reasons[GPREEMPT_POLICY_REASONS] = { 0 };
	unsigned int seed, i;

	if (one) {
		simulate(atoi(one), RUN_NS);
		return;
	}
	for (seed = 1; seed <= RUNS; seed++) {
		simulate(seed, RUN_NS);
		simulated += w.now;
		switches += w.switches;
		for (i = 0; i < GPREEMPT_POLICY_REASONS; i++)
			reasons[i] += w.reasons[i];
	}
	printf("simulated %.1f hours, %llu switches\n", simulated / 3600e9,
	       (unsigned long long)switches);
	/* A simulator in which nothing happens would find nothing. */
	for (i = 0; i < GPREEMPT_POLICY_REASONS; i++)
		ck_assert_msg(i == GPREEMPT_POLICY_JOB_CONTROL || reasons[i] > 100, "%s: %llu",
			      gpreempt_policy_reason_name(i), (unsigned long long)reasons[i]);
}

int main(void)
{
	tcase_set_timeout(unit_case(), 300);
	return unit_run();
}
