// SPDX-License-Identifier: GPL-2.0-only
/* The targets of guard: what the words name now, and how long a refused one waits. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "hold/targets.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "guard.h"

/* Targets that guard cannot take, or must not take. */

#define RETRY_NS	 (100 * NSEC_PER_MSEC)
#define PATIENT_RETRY_NS NSEC_PER_SEC
/* Report a refusal after that time only: a starting process is not ready. */
#define PATIENCE_NS NSEC_PER_SEC

/* Find the refusal of a target. NULL: there is none. */
static struct guard_refusal *find(struct guard *guard, const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < GUARD_REFUSALS; i++)
		if (same_target(&guard->refusal[i].target, target))
			return &guard->refusal[i];
	return NULL;
}

/* The place of a target among the refused; if it has none, the oldest one. */
static struct guard_refusal *place_of(struct guard *guard, const struct gpreempt_target *target)
{
	struct guard_refusal *r = find(guard, target);
	size_t i;

	if (r)
		return r;
	r = guard->refusal;
	for (i = 1; i < GUARD_REFUSALS; i++)
		if (guard->refusal[i].retry_ns < r->retry_ns)
			r = &guard->refusal[i];
	*r = (struct guard_refusal){ .target = *target, .first_ns = shr_now_ns() };
	return r;
}

void guard_refuse(struct guard *guard, const struct gpreempt_target *target, bool at_once,
		  const char *format, ...)
{
	struct guard_refusal *r = place_of(guard, target);
	uint64_t now = shr_now_ns();
	char why[512];
	va_list ap;

	r->retry_ns = now + (now < r->first_ns + PATIENCE_NS ? RETRY_NS : PATIENT_RETRY_NS);
	if (r->said || (!at_once && now < r->first_ns + PATIENCE_NS))
		return;
	r->said = true;
	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	guard_event(guard, "refused", target->pid, "process %d is left alone: %s", target->pid,
		    why);
}

bool guard_backoff_over(struct guard *guard, const struct gpreempt_target *target)
{
	const struct guard_refusal *r = find(guard, target);

	return !r || shr_now_ns() >= r->retry_ns;
}

void guard_backoff_for(struct guard *guard, const struct gpreempt_target *target, uint64_t ns)
{
	struct guard_refusal *r = place_of(guard, target);

	r->retry_ns = shr_later_ns(shr_now_ns(), ns);
	r->said = true;
}

void guard_backoff_reset(struct guard *guard, const struct gpreempt_target *target)
{
	struct guard_refusal *r = find(guard, target);

	if (r)
		*r = (struct guard_refusal){ 0 };
}

/* Processes that the words of the command line name now. */

/* A word, in its role. */
struct lookup {
	const char *word;
	const struct gpreempt_policy_tenant *wish;
	bool online;
	uint64_t bit;
	struct guard_word *state;
};

/* Returns the words that name the process in that role. */
static uint64_t *words_of(struct guard_found *f, bool online)
{
	return online ? &f->online : &f->offline;
}

static void note(struct guard *guard, const struct lookup *l, const struct gpreempt_target *target,
		 unsigned int own)
{
	struct guard_candidates *found = &guard->found;
	struct guard_found *f = shr_add(&found->list);

	found->cut |= !f;
	if (!f)
		return;
	*f = (struct guard_found){ .target = *target, .own = own };
	*words_of(f, l->online) = l->bit;
}

/* Merge the finds of several words. */
static void merge_found(struct guard_candidates *found)
{
	struct guard_found *f = found->list.items;
	size_t i, n = 0;

	if (!found->list.count)
		return;
	qsort(f, found->list.count, sizeof(*f), gp_compare_targets);
	for (i = 1; i < found->list.count; i++) {
		if (!same_target(&f[i].target, &f[n].target)) {
			f[++n] = f[i];
			continue;
		}
		/* The last word counts, and a cgroup of its own only for that word. */
		if ((f[i].online | f[i].offline) > (f[n].online | f[n].offline))
			f[n].own = f[i].own;
		f[n].online |= f[i].online;
		f[n].offline |= f[i].offline;
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
				gp_compare_targets);
		f->told = known && known->told;
	}
}

