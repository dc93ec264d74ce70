// SPDX-License-Identifier: GPL-2.0-only
/* Selection of a command's target processes by its words. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/cli.h"
#include "cli/message.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "targets.h"

#define MOST 65536 /* processes that are found */

/* Results of the child, in memory that both see. */
struct search {
	struct find *f;
	const char **words;
	size_t count;
	atomic_uint asked; /* processes so far */
	atomic_int at;	   /* the last one */
	int ret;	   /* result of gpreempt_select() */
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

/* Note which process is at hand; called before the library reads its command line. */
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

/* Note that the process at hand has no command line from now on. False: too many have none. */
static bool note_mute(struct search *s)
{
	struct find *f = s->f;
	struct gpreempt_target *mute = &f->mute[f->n_mute];

	if (f->n_mute == FIND_MUTE)
		return false;
	mute->pid = atomic_load(&s->at);
	/* The process may have ended at last. */
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

/* Join the finds of both kinds of words, in the order of PIDs. */
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
	gpreempt_list_free(plain);
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

/* The processes that a command line is about. */

/* How often --wait looks. */
#define RETRY_NS (50 * NSEC_PER_MSEC)

int ctl_open(const char *from, struct gpreempt **out)
{
	const struct gpreempt_options options = {
		.size = sizeof(options),
		.from = from,
	};
	int ret = gpreempt_new(&options, out);

	if (ret && !from)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	if (ret)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE,
				     "gpreempt-lab snapshot -o DIR makes one; of a series, "
				     "name one of those in it",
				     "--from %s: %s", from,
				     ret == -EPROTO ? "it is no snapshot, or an older "
						      "gpreempt-ctl made it" :
						      strerror(-ret));
	return 0;
}

int ctl_open_host(const char *to, struct gpreempt **out)
{
	int ret = ctl_need_root(to);

	if (!ret)
		ret = ctl_open(NULL, out);
	return ret ? ret : ctl_need_host(*out);
}

/* Is there a queue that the options of the command line choose? */
static bool has_queues(struct gpreempt *g, const struct ctl_target_args *args, pid_t pid)
{
	struct gpreempt_view *view;
	bool found = false;
	size_t i;

	if (gpreempt_view_read(g, pid, &view, NULL))
		return false;
	for (i = 0; i < view->count && !found; i++)
		found = gp_filter_matches(&args->queues, view->queues[i].qid,
					  view->queues[i].gpu_id, view->queues[i].priority);
	gpreempt_list_free(view);
	return found;
}

/* The first that has none, or 0. */
static pid_t without_queues(struct gpreempt *g, const struct ctl_target_args *args,
			    const struct gpreempt_targets *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (!has_queues(g, args, list->targets[i].pid))
			return list->targets[i].pid;
	return 0;
}

static bool may_come(const struct gpreempt_error *err)
{
	return gpreempt_error_class(err) == GPREEMPT_CLASS_NO_TARGET &&
	       err->reason != GPREEMPT_THREAD && err->reason != GPREEMPT_IS_HOLDER;
}

/* Try to find the targets. 0: *out has them; -1 to try again later, or the exit status. */
static int try_targets(struct find *f, const struct ctl_target_args *args, bool late,
		       struct gpreempt_targets **out)
{
	struct gpreempt_targets *list;
	struct gpreempt_error err;
	pid_t idle = 0;

	if (find_targets(f, args->words.word, args->words.n, &list, &err))
		return late || !may_come(&err) ? ctl_fail(&err) : -1;
	if (args->wait_ns)
		idle = without_queues(f->g, args, list);
	if (!idle) {
		*out = list;
		return 0;
	}
	gpreempt_list_free(list);
	if (!late)
		return -1;
	return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET,
			     "gpreempt-ctl queues shows what there is; give "
			     "it more time",
			     "process %d has no such queue yet", idle);
}

static int wait_for_targets(struct find *f, const struct ctl_target_args *args,
			    struct gpreempt_targets **out)
{
	/* A snapshot stays as it is. */
	uint64_t deadline = shr_now_ns() + (args->from ? 0 : args->wait_ns);
	bool waited = false;

	for (;;) {
		bool late = shr_now_ns() >= deadline;
		int ret;

		if (late && waited)
			ctl_progress_end();
		ret = try_targets(f, args, late, out);
		if (ret >= 0) {
			if (waited && !late)
				ctl_progress_end();
			find_free(f);
			return ret;
		}
		if (!waited)
			ctl_progress("waiting for %s ...", args->words.word[0]);
		waited = true;
		shr_sleep_ns(RETRY_NS);
	}
}

int ctl_targets(struct gpreempt *g, const struct ctl_target_args *args,
		struct gpreempt_targets **out)
{
	struct find f = { .g = g, .saved = args->from };

	return wait_for_targets(&f, args, out);
}

int ctl_targets_sure(struct gpreempt *g, const struct ctl_target_args *args,
		     struct gpreempt_targets **out)
{
	struct find f = { .g = g, .saved = args->from, .sure = true };

	return wait_for_targets(&f, args, out);
}

int ctl_merge_status(int a, int b)
{
	if (a == b)
		return a;
	if (a == GPREEMPT_CLASS_DONE || b == GPREEMPT_CLASS_DONE || a == GPREEMPT_CLASS_PARTIAL ||
	    b == GPREEMPT_CLASS_PARTIAL)
		return GPREEMPT_CLASS_PARTIAL;
	return a;
}

static const char *part_option(const struct gpreempt_filter *queues)
{
	return queues->n_ids	   ? "--queues" :
	       queues->by_priority ? "--priority" :
	       queues->n_gpu_ids   ? "--gpu" :
				     NULL;
}

int ctl_check_how(enum gpreempt_how how, const struct gpreempt_filter *queues)
{
	const char *option = part_option(queues);

	if (how != GPREEMPT_HOW_PAUSE || !option)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "--how debug suspends a part of a process",
			     "%s: not with --how pause, which takes all "
			     "queues of a process off all its GPUs",
			     option);
}
