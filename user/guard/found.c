// SPDX-License-Identifier: GPL-2.0-only
/* The processes that the words of the command line name now. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/find-targets.h"
#include "guard/guard.h"
#include "shared/clock.h"

/* A word, in its role. */
struct lookup {
	const char *word;
	bool online;
	uint64_t bit;
	unsigned int job;
	struct guard_word *state;
};

/* The words that name it in that role. */
static uint64_t *words_of(struct guard_found *f, bool online)
{
	return online ? &f->online : &f->offline;
}

static void note(struct guard *guard, const struct lookup *l, const struct gpreempt_target *target)
{
	struct guard_candidates *found = &guard->found;
	struct guard_found *f = shr_add(&found->list);

	found->cut |= !f;
	if (!f)
		return;
	*f = (struct guard_found){ .target = *target, .job = l->job };
	*words_of(f, l->online) = l->bit;
}

/* Several words name it: the last one has its job. */
static void merge_found(struct guard_candidates *found)
{
	struct guard_found *f = found->list.items;
	size_t i, n = 0;

	if (!found->list.count)
		return;
	qsort(f, found->list.count, sizeof(*f), compare_target);
	for (i = 1; i < found->list.count; i++) {
		if (!same_target(&f[i].target, &f[n].target)) {
			f[++n] = f[i];
			continue;
		}
		f[n].online |= f[i].online;
		f[n].offline |= f[i].offline;
		if (f[i].job > f[n].job)
			f[n].job = f[i].job;
	}
	found->list.count = n + 1;
}

/* A tenant that is named as both can start any number: each is reported once. */
static void keep_told(struct guard_candidates *found)
{
	const struct guard_found *known;
	size_t i;

	for (i = 0; found->before.count && i < found->list.count; i++) {
		struct guard_found *f = &found->list.items[i];

		if (!f->online || !f->offline)
			continue;
		known = bsearch(f, found->before.items, found->before.count, sizeof(*f),
				compare_target);
		f->told = known && known->told;
	}
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

/* The word has failed: what it named in the last look is kept. */
static void note_kept(struct guard *guard, const struct lookup *l)
{
	struct guard_candidates *found = &guard->found;
	size_t i;

	for (i = 0; i < found->before.count; i++)
		if (*words_of(&found->before.items[i], l->online) & l->bit)
			note_known(guard, l, &found->before.items[i].target);
}

/* Once, and again after a pause that grows: it may come and go. */
static void report(struct guard *guard, const struct lookup *l, const struct guard_finding *finding)
{
	struct guard_word *w = l->state;

	if (w->failing || !shr_report_due(&w->pause, shr_now_ns()))
		return;
	w->failing = true;
	guard_event(guard, "unresolved", 0, "--%s %s: %s", l->online ? "online" : "offline",
		    l->word, finding->text);
}

static void refuse_all(struct guard *guard, const struct guard_finding *finding)
{
	size_t i;

	for (i = 0; i < finding->n; i++)
		guard_refuse(guard, &finding->target[i], true,
			     "the name of its container is that of several");
}

static void find_word(struct guard *guard, const struct lookup *l)
{
	struct guard_candidates *found = &guard->found;
	struct guard_sought what = { .word = l->word, .online = l->online };
	enum guard_word_kind kind = guard_word_kind(l->word);
	const struct guard_finding *finding, *slow = NULL;
	size_t i;

	/* By a child; here if it is quick. */
	if (kind != GUARD_WORD_QUICK)
		slow = guard_finder_get(&guard->finders[kind], what);
	if (!slow)
		guard_find_word(guard->g, what, hold_skip_owner, &found->owners, &found->finding);
	finding = slow ? slow : &found->finding;
	if (!finding->code) {
		l->state->failing = false;
		guard->places[l->online].ever |= *finding->text;
		if (*finding->text)
			report(guard, l, finding);
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
		note_kept(guard, l);
}

static void find_role(struct guard *guard, bool online, const struct guard_words *words, bool gang)
{
	unsigned int i;

	for (i = 0; i < words->n; i++) {
		struct lookup l = {
			.word = words->word[i],
			.online = online,
			.bit = 1ULL << i,
			.job = gang ? i + 1 : 0,
			.state = &guard->found.word[online][i],
		};

		find_word(guard, &l);
		guard_heartbeat(guard);
	}
}

void guard_find_all(struct guard *guard)
{
	const struct guard_options *args = guard->options;
	struct guard_candidates *found = &guard->found;
	size_t i;

	free(found->before.items);
	found->before.items = found->list.items;
	found->before.count = found->list.count;
	found->list.items = NULL;
	found->list.count = 0;
	found->cut = false;
	hold_owners_free(&found->owners);
	for (i = 0; i < GUARD_FINDERS; i++)
		guard_finder_poll(&guard->finders[i]);
	find_role(guard, true, &args->online_words, false);
	find_role(guard, false, &args->offline_words, args->gang);
	merge_found(found);
	keep_told(found);
	if (found->cut && shr_report_due(&found->pause, shr_now_ns()))
		guard_event(guard, "full", 0,
			    "there is no memory for all processes that are named");
	guard->places[0].ever |= found->cut;
}

bool guard_found_is(const struct guard_found *f, bool online)
{
	return online ? f->online && !f->offline : f->offline && !f->online;
}

bool guard_is_named(const struct guard *guard, const struct gpreempt_target *target, bool online)
{
	const struct guard_found key = { .target = *target };
	const struct guard_candidates *found = &guard->found;
	const struct guard_found *f = found->list.count ?
					      bsearch(&key, found->list.items, found->list.count,
						      sizeof(key), compare_target) :
					      NULL;

	return f && guard_found_is(f, online);
}

void guard_found_free(struct guard *guard)
{
	struct guard_candidates *found = &guard->found;

	free(found->list.items);
	free(found->before.items);
	found->list.items = found->before.items = NULL;
	found->list.count = found->before.count = 0;
	hold_owners_free(&found->owners);
}