/*
 * Note a process of an earlier look. Is it there still? Its PID may have become that of another
 * process. If we cannot find out now, nothing has changed.
 */
static void note_known(struct guard *guard, const struct lookup *l,
		       const struct gpreempt_target *target, unsigned int own)
{
	uint64_t start;
	int ret = gpreempt_start_time(guard->g, target->pid, &start);

	if (ret == -ENOENT || ret == -ESRCH || (!ret && start != target->start))
		return;
	note(guard, l, target, own);
}

/* Keep the processes of the last look for a word that has failed. */
static void note_kept(struct guard *guard, const struct lookup *l)
{
	struct guard_candidates *found = &guard->found;
	size_t i;

	for (i = 0; i < found->before.count; i++) {
		struct guard_found *f = &found->before.items[i];
		uint64_t words = *words_of(f, l->online);

		if (words & l->bit)
			note_known(guard, l, &f->target, words / l->bit == 1 ? f->own : 0);
	}
}

/* How long after the start a word without a process is reported. */
#define UNMATCHED_NS (10 * NSEC_PER_SEC)

/* Report a failing word once, and again after a pause that grows: it may come and go. */
static void report(struct guard *guard, const struct lookup *l, const struct guard_finding *finding)
{
	struct guard_word *w = l->state;

	if (w->failing || !shr_report_due(&w->pause, shr_now_ns()))
		return;
	w->failing = true;
	guard_event(guard, "unresolved", 0, "--%s %s: %s", l->online ? "online" : "offline",
		    l->word, finding->text);
}

/* A word without a process may be mistyped, and then guard protects nothing. */
static void report_unmatched(struct guard *guard, const struct lookup *l, size_t n)
{
	if (l->state->matched || (!n && shr_now_ns() < guard->figures.start_ns + UNMATCHED_NS))
		return;
	if (!n)
		guard_event(guard, "unmatched", 0, "no process has matched --%s %s so far",
			    l->online ? "online" : "offline", l->word);
	l->state->matched = true;
}

/*
 * Tenants of cgroups that have words behind their role. Figures that the words do not name are
 * those of the role's line, except the minimum: each of any number of cgroups would be owed it.
 */

/* Time without processes after which one is forgotten, and what it is charged for with it. */
#define OWN_NS (10 * NSEC_PER_SEC)

/* Report once that the words of a cgroup do not count. */
static void tell_bad(struct guard *guard, const struct gp_role_own *own, const char *why)
{
	struct guard_candidates *found = &guard->found;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(found->bad); i++)
		if (gp_role_is_same(&found->bad[i], own))
			return;
	found->bad[found->n_bad++ % ARRAY_SIZE(found->bad)] = *own;
	guard_event(guard, "config", 0, "the words behind the role of cgroup %s do not count: %s",
		    own->cgroup, why);
}

/* Add one, under the lock. NULL: there is no room. */
static struct guard_tenant *add_own(struct guard *guard, bool online, const char *name,
				    const struct gpreempt_policy_tenant *wish)
{
	struct guard_config *c = &guard->config;
	struct guard_tenant *t = &c->tenant[online][c->n[online]];
	unsigned int number = GUARD_SERVERS + 1;

	while (number < GPREEMPT_POLICY_TENANTS &&
	       guard->policy->tenant[number].wish.role != GPREEMPT_ROLE_NONE)
		number++;
	if (number == GPREEMPT_POLICY_TENANTS || guard_config_add(c, name, wish))
		return NULL;
	t->own = true;
	t->number = number;
	gpreempt_policy_set(guard->policy, number, wish);
	return t;
}

/* Change one, or add it, under the lock. NULL: there is no room. */
static struct guard_tenant *set_own(struct guard *guard, bool online, const char *name,
				    const struct gpreempt_policy_tenant *wish)
{
	struct guard_config *c = &guard->config;
	size_t i;

	for (i = 0; i < c->n[online]; i++) {
		struct guard_tenant *t = &c->tenant[online][i];

		if (strcmp(t->word, name))
			continue;
		if (!memcmp(&t->wish, wish, sizeof(*wish)))
			return t;
		t->wish = *wish;
		gpreempt_policy_set(guard->policy, t->number, wish);
		guard->changed = true;
		return t;
	}
	return add_own(guard, online, name, wish);
}

