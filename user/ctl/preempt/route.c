// SPDX-License-Identifier: GPL-2.0-only
/* Which way each target is taken off its GPUs, and what a pause needs besides. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/owner-text.h"
#include "agent/pause-journal.h"
#include "agent/pause-repair.h"
#include "ctl/preempt/preempt.h"
#include "holder/holder.h"

bool preempt_is_recorded(const struct preempt_args *args)
{
	return args->targets.source.record || args->targets.source.replay;
}

/* text_of: one of owner-text.h */
static int fail(enum gpreempt_class (*text_of)(int, pid_t, char *, size_t),
		const struct preempt_target *t, int code)
{
	char text[HOLD_MAX_TEXT];
	enum gpreempt_class status;

	status = text_of(code, t->pid, text, sizeof(text));
	return ctl_fail_lines(status, text);
}

/* Keepers that there are see it and end; until then the lock is theirs. */
static void close_keepers(struct preempt_target *t)
{
	if (t->keepers.first)
		close(t->keepers.confirm);
	close(t->lock);
	t->lock = -1;
}

/*
 * A pause stays when this process is killed: it is in the journal, and keepers undo
 * it then. Until then resume is refused, by the owner that the lock names.
 */
static int prepare_pause(struct preempt_target *t)
{
	struct hold_owner owner = { .role = HOLD_ROLE_PREEMPT,
				    .pid = getpid() };
	struct pause_entry entry;
	int ret;

	pause_entry_init(&entry, t->pid, t->start);
	ret = pause_journal_write(&entry);
	if (ret)
		return fail(hold_not_noted_text, t, ret);
	ret = pause_keepers_start(t->lock, t->pid, t->start, 0, &t->keepers);
	if (ret)
		ret = fail(hold_no_keepers_text, t, ret);
	else
		ret = hold_write_owner(t->lock, &owner);
	if (ret < 0)
		ret = fail(hold_not_noted_text, t, ret);
	t->is_noted = !ret;
	if (!ret)
		return 0;
	pause_journal_remove(t->pid);
	close_keepers(t);
	return ret;
}

static int add_by_pause(struct preempt *p, struct preempt_target *t)
{
	struct gpreempt_error err;
	int ret = prepare_pause(t);

	if (ret)
		return ret;
	if (gpreempt_gang_add_by(p->gang, t->pid, GPREEMPT_ROUTE_PAUSE, &err))
		return ctl_fail(&err);
	t->route = GPREEMPT_ROUTE_PAUSE;
	return 0;
}

/* The process of a recording is not one of this host. */
static bool may_pause(const struct preempt *p, const struct gpreempt_error *err)
{
	return p->args->how == CTL_HOW_AUTO && !preempt_is_recorded(p->args) &&
	       pause_can_serve(err->reason) &&
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

	if (p->args->how == CTL_HOW_PAUSE)
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
static const struct gpreempt_member *find_refused(const struct preempt *p)
{
	size_t i;

	for (i = 0; i < p->n_targets; i++) {
		const struct gpreempt_member *m = &p->members[i];

		if (m->code && m->route == GPREEMPT_ROUTE_DEBUG &&
		    may_pause(p, &m->error))
			return m;
	}
	return NULL;
}

bool preempt_change_route(struct preempt *p)
{
	const struct gpreempt_member *member = find_refused(p);
	struct preempt_target *t =
		member ? preempt_find_target(p, member->pid) : NULL;

	if (!t)
		return false;
	gpreempt_gang_resume(p->gang, NULL, NULL);
	gpreempt_gang_remove(p->gang, t->pid);
	return !pause_instead(p, t, &member->error);
}

void preempt_end_pause(struct preempt *p, struct preempt_target *t)
{
	int ret;

	if (!t->is_noted)
		return;
	t->is_noted = false;
	ret = gpreempt_gang_remove(p->gang, t->pid);
	if (!ret || ret == -ESRCH)
		ret = pause_journal_remove(t->pid);
	close_keepers(t);
	if (!ret)
		hold_wait_for_end(t->pid);
	else
		ctl_note("process %d could not be released: %s; its keepers try "
			 "again: gpreempt-ctl status",
			 t->pid, strerror(-ret));
}
