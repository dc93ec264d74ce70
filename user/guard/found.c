// SPDX-License-Identifier: GPL-2.0-only
/* The processes that the words of the command line name now. */
#include <errno.h>

#include "agent/find-targets.h"
#include "guard/guard.h"
#include "shared/clock.h"

/* A word, in its role. */
struct lookup {
	const char *word;
	bool online;
	unsigned int number;
	unsigned int job;
	struct guard_word *state;
};

static void note(struct guard *guard, const struct lookup *l,
		 const struct gpreempt_target *target)
{
	struct guard_candidates *found = &guard->found;
	struct guard_found *f = found->list;
	struct guard_found *end = f + found->n;

	while (f < end && !same_target(&f->target, target))
		f++;
	if (f == end) {
		if (found->n == GUARD_FOUND_MAX)
			return;
		found->n++;
		*f = (struct guard_found){ .target = *target };
	}
	if (l->online)
		f->online |= 1ULL << l->number;
	else
		f->offline |= 1ULL << l->number;
	f->job = l->job;
}

/*
 * Known from an earlier look: is it there still? A PID may have become that of
 * another process. When that cannot be found out now, nothing has changed.
 */
static void note_known(struct guard *guard, const struct lookup *l,
		       const struct gpreempt_target *target)
{
	uint64_t start;
	int ret = gpreempt_start_time(guard->g, target->pid, &start);

	if (ret == -ENOENT || ret == -ESRCH || (!ret && start != target->start))
		return;
	note(guard, l, target);
}

/* The word has failed: what it named when it last worked is kept. */
static void note_taken(struct guard *guard, const struct lookup *l)
{
	uint64_t bit = 1ULL << l->number;
	size_t i;

	for (i = 0; l->online && i < guard->n_online; i++)
		if (guard->online[i].words & bit)
			note_known(guard, l, &guard->online[i].target);
	for (i = 0; !l->online && i < guard->n_offline; i++)
		if (guard->offline[i].words & bit)
			note_known(guard, l, &guard->offline[i].target);
}

/* Once, and again after a pause that grows: it may come and go. */
static void report(struct guard *guard, const struct lookup *l,
		   const struct guard_finding *finding)
{
	struct guard_word *w = l->state;

	if (w->failing || !report_pause_over(&w->pause, shr_now_ns()))
		return;
	w->failing = true;
	guard_event(guard, "unresolved", 0, "--%s %s: %s",
		    l->online ? "online" : "offline", l->word, finding->text);
}

static void refuse_all(struct guard *guard, const struct guard_finding *finding)
{
	size_t i;

	for (i = 0; i < finding->n; i++)
		guard_refuse(guard, &finding->target[i],
			     "the name of its "
			     "container is that of several",
			     true);
}

/* Looked for by the child, or here if there is no child. */
static const struct guard_finding *
find_or_get(struct guard *guard, const struct lookup *l, bool *slow)
{
	struct guard_candidates *found = &guard->found;
	const struct guard_finding *finding;

	finding = guard_finder_get(&guard->finder, l->word);
	*slow = finding;
	if (finding)
		return finding;
	guard_find_word(guard->g, l->word, &found->owners, &found->finding);
	return &found->finding;
}

static void find_word(struct guard *guard, const struct lookup *l)
{
	const struct guard_finding *finding;
	bool slow;
	size_t i;

	finding = find_or_get(guard, l, &slow);
	if (!finding->code) {
		l->state->failing = false;
		for (i = 0; i < finding->n; i++)
			if (slow)
				note_known(guard, l, &finding->target[i]);
			else
				note(guard, l, &finding->target[i]);
		return;
	}
	if (finding->code == -EINPROGRESS)
		return;
	report(guard, l, finding);
	/* Several containers have that name: which is meant is unknown. */
	if (finding->code == -EEXIST)
		refuse_all(guard, finding);
	else
		note_taken(guard, l);
}

static void find_role(struct guard *guard, bool online,
		      const struct guard_words *words, bool gang)
{
	unsigned int i;

	for (i = 0; i < words->n; i++) {
		struct lookup l = {
			.word = words->word[i],
			.online = online,
			.number = i,
			.job = gang ? i + 1 : 0,
			.state = &guard->found.word[online][i],
		};

		find_word(guard, &l);
		guard_heartbeat(guard);
	}
}

/* What is named by other words than before. */
static void set_words(struct guard *guard)
{
	const struct guard_found *f;
	size_t i;

	for (i = 0; i < guard->n_online; i++) {
		f = guard_find_found(guard, &guard->online[i].target, true);
		if (f)
			guard->online[i].words = f->online;
	}
	for (i = 0; i < guard->n_offline; i++) {
		f = guard_find_found(guard, &guard->offline[i].target, false);
		if (f)
			guard->offline[i].words = f->offline;
	}
}

void guard_find_all(struct guard *guard)
{
	const struct guard_options *args = guard->options;

	guard->found.n = 0;
	hold_owners_free(&guard->found.owners);
	guard_finder_poll(&guard->finder);
	find_role(guard, true, &args->online_words, false);
	find_role(guard, false, &args->offline_words, args->gang);
	set_words(guard);
}

const struct guard_found *guard_find_found(const struct guard *guard,
					   const struct gpreempt_target *target,
					   bool online)
{
	const struct guard_candidates *found = &guard->found;
	size_t i;

	for (i = 0; i < found->n; i++) {
		const struct guard_found *f = &found->list[i];

		if (!same_target(&f->target, target))
			continue;
		if (f->online && f->offline)
			return NULL;
		return (online ? f->online : f->offline) ? f : NULL;
	}
	return NULL;
}
