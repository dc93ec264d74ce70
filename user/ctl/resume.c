// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "hold/client.h"
#include "hold/run-dir.h"
#include "shared/util.h"

static struct json_object *json_job(const struct hold_job *job)
{
	const struct hold_reply *reply = &job->reply;
	struct json_object *o = json_object_new_object();
	const char *how = reply->paused ? "pause" : job->answered ? "debug" : NULL;

	out_add(o, "pid", out_json_number(job->pid));
	out_add(o, "status", out_json_number(reply->status));
	out_add(o, "held_before", out_json_flag(job->held));
	out_add(o, "how", out_json_text(how));
	out_add(o, "queues", out_json_number(reply->queues));
	out_add(o, "still_suspended", out_json_number(reply->left));
	out_add(o, "ioctl_us", job->answered ? out_json_us(reply->ioctl_ns) : NULL);
	out_add(o, "error", reply->status && *reply->text ? out_json_text(reply->text) : NULL);
	return o;
}

static void print_job(const struct hold_job *job)
{
	int queues = job->reply.queues, left = job->reply.left;

	if (!job->held)
		printf("process %d is not held: nothing to resume\n", job->pid);
	else if (!job->answered)
		printf("resumed %d: its holder has ended\n", job->pid);
	else
		printf("resumed %d: %d queue%s, ioctl %.1f us\n", job->pid, queues,
		       queues == 1 ? "" : "s", job->reply.ioctl_ns / 1000.0);
	if (left)
		printf("%d queue%s of process %d %s still suspended\n", left, left == 1 ? "" : "s",
		       job->pid, left == 1 ? "is" : "are");
}

struct resume_args {
	struct ctl_target_args targets;
	uint64_t all;
	uint64_t force;
	enum out_mode mode;
};

static int print_all(struct gpreempt *g, enum out_mode mode, const struct hold_job *jobs,
		     size_t count)
{
	struct json_object *targets = mode == OUT_JSON ? json_object_new_array() : NULL;
	int status = jobs[0].reply.status;
	bool times = false;
	size_t i;

	for (i = 0; i < count; i++) {
		status = ctl_merge_status(status, jobs[i].reply.status);
		times |= jobs[i].answered;
		if (jobs[i].reply.status)
			hold_fail(&jobs[i].reply);
		if (targets)
			json_object_array_add(targets, json_job(&jobs[i]));
	}
	for (i = 0; !targets && i < count; i++) {
		if (jobs[i].reply.status)
			continue;
		print_job(&jobs[i]);
		if (jobs[i].held && !jobs[i].reply.left)
			hold_note_evicted(g, jobs[i].pid);
	}
	if (targets)
		out_json_print_targets(targets);
	else if (times)
		ctl_label_times();
	return status;
}

static int resume_list(struct gpreempt *g, const struct resume_args *args,
		       const struct gpreempt_targets *list)
{
	struct hold_job *jobs = shr_must(calloc(list->count, sizeof(*jobs)));
	int status;
	size_t i;

	for (i = 0; i < list->count; i++) {
		jobs[i].pid = list->targets[i].pid;
		jobs[i].force = args->force;
		jobs[i].request.verb = HOLD_RESUME;
		jobs[i].request.start = list->targets[i].start;
		gp_hold_put_filter(&jobs[i].request, &args->targets.queues);
	}
	hold_resume(g, jobs, list->count);
	status = print_all(g, args->mode, jobs, list->count);
	free(jobs);
	return status;
}

struct held {
	struct gpreempt *g;
	struct gpreempt_targets list;
};

static int add_held(void *arg, const struct hold_state *s)
{
	struct held *held = arg;
	struct gpreempt_target *target;
	uint64_t start;

	if (!hold_role_of(s) || gpreempt_start_time(held->g, s->pid, &start))
		return 0;
	target = shr_must(shr_array_add(&held->list.targets, &held->list.count, sizeof(*target)));
	*target = (struct gpreempt_target){ s->pid, start };
	return 0;
}

static int resume_all(struct gpreempt *g, const struct resume_args *args)
{
	struct held held = { .g = g };
	int ret = hold_look_all(g, add_held, &held);

	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, 0);
	if (held.list.count)
		ret = resume_list(g, args, &held.list);
	else if (args->mode == OUT_JSON)
		out_json_print_targets(json_object_new_array());
	else
		puts("nothing is held");
	free(held.list.targets);
	return ret;
}

static int run_resume(void *data)
{
	const struct resume_args *args = data;
	__cleanup_list struct gpreempt_targets *list = NULL;
	__cleanup_handle struct gpreempt *g = NULL;
	int ret;

	if (!args->targets.words.n != !!args->all)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl status lists what is held",
				     "a target is needed, or --all");
	ret = ctl_open_host("resume what is held", &g);
	if (!ret && !args->all)
		ret = ctl_targets_sure(g, &args->targets, &list);
	if (!ret)
		ret = args->all ? resume_all(g, args) : resume_list(g, args, list);
	return ret;
}

static const struct ctl_option options[] = {
	CTL_QUEUE_OPTIONS(struct resume_args),
	{ "all", CTL_FLAG, offsetof(struct resume_args, all), NULL,
	  "each process that is held, in place of a TARGET" },
	{ "force", CTL_FLAG, offsetof(struct resume_args, force), NULL,
	  "undo a pause of a program that has ended" },
	CTL_JSON_OPTION(struct resume_args),
	{ 0 },
};

const struct ctl_command ctl_resume = {
	.name = "resume",
	.run = run_resume,
	CTL_TARGET_ARGS(struct resume_args),
	.usage = "[TARGET]",
	.summary = "Let the queues of held processes run again.",
	.details =
		"A holder ends when none of its queues is suspended any more. A pause\n"
		"(suspend --how pause) is undone as a whole, whichever command made it. One that\n"
		"another program made (CRIU, for one) is left to that program; --force undoes it\n"
		"where the program has ended and cannot.\n"
		"Resuming a process that is not held does nothing and is no error. --all also\n"
		"asks guard and follow, which take a process again: stop these first.\n"
		"\n"
		"With several targets the exit status is their common one, 6 if only some were\n"
		"resumed, or that of the first failure.\n",
	.examples = "  gpreempt-ctl resume comm:train\n"
		    "  gpreempt-ctl resume --all\n",
	.options = options,
};
