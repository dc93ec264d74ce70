// SPDX-License-Identifier: GPL-2.0-only
/* The processes that a command line is about. */
#include <errno.h>
#include <string.h>

#include "agent/find-targets.h"
#include "ctl/command/ctl.h"
#include "shared/clock.h"
#include "shared/list.h"
#include "shared/macro.h"

/* How often --wait looks. */
#define PAUSE_NS (50 * NSEC_PER_MSEC)

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
				     "gpreempt-ctl snapshot -o DIR makes one; of a series, "
				     "name one of those in it",
				     "--from %s: %s", from,
				     ret == -EPROTO ? "it is no snapshot, or an older "
						      "gpreempt-ctl made it" :
						      strerror(-ret));
	return 0;
}

int ctl_open_host(struct gpreempt **out)
{
	int ret = ctl_need_root(0);

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
		found = ctl_chosen(&args->queues, &view->queues[i]);
	gpreempt_view_free(view);
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

/* -1 to try again later, or the exit status; 0: *out has them. */
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
	gpreempt_targets_free(list);
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
		shr_sleep_ns(PAUSE_NS);
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

bool ctl_chosen(const struct gpreempt_filter *which, const struct gpreempt_queue *queue)
{
	return (!which->n_ids || shr_has(which->ids, which->n_ids, queue->qid)) &&
	       (!which->n_gpu_ids || shr_has(which->gpu_ids, which->n_gpu_ids, queue->gpu_id)) &&
	       (!which->by_priority ||
		(queue->priority >= which->priority_min && queue->priority <= which->priority_max));
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

bool ctl_is_part(const struct gpreempt_filter *queues)
{
	return part_option(queues);
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