/* Returns the number, and 1, of the tenant of a cgroup; 0: its words do not count. */
static unsigned int own_tenant(struct guard *guard, const struct lookup *l,
			       const struct gp_role_own *own)
{
	struct gpreempt_policy_tenant wish = *l->wish;
	const struct guard_tenant *t = NULL;
	struct guard_config_error err;
	char name[sizeof(*own)];
	int ret;

	wish.min = 0;
	ret = guard_config_words(wish.role, own->words, &wish, &err);
	snprintf(name, sizeof(name), "%s%s", l->word, own->cgroup);
	if (!ret && *own->cgroup) {
		pthread_mutex_lock(&guard->lock);
		t = set_own(guard, l->online, name, &wish);
		pthread_mutex_unlock(&guard->lock);
	}
	if (!t)
		tell_bad(guard, own,
			 ret	      ? err.text :
			 *own->cgroup ? "there are too many tenants" :
					"its path is too long");
	return t ? t->number + 1 : 0;
}

static void forget_own(struct guard *guard)
{
	static const struct gpreempt_policy_tenant none = { .size = sizeof(none) };
	bool used[GPREEMPT_POLICY_TENANTS + 1] = { 0 };
	struct guard_config *c = &guard->config;
	uint64_t now = shr_now_ns();
	size_t online, i;

	for (i = 0; i < guard->found.list.count; i++)
		used[guard->found.list.items[i].own] = true;
	pthread_mutex_lock(&guard->lock);
	for (online = 0; online < 2; online++)
		for (i = c->n[online]; i-- > 0 && c->tenant[online][i].own;) {
			struct guard_tenant *t = &c->tenant[online][i];

			if (used[t->number + 1]) {
				t->used_ns = now;
			} else if (now > t->used_ns + OWN_NS &&
				   !gpreempt_policy_set(guard->policy, t->number, &none)) {
				free(t->word);
				*t = c->tenant[online][--c->n[online]];
			}
		}
	pthread_mutex_unlock(&guard->lock);
}

/* Add them to another configuration, where they keep their numbers. */
static void keep_own(const struct guard_config *old, struct guard_config *new)
{
	size_t online, i;

	for (online = 0; online < 2; online++)
		for (i = 0; i < old->n[online]; i++) {
			const struct guard_tenant *t = &old->tenant[online][i];
			struct guard_tenant *kept = &new->tenant[online][new->n[online]];

			if (!t->own || guard_config_add(new, t->word, &t->wish))
				continue;
			kept->own = true;
			kept->used_ns = t->used_ns;
		}
}

static void find_word(struct guard *guard, const struct lookup *l)
{
	unsigned int own[GUARD_OWN + 1] = { 0 };
	struct guard_candidates *found = &guard->found;
	struct guard_sought what = { .word = l->word, .online = l->online };
	enum guard_word_kind kind = guard_word_kind(l->word);
	const struct guard_finding *finding, *slow = NULL;
	size_t i;

	/* A child looks for a slow word. */
	if (kind != GUARD_WORD_QUICK)
		slow = guard_finder_get(&guard->finders[kind], what);
	if (!slow)
		guard_find_word(guard->g, what, found->all, hold_skip_owner, &found->owners,
				&found->finding);
	finding = slow ? slow : &found->finding;
	if (!finding->code) {
		l->state->failing = false;
		report_unmatched(guard, l, finding->n);
		guard->places[l->online].ever |= *finding->text;
		if (*finding->text)
			report(guard, l, finding);
		for (i = 0; i < finding->n_own; i++)
			own[i + 1] = own_tenant(guard, l, &finding->own[i]);
		for (i = 0; i < finding->n; i++)
			if (slow)
				note_known(guard, l, &finding->target[i], own[finding->of[i]]);
			else
				note(guard, l, &finding->target[i], own[finding->of[i]]);
		return;
	}
	if (finding->code != -EINPROGRESS)
		report(guard, l, finding);
	if (finding->code != -EEXIST)
		note_kept(guard, l);
	/* Several containers have that name: which is meant is unknown. */
	for (i = 0; finding->code == -EEXIST && i < finding->n; i++)
		guard_refuse(guard, &finding->target[i], true,
			     "the name of its container is that of several");
}

