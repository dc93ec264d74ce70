// SPDX-License-Identifier: GPL-2.0-only
/* Which way each target is taken off its GPUs, and what a pause needs besides. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/owner-text.h"
#include "agent/pause-repair.h"
#include "ctl/preempt/preempt.h"
#include "holder/holder.h"

static int add_by_pause(struct preempt *p, struct preempt_target *t)
{
	struct hold_owner owner = { .role = HOLD_ROLE_PREEMPT, .pid = getpid() };
	struct gpreempt_error err;
	int ret = pause_owner_begin(&t->owner, &owner);

	if (ret) {
		struct hold_reply why;

		if (t->owner.is_alone)
			hold_no_guardian(&why, ret, t->pid);
		else
			hold_not_noted(&why, ret, t->pid);
		return ctl_fail_lines(why.status, why.text);
	}
	if (gpreempt_gang_add_by(p->gang, t->pid, GPREEMPT_ROUTE_PAUSE, &err))
		return ctl_fail(&err);
	t->route = GPREEMPT_ROUTE_PAUSE;
	return 0;
}

static bool may_pause(const struct preempt *p, const struct gpreempt_error *err)
{
	return p->args->how == GPREEMPT_HOW_AUTO && pause_can_serve(err->reason) &&
	       !ctl_is_part(&p->args->targets.queues);
}

static int pause_instead(struct preempt *p, struct preempt_target *t,
			 const struct gpreempt_error *err)
{
	gpreempt_error_text(err, t->why, sizeof(t->why));
	ctl_note("%s; so it is paused", t->why);
	return add_by_pause(p, t);
}

int preempt_add_target(struct preempt *p, struct preempt_target *t)
{
	struct gpreempt_error err;

	if (p->args->how == GPREEMPT_HOW_PAUSE)
		return add_by_pause(p, t);
	if (!gpreempt_gang_add(p->gang, t->pid, &err))
		return 0;
	return may_pause(p, &err) ? pause_instead(p, t, &err) : ctl_fail(&err);
}

struct preempt_target *preempt_find_target(struct preempt *p, pid_t pid)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++)
		if (p->targets[i].pid == pid)
			return &p->targets[i];
	return NULL;
}

/* The driver refuses some only when it is asked to suspend. */
bool preempt_change_route(struct preempt *p)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];

		if (!m->code || m->route != GPREEMPT_ROUTE_DEBUG || !may_pause(p, &m->error))
			continue;
		gpreempt_gang_resume(p->gang, NULL, NULL);
		gpreempt_gang_remove(p->gang, m->pid);
		return !pause_instead(p, preempt_find_target(p, m->pid), &m->error);
	}
	return false;
}

void preempt_end_pause(struct preempt *p, struct preempt_target *t)
{
	int ret, end;

	if (!t->owner.is_noted)
		return;
	ret = gpreempt_gang_remove(p->gang, t->pid);
	if (ret == -ESRCH)
		ret = 0;
	end = pause_owner_end(&t->owner, !ret);
	if (!ret)
		ret = end;
	if (!ret)
		hold_wait_for_end(t->pid, 0);
	else
		ctl_note("process %d could not be released: %s; its guardian tries "
			 "again: gpreempt-ctl status",
			 t->pid, strerror(-ret));
}
