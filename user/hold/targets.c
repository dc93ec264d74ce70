// SPDX-License-Identifier: GPL-2.0-only
/* Selection of a command's target processes by its words. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/cli.h"
#include "cli/message.h"
#include "lib/see/see.h"
#include "lib/see/words.h"
#include "shared/util.h"
#include "targets.h"

/* Command lines that children read, in memory that both see. */
struct commands {
	struct shr_apart work; /* the first one: both have one address */
	struct find *f;
	const struct gpreempt_targets *list;
	bool too_many; /* processes do not answer */
	struct command {
		bool known;
		char text[GP_COMMAND_LEN + 1];
	} of[];
};

/* One look. */
struct search {
	struct find *f;
	struct gpreempt_targets *list; /* processes whose command lines are read */
	struct commands *commands;
};

bool same_target(const struct gpreempt_target *a, const struct gpreempt_target *b)
{
	return a->pid == b->pid && a->start == b->start;
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

static bool skip(void *data, pid_t pid)
{
	const struct search *s = data;

	if (s->f->beat)
		s->f->beat(s->f->data);
	return !s->f->saved && hold_skip_owner(&s->f->owners, pid);
}

static void read_command(struct shr_apart *work, size_t i)
{
	struct commands *c = (void *)work;
	struct command *to = &c->of[i];

	to->known = gp_read_command(c->f->g, c->list->targets[i].pid, to->text, sizeof(to->text)) >=
		    0;
}

/* Note that a process has no command line from now on. */
static void note_mute(struct shr_apart *work, size_t i)
{
	struct commands *c = (void *)work;
	const struct gpreempt_target *mute = &c->list->targets[i];
	uint64_t start;

	/* The process may have ended at last. */
	if (work->code || gpreempt_start_time(c->f->g, mute->pid, &start) || start != mute->start)
		return;
	c->too_many = c->f->n_mute == FIND_MUTE;
	if (c->too_many)
		return;
	c->f->mute[c->f->n_mute++] = *mute;
	ctl_note("process %d: its memory does not answer; \"cmd:\" does not find it", mute->pid);
}

static int fail_system(struct gpreempt_error *err, int code)
{
	return ctl_set_error(err, code, GPREEMPT_SYSTEM, 0, "reading the command lines");
}

static size_t room(const struct gpreempt_targets *list)
{
	return sizeof(struct commands) + list->count * sizeof(struct command);
}

static int read_commands(struct search *s, struct gpreempt_error *err)
{
	int ret = gpreempt_processes(s->f->g, &s->list, err);
	struct commands *c;
	size_t i, kept = 0;

	if (ret)
		return ret;
	for (i = 0; i < s->list->count; i++)
		if (!contains(s->f->mute, s->f->n_mute, &s->list->targets[i]))
			s->list->targets[kept++] = s->list->targets[i];
	s->list->count = kept;
	c = mmap(NULL, room(s->list), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c == MAP_FAILED)
		return fail_system(err, -ENOMEM);
	s->commands = c;
	c->f = s->f;
	c->list = s->list;
	c->work = (struct shr_apart){
		.count = kept,
		.ask = read_command,
		.silent = note_mute,
		.beat = s->f->beat,
		.data = s->f->data,
	};
	shr_ask_apart(&c->work);
	if (c->work.code || c->too_many)
		return fail_system(err, c->work.code ? c->work.code : -ETIMEDOUT);
	return 0;
}

/* Returns the command line that was read of this process, and not of an earlier one. */
static const char *command_of(void *data, pid_t pid)
{
	const struct search *s = data;
	struct gpreempt_target one = { .pid = pid };
	size_t i;

	if (gpreempt_start_time(s->f->g, pid, &one.start))
		return NULL;
	for (i = 0; i < s->list->count; i++)
		if (same_target(&s->list->targets[i], &one))
			return s->commands->of[i].known ? s->commands->of[i].text : NULL;
	return NULL;
}

int find_targets(struct find *f, const char *const *words, size_t count,
		 struct gpreempt_targets **out, struct gpreempt_error *err)
{
	struct search s = { .f = f };
	struct gp_select_how how = { .sure = f->sure, .skip = skip, .data = &s };
	int ret = 0;
	size_t i;

	hold_owners_free(&f->owners);
	for (i = 0; i < count && !gp_select_reads_memory(words[i]); i++)
		;
	if (i < count && !f->saved) {
		ret = read_commands(&s, err);
		how.command = command_of;
	}
	if (!ret)
		ret = gp_select(f->g, &how, words, count, out, err);
	if (s.commands)
		munmap(s.commands, room(s.list));
	gpreempt_list_free(s.list);
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
	const struct gpreempt_options options = { .size = sizeof(options), .from = from };
	int ret;

	if (from && strstr(from, CTL_SNAPSHOT_PART))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE,
				     "gpreempt-lab snapshot -o DIR makes another",
				     "--from %s: it is half of a snapshot, which was interrupted",
				     from);
	ret = gpreempt_new(&options, out);
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

int ctl_find_gpu(const struct gp_gpus *gpus, const char *word, bool *chosen)
{
	int ret = gp_gpus_find(gpus, word, chosen);
	char next[4096] = "one of ", *at = next + strlen(next);
	size_t i;

	if (!ret)
		return 0;
	for (i = 0; i < gpus->count && at + 128 < next + sizeof(next); i++) {
		at += sprintf(at, i ? ", " : "");
		at += gp_gpu_text(&gpus->items[i], at, 120);
	}
	return ret == -EEXIST ?
		       ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, next,
				     "several GPUs have the number %s", word) :
		       ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, next, "there is no GPU %s", word);
}

