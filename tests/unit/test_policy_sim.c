// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy of the scheduler, simulated: hours of made-up online and offline processes on
 * up to eight nodes, in random mixtures, against what must hold whatever happens. The checks
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

/* A process of the made-up world, and what is watched of it. */
struct process {
	int number; /* at the policy; -1: it is not there */
	enum gpreempt_role role;
	unsigned int job;
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
	uint64_t failed;  /* nodes on which an action failed: */
	uint64_t blocked; /* not before then */
	uint64_t since;	  /* when it was suspended or resumed */
	uint64_t seen;	  /* up to when the next three are right */
	uint64_t ran;
	double lead; /* ran, less its share of the time */
	double best; /* largest lead so far */
	bool forced; /* runs because of its share */
	uint64_t forced_ran;
	bool owed;	  /* started because of its share */
	uint64_t told;	  /* time that it ran in holds, reported so far */
	bool ran_in_hold; /* ran in the present hold */
};

struct world {
	struct gpreempt_policy_options options;
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
};

/* Not ck_assert(): that writes to a file each time. */
#define HOLDS(condition)                                                                         \
	do {                                                                                     \
		if (!(condition))                                                                \
			ck_abort_msg("seed %u, at %.6f s: %s", w.seed, w.now / 1e9, #condition); \
	} while (0)

static struct world w;

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
	uint64_t nodes = 1ULL << draw(8);

	while (draw(3) == 0)
		nodes |= 1ULL << draw(8);
	return nodes;
}

static bool is_active(const struct process *a)
{
	return a->number >= 0 && a->role == GPREEMPT_ROLE_ONLINE && (a->busy || a->requests);
}

/* Was there online work on these nodes within the last so many ns? */
static bool wanted_within(uint64_t nodes, uint64_t ns)
{
	int i;

	for (i = 0; i < ENTITIES; i++) {
		const struct process *a = &w.process[i];

		if (a->number < 0 || a->role != GPREEMPT_ROLE_ONLINE || !(a->nodes & nodes))
			continue;
		if (is_active(a) || (a->last_active != NEVER && w.now < a->last_active + ns))
			return true;
	}
	return false;
}

/*
 * Some of these nodes of the process: the nodes where its job is in the way of online work, but
 * for those who are released.
 */
static uint64_t with_job(const struct process *a, uint64_t nodes)
{
	int i;

	if (!a->job)
		return nodes;
	for (i = 0; i < ENTITIES; i++)
		if (w.process[i].number >= 0 && w.process[i].job == a->job &&
		    w.now >= w.process[i].until)
			nodes |= w.process[i].nodes & (w.process[i].held | ~w.process[i].idle);
	return nodes;
}

/* Is an offline process wanted off each of these of its nodes, or was so lately? */
static bool wanted_on_each(const struct process *a, uint64_t nodes)
{
	uint64_t rest;

	for (rest = nodes; rest; rest &= rest - 1)
		if (!wanted_within(a->job ? with_job(a, nodes) : rest & -rest, w.options.linger_ns))
			return false;
	return true;
}

static void come(struct process *a)
{
	bool offline = w.options.duty || draw(2);

	*a = (struct process){
		.role = offline ? GPREEMPT_ROLE_OFFLINE : GPREEMPT_ROLE_ONLINE,
		.job = offline && draw(3) == 0 ? 1 + draw(2) : 0,
		.nodes = draw_nodes(),
		.next = w.now + draw_ns(w.mean_idle),
		.last_active = NEVER,
		.since = w.now,
		.seen = w.now,
	};
	a->number = gpreempt_policy_add(w.policy, a->role, a->nodes, a->job, w.now);
	HOLDS(a->number >= 0);
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
	int open = a->requests;

	if (draw(2)) {
		a->requests++;
		HOLDS(gpreempt_policy_begin(w.policy, a->number) == open + 1);
	} else if (open) {
		a->requests--;
		HOLDS(gpreempt_policy_end(w.policy, a->number, w.now) == open - 1);
		if (!a->busy && !a->requests)
			a->last_active = w.now;
	} else {
		HOLDS(gpreempt_policy_end(w.policy, a->number, w.now) < 0);
	}
}

static void happen_online(struct process *a)
{
	if (draw(10) == 0)
		tell_request(a);
	else
		tell_busy(a, !a->busy);
	a->next = w.now + 1 + draw_ns(is_active(a) ? w.mean_busy : w.mean_idle);
}

