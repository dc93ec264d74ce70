// SPDX-License-Identifier: GPL-2.0-only
/*
 * An experiment that a script made: DIR/model_a_run_1, model_b_run_1 and
 * concurrent_run_1, with the driver's text in mqd_during_TIME.txt and
 * hqd_during_TIME.txt (mqd_both_TIME.txt when both ran, and
 * mqd_model_a_only_TIME.txt before B came), pids in model_a_pid.txt.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/experiment/experiment.h"
#include "shared/parse.h"

static const char *const dirs[] = {
	[EXP_A] = "model_a_run_",
	[EXP_B] = "model_b_run_",
	[EXP_BOTH] = "concurrent_run_",
};

static void run_dir(const char *dir, enum exp_kind kind, uint64_t nth, char *path, size_t size)
{
	snprintf(path, size, "%s/%s%" PRIu64, dir, dirs[kind], nth + 1);
}

static uint64_t count_runs(const char *dir, enum exp_kind kind)
{
	struct text_moment *moments;
	char path[4096];
	uint64_t n;
	size_t count = 1;

	for (n = 0; n < EXP_RUNS_MAX && count; n++) {
		run_dir(dir, kind, n, path, sizeof(path));
		count = text_moments(path, &moments);
		text_moments_free(moments, count);
	}
	return count ? n : n - 1;
}

bool exp_foreign_load(const char *dir, struct exp_plan *plan)
{
	uint64_t runs = count_runs(dir, EXP_A), of_b = count_runs(dir, EXP_B);

	if (!runs)
		return false;
	plan->foreign = true;
	plan->runs = runs > of_b ? runs : of_b;
	plan->concurrent = count_runs(dir, EXP_BOTH);
	plan->command[0] = strdup("-");
	if (of_b || plan->concurrent)
		plan->command[1] = strdup("-");
	return true;
}

/* The moment of that name, whatever the time behind it. 0 or -ENOENT. */
static int load_moment(const char *dir, const char *name, struct ctl_text *out)
{
	struct text_moment *moments;
	size_t i, count = text_moments(dir, &moments);
	int ret = -ENOENT;

	for (i = 0; i < count && ret; i++)
		if (!strncmp(moments[i].name, name, strlen(name)))
			ret = ctl_text_moment(moments + i, out);
	text_moments_free(moments, count);
	return ret;
}

/* What the script noted, if that process has queues; else the only one there. */
static int64_t find_pid(const char *dir, size_t m, const struct ctl_text *text)
{
	const struct gp_text_data *d = text->data;
	char name[] = "model_a_pid.txt", *all;
	uint64_t pid = 0;
	size_t len;

	name[6] = 'a' + m;
	all = text_read_in(dir, name, &len);
	if (all) {
		all[strcspn(all, " \r\n")] = '\0';
		if (shr_parse_u64(all, INT32_MAX, &pid))
			pid = 0;
	}
	free(all);
	if (pid && decode_has_pid(text, pid))
		return pid;
	return d->n_processes == 1 ? d->processes[0].pid : pid ? (int64_t)pid : GPREEMPT_UNKNOWN;
}

static int fill(const char *dir, const char *moment, size_t m, struct exp_sample *sample)
{
	int ret = load_moment(dir, moment, &sample->text);

	if (ret)
		return ret;
	sample->pid = find_pid(dir, m, &sample->text);
	sample->status = GPREEMPT_UNKNOWN;
	exp_fill_sample(sample);
	return 0;
}

int exp_foreign_run(const struct exp_plan *plan, struct exp_run *run, uint64_t nth)
{
	bool both = run->kind == EXP_BOTH;
	const char *moment = both ? "both" : "during";
	char dir[4096];
	size_t m, own = run->kind == EXP_B ? 1 : 0;
	int ret = 0;

	run_dir(plan->dir, run->kind, nth, dir, sizeof(dir));
	for (m = 0; m < EXP_MODELS && !ret; m++)
		if (both || m == own)
			ret = fill(dir, moment, m, &run->of[m]);
	return ret;
}