static void find_role(struct guard *guard, bool online)
{
	unsigned int i;

	for (i = 0; i < guard->config.n[online] && !guard->config.tenant[online][i].own; i++) {
		struct lookup l = {
			.word = guard->config.tenant[online][i].word,
			.wish = &guard->config.tenant[online][i].wish,
			.online = online,
			.bit = 1ULL << i,
			.state = &guard->found.word[online][i],
		};

		find_word(guard, &l);
		guard_heartbeat(guard);
	}
}

static void free_look(struct guard_candidates *found)
{
	hold_owners_free(&found->owners);
	gpreempt_list_free(found->all);
	found->all = NULL;
}

/*
 * Find the processes that the command line names now. A word that fails is reported, and its
 * processes of the look before are kept; the others go on.
 */
static void find_all(struct guard *guard)
{
	struct guard_candidates *found = &guard->found;
	size_t i;

	free(found->before.items);
	found->before.items = found->list.items;
	found->before.count = found->list.count;
	found->list.items = NULL;
	found->list.count = 0;
	found->cut = false;
	free_look(found);
	if (gpreempt_processes(guard->g, &found->all, NULL))
		found->all = NULL;
	for (i = 0; i < GUARD_FINDERS; i++)
		guard_finder_poll(&guard->finders[i]);
	find_role(guard, true);
	find_role(guard, false);
	merge_found(found);
	keep_told(found);
	if (found->cut && shr_report_due(&found->pause, shr_now_ns()))
		guard_event(guard, "full", 0,
			    "there is no memory for all processes that are named");
	guard->places[0].ever |= found->cut;
}

/* Is it named in that role, and in no other? */
static bool found_is(const struct guard_found *f, bool online)
{
	return online ? f->online && !f->offline : f->offline && !f->online;
}

/* Find a process, which may have no name at all, that is named in that role, and in no other. */
static const struct guard_found *named(const struct guard *guard,
				       const struct gpreempt_target *target, bool online)
{
	const struct guard_found key = { .target = *target };
	const struct guard_candidates *found = &guard->found;
	const struct guard_found *f = found->list.count ?
					      bsearch(&key, found->list.items, found->list.count,
						      sizeof(key), gp_compare_targets) :
					      NULL;

	return f && found_is(f, online) ? f : NULL;
}

unsigned int guard_tenant_of(const struct guard *guard, const struct guard_found *f)
{
	bool online = f->online;
	const struct guard_tenant *t = guard->config.tenant[online];
	size_t i;

	for (i = 0; f->own && i < guard->config.n[online]; i++)
		if (t[i].own && t[i].number + 1 == f->own)
			return t[i].number;
	return t[63 - __builtin_clzll(online ? f->online : f->offline)].number;
}

static void free_found(struct guard *guard)
{
	struct guard_candidates *found = &guard->found;

	free(found->list.items);
	free(found->before.items);
	found->list.items = found->before.items = NULL;
	found->list.count = found->before.count = 0;
	free_look(found);
}

/* Targets that are there now: processes come and go, and so do their queues. */

/* Processes made in one look: the others want to be looked after, too. */
#define MAX_TAKEN 8

/* Note whether the module is there: without it the addresses of the indices are unknown. */
static void note_source(struct guard *guard, enum gpreempt_source source)
{
	bool blind = source != GPREEMPT_SOURCE_MODULE;

	if (blind == guard->blind)
		return;
	guard->blind = blind;
	guard_event(guard, "module", 0,
		    blind ? "gpreempt.ko is gone: work cannot be seen, no process is preempted" :
			    "gpreempt.ko is there again");
}

/* The module's file of a process comes later and goes earlier than that in sysfs. */
static bool module_is_there(struct guard *guard)
{
	struct gpreempt_facts *facts;

	if (gp_module_version(guard->g, &facts, NULL))
		return false;
	gpreempt_list_free(facts);
	return true;
}

