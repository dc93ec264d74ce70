// SPDX-License-Identifier: GPL-2.0-only
/* What the runs say: the seeds' questions, and their thresholds. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/experiment/experiment.h"
#include "ctl/text/snapshot.h"
#include "shared/macro.h"

static int fill_sample(const char *dir, size_t m, struct exp_sample *sample)
{
	char path[4096];
	const char *word = path;
	int ret;

	snprintf(path, sizeof(path), "%s/during", dir);
	ret = ctl_text_files(&word, 1, &sample->text);
	if (ret)
		return ret;
	exp_fill_sample(sample);
	exp_read_log(dir, m, sample);
	return 0;
}

/* Was the GPU of that run the simulated one? Its snapshot knows. */
static bool was_simulated(const char *dir, const char *run)
{
	char path[4096], *all;
	bool simulated;
	size_t len;

	snprintf(path, sizeof(path), "%s/%s/during", dir, run);
	all = text_read_in(path, SNAPSHOT_INFO, &len);
	simulated = all && strstr(all, "\nsimulated 1\n");
	free(all);
	return simulated;
}

/* Of their ids; or -1. @common: NULL, or gets what both have. */
static double overlap_of(const struct exp_sample *a, const struct exp_sample *b,
			 struct exp_run *common)
{
	struct diff diff;
	double overlap;

	diff_make(&a->text, a->pid, &b->text, b->pid, &diff);
	overlap = diff.ids_known ? diff_overlap(&diff.queues.counts) : -1;
	if (common) {
		common->common_ids = diff.queues.counts.of[DIFF_BOTH];
		common->common_slots = diff.slots.counts.of[DIFF_BOTH];
	}
	diff_free(&diff);
	return overlap;
}

/* What A had before B came is in a snapshot of its own. */
static void compare_before(const char *dir, struct exp_run *run)
{
	struct exp_sample alone = { .pid = run->of[0].pid };
	char path[4096];
	const char *word = path;

	if (run->kind != EXP_BOTH || !run->of[0].there)
		return;
	snprintf(path, sizeof(path), "%s/" EXP_ALONE, dir);
	if (!ctl_is_snapshot(path) || ctl_text_files(&word, 1, &alone.text))
		return;
	run->a_before_b = overlap_of(&alone, &run->of[0], NULL);
	ctl_text_free(&alone.text);
}

/* 0, -ENOENT when the run was not made, or the exit status. */
static int fill_run(const struct exp_plan *plan, struct exp_run *run)
{
	char dir[3200], *all, *at;
	size_t m, len;
	int ret = 0;

	snprintf(dir, sizeof(dir), "%s/%s", plan->dir, run->name);
	all = text_read_in(dir, EXP_RESULT, &len);
	if (!all)
		return -ENOENT;
	for (m = 0; m < EXP_MODELS && !ret; m++) {
		struct exp_sample *sample = &run->of[m];
		char head[] = { (char)('a' + m), ' ', 'p', 'i', 'd', ' ', 0 };

		at = strstr(all, head);
		if (!at || sscanf(at + 6, "%" SCNd64 " status %" SCNd64, &sample->pid,
				  &sample->status) != 2)
			continue;
		ret = fill_sample(dir, m, sample);
	}
	free(all);
	if (!ret)
		compare_before(dir, run);
	return ret;
}

static void compare_both(struct exp_run *run)
{
	run->apart = !run->of[0].queues || !run->of[1].queues;
	if (run->of[0].there && run->of[1].there && !run->apart)
		run->overlap = overlap_of(&run->of[0], &run->of[1], run);
}

/* The runs of a model alone. */
static const struct exp_sample *judge(const struct exp_report *report, size_t m,
				      struct exp_model *model)
{
	const struct exp_sample *first = NULL;
	size_t i;

