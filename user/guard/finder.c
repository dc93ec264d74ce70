// SPDX-License-Identifier: GPL-2.0-only
/* Search for the processes that a word names, in a child if that may take long. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "hold/targets.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "guard.h"

#define CONTAINER "container:"
#define SHOWN_ID  12 /* digits, as docker ps shows them */

enum guard_word_kind guard_word_kind(const char *word)
{
	if (!strncmp(word, CONTAINER, strlen(CONTAINER)) || gp_select_reads_memory(word))
		return GUARD_WORD_HANGS;
	return gp_select_is_slow(word) ? GUARD_WORD_SLOW : GUARD_WORD_QUICK;
}

/* Cut off at the end of the text, not in the middle of a container. */
static void add_text(struct guard_finding *out, const char *text)
{
	size_t used = strlen(out->text);

	if (used + strlen(text) < sizeof(out->text))
		strcpy(out->text + used, text);
}

/*
 * List the processes of all containers of that name, or with an id that begins so. The names
 * themselves are not printed: processes chose them.
 */
static void list_containers(struct gpreempt *g, const char *name, struct guard_finding *out)
{
	struct gpreempt_targets *all;
	struct gp_container c;
	char text[96];
	size_t i;

	if (gpreempt_processes(g, &all, NULL))
		return;
	for (i = 0; i < all->count && out->n < GUARD_FOUND_MAX; i++) {
		pid_t pid = all->targets[i].pid;

		if (gp_container(g, pid, &c) ||
		    (strcmp(c.name, name) && strncmp(c.id, name, strlen(name))))
			continue;
		out->target[out->n++] = all->targets[i];
		snprintf(text, sizeof(text), "%s%.*s (process %d)", out->n > 1 ? ", " : "",
			 SHOWN_ID, c.id, pid);
		add_text(out, text);
	}
	gpreempt_list_free(all);
}

static void note_error(struct gpreempt *g, const char *word, const struct gpreempt_error *err,
		       struct guard_finding *out)
{
	out->code = err->code ? err->code : -EIO;
	/* The error has several names, or several beginnings of an id. */
	if (out->code != -ENOTUNIQ && out->code != -EEXIST) {
		gpreempt_error_text(err, out->text, sizeof(out->text));
		return;
	}
	out->code = -EEXIST;
	add_text(out, "that is the name of several containers, none of which "
		      "is taken; name one by its cgroup: ");
	list_containers(g, word + strlen(CONTAINER), out);
}

/* A process in a cgroup that has words behind its role. */
struct inside {
	struct gpreempt_target target; /* its start is not read yet */
	uint8_t of;
};

struct search {
	bool (*skip)(void *data, pid_t pid);
	void *data;
	struct guard_finding *out;
	SHR_ARRAY(struct inside, inside); /* by PIDs */
};

static bool skip(void *data, pid_t pid)
{
	const struct search *s = data;

	return s->skip && s->skip(s->data, pid);
}

/* A cgroup or a process for which there is no room counts as one without words. */
static void note_own(void *data, pid_t pid, const struct gp_role_own *own)
{
	struct search *s = data;
	struct guard_finding *out = s->out;
	struct inside *inside;
	size_t i;

	for (i = 0; i < out->n_own; i++)
		if (gp_role_is_same(&out->own[i], own))
			break;
	if (i == GUARD_OWN)
		return;
	inside = shr_add(&s->inside);
	if (!inside)
		return;
	*inside = (struct inside){ .target.pid = pid, .of = i + 1 };
	if (i == out->n_own)
		out->own[out->n_own++] = *own;
}

static uint8_t own_of(const struct search *s, pid_t pid)
{
	const struct inside key = { .target.pid = pid }, *found = NULL;

	if (s->inside.count)
		found = bsearch(&key, s->inside.items, s->inside.count, sizeof(key),
				gp_compare_targets);
	return found ? found->of : 0;
}

