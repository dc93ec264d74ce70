// SPDX-License-Identifier: GPL-2.0-only
/* Which processes the words of the command line name now. */
#include "ctl/guard.h"

#define MAX_FOUND 512

static struct {
	struct guard_found list[MAX_FOUND];
	size_t n;
} found;

/* Processes of holders and their like; read once in each look, if at all. */
static struct {
	bool known;
	uint64_t pid[2 * MAX_FOUND];
	size_t n;
} owners;

bool guard_same(const struct gpreempt_target *a,
		const struct gpreempt_target *b)
{
	return a->pid == b->pid && a->start == b->start;
}

static bool knows(struct guard *guard, pid_t pid)
{
	size_t i;

	for (i = 0; i < guard->n_online; i++)
		if (guard->online[i].target.pid == pid)
			return true;
	return guard_find(guard, pid);
}

static int note_owner(void *arg, pid_t target)
{
	struct hold_owner owner;

	(void)arg;
	if (owners.n + 2 > ARRAY_SIZE(owners.pid) ||
	    hold_read_owner(target, &owner))
		return 0;
	owners.pid[owners.n++] = owner.pid;
	owners.pid[owners.n++] = owner.guardian;
	return 0;
}

static bool skip_holder(void *data, pid_t pid)
{
	struct guard *guard = data;
	size_t i;

	if (knows(guard, pid))
		return false;
	if (!owners.known) {
		owners.n = 0;
		hold_list(note_owner, NULL);
		owners.known = true;
	}
	for (i = 0; i < owners.n; i++)
		if (owners.pid[i] == (uint64_t)pid)
			return true;
	return false;
}

static struct guard_found *note(const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < found.n; i++)
		if (guard_same(&found.list[i].target, target))
			return &found.list[i];
	if (found.n == MAX_FOUND)
		return NULL;
	found.list[found.n] = (struct guard_found){ .target = *target };
	return &found.list[found.n++];
}

/* 0, also when nobody is there, or -errno. */
static int find_word(struct guard *guard, const char *word, bool online,
		     unsigned int job)
{
	struct gpreempt_targets *targets;
	struct gpreempt_error err;
	size_t i;
	int ret;

	ret = gpreempt_select(guard->g, &word, 1, skip_holder, guard, &targets,
			      &err);
	if (ret)
		return gpreempt_error_class(&err) == GPREEMPT_CLASS_NO_TARGET ?
		       0 : ret;
	for (i = 0; i < targets->count; i++) {
		struct guard_found *f = note(&targets->targets[i]);

		if (!f)
			break;
		if (online)
			f->online = true;
		else
			f->offline = true;
		f->job = job;
	}
	gpreempt_targets_free(targets);
	return 0;
}

int guard_find_all(struct guard *guard)
{
	const struct ctl_sched_args *args = &guard->args->sched;
	int ret = 0;
	size_t i;

	found.n = 0;
	owners.known = false;
	for (i = 0; i < args->online_words.n && !ret; i++)
		ret = find_word(guard, args->online_words.word[i], true, 0);
	for (i = 0; i < args->offline_words.n && !ret; i++)
		ret = find_word(guard, args->offline_words.word[i], false,
				args->gang ? i + 1 : 0);
	return ret;
}

const struct guard_found *
guard_find_found(const struct gpreempt_target *target, bool online)
{
	size_t i;

	for (i = 0; i < found.n; i++)
		if (guard_same(&found.list[i].target, target))
			return (online ? found.list[i].online :
					 found.list[i].offline) &&
			       !(found.list[i].online &&
				 found.list[i].offline) ?
			       &found.list[i] : NULL;
	return NULL;
}

const struct guard_found *guard_found_at(size_t i)
{
	return i < found.n ? &found.list[i] : NULL;
}