	*model = (struct exp_model){ .overlap = 1,
				     .same_ids = true,
				     .same_number = true,
				     .slots_right = true,
				     .verdict = DIFF_UNKNOWN };
	for (i = 0; i < report->n_runs; i++) {
		const struct exp_sample *sample = &report->runs[i].of[m];
		double overlap;

		if (report->runs[i].kind != (m ? EXP_B : EXP_A) || !sample->there)
			continue;
		model->runs++;
		model->slots_right &= sample->slots_active >= 0 &&
				      sample->slots_expected == sample->slots_active;
		if (!first)
			first = sample;
		overlap = overlap_of(first, sample, NULL);
		if (overlap < model->overlap)
			model->overlap = overlap;
		model->same_number &= sample->queues == first->queues;
	}
	model->same_ids = model->overlap == 1;
	/* One run, or none, is not the same as another. */
	if (model->runs > 1)
		model->verdict = diff_judge(model->overlap);
	return first;
}

/* By what a scheduler should choose the queues that it suspends. */
static void choose(struct exp_report *report, bool two, const struct exp_sample *a,
		   const struct exp_sample *b)
{
	const struct exp_model *models = report->models;
	bool stable = models[0].verdict == DIFF_CONSISTENT &&
		      (!two || models[1].verdict == DIFF_CONSISTENT);
	bool met = report->a_against_b > 0;
	size_t i;

	for (i = 0; i < report->n_runs; i++)
		met |= report->runs[i].kind == EXP_BOTH && report->runs[i].common_ids;
	report->strategy = "pid";
	if (models[0].verdict == DIFF_UNKNOWN || (two && models[1].verdict == DIFF_UNKNOWN)) {
		report->reason = "one run does not tell whether queue ids are "
				 "the same each time: name the process";
	} else if (!stable) {
		report->reason = "queue ids are not the same in each run: "
				 "name the process, and take the queues it has";
	} else if (!met) {
		report->strategy = "id";
		report->reason = "queue ids are the same in each run, and A "
				 "and B have none in common: ids can be written down";
		if (!two)
			report->reason = "queue ids are the same in each run: "
					 "they can be written down for this model";
	} else if (a->priority != b->priority) {
		report->strategy = "priority";
		report->reason = "queue ids are the same in each run, but A "
				 "and B have the same ones; their priorities differ";
	} else {
		report->reason = "queue ids are the same in each run, but A "
				 "and B have the same ones, and the same priority: "
				 "name the process";
	}
}

int exp_report_make(const struct exp_plan *plan, struct exp_report *report)
{
	const struct exp_sample *first[EXP_MODELS] = { NULL, NULL };
	enum exp_kind kind;
	uint64_t i;
	int ret = 0;

	*report = (struct exp_report){ .a_against_b = -1 };
	report->runs = shr_must(calloc(EXP_KINDS * EXP_RUNS_MAX, sizeof(*report->runs)));
	for (kind = EXP_A; kind < EXP_KINDS; kind++)
		for (i = 0; i < exp_runs_of(plan, kind); i++) {
			struct exp_run *run = report->runs + report->n_runs;

			run->kind = kind;
			run->a_before_b = -1;
			exp_run_name(kind, i, run->name);
			ret = plan->foreign ? exp_foreign_run(plan, run, i) : fill_run(plan, run);
			if (ret && ret != -ENOENT)
				return ret;
			if (ret)
				continue;
			compare_both(run);
			report->simulated |= was_simulated(plan->dir, run->name);
			report->n_runs++;
		}
	for (i = 0; i < EXP_MODELS; i++)
		first[i] = judge(report, i, &report->models[i]);
	if (!first[0])
		return ctl_fail_text(GPREEMPT_CLASS_FAILED,
				     "--resume makes the runs that are missing",
				     "%s has no complete run of A alone", plan->dir);
	if (first[1])
		report->a_against_b = overlap_of(first[0], first[1], NULL);
	choose(report, plan->command[1], first[0], first[1]);
	return 0;
}

void exp_report_free(struct exp_report *report)
{
	size_t i, m;

	for (i = 0; i < report->n_runs; i++)
		for (m = 0; m < EXP_MODELS; m++) {
			free(report->runs[i].of[m].ids);
			if (report->runs[i].of[m].text.text)
				ctl_text_free(&report->runs[i].of[m].text);
		}
	free(report->runs);
}