static void refresh_online(struct guard *guard, struct guard_online *online)
{
	struct gpreempt_view *view;
	uint64_t nodes;

	if (gpreempt_view_read(guard->g, online->target.pid, &view, NULL))
		return;
	if (view->source != GPREEMPT_SOURCE_MODULE && module_is_there(guard)) {
		gpreempt_list_free(view);
		return;
	}
	note_source(guard, view->source);
	pthread_mutex_lock(&guard->lock);
	nodes = guard_nodes_of(guard, view);
	guard_watch_queues(online, view);
	if (nodes != online->nodes) {
		gp_policy_nodes(guard->policy, online->entity, nodes);
		online->nodes = nodes;
		guard->changed = true;
	}
	pthread_mutex_unlock(&guard->lock);
	gpreempt_list_free(view);
}

static void take_online(struct guard *guard, const struct guard_found *f)
{
	struct guard_online *online = &guard->online[guard->n_online];
	struct guard_sight *sight;
	int entity;

	if (guard->n_online == GUARD_TARGETS)
		return;
	sight = calloc(1, sizeof(*sight));
	if (!sight) {
		guard_refuse(guard, &f->target, false, "there is no memory");
		return;
	}
	sight->pid = f->target.pid;
	sight->g = guard->g;
	pthread_mutex_lock(&guard->lock);
	entity = gpreempt_policy_add(guard->policy, guard_tenant_of(guard, f), 0);
	if (entity >= 0) {
		*online = (struct guard_online){
			.target = f->target,
			.sight = sight,
			.entity = entity,
		};
		guard->n_online++;
	}
	pthread_mutex_unlock(&guard->lock);
	if (entity < 0) {
		free(sight);
		return;
	}
	guard_tell_joined(guard, f->target.pid, true);
}

static void drop_online(struct guard *guard, size_t i)
{
	struct guard_online *online = &guard->online[i];
	pid_t pid = online->target.pid;

	pthread_mutex_lock(&guard->lock);
	gpreempt_policy_remove(guard->policy, online->entity);
	guard_watch_end(online);
	*online = guard->online[--guard->n_online];
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
	if (guard->ending)
		return;
	guard_work_tell(guard);
	guard_event(guard, "left", pid, "process %d is not online any more", pid);
}

/*
 * Drop workers that have ended, and kill those that are silent. This comes before all that may
 * fail, because a stopped worker makes its target unkillable.
 */
static void drop_ended(struct guard *guard)
{
	siginfo_t info = { 0 };
	size_t i;

	/* One call tells for all of them that none has ended. */
	if (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid) {
		for (i = 0; i < guard->n_offline; i++)
			guard_worker_watch(guard->offline[i].worker);
		return;
	}
	for (i = guard->n_offline; i-- > 0;)
		if (guard_worker_gone(guard->offline[i].worker))
			guard_drop_offline(guard, i);
}

/* Move a process to the tenant of the word that names it now. */
static void move(struct guard *guard, const struct guard_found *f, unsigned int entity)
{
	unsigned int tenant = guard_tenant_of(guard, f);

	if (guard->policy->entity[entity].tenant == tenant)
		return;
	pthread_mutex_lock(&guard->lock);
	gp_policy_move(guard->policy, entity, tenant);
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
}

static void drop_unnamed(struct guard *guard)
{
	const struct guard_found *f;
	size_t i;

	for (i = guard->n_online; i-- > 0;) {
		f = named(guard, &guard->online[i].target, true);
		if (f)
			move(guard, f, guard->online[i].entity);
		else
			drop_online(guard, i);
	}
	for (i = guard->n_offline; i-- > 0;) {
		f = named(guard, &guard->offline[i].target, false);
		if (f)
			move(guard, f, guard->offline[i].entity);
		else
			guard_drop_offline(guard, i);
	}
}

/* Returns the bits of the same words of another configuration. */
static uint64_t translate(const struct guard_config *old, const struct guard_config *new,
			  bool online, uint64_t words)
{
	uint64_t bits = 0;
	size_t i, j;

	for (i = 0; i < old->n[online]; i++)
		for (j = 0; words >> i & 1 && j < new->n[online]; j++)
			if (!strcmp(old->tenant[online][i].word, new->tenant[online][j].word))
				bits |= 1ULL << j;
	return bits;
}

