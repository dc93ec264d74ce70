// SPDX-License-Identifier: GPL-2.0-only
/* The command: plan, runs, report. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl/experiment/experiment.h"

static int write_report(const struct exp_plan *plan, const struct exp_report *report,
			const char *name, bool json)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int ret;

	if (!file)
		abort();
	if (json)
		out_json_write(file, exp_json(plan, report));
	else
		exp_print(file, plan, report);
	if (fclose(file))
		abort();
	ret = exp_write(plan->dir, name, O_TRUNC, text);
	free(text);
	return ret;
}

static int report(const struct exp_args *args, const struct exp_plan *plan, bool write)
{
	struct exp_report result;
	int ret = exp_report_make(plan, &result);

	if (!ret) {
		if (write)
			ret = write_report(plan, &result, "report.md", false);
		if (write && !ret)
			ret = write_report(plan, &result, "report.json", true);
		if (args->mode == OUT_JSON)
			out_json_print(exp_json(plan, &result));
		else
			exp_print(stdout, plan, &result);
	}
	exp_report_free(&result);
	return ret;
}

static int run_experiment(void *data)
{
	const struct exp_args *args = data;
	const char *dir = args->resume ? args->resume : args->report_only;
	struct exp_plan plan = { 0 };
	int ret;

	if (!!args->model_a + !!args->resume + !!args->report_only != 1)
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, "gpreempt-ctl experiment --help",
				     "one of --a, --resume and --report-only "
				     "is needed");
	ret = args->resume ? exp_plan_trusted(dir) : 0;
	if (!ret)
		ret = dir ? exp_plan_load(dir, &plan) : ctl_need_root(0);
	if (!ret && plan.foreign && !args->report_only)
		ret = ctl_fail_text(GPREEMPT_CLASS_FAILED, "--report-only reads it",
				    "%s is not one of gpreempt-ctl experiment: "
				    "its commands are not in it",
				    dir);
	if (!ret && !dir)
		ret = exp_plan_new(args, &plan);
	if (!ret && !args->report_only)
		ret = exp_plan_lock(&plan);
	if (!ret && !args->report_only)
		ret = exp_execute(&plan);
	if (!ret)
		ret = report(args, &plan, !args->report_only);
	exp_plan_free(&plan);
	return ret;
}

static const struct ctl_option options[] = {
	{ "a", CTL_NAME, offsetof(struct exp_args, model_a), "COMMAND", "model A, for the shell" },
	{ "b", CTL_NAME, offsetof(struct exp_args, model_b), "COMMAND",
	  "model B; both are then also run at once" },
	{ "runs", CTL_COUNT, offsetof(struct exp_args, runs), "N", "runs of each alone (5)" },
	{ "concurrent", CTL_COUNT, offsetof(struct exp_args, concurrent), "N",
	  "runs of both at once (3)" },
	{ "duration", CTL_DURATION, offsetof(struct exp_args, duration_ns), "TIME",
	  "end the models after that time; default: wait for them" },
	{ "amd-log", CTL_COUNT, offsetof(struct exp_args, amd_log), "LEVEL",
	  "run them with AMD_LOG_LEVEL, and report what it has" },
	{ "output", CTL_FILE, offsetof(struct exp_args, output), "DIR",
	  "directory (-o DIR); default: a new one" },
	{ "resume", CTL_FILE, offsetof(struct exp_args, resume), "DIR",
	  "continue one: runs the commands that are in it" },
	{ "report-only", CTL_FILE, offsetof(struct exp_args, report_only), "DIR",
	  "report on one again, or on a script's results" },
	CTL_JSON_OPTION(struct exp_args),
	{ 0 },
};

const struct ctl_command ctl_experiment = {
	.name = "experiment",
	.run = run_experiment,
	.args_size = sizeof(struct exp_args),
	.words = CTL_NO_WORDS,
	.options = options,
	.summary = "Test whether models use the same queues each time.",
	.details =
		"Each run has snapshots before, during and after it. \"during\" is taken when the\n"
		"model has queues and made no new one for half a second, and again if it makes\n"
		"more later. The next run begins when the queues are gone. DIR has the\n"
		"snapshots, the output of the models (a.out, a.err), report.md and report.json.\n"
		"Ids in common with the first run: above 0.8 of them is consistent, above 0.5\n"
		"partly.\n"
		"With --amd-log the report compares both models: dispatches, hardware queues,\n"
		"time, highest number of waiting packets; the median of the runs.\n"
		"Ctrl-C ends the models too, and --resume continues with the interrupted run.\n"
		"It runs the commands in DIR/experiment, as the user who calls it, and refuses\n"
		"a DIR or a file that another user owns or can write.\n"
		"--report-only also reads the results of a script: model_a_run_N,\n"
		"model_b_run_N and concurrent_run_N with mqd_during_*, hqd_during_* (or _both_)\n"
		"and model_a_pid.txt.\n"
		"Exit status 7: another experiment uses DIR.\n",
};
