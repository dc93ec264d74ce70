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

#include "ctl/experiment/experiment.h"

#define RUNS	   5
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

int exp_write(const char *dir, const char *name, int flags, const char *text)
{
	char path[4096];
	FILE *file;
	int fd, bad;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     flags & O_EXCL ?
					     "--resume goes on with one, --report-only reads it" :
					     NULL,
				     "%s: %s", path, strerror(errno));
	bad = fputs(text, file) < 0;
	if (!fclose(file) && !bad)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED, "is the disk full?", "%s: %s", path,
			     strerror(errno));
}

static int write_plan(const struct exp_plan *plan)
{
	const char *b = plan->command[1];
	char *text;
	int ret;

	/* What models print, and what only root may read. */
	if (mkdir(plan->dir, 0700) && errno != EEXIST)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s: %s", plan->dir,
				     strerror(errno));
	if (asprintf(&text,
		     "gpreempt-experiment - version: 1.0\n"
		     "runs %" PRIu64 "\nconcurrent %" PRIu64 "\namd_log %" PRIu64
		     "\nduration_ns %" PRIu64 "\na %s\n%s%s%s",
		     plan->runs, plan->concurrent, plan->amd_log, plan->duration_ns,
		     plan->command[0], b ? "b " : "", b ? b : "", b ? "\n" : "") < 0)
		abort();
	ret = exp_write(plan->dir, EXP_PLAN, O_EXCL, text);
	free(text);
	return ret;
}

int exp_plan_new(const struct exp_args *args, struct exp_plan *plan)
{
	const char *const models[] = { args->model_a, args->model_b };
	time_t now = time(NULL);
	struct tm tm;
	size_t i;

	*plan = (struct exp_plan){
		.runs = args->runs ? args->runs : RUNS,
		.concurrent = args->concurrent ? args->concurrent : CONCURRENT,
		.amd_log = args->amd_log,
		.duration_ns = args->duration_ns,
	};
	for (i = 0; i < EXP_MODELS; i++) {
		if (models[i] && strchr(models[i], '\n'))
			return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL,
					     "a command of one line is needed");
		plan->command[i] = models[i] ? strdup(models[i]) : NULL;
	}
	if (!plan->command[0] || !*plan->command[0])
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL, "--a: a command is needed");
	if (plan->runs > EXP_RUNS_MAX || plan->concurrent > EXP_RUNS_MAX)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, NULL, "more than %d runs", EXP_RUNS_MAX);
	if (args->output)
		snprintf(plan->dir, sizeof(plan->dir), "%s", args->output);
	else
		strftime(plan->dir, sizeof(plan->dir), "gpreempt-experiment-%Y%m%d-%H%M%S",
			 localtime_r(&now, &tm));
	return write_plan(plan);
}

int exp_plan_load(const char *dir, struct exp_plan *plan)
{
	char *all, *line, *rest = NULL;
	size_t len;

	*plan = (struct exp_plan){ 0 };
	snprintf(plan->dir, sizeof(plan->dir), "%s", dir);
	all = text_read_in(dir, EXP_PLAN, &len);
	if (!all && errno == ENOENT && exp_foreign_load(dir, plan))
		return 0;
	if (!all)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s is no experiment: %s", dir,
				     text_open_error(-errno));
	for (line = strtok_r(all, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
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
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s/" EXP_PLAN " is damaged",
				     dir);
	return 0;
}

/* The commands are run as the user who calls this, which is root. */
static bool only_ours(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT; /* then there is nothing to run */
	return (st.st_uid == geteuid() || !st.st_uid) && !(st.st_mode & 0022) &&
	       !S_ISLNK(st.st_mode);
}

int exp_plan_trusted(const char *dir)
{
	char path[4096];
	const char *bad = path;

	snprintf(path, sizeof(path), "%s/.", dir);
	if (only_ours(path)) {
		snprintf(path, sizeof(path), "%s/" EXP_PLAN, dir);
		if (only_ours(path))
			bad = NULL;
	}
	if (!bad)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_PERMISSION,
			     "read its commands; if they are yours: chown -R "
			     "and chmod go-w",
			     "%s: another user owns it or can write it, and "
			     "its commands would be run",
			     bad);
}

int exp_plan_lock(struct exp_plan *plan)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/" EXP_PLAN, plan->dir);
	plan->lock = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (plan->lock < 0)
		return ctl_fail_text(GPREEMPT_CLASS_FAILED, NULL, "%s: %s", path, strerror(errno));
	if (!flock(plan->lock, LOCK_EX | LOCK_NB))
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_BUSY, "wait for it, or take another directory",
			     "%s: another gpreempt-ctl experiment is at work there", plan->dir);
}

void exp_plan_free(struct exp_plan *plan)
{
	if (plan->lock > 0)
		close(plan->lock);
	free(plan->command[0]);
	free(plan->command[1]);
}
