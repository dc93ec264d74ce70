// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ctl/experiment.h"

#define RUNS 5
#define CONCURRENT 3

void exp_run_name(enum exp_kind kind, uint64_t nth, char *name)
{
	static const char *const kinds[] = { "a", "b", "both" };

	snprintf(name, EXP_NAME, "%s-%" PRIu64, kinds[kind], nth + 1);
}

uint64_t exp_runs_of(const struct exp_plan *plan, enum exp_kind kind)
{
	if (kind != EXP_A && !plan->command[1])
		return 0;
	return kind == EXP_BOTH ? plan->concurrent : plan->runs;
}

static int write_plan(const struct exp_plan *plan)
{
	char path[4096];
	FILE *file;

	if (mkdir(plan->dir, 0755) && errno != EEXIST)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s: %s",
				     plan->dir, strerror(errno));
	snprintf(path, sizeof(path), "%s/" EXP_PLAN, plan->dir);
	file = fopen(path, "wx");
	if (!file)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "--resume goes on with one, --report-only reads it",
				     "%s: %s", path, strerror(errno));
	fprintf(file, "gpreempt-experiment - version: 1.0\n"
		"runs %" PRIu64 "\nconcurrent %" PRIu64 "\namd_log %" PRIu64
		"\nduration_ns %" PRIu64 "\na %s\n", plan->runs,
		plan->concurrent, plan->amd_log, plan->duration_ns,
		plan->command[0]);
	if (plan->command[1])
		fprintf(file, "b %s\n", plan->command[1]);
	return exp_end_file(file, path);
}

int exp_plan_new(const struct ctl_args *args, struct exp_plan *plan)
{
	const char *const models[] = { args->model_a, args->model_b };
	time_t now = time(NULL);
	struct tm tm;
	size_t i;

	*plan = (struct exp_plan){
		.runs = args->runs ? args->runs : RUNS,
		.concurrent = args->concurrent ? args->concurrent : CONCURRENT,
		.amd_log = args->amd_log, .duration_ns = args->duration_ns,
	};
	for (i = 0; i < EXP_MODELS; i++) {
		if (models[i] && strchr(models[i], '\n'))
			return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL,
					     "a command of one line is needed");
		plan->command[i] = models[i] ? strdup(models[i]) : NULL;
	}
	if (!plan->command[0] || !*plan->command[0])
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL,
				     "--a: a command is needed");
	if (plan->runs > EXP_RUNS_MAX || plan->concurrent > EXP_RUNS_MAX)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL,
				     "more than %d runs", EXP_RUNS_MAX);
	if (args->output)
		snprintf(plan->dir, sizeof(plan->dir), "%s", args->output);
	else
		strftime(plan->dir, sizeof(plan->dir),
			 "gpreempt-experiment-%Y%m%d-%H%M%S",
			 localtime_r(&now, &tm));
	return write_plan(plan);
}

int exp_plan_load(const char *dir, struct exp_plan *plan)
{
	char path[4096], *all, *line, *rest = NULL;
	size_t len;

	*plan = (struct exp_plan){ 0 };
	snprintf(plan->dir, sizeof(plan->dir), "%s", dir);
	snprintf(path, sizeof(path), "%s/" EXP_PLAN, dir);
	all = ctl_read_file(path, &len);
	if (!all)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL,
				     "%s is no experiment: %s", dir,
				     strerror(errno));
	for (line = strtok_r(all, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		sscanf(line, "runs %" SCNu64, &plan->runs);
		sscanf(line, "concurrent %" SCNu64, &plan->concurrent);
		sscanf(line, "amd_log %" SCNu64, &plan->amd_log);
		sscanf(line, "duration_ns %" SCNu64, &plan->duration_ns);
		if (!strncmp(line, "a ", 2) && !plan->command[0])
			plan->command[0] = strdup(line + 2);
		if (!strncmp(line, "b ", 2) && !plan->command[1])
			plan->command[1] = strdup(line + 2);
	}
	free(all);
	if (!plan->command[0] || !plan->runs || plan->runs > EXP_RUNS_MAX ||
	    plan->concurrent > EXP_RUNS_MAX)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL,
				     "%s is damaged", path);
	return 0;
}

int exp_plan_lock(struct exp_plan *plan)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/" EXP_PLAN, plan->dir);
	plan->lock = open(path, O_RDONLY | O_CLOEXEC);
	if (plan->lock < 0)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s: %s",
				     path, strerror(errno));
	if (!flock(plan->lock, LOCK_EX | LOCK_NB))
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_BUSY,
			     "wait for it, or take another directory",
			     "%s: another gpreempt-ctl experiment is at work there",
			     plan->dir);
}

int exp_end_file(FILE *file, const char *path)
{
	int bad = ferror(file);

	if (!fclose(file) && !bad)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "is the disk full?",
			     "%s: %s", path, strerror(errno));
}

void exp_plan_free(struct exp_plan *plan)
{
	if (plan->lock > 0)
		close(plan->lock);
	free(plan->command[0]);
	free(plan->command[1]);
}