/* A user can start any number of processes that have no queues. */
static void copy_targets(struct gpreempt *g, const struct gpreempt_targets *targets,
			 const struct search *s)
{
	struct guard_finding *out = s->out;
	bool all = targets->count <= GUARD_FOUND_MAX;
	int idle, rounds = all ? 1 : 2;
	size_t i;

	for (idle = 0; idle < rounds; idle++)
		for (i = 0; i < targets->count && out->n < GUARD_FOUND_MAX; i++)
			if (all || gp_may_have_queues(g, targets->targets[i].pid) != idle) {
				out->of[out->n] = own_of(s, targets->targets[i].pid);
				out->target[out->n++] = targets->targets[i];
			}
	if (!all)
		snprintf(out->text, sizeof(out->text),
			 "it names %zu processes; %d of them are looked at", targets->count,
			 GUARD_FOUND_MAX);
}

void guard_find_word(struct gpreempt *g, struct guard_sought what,
		     const struct gpreempt_targets *all, bool (*skip_it)(void *data, pid_t pid),
		     void *data, struct guard_finding *out)
{
	struct search s = { .skip = skip_it, .data = data, .out = out };
	/* A process in doubt makes way, and no process makes way for it. */
	const struct gp_select_how how = {
		.sure = what.online,
		.skip = skip,
		.own = note_own,
		.all = all,
		.data = &s,
	};
	struct gpreempt_targets *targets;
	struct gpreempt_error err = { 0 };

	out->code = 0;
	out->n = out->n_own = 0;
	out->text[0] = '\0';
	if (!gp_select(g, &how, &what.word, 1, &targets, &err)) {
		copy_targets(g, targets, &s);
		gpreempt_list_free(targets);
	} else if (gpreempt_error_class(&err) != GPREEMPT_CLASS_NO_TARGET) {
		note_error(g, what.word, &err, out);
	}
	free(s.inside.items);
}

/* The child */

/* A process that takes longer will not answer. */
#ifndef GUARD_WORD_NS
#define GUARD_WORD_NS (2 * NSEC_PER_SEC)
#endif
#define RETRY_NS (10 * NSEC_PER_SEC)

/* Memory of both sides. Either may end in a word: guard takes only findings that were given. */
struct guard_finder_memory {
	atomic_uint_fast64_t since_ns; /* when it began with the process at hand; 0: it waits */
	atomic_size_t at;	       /* number of the word at hand */
	struct guard_slot {
		atomic_uint given; /* findings that the child has made; written by it */
		atomic_uint taken; /* findings that guard has copied; written by guard */
		struct guard_finding finding;
	} slot[];
};

/* Copy a finding without its unused part, which is large. */
static void copy_finding(struct guard_finding *to, const struct guard_finding *from)
{
	to->code = from->code;
	to->n = from->n;
	to->n_own = from->n_own;
	memcpy(to->target, from->target, from->n * sizeof(*from->target));
	memcpy(to->of, from->of, from->n * sizeof(*from->of));
	memcpy(to->own, from->own, from->n_own * sizeof(*from->own));
	memcpy(to->text, from->text, sizeof(to->text));
}

static size_t memory_size(const struct guard_finder *f)
{
	return sizeof(*f->memory) + f->n * sizeof(f->memory->slot[0]);
}

struct look {
	struct guard_finder_memory *memory;
	struct hold_owners owners;
	struct gpreempt_targets *all;
};

/* The next process: all of them together may take long on a busy host. */
static bool go_on(void *data, pid_t pid)
{
	struct look *look = data;

	atomic_store(&look->memory->since_ns, shr_now_ns());
	return hold_skip_owner(&look->owners, pid);
}

static void look_for(struct guard_finder *f, size_t i, struct look *look)
{
	struct guard_slot *slot = &f->memory->slot[i];
	unsigned int given = atomic_load(&slot->given);

	if (given != atomic_load(&slot->taken))
		return;
	atomic_store(&f->memory->at, i);
	atomic_store(&f->memory->since_ns, shr_now_ns());
	guard_find_word(f->g, f->sought[i], look->all, go_on, look, &slot->finding);
	atomic_store(&f->memory->since_ns, 0);
	atomic_store(&slot->given, given + 1);
}

