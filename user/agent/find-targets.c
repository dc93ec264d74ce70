// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/find-targets.h"
#include "lib/select/words.h"
#include "output/message.h"
#include "shared/child.h"
#include "shared/macro.h"
#include "shared/syscall.h"

#define MOST 65536 /* processes that are found */

/* What the child finds, in memory that both see. */
struct search {
	struct find *f;
	const char **words;
	size_t count;
	atomic_uint asked; /* processes so far */
	atomic_int at;	   /* the last one */
	int ret;	   /* of gpreempt_select() */
	struct gpreempt_error err;
	size_t found;
	struct gpreempt_target target[MOST];
};

bool same_target(const struct gpreempt_target *a, const struct gpreempt_target *b)
{
	return a->pid == b->pid && a->start == b->start;
}

int compare_target(const void *a, const void *b)
{
	const struct gpreempt_target *x = a, *y = b;

	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) :
				  (x->start > y->start) - (x->start < y->start);
}

static bool contains(const struct gpreempt_target *list, size_t count,
		     const struct gpreempt_target *one)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (same_target(&list[i], one))
			return true;
	return false;
}

static bool is_mute(const struct find *f, pid_t pid)
{
	struct gpreempt_target t = { .pid = pid };

	return f->n_mute && !gpreempt_start_time(f->g, pid, &t.start) &&
	       contains(f->mute, f->n_mute, &t);
}

static bool skip(void *data, pid_t pid)
{
	struct find *f = data;

	if (f->beat)
		f->beat(f->data);
	return !f->saved && hold_skip_owner(&f->owners, pid);
}

/* It is asked before the library reads a command line. */
static bool skip_mute(void *data, pid_t pid)
{
	struct search *s = data;

	if (is_mute(s->f, pid) || skip(s->f, pid))
		return true;
	atomic_store(&s->at, pid);
	atomic_fetch_add(&s->asked, 1);
	return false;
}

static int select_targets(struct find *f, const char *const *words, size_t count,
			  bool (*never)(void *data, pid_t pid), void *data,
			  struct gpreempt_targets **out, struct gpreempt_error *err)
{
	return (f->sure ? gp_select_sure : gpreempt_select)(f->g, words, count, never, data, out,
							    err);
}

/* The child. If it hangs, it must not keep a pipe of ours open. */
static int work(void *arg)
{
	struct gpreempt_targets *list;
	struct search *s = arg;

	shr_close_range(STDIN_FILENO, STDERR_FILENO);
	s->f->beat = NULL;
	s->ret = select_targets(s->f, s->words, s->count, skip_mute, s, &list, &s->err);
	if (s->ret)
		return EXIT_SUCCESS;
	s->found = list->count < MOST ? list->count : MOST;
	memcpy(s->target, list->targets, s->found * sizeof(*s->target));
	return EXIT_SUCCESS;
}

/* From now on it has no command line. False: too many have none. */
static bool note_mute(struct search *s)
{
	struct find *f = s->f;
	struct gpreempt_target *mute = &f->mute[f->n_mute];

	if (f->n_mute == FIND_MUTE)
		return false;
	mute->pid = atomic_load(&s->at);
	/* It may have ended at last. */
	if (gpreempt_start_time(f->g, mute->pid, &mute->start))
		return true;
	f->n_mute++;
	ctl_note("process %d: its memory does not answer; \"cmd:\" does not "
		 "find it",
		 mute->pid);
	return true;
}

static int fail_system(struct gpreempt_error *err, int code)
{
	return ctl_set_error(err, code, GPREEMPT_SYSTEM, 0, "reading the command lines");
}

/* Words that a child looks for. */
static int find_slow(struct search *s, struct gpreempt_error *err)
{
	int ret;

	do {
		atomic_store(&s->asked, 0);
		s->ret = -EIO;
		ret = shr_child_run(work, s, &s->asked, s->f->beat, s->f->data);
	} while (ret == -ETIMEDOUT && note_mute(s));
	if (ret)
		return fail_system(err, ret);
	*err = s->err;
	return s->ret;
}

/* What both kinds of words have found, in the order of PIDs. */
static int merge(struct search *s, const struct gpreempt_targets *plain,
		 struct gpreempt_targets **out, struct gpreempt_error *err)
{
	struct gpreempt_targets *all;
	size_t i, kept = 0;
	int ret = gpreempt_processes(s->f->g, &all, err);

	if (ret)
		return ret;
	for (i = 0; i < all->count; i++)
		if (contains(s->target, s->found, &all->targets[i]) ||
		    (plain && contains(plain->targets, plain->count, &all->targets[i])))
			all->targets[kept++] = all->targets[i];
	all->count = kept;
	*out = all;
	return 0;
}

static int find_both(struct search *s, const char *const *words, size_t count,
		     struct gpreempt_targets **out, struct gpreempt_error *err)
{
	const char **sorted = calloc(count, sizeof(*sorted));
	struct gpreempt_targets *plain = NULL;
	size_t i, n = 0;
	int ret = 0;

	if (!sorted)
		return fail_system(err, -ENOMEM);
	for (i = 0; i < count; i++)
		if (!gp_select_reads_memory(words[i]))
			sorted[n++] = words[i];
	s->words = sorted + n;
	for (i = 0; i < count; i++)
		if (gp_select_reads_memory(words[i]))
			s->words[s->count++] = words[i];
	if (n)
		ret = select_targets(s->f, sorted, n, skip, s->f, &plain, err);
	if (!ret)
		ret = find_slow(s, err);
	if (!ret)
		ret = merge(s, plain, out, err);
	gpreempt_targets_free(plain);
	free(sorted);
	return ret;
}

int find_targets(struct find *f, const char *const *words, size_t count,
		 struct gpreempt_targets **out, struct gpreempt_error *err)
{
	struct search *s;
	size_t i;
	int ret;

	hold_owners_free(&f->owners);
	for (i = 0; i < count && !gp_select_reads_memory(words[i]); i++)
		;
	if (f->saved || i == count)
		return select_targets(f, words, count, skip, f, out, err);
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return fail_system(err, -ENOMEM);
	s->f = f;
	ret = find_both(s, words, count, out, err);
	munmap(s, sizeof(*s));
	return ret;
}

void find_free(struct find *f)
{
	hold_owners_free(&f->owners);
}