int guard_targets_change(struct guard *guard, struct guard_config *new)
{
	struct guard_candidates *found = &guard->found;
	struct guard_config old = guard->config;
	size_t i;
	int ret;

	pthread_mutex_lock(&guard->lock);
	keep_own(&old, new);
	ret = guard_config_use(guard->policy, &old, new);
	guard->config = *new;
	guard->changed = true;
	pthread_mutex_unlock(&guard->lock);
	for (i = 0; i < found->list.count; i++) {
		struct guard_found *f = &found->list.items[i];

		f->online = translate(&old, new, true, f->online);
		f->offline = translate(&old, new, false, f->offline);
	}
	memset(found->word, 0, sizeof(found->word));
	guard_config_free(&old);
	return ret;
}

static bool is_online(const struct guard *guard, const struct gpreempt_target *target)
{
	size_t i;

	for (i = 0; i < guard->n_online; i++)
		if (same_target(&guard->online[i].target, target))
			return true;
	return false;
}

void guard_targets_start(struct guard *guard)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(guard->places); i++)
		guard->places[i] = (struct places){
			.g = guard->g,
			.most = GUARD_TARGETS,
			.role = HOLD_ROLE_GUARD,
			.online = i,
		};
}

/* Have all named processes claim a place, and drop those that lose theirs. */
static void share_places(struct guard *guard, bool online)
{
	struct places *p = &guard->places[online];
	char text[256];
	size_t i;

	places_begin(p);
	for (i = 0; online && i < guard->n_online; i++)
		places_claim(p, &guard->online[i].target, true);
	for (i = 0; !online && i < guard->n_offline; i++)
		places_claim(p, &guard->offline[i].target, true);
	for (i = 0; i < guard->found.list.count; i++)
		if (found_is(&guard->found.list.items[i], online))
			places_claim(p, &guard->found.list.items[i].target, false);
	if (places_share(p)) {
		places_text(p, text, sizeof(text));
		guard_event(guard, "full", 0, "%s", text);
	}
	for (i = guard->n_online; online && i-- > 0;)
		if (!places_given(p, &guard->online[i].target))
			drop_online(guard, i);
	for (i = guard->n_offline; !online && i-- > 0;)
		if (!places_given(p, &guard->offline[i].target))
			guard_drop_offline(guard, i);
}

static bool can_be_taken(struct guard *guard, const struct guard_found *f)
{
	return places_given(&guard->places[0], &f->target) &&
	       !guard_find_offline(guard, f->target.pid) && !guard_is_going(guard, f->target.pid) &&
	       guard_backoff_over(guard, &f->target);
}

static void tell_both(struct guard *guard, struct guard_found *f)
{
	if (!f->told)
		guard_event(guard, "refused", f->target.pid,
			    "process %d is left alone: it is named as online and as offline",
			    f->target.pid);
	f->told = true;
}

static void take_new(struct guard *guard)
{
	struct guard_found *f;
	unsigned int taken = 0;
	size_t i;

	for (i = 0; i < guard->found.list.count; i++) {
		f = &guard->found.list.items[i];
		guard_heartbeat(guard);
		if (f->online && f->offline)
			tell_both(guard, f);
		else if (f->online && !is_online(guard, &f->target) &&
			 places_given(&guard->places[1], &f->target))
			take_online(guard, f);
		else if (f->offline && taken < MAX_TAKEN && can_be_taken(guard, f))
			taken += guard_take_offline(guard, f);
	}
}

/* Report that a process's memory does not answer: a page of it may never come. */
static void tell_silent(struct guard *guard, struct guard_online *online)
{
	pid_t pid = online->target.pid;
	uint64_t since;
	bool silent;

	pthread_mutex_lock(&guard->lock);
	since = online->sight->since_ns;
	pthread_mutex_unlock(&guard->lock);
	silent = since && shr_now_ns() > since + GUARD_SILENT_NS;
	if (silent == online->told_silent)
		return;
	online->told_silent = silent;
	guard_event(guard, "silent", pid,
		    silent ? "the memory of process %d does not answer: its work is not seen" :
			     "the memory of process %d answers again",
		    pid);
}

