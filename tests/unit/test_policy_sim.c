// SPDX-License-Identifier: GPL-2.0-only
/*
 * The policy of the scheduler, simulated: hours of made-up online and offline
 * processes on up to eight nodes, in random mixtures, against what must hold
 * whatever happens. The checks know the rules only from what the header
 * promises: they watch from outside who is busy and who is suspended.
 *
 * GP_SIM_SEED=n has one run of its own; the seed is in each failure.
 */
#include "lib/preempt/policy.h"
#include "unit-world.h"

#define RUNS   60
#define RUN_NS (10 * 60 * NSEC_PER_SEC)

/* Returns the share, less the caller's lateness in one hold. */
static double allowed_lag(void)
{
	return w.options.share / 100.0 * (w.options.max_hold_ns + 2.0 * w.late + 2);
}

/* Time has passed up to now. */
static void watch_time(struct process *a)
{
	double ns = w.now - a->seen;

	a->seen = w.now;
	if (a->number < 0 || a->role != GPREEMPT_ROLE_OFFLINE)
		return;
	a->ran += a->suspended ? 0 : ns;
	if (a->forced)
		a->forced_ran += ns;
	/* A resume that fails is not the policy's doing. */
	if (w.options.duty || (a->suspended && w.fail_percent))
		return;
	a->lead += (a->suspended ? 0 : ns) - ns * w.options.share / 100;
	if (a->lead > a->best)
		a->best = a->lead;
	HOLDS(a->lead >= a->best - allowed_lag());
}

/* Check that a switch is right, seen from outside. */
static void watch_switch(struct process *a, const struct gpreempt_policy_action *action)
{
	uint64_t nodes = nodes_of_job(a);

	HOLDS(a->number >= 0 && a->role == GPREEMPT_ROLE_OFFLINE);
	HOLDS(a->suspended != action->suspend);
	HOLDS(w.now >= a->blocked);
	switch (action->reason) {
	case GPREEMPT_POLICY_ARRIVAL:
		HOLDS(action->suspend && !w.options.duty);
		HOLDS(wanted_within(nodes, w.options.linger_ns));
		HOLDS(w.now >= a->until);
		/* The entity has had its due, if that was the reason why it ran; to the ns. */
		HOLDS(!a->forced || a->job || a->forced_ran + 1 >= w.options.min_run_ns);
		break;
	case GPREEMPT_POLICY_IDLE:
		HOLDS(!action->suspend && !w.options.duty);
		HOLDS(!wanted_within(nodes, w.options.linger_ns));
		break;
	case GPREEMPT_POLICY_SHARE:
		HOLDS(!action->suspend && !w.options.duty);
		HOLDS(w.options.share || w.options.min_run_ns);
		break;
	case GPREEMPT_POLICY_RELEASED:
		HOLDS(!action->suspend && w.now < a->until);
		break;
	default:
		HOLDS(action->reason == GPREEMPT_POLICY_DUTY);
		HOLDS(w.options.duty);
	}
	a->suspended = action->suspend;
	a->forced = action->reason == GPREEMPT_POLICY_SHARE;
	a->forced_ran = 0;
	/* The due stays owed when that fails, and the entity runs later for another reason. */
	a->owed = a->forced || (a->owed && !a->suspended);
	a->since = w.now;
	a->ran_in_hold = false;
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

static void carry_out(const struct gpreempt_policy_action *action)
{
	struct process *a = find(action->entity);

	watch_switch(a, action);
	if (draw(100) >= w.fail_percent)
		return;
	a->suspended = !a->suspended;
	a->forced = false;
	a->blocked = w.now + draw_ns(5 * MS);
	gp_policy_failed(w.policy, action->entity, a->blocked);
}

/* Check the state between two steps, for each offline process. */
static void watch_state(const struct process *a, uint64_t wake)
{
	bool owes = w.options.share || w.options.min_run_ns;

	if (a->number < 0 || a->role != GPREEMPT_ROLE_OFFLINE)
		return;
	/* No process stays suspended by oversight. */
	HOLDS(!a->suspended || w.now >= a->until || w.now < a->blocked);
	if (a->suspended && (owes || w.options.duty)) {
		HOLDS(wake != NEVER);
		HOLDS(w.fail_percent || a->ran_in_hold ||
		      w.now - a->since <= w.options.max_hold_ns);
	}
	if (a->suspended && !w.options.duty && w.now >= a->blocked)
		HOLDS(wanted_within(nodes_of_job(a), w.options.linger_ns));
	/* Online work is protected at once, unless there is a reason. */
	if (!a->suspended && !a->job && w.now >= a->until && !a->owed && w.now >= a->blocked &&
	    !w.options.duty)
		HOLDS(!wanted_within(a->nodes, 0));
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
			    w.now < a->until || w.now < b->until)
				continue;
			HOLDS(a->suspended == b->suspended);
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
		HOLDS(w.options.duty || w.process[i].number < 0 || !w.process[i].suspended);
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

/*
 * The scenario of the scheduler for an hour: requests of 20 ms, ten a second
 * and one after the other, on a GPU with an offline process. It gets what is
 * left but the linger times, and no more than one switch each way a request.
 */
TEST(one_hour_of_requests)
{
	struct gpreempt_policy_action actions[GPREEMPT_POLICY_ENTITIES];
	uint64_t now = 0, wake, held = 0, since = 0, switches = 0, n = 0;
	struct gpreempt_policy_options o = {
		.size = sizeof(o),
		.linger_ns = 2 * MS,
		.max_hold_ns = 1000 * MS,
		.share = 10,
	};
	unsigned int state = 7;

	ck_assert_int_eq(gpreempt_policy_new(&o, 0, &w.policy), 0);
	gpreempt_policy_add(w.policy, GPREEMPT_ROLE_ONLINE, 1, 0, 0);
	gpreempt_policy_add(w.policy, GPREEMPT_ROLE_OFFLINE, 1, 0, 0);
	while (now < 3600 * NSEC_PER_SEC) {
		gpreempt_policy_busy(w.policy, 0, true, now);
		if (gpreempt_policy_step(w.policy, now, actions, &wake)) {
			ck_assert(actions[0].suspend);
			since = now;
			switches++;
		}
		now += 20 * MS;
		gpreempt_policy_busy(w.policy, 0, false, now);
		ck_assert_uint_eq(gpreempt_policy_step(w.policy, now, actions, &wake), 0);
		ck_assert_uint_eq(wake, now + 2 * MS);
		/* Idle for 3 to 157 ms, 80 on average. */
		gpreempt_policy_step(w.policy, wake, actions, &wake);
		ck_assert(!actions[0].suspend);
		held += now + 2 * MS - since;
		switches++;
		now += 3 * MS + rand_r(&state) % (154 * MS);
		n++;
	}
	ck_assert_uint_eq(switches, 2 * n);
	/* 22 of 100 ms on average; the sum of 36,000 draws is within 1 %. */
	ck_assert_double_eq_tol(held / 3600e9, 0.22, 0.0022);
}

int main(void)
{
	tcase_set_timeout(unit_case(), 300);
	return unit_run();
}