/* Some of its queues ran although it is suspended. */
static void run_in_hold(struct process *a)
{
	uint64_t since = a->told > a->since ? a->told : a->since;
	uint64_t ns = draw(2) ? w.now - since : (w.now - since) / 16;

	a->told = w.now;
	a->ran_in_hold = true;
	a->ran += ns;
	a->lead += ns;
	if (a->lead > a->best)
		a->best = a->lead;
	gp_policy_ran(w.policy, a->number, ns, w.now);
}

static void happen_offline(struct process *a)
{
	if (a->held && draw(4) == 0) {
		run_in_hold(a);
	} else if (draw(4) == 0) {
		a->nodes = draw_nodes();
		gp_policy_nodes(w.policy, a->number, a->nodes);
	} else if (draw(3) == 0) {
		a->idle = draw(2) ? draw_nodes() : 0;
		gp_policy_idle(w.policy, a->number, a->idle);
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
	else if (a->role == GPREEMPT_ROLE_ONLINE)
		happen_online(a);
	else
		happen_offline(a);
}

#define RUNS   60
#define RUN_NS (10 * 60 * NSEC_PER_SEC)

/* Returns the longest hold. */
static uint64_t longest(void)
{
	return w.options.window_ns ? w.options.window_ns : w.options.max_hold_ns;
}

/* Returns the share, less the caller's lateness in one hold. */
static double allowed_lag(void)
{
	return w.options.share / 100.0 * (longest() + 2.0 * w.late + 2);
}

/* Time has passed up to now. */
static void watch_time(struct process *a)
{
	double ns = w.now - a->seen;

	a->seen = w.now;
	if (a->number < 0 || a->role != GPREEMPT_ROLE_OFFLINE)
		return;
	a->ran += a->held ? 0 : ns;
	if (a->forced)
		a->forced_ran += ns;
	/* A resume that fails is not the policy's doing. */
	if (w.options.duty || (a->held && w.fail_percent))
		return;
	a->lead += (a->held ? 0 : ns) - ns * w.options.share / 100;
	if (a->lead > a->best)
		a->best = a->lead;
	HOLDS(a->lead >= a->best - allowed_lag());
}

/* Check that a switch is right, seen from outside. */
static void watch_switch(struct process *a, const struct gpreempt_policy_action *action)
{
	uint64_t add = action->nodes & ~a->held, drop = a->held & ~action->nodes;

	HOLDS(a->number >= 0 && a->role == GPREEMPT_ROLE_OFFLINE);
	HOLDS(add | drop);
	HOLDS(action->suspend == !!add);
	HOLDS(!(action->nodes & ~a->nodes & ~a->failed));
	HOLDS(w.now >= a->blocked || !((add | drop) & a->failed));
	switch (action->reason) {
	case GPREEMPT_POLICY_ARRIVAL:
		HOLDS(action->suspend && !w.options.duty);
		HOLDS(wanted_on_each(a, add));
		HOLDS(a->job || !(add & a->idle));
		HOLDS(w.now >= a->until);
		/*
		 * The entity has had its due, if that was the reason why it ran; to the ns. A
		 * part of it may have come while a resume failed.
		 */
		HOLDS(!a->forced || a->job || w.fail_percent ||
		      a->forced_ran + 1 >= w.options.min_run_ns);
		break;
	case GPREEMPT_POLICY_IDLE:
		HOLDS(!action->suspend && !w.options.duty);
		/* Nodes that it has left are resumed, too. */
		drop &= a->nodes;
		HOLDS(!drop || !wanted_within(with_job(a, drop), w.options.linger_ns));
		break;
	case GPREEMPT_POLICY_SHARE:
		HOLDS(!(action->nodes & ~a->failed) && !w.options.duty);
		HOLDS(w.options.share || w.options.min_run_ns);
		break;
	case GPREEMPT_POLICY_RELEASED:
		HOLDS(!action->suspend && w.now < a->until);
		break;
	default:
		HOLDS(action->reason == GPREEMPT_POLICY_DUTY);
		HOLDS(w.options.duty);
	}
	if (!a->held != !action->nodes) {
		a->since = w.now;
		a->ran_in_hold = false;
	}
	a->held = action->nodes;
	a->forced = action->reason == GPREEMPT_POLICY_SHARE && !a->held;
	a->forced_ran = 0;
	/*
	 * The due stays owed when that fails, and the entity runs later for another reason; and
	 * it may come due while a resume has failed.
	 */
	a->owed = action->reason == GPREEMPT_POLICY_SHARE || (a->owed && !a->held) ||
		  (w.fail_percent && w.policy->entity[a->number].must_run);
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
	a->forced = false;
	a->failed = w.now < a->blocked ? a->failed | nodes : nodes;
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

/* Check the state between two steps, for each offline process. */
static void watch_state(const struct process *a, uint64_t wake)
{
	bool owes = w.options.share || w.options.min_run_ns;

	if (a->number < 0 || a->role != GPREEMPT_ROLE_OFFLINE)
		return;
	/* No process stays suspended by oversight. */
	HOLDS(!a->held || w.now >= a->until || w.now < a->blocked);
	if (a->held && (owes || w.options.duty)) {
		HOLDS(wake != NEVER);
		HOLDS(w.fail_percent || a->ran_in_hold || w.now - a->since <= longest());
	}
	if (!w.options.duty && w.now >= a->blocked)
		HOLDS(wanted_on_each(a, a->held));
	/* Online work is protected at once, unless there is a reason. */
	if (!a->job && w.now >= a->until && !a->owed && w.now >= a->blocked && !w.options.duty)
		HOLDS(!wanted_within(a->nodes & ~a->held & ~a->idle, 0));
}

/* Processes of a job that are not released are in the same state. */
static void watch_jobs(void)
{
	int i, j;

	if (w.fail_percent)
		return;
	for (i = 0; i < ENTITIES; i++)
		for (j = 0; j < i; j++) {
			const struct process *a = &w.process[i];
			const struct process *b = &w.process[j];

			if (a->number < 0 || b->number < 0 || !a->job || a->job != b->job ||
			    w.now < a->until || w.now < b->until || w.now < a->blocked ||
			    w.now < b->blocked)
				continue;
			HOLDS(!a->held == !b->held);
		}
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
	for (i = 0; i < ENTITIES; i++)
		watch_state(&w.process[i], w.fail_percent ? 0 : wake);
	watch_jobs();
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

static void advance(uint64_t when)
{
	int i;

	w.now = when;
	for (i = 0; i < ENTITIES; i++)
		watch_time(&w.process[i]);
}

static void choose_options(void)
{
	static const uint64_t means[] = { 200 * US, 5 * MS, 60 * MS };

	w.options = (struct gpreempt_policy_options){
		.size = sizeof(w.options),
		.linger_ns = draw(3) ? draw_ns(2 * MS) : 0,
		.max_hold_ns = 1 + draw_ns(200 * MS),
		.share = draw(4) ? draw(91) : 0,
		.min_run_ns = draw(3) ? 0 : draw_ns(5 * MS),
	};
	if (draw(6) == 0) {
		w.options.duty = 1 + draw(99);
		w.options.max_hold_ns += 100;
		w.options.period_ns = w.options.max_hold_ns;
	}
	if (draw(2))
		w.options.window_ns = w.options.max_hold_ns * (1 + draw(10));
	w.mean_busy = means[draw(3)];
	w.mean_idle = means[draw(3)];
	w.late = draw(2) ? draw_ns(MS) : 0;
	w.fail_percent = draw(4) ? 0 : 20;
	w.churn = draw(2);
}

/* All online work ends: so must every hold. */
static void end_all(uint64_t wake)
{
	int i;

	for (i = 0; i < ENTITIES; i++) {
		struct process *a = &w.process[i];

		a->next = NEVER;
		if (!is_active(a))
			continue;
		while (a->requests) {
			gpreempt_policy_end(w.policy, a->number, w.now);
			a->requests--;
		}
		a->busy = true;
		tell_busy(a, false);
	}
	w.fail_percent = 0;
	wake = step();
	for (i = 0; i < 10000 && wake != NEVER && !w.options.duty; i++) {
		advance(wake);
		wake = step();
	}
	HOLDS(w.options.duty || wake == NEVER);
	for (i = 0; i < ENTITIES; i++)
		HOLDS(w.options.duty || w.process[i].number < 0 || !w.process[i].held);
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
		} else {
			advance(wake);
			if (w.late)
				advance(w.now + draw(w.late + 1));
		}
		wake = step();
	}
	end_all(wake);
}

TEST(random_worlds)
{
	const char *one = getenv("GP_SIM_SEED");
	uint64_t simulated = 0, switches = 0;
	unsigned int seed;

	if (one) {
		simulate(atoi(one), RUN_NS);
		return;
	}
	for (seed = 1; seed <= RUNS; seed++) {
		simulate(seed, RUN_NS);
		simulated += w.now;
		switches += w.switches;
	}
	printf("simulated %.1f hours, %llu switches\n", simulated / 3600e9,
	       (unsigned long long)switches);
	/* A simulator in which nothing happens would find nothing. */
	ck_assert_uint_gt(switches, 50000);
}

int main(void)
{
	tcase_set_timeout(unit_case(), 300);
	return unit_run();
}
