// SPDX-License-Identifier: GPL-2.0-only
/* One cycle: suspend, hold, resume, wait. */
#include <errno.h>

#include "ctl/preempt/preempt.h"
#include "shared/clock.h"

/* When the last slot of all was seen empty; unknown if one is not known. */
static void note_slots(struct preempt_cycle *all, const struct gpreempt_member *m, bool first)
{
	const struct gpreempt_outcome *o = &m->outcome;

	if (o->slots_ns == GPREEMPT_UNKNOWN || (!first && all->slots_ns == GPREEMPT_UNKNOWN)) {
		all->slots_ns = GPREEMPT_UNKNOWN;
		all->resolution_ns = GPREEMPT_UNKNOWN;
		return;
	}
	if (first || all->slots_ns < o->slots_ns + (int64_t)m->start_ns)
		all->slots_ns = o->slots_ns + m->start_ns;
	if (first || all->resolution_ns < o->resolution_ns)
		all->resolution_ns = o->resolution_ns;
}

static void note_suspend(struct preempt *p, const struct gpreempt_gang_outcome *out)
{
	size_t i;

	p->now = (struct preempt_cycle){
		.requested = out->requested,
		.done = out->done,
		.suspend_ns = p->n_targets > 1 ? out->span_ns : p->members[0].outcome.ioctl_ns,
	};
	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];

		preempt_find_target(p, m->pid)->now = (struct preempt_cycle){
			.requested = m->outcome.requested,
			.done = m->outcome.done,
			.suspend_ns = m->outcome.ioctl_ns,
			.slots_ns = m->outcome.slots_ns,
			.resolution_ns = m->outcome.resolution_ns,
		};
		note_slots(&p->now, m, i == 0);
	}
}

/*
 * The slots were empty after the suspend; what ran after that makes it no "yes",
 * and a "no" when it was a tenth of the time.
 */
static void note_released(struct preempt_cycle *c, uint64_t ns)
{
	if (ns > c->released_ns)
		c->released_ns = ns;
	if (ns && c->verdict == GPREEMPT_VERIFIED) {
		c->verdict = GPREEMPT_NOT_CHECKED;
		c->by = GPREEMPT_BY_NOTHING;
	}
	if (ns > c->held_ns / 10)
		c->verdict = GPREEMPT_CONTRADICTED;
}

static void note_resume(struct preempt *p, uint64_t held_ns,
			const struct gpreempt_gang_outcome *out)
{
	size_t i;

	p->now.held_ns = held_ns;
	p->now.resume_ns = p->n_targets > 1 ? out->span_ns : p->members[0].outcome.ioctl_ns;
	for (i = 0; i < p->n_targets; i++) {
		struct preempt_target *t = preempt_find_target(p, p->members[i].pid);

		t->now.resume_ns = p->members[i].outcome.ioctl_ns;
		t->now.held_ns = held_ns;
		note_released(&t->now, p->members[i].outcome.released_ns);
		note_released(&p->now, p->members[i].outcome.released_ns);
	}
}

/* Why a call on all targets failed: the reason of the first that did. */
static int fail_members(struct preempt *p, int code)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++) {
		if (!p->members[i].code)
			continue;
		p->err = p->members[i].error;
		if (p->err.reason)
			return code;
	}
	return ctl_set_error(&p->err, code, GPREEMPT_SYSTEM, p->targets[0].pid, "measuring");
}

/* 0, or the first error; what came of each is in p->members. */
static int ask(struct preempt *p, enum disturb_op op, struct gpreempt_gang_outcome *out)
{
	const struct gpreempt_filter *which = &p->args->targets.queues;
	int ret;

	disturb_begin(p->disturb, op);
	ret = op == DISTURB_SUSPEND ? gpreempt_gang_suspend(p->gang, which, out) :
				      gpreempt_gang_resume(p->gang, which, out);
	disturb_end(p->disturb);
	gpreempt_gang_members(p->gang, p->members, p->n_targets);
	return ret;
}

static int call(struct preempt *p, enum disturb_op op, struct gpreempt_gang_outcome *out)
{
	int ret = ask(p, op, out);

	while (ret && op == DISTURB_SUSPEND && preempt_change_route(p))
		ret = ask(p, op, out);
	return ret ? fail_members(p, ret) : 0;
}

/* Is what is suspended out of its slots? */
static void verify_all(struct preempt *p)
{
	static const int weight[] = {
		[GPREEMPT_VERIFIED] = 0,
		[GPREEMPT_NOT_CHECKED] = 1,
		[GPREEMPT_CONTRADICTED] = 2,
	};
	size_t i;

	gpreempt_gang_verify(p->gang);
	gpreempt_gang_members(p->gang, p->members, p->n_targets);
	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];
		struct preempt_cycle *c = &preempt_find_target(p, m->pid)->now;
		int more = weight[m->verdict] - weight[p->now.verdict];

		c->verdict = m->verdict;
		c->by = m->verified_by;
		/* Of two that say the same, the one that has seen less. */
		if (!i || more > 0 || (!more && c->by < p->now.by)) {
			p->now.verdict = c->verdict;
			p->now.by = c->by;
		}
	}
}

static int keep(struct preempt_figures *f, struct preempt_cycle *now, bool first)
{
	int ret = 0;

	now->succeeded = now->requested && now->done == now->requested &&
			 now->verdict != GPREEMPT_CONTRADICTED;
	f->succeeded += now->succeeded;
	f->verdicts[now->verdict]++;
	f->by_waves += now->by == GPREEMPT_BY_SLOTS_WAVES;
	if (!now->requested)
		return 0;
	if (first)
		f->first_ns = now->suspend_ns;
	else
		ret = preempt_add_sample(&f->suspend, now->suspend_ns);
	if (!ret && !first && now->slots_ns != GPREEMPT_UNKNOWN) {
		ret = preempt_add_sample(&f->slots, now->slots_ns);
		if (!ret)
			ret = preempt_add_sample(&f->resolution, now->resolution_ns);
	}
	return ret ? ret : preempt_add_sample(&f->resume, now->resume_ns);
}

static int keep_all(struct preempt *p)
{
	bool first = p->cycles == 1;
	size_t i;
	int ret;

	ret = keep(&p->all, &p->now, first);
	for (i = 0; i < p->n_targets && !ret; i++)
		ret = keep(&p->targets[i].figures, &p->targets[i].now, first);
	return ret ? ctl_set_error(&p->err, ret, GPREEMPT_SYSTEM, 0, "keeping the samples") : 0;
}

int preempt_cycle(struct preempt *p)
{
	struct gpreempt_gang_outcome out;
	int ret, online = 0;
	uint64_t start;

	p->cycles++;
	ret = call(p, DISTURB_SUSPEND, &out);
	if (ret)
		return ret;
	start = shr_now_ns();
	note_suspend(p, &out);
	verify_all(p);
	if (p->args->command)
		online = preempt_online(p);
	else
		ret = preempt_wait(p, p->args->hold_ns, -1);
	if (online && online != -ECHILD)
		ret = online;
	if (ret)
		return ret;
	start = shr_now_ns() - start;
	ret = call(p, DISTURB_RESUME, &out);
	if (ret)
		return ret;
	note_resume(p, start, &out);
	ret = keep_all(p);
	if (ret)
		return ret;
	preempt_put_samples(p);
	preempt_print_cycle(p);
	if (online)
		return online;
	return preempt_wait(p, p->args->interval_ns, -1);
}
