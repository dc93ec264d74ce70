// SPDX-License-Identifier: LGPL-2.1-or-later
/* What is to be done now, and when to look again. */
#include "lib/policy/policy.h"

/* What the entities of a job have in common. */
struct job {
	bool needed;   /* online work wants the GPU of one of them */
	bool must_run; /* one of them has to be paid */
};

struct step {
	struct gpreempt_policy *p;
	uint64_t now;
	uint64_t wake;
	uint64_t nodes; /* where online work is */
	bool off;	/* with a duty: no process runs now */
	struct job jobs[GPREEMPT_POLICY_ENTITIES + 1];
	struct gpreempt_policy_action *actions;
	unsigned int count;
};

static void wake_at(struct step *s, uint64_t when)
{
	if (when > s->now && when < s->wake)
		s->wake = when;
}

/* How long an entity runs until its debt is paid. */
static uint64_t left_to_run(const struct step *s,
			    const struct gpreempt_policy_entity *a)
{
	uint64_t hold = s->p->options.max_hold_ns;
	unsigned __int128 left = (unsigned __int128)a->debt * s->p->payback_ns;

	left = (left - a->rest + hold - 1) / hold;
	return left < UINT64_MAX ? (uint64_t)left : UINT64_MAX;
}

static bool is_active(struct step *s, const struct gpreempt_policy_entity *a)
{
	uint64_t end;

	if (a->busy || a->requests)
		return true;
	if (a->idle_since == GPREEMPT_POLICY_NEVER)
		return false;
	end = gp_policy_later(a->idle_since, s->p->options.linger_ns);
	wake_at(s, end);
	return s->now < end;
}

static void look_at_duty(struct step *s)
{
	uint64_t period = s->p->options.period_ns, phase, run;

	if (!s->p->options.duty)
		return;
	phase = (s->now - s->p->start) % period;
	run = gp_policy_scale(period, s->p->options.duty, 100);
	s->off = phase >= run;
	wake_at(s, gp_policy_later(s->now, (s->off ? period : run) - phase));
}

/* Is it up to us to suspend it at all? */
static bool is_ours(struct step *s, const struct gpreempt_policy_entity *a)
{
	if (s->now >= a->until)
		return true;
	if (a->until != GPREEMPT_POLICY_NEVER)
		wake_at(s, a->until);
	return false;
}

static void note_debt(struct step *s, struct gpreempt_policy_entity *a)
{
	if (s->p->options.duty || !s->p->payback_ns)
		a->must_run = false;
	else if (a->debt >= s->p->options.max_hold_ns)
		a->must_run = true;
	else if (!a->debt)
		a->must_run = false;
}

static void look_at_offline(struct step *s, struct gpreempt_policy_entity *a)
{
	struct job *job = &s->jobs[a->job];

	gp_policy_count(s->p, a, s->now);
	note_debt(s, a);
	if (!a->job || !is_ours(s, a))
		return;
	job->needed |= a->nodes & s->nodes;
	job->must_run |= a->must_run;
}

/* Times at which the answer may be another, for an entity that is as it is. */
static void look_ahead(struct step *s, const struct gpreempt_policy_entity *a,
		       bool needed)
{
	uint64_t hold = s->p->options.max_hold_ns;

	if (s->p->options.duty || !s->p->payback_ns)
		return;
	if (a->suspended && a->debt < hold)
		wake_at(s, gp_policy_later(s->now, hold - a->debt));
	if (!a->suspended && a->must_run && needed)
		wake_at(s, gp_policy_later(s->now, left_to_run(s, a)));
}

static enum gpreempt_policy_reason why(const struct step *s, bool suspend,
				       bool ours, bool must_run)
{
	if (!suspend && !ours)
		return GPREEMPT_POLICY_RELEASED;
	if (s->p->options.duty)
		return GPREEMPT_POLICY_DUTY;
	if (suspend)
		return GPREEMPT_POLICY_ARRIVAL;
	return must_run ? GPREEMPT_POLICY_SHARE : GPREEMPT_POLICY_IDLE;
}

/* Switch an entity if it has to be, and if it is the turn of such a switch. */
static void decide(struct step *s, unsigned int i, bool suspends)
{
	struct gpreempt_policy_entity *a = &s->p->entity[i];
	struct job alone = { a->nodes & s->nodes, a->must_run };
	const struct job *job = a->job ? &s->jobs[a->job] : &alone;
	bool ours = is_ours(s, a);
	bool suspend = ours && (s->off || (job->needed && !job->must_run));

	if (suspend != suspends)
		return;
	if (suspend != a->suspended && s->now < a->retry) {
		wake_at(s, a->retry);
	} else if (suspend != a->suspended) {
		a->suspended = suspend;
		s->actions[s->count++] = (struct gpreempt_policy_action){
			.entity = i,
			.suspend = suspend,
			.reason = why(s, suspend, ours, job->must_run),
		};
	}
	look_ahead(s, a, ours && job->needed);
}

unsigned int gpreempt_policy_step(struct gpreempt_policy *p, uint64_t now,
				  struct gpreempt_policy_action *actions,
				  uint64_t *wake)
{
	struct step s = {
		.p = p,
		.now = now > p->now ? now : p->now,
		.wake = GPREEMPT_POLICY_NEVER,
		.actions = actions,
	};
	unsigned int i, suspends;

	p->now = s.now;
	look_at_duty(&s);
	for (i = 0; i < p->top; i++)
		if (p->entity[i].role == GPREEMPT_ROLE_ONLINE &&
		    is_active(&s, &p->entity[i]))
			s.nodes |= p->entity[i].nodes;
	for (i = 0; i < p->top; i++)
		if (p->entity[i].role == GPREEMPT_ROLE_OFFLINE)
			look_at_offline(&s, &p->entity[i]);
	/* What online work waits for comes first. */
	for (suspends = 2; suspends-- > 0;)
		for (i = 0; i < p->top; i++)
			if (p->entity[i].role == GPREEMPT_ROLE_OFFLINE)
				decide(&s, i, suspends);
	*wake = s.wake;
	return s.count;
}