/* How often all processes are looked at while nothing is to be scheduled, and none has work. */
#define QUIET_NS (500 * NSEC_PER_MSEC)
#define REST_NS	 (2 * NSEC_PER_SEC)
/* Time between two looks at what the words name: processes change their names and roles rarely. */
#define FIND_NS	  (2 * NSEC_PER_SEC)
#define SETTLE_NS (2 * NSEC_PER_SEC)

/* Is there nothing to schedule: no online process, and no bound that counts? */
static bool is_quiet(const struct guard *guard)
{
	const struct guard_config *c = &guard->config;
	size_t i;

	for (i = 0; i < c->n[0]; i++)
		if (c->tenant[0][i].wish.max)
			return false;
	/* A process without queues may have some at any time. */
	for (i = 0; i < guard->n_offline; i++)
		if (!guard->offline[i].announced)
			return false;
	return !guard->n_online && !guard->n_clients && !c->figures.slots && !c->figures.park_ns;
}

/* Has none of them work, as far as that is known? */
static bool all_rest(struct guard *guard)
{
	bool rest = true;
	size_t i;

	pthread_mutex_lock(&guard->lock);
	for (i = 0; i < guard->n_offline; i++) {
		const struct guard_offline *o = &guard->offline[i];
		const struct gpreempt_policy_entity *e = &guard->policy->entity[o->entity];

		rest &= e->parked || !(o->nodes & ~e->idle);
	}
	pthread_mutex_unlock(&guard->lock);
	return rest;
}

/* Were all looked at lately, and are there the same processes as for a while before that? */
static bool nothing_new(struct guard *guard)
{
	size_t targets = guard->n_online + guard->n_offline + guard->n_going;
	uint64_t hash = gp_processes_hash(guard->g), now = shr_now_ns();

	/* A child that looks for words needs some looks more to find what came. */
	if (!hash || hash != guard->full_hash || targets != guard->full_targets)
		guard->settled_ns = now + SETTLE_NS;
	if (now > guard->settled_ns && is_quiet(guard) &&
	    now < guard->full_ns + (all_rest(guard) ? REST_NS : QUIET_NS))
		return true;
	guard->full_ns = now;
	guard->full_hash = hash;
	guard->full_targets = targets;
	return false;
}

static void look_for_new(struct guard *guard)
{
	const struct places *p = guard->places;
	uint64_t now = guard->full_ns;

	/* A process without a place gets one when others get queues or lose them. */
	if (now > guard->settled_ns && now < guard->found_ns + FIND_NS &&
	    !(p[0].left + p[0].waiting + p[1].left + p[1].waiting))
		return;
	guard->found_ns = now;
	find_all(guard);
	drop_unnamed(guard);
	forget_own(guard);
	share_places(guard, false);
	share_places(guard, true);
	take_new(guard);
}

bool guard_targets_look(struct guard *guard)
{
	__cleanup_list struct gpreempt_usages *usages = NULL;
	size_t i;

	guard_reap(guard);
	drop_ended(guard);
	guard_release_some(guard);
	guard_heartbeat(guard);
	if (nothing_new(guard))
		return false;
	look_for_new(guard);
	for (i = 0; i < guard->n_online; i++) {
		guard_heartbeat(guard);
		refresh_online(guard, &guard->online[i]);
		tell_silent(guard, &guard->online[i]);
	}
	for (i = 0; i < guard->n_offline; i++)
		guard_refresh_offline(guard, &guard->offline[i], &usages);
	return true;
}

void guard_targets_drop(struct guard *guard)
{
	size_t i;

	for (i = 0; i < GUARD_FINDERS; i++)
		guard_finder_stop(&guard->finders[i]);
	places_end(&guard->places[0]);
	places_end(&guard->places[1]);
	free_found(guard);
	guard_end_all(guard);
	while (guard->n_online)
		drop_online(guard, guard->n_online - 1);
}