/* Search, in the child. Guard kills it. */
static int work(void *arg)
{
	struct guard_finder *f = arg;
	struct look look = { .memory = f->memory };
	eventfd_t count;
	size_t i;

	do {
		hold_owners_free(&look.owners);
		gpreempt_list_free(look.all);
		if (gpreempt_processes(f->g, &look.all, NULL))
			look.all = NULL;
		for (i = 0; i < f->n; i++)
			look_for(f, (f->first + i) % f->n, &look);
	} while (!eventfd_read(f->wake, &count));
	return EXIT_FAILURE;
}

static void start_child(struct guard_finder *f)
{
	pid_t child;

	atomic_store(&f->memory->since_ns, 0);
	child = shr_child_start(work, f, &f->wake, 1);
	f->retry_ns = shr_now_ns() + RETRY_NS;
	if (child > 0)
		f->child = child;
}

int guard_finder_start(struct guard_finder *f, struct gpreempt *g)
{
	size_t i;

	if (!f->n)
		return 0;
	f->g = g;
	f->last = calloc(f->n, sizeof(*f->last));
	f->wake = eventfd(0, EFD_CLOEXEC);
	f->memory = guard_channel_map(memory_size(f));
	if (!f->last || f->wake < 0 || !f->memory) {
		guard_finder_stop(f);
		return -ENOMEM;
	}
	for (i = 0; i < f->n; i++)
		f->last[i].code = -EINPROGRESS;
	start_child(f);
	return 0;
}

/* Abandon the child that hangs, and keep its earlier finds: they may be there still. */
static void give_up(struct guard_finder *f)
{
	size_t at = atomic_load(&f->memory->at);

	f->last[at].code = -ETIMEDOUT;
	snprintf(f->last[at].text, sizeof(f->last[at].text),
		 "looking for it has taken %llu s: the command line of a "
		 "process or a file of a container engine does not answer",
		 GUARD_WORD_NS / NSEC_PER_SEC);
	f->first = (at + 1) % f->n;
	kill(f->child, SIGKILL);
	f->stuck[f->n_stuck++] = f->child;
	f->child = 0;
}

static void reap_stuck(struct guard_finder *f)
{
	int status;
	size_t i;

	for (i = f->n_stuck; i-- > 0;)
		if (shr_child_gone(&f->stuck[i], &status))
			f->stuck[i] = f->stuck[--f->n_stuck];
}

static void check_child(struct guard_finder *f, uint64_t now)
{
	uint64_t since = atomic_load(&f->memory->since_ns);
	int status;

	reap_stuck(f);
	if (f->child && !shr_child_gone(&f->child, &status) && since && now > since + GUARD_WORD_NS)
		give_up(f);
	if (!f->child && now >= f->retry_ns && f->n_stuck < GUARD_FINDER_STUCK)
		start_child(f);
}

void guard_finder_poll(struct guard_finder *f)
{
	uint64_t now = shr_now_ns();
	size_t i;

	if (!f->memory)
		return;
	for (i = 0; i < f->n; i++) {
		struct guard_slot *slot = &f->memory->slot[i];
		unsigned int given = atomic_load(&slot->given);

		if (given == atomic_load(&slot->taken))
			continue;
		copy_finding(&f->last[i], &slot->finding);
		atomic_store(&slot->taken, given);
	}
	check_child(f, now);
	if (now < f->asked_ns + f->pace_ns)
		return;
	f->asked_ns = now;
	eventfd_write(f->wake, 1);
}

const struct guard_finding *guard_finder_get(const struct guard_finder *f, struct guard_sought what)
{
	size_t i;

	for (i = 0; f->memory && i < f->n; i++)
		if (f->sought[i].online == what.online && !strcmp(f->sought[i].word, what.word))
			return &f->last[i];
	return NULL;
}

void guard_finder_stop(struct guard_finder *f)
{
	int status;

	/* The finder was not started. */
	if (!f->g)
		return;
	if (f->child) {
		kill(f->child, SIGKILL);
		/* A child that hangs is left to the system. */
		shr_child_gone(&f->child, &status);
	}
	if (f->memory)
		munmap(f->memory, memory_size(f));
	if (f->wake >= 0)
		close(f->wake);
	free(f->last);
	memset(f, 0, sizeof(*f));
}
