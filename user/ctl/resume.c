// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "hold/client.h"
#include "hold/run-dir.h"
#include "shared/util.h"

/* A line of the output. */
struct row {
	int64_t pid;
	int64_t status;
	int64_t queues;
	int64_t left;
	int64_t ioctl_ns;
	int64_t held; /* until now */
	const char *how;
	const char *error;
};

static const struct out_field fields[] = {
	OUT_FIELD(struct row, pid, NULL, OUT_DEC),
	OUT_FIELD(struct row, status, NULL, OUT_DEC),
	OUT_NAMED("held_before", struct row, held, NULL, OUT_FLAG),
	OUT_FIELD(struct row, how, NULL, OUT_TEXT),
	OUT_FIELD(struct row, queues, NULL, OUT_DEC),
	OUT_NAMED("still_suspended", struct row, left, NULL, OUT_DEC),
	OUT_NAMED("ioctl_us", struct row, ioctl_ns, NULL, OUT_US),
	OUT_FIELD(struct row, error, NULL, OUT_TEXT),
};

static const struct out_table table = OUT_TABLE("targets", fields, struct row);

static void fill_row(struct row *row, const struct hold_job *job)
{
	const struct hold_reply *reply = &job->reply;

	*row = (struct row){
		.pid = job->pid,
		.status = reply->status,
		.queues = reply->queues,
		.left = reply->left,
		.ioctl_ns = job->answered ? (int64_t)reply->ioctl_ns : GPREEMPT_UNKNOWN,
		.held = job->held,
		.how = reply->paused ? "pause" :
		       job->answered ? "debug" :
				       NULL,
		.error = reply->status ? reply->text : NULL,
	};
}

static void print_row(const struct row *row)
{
	if (row->status)
		return;
	if (!row->held)
		printf("process %d is not held: nothing to resume\n", (int)row->pid);
	else if (row->ioctl_ns == GPREEMPT_UNKNOWN)
		printf("resumed %d: its holder has ended\n", (int)row->pid);
	else
		printf("resumed %d: %d queue%s, ioctl %.1f us\n", (int)row->pid, (int)row->queues,
		       row->queues == 1 ? "" : "s", row->ioctl_ns / 1000.0);
	if (row->left)
		printf("%d queue%s of process %d %s still suspended\n", (int)row->left,
		       row->left == 1 ? "" : "s", (int)row->pid, row->left == 1 ? "is" : "are");
}

struct resume_args {
	struct ctl_target_args targets;
	uint64_t all;
	uint64_t force;
	enum out_mode mode;
};

static int print_all(struct gpreempt *g, enum out_mode mode, const struct hold_job *jobs,
		     struct row *rows, size_t count)
{
	int status = jobs[0].reply.status;
	bool times = false;
	size_t i;

	for (i = 0; i < count; i++) {
		fill_row(&rows[i], &jobs[i]);
		status = ctl_merge_status(status, rows[i].status);
		times |= jobs[i].answered;
		if (rows[i].status)
			hold_fail(&jobs[i].reply);
	}
	for (i = 0; mode != OUT_JSON && i < count; i++) {
		print_row(&rows[i]);
		if (!rows[i].status && rows[i].held && !rows[i].left)
			hold_note_evicted(g, rows[i].pid);
	}
	if (mode == OUT_JSON)
		out_json_print_timed(&table, rows, count);
	else if (times)
		ctl_label_times();
	return status;
}

static int resume_list(struct gpreempt *g, const struct resume_args *args,
		       const struct gpreempt_targets *list)
{
	struct hold_job *jobs = shr_must(calloc(list->count, sizeof(*jobs)));
	struct row *rows = shr_must(calloc(list->count, sizeof(*rows)));
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
	status = print_all(g, args->mode, jobs, rows, list->count);
	free(rows);
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
		out_json_print_timed(&table, NULL, 0);
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