/* Add the GPUs of a list of words. 0, or the exit status. */
static int add_gpus(const struct gp_gpus *gpus, char *words, uint32_t *ids, size_t *n)
{
	__cleanup_free bool *chosen = shr_must(calloc(gpus->count + 1, sizeof(*chosen)));
	char *word, *rest = NULL;
	size_t i;
	int ret;

	for (word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		ret = ctl_find_gpu(gpus, word, chosen);
		if (ret)
			return ret;
		for (i = 0; i < gpus->count; i++) {
			uint32_t id = gpus->items[i].gpu_id;

			/* A packet has no number twice. */
			if (!chosen[i] || shr_has(ids, *n, id))
				continue;
			if (*n == HOLD_MAX_GPUS)
				return ctl_fail_text(GPREEMPT_CLASS_USAGE, "leave --gpu out",
						     "--gpu takes up to %d GPUs", HOLD_MAX_GPUS);
			ids[(*n)++] = id;
		}
	}
	return 0;
}

int ctl_find_gpus(struct gpreempt *g, const struct ctl_target_args *args)
{
	/* The memory is that of ctl_new_args(). */
	struct gpreempt_filter *which = (struct gpreempt_filter *)&args->queues;
	__cleanup_free char *words = NULL;
	struct gpreempt_error err;
	struct gp_gpus gpus;
	uint32_t *ids;
	int ret;

	if (!args->gpus || which->gpu_ids)
		return 0;
	if (gp_gpus_read(g, &gpus, &err))
		return ctl_fail(&err);
	words = shr_must(strdup(args->gpus));
	ids = shr_must(calloc(HOLD_MAX_GPUS, sizeof(*ids)));
	which->gpu_ids = ids;
	which->n_gpu_ids = 0;
	ret = add_gpus(&gpus, words, ids, &which->n_gpu_ids);
	gp_gpus_free(&gpus);
	return ret;
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

/*
 * Report why there is no target. Where the PID is one inside of a container, the next step has
 * the PIDs of the host.
 */
static int fail_target(struct gpreempt *g, const struct gpreempt_error *err)
{
	struct gpreempt_targets *list;
	struct gp_process process;
	char pids[256] = "";
	size_t i, len = 0;

	if ((err->reason != GPREEMPT_NOT_GPU && err->reason != GPREEMPT_NO_PROCESS) ||
	    gpreempt_processes(g, &list, NULL))
		return ctl_fail(err);
	for (i = 0; i < list->count && len < sizeof(pids) - 16; i++)
		if (list->targets[i].pid != err->pid &&
		    !gp_process_read(g, list->targets[i].pid, &process) &&
		    process.ns_pid == err->pid)
			len += snprintf(pids + len, sizeof(pids) - len, "%s%d", len ? ", " : "",
					list->targets[i].pid);
	gpreempt_list_free(list);
	if (!len)
		return ctl_fail(err);
	return ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, "give the PID of the host",
			     "%d is no GPU process of the host; inside of a container it is %s",
			     err->pid, pids);
}

/* Try to find the targets. 0: *out has them; -1 to try again later, or the exit status. */
static int try_targets(struct find *f, const struct ctl_target_args *args, bool late,
		       struct gpreempt_targets **out)
{
	struct gpreempt_targets *list;
	struct gpreempt_error err;
	pid_t idle = 0;

	if (find_targets(f, args->words.word, args->words.n, &list, &err))
		return late || !may_come(&err) ? fail_target(f->g, &err) : -1;
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
			     "gpreempt-ctl queues shows what there is; give it more time",
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
	int ret = ctl_find_gpus(g, args);

	return ret ? ret : wait_for_targets(&f, args, out);
}

int ctl_targets_sure(struct gpreempt *g, const struct ctl_target_args *args,
		     struct gpreempt_targets **out)
{
	struct find f = { .g = g, .saved = args->from, .sure = true };
	int ret = ctl_find_gpus(g, args);

	return ret ? ret : wait_for_targets(&f, args, out);
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

int ctl_check_how(enum gpreempt_how how, const struct gpreempt_filter *queues)
{
	const char *option = queues->n_ids	 ? "--queues" :
			     queues->by_priority ? "--priority" :
			     queues->n_gpu_ids	 ? "--gpu" :
						   NULL;

	if (how != GPREEMPT_HOW_PAUSE || !option)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, "--how debug suspends a part of a process",
			     "%s: not with --how pause, which takes all "
			     "queues of a process off all its GPUs",
			     option);
}
