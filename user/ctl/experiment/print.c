// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>

#include "ctl/experiment/experiment.h"
#include "output/table.h"

static struct json_object *real(double value)
{
	return value < 0 ? NULL : out_json_double(value);
}

static struct json_object *json_sample(const struct exp_sample *s)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "pid", out_json_number(s->pid));
	out_add(o, "exit_status", out_json_number(s->status));
	out_add(o, "queue_ids", out_json_text(s->ids ? s->ids : ""));
	out_add(o, "queues", out_json_number(s->queues));
	out_add(o, "slots_expected", out_json_number(s->slots_expected));
	out_add(o, "slots_active", out_json_number(s->slots_active));
	out_add(o, "priority", out_json_number(s->priority));
	out_add(o, "dispatches", out_json_number(s->dispatches));
	out_add(o, "hardware_queues", out_json_number(s->hardware_queues));
	out_add(o, "run_us", out_json_number(s->run_us));
	out_add(o, "backlog", out_json_number(s->backlog));
	return o;
}

static struct json_object *json_run(const struct exp_run *run)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "name", out_json_text(run->name));
	if (run->of[0].there)
		out_add(o, "a", json_sample(&run->of[0]));
	if (run->of[1].there)
		out_add(o, "b", json_sample(&run->of[1]));
	if (run->kind == EXP_BOTH && !run->apart) {
		out_add(o, "common_ids", out_json_number(run->common_ids));
		out_add(o, "common_slots", out_json_number(run->common_slots));
		out_add(o, "overlap", real(run->overlap));
		out_add(o, "a_before_b", real(run->a_before_b));
	}
	return o;
}

static struct json_object *json_model(const struct exp_model *model)
{
	struct json_object *o = json_object_new_object();
	bool several = model->runs > 1;

	out_add(o, "runs", out_json_number(model->runs));
	out_add(o, "overlap", several ? real(model->overlap) : NULL);
	out_add(o, "same_ids",
		several && model->overlap >= 0 ? out_json_flag(model->same_ids) : NULL);
	out_add(o, "same_number", several ? out_json_flag(model->same_number) : NULL);
	out_add(o, "slots_right", model->runs ? out_json_flag(model->slots_right) : NULL);
	out_add(o, "verdict", out_json_text(diff_verdict_name(model->verdict)));
	return o;
}

struct json_object *exp_json(const struct exp_plan *plan, const struct exp_report *report)
{
	struct json_object *o = json_object_new_object();
	struct json_object *runs = json_object_new_array();
	size_t i;

	for (i = 0; i < report->n_runs; i++)
		json_object_array_add(runs, json_run(report->runs + i));
	out_add(o, "directory", out_json_text(plan->dir));
	out_add(o, "command_a", out_json_text(plan->command[0]));
	out_add(o, "command_b", out_json_text(plan->command[1]));
	out_add(o, "runs", runs);
	out_add(o, "a", json_model(&report->models[0]));
	out_add(o, "b", plan->command[1] ? json_model(&report->models[1]) : NULL);
	out_add(o, "a_against_b", real(report->a_against_b));
	out_add(o, "amd_log", exp_json_log(plan, report));
	out_add(o, "strategy", out_json_text(report->strategy));
	out_add(o, "reason", out_json_text(report->reason));
	out_add(o, "simulated", out_json_flag(report->simulated));
	return o;
}

static void print_cell(FILE *f, int64_t value)
{
	if (value == GPREEMPT_UNKNOWN)
		fprintf(f, " - |");
	else
		fprintf(f, " %" PRId64 " |", value);
}

static void print_amdlog(FILE *f, const struct exp_sample *s)
{
	print_cell(f, s->dispatches);
	print_cell(f, s->hardware_queues);
	print_cell(f, s->run_us == GPREEMPT_UNKNOWN ? s->run_us : s->run_us / 1000);
}

static void print_runs(FILE *f, const struct exp_report *report, size_t m, bool amd_log)
{
	size_t i;

	fprintf(f,
		"\n| run | pid | queues | ids (gpu:queue) | slots | active |%s\n"
		"| --- | --- | --- | --- | --- | --- |%s\n",
		amd_log ? " dispatches | hardware queues | run ms |" : "",
		amd_log ? " --- | --- | --- |" : "");
	for (i = 0; i < report->n_runs; i++) {
		const struct exp_sample *s = &report->runs[i].of[m];

		if (!s->there)
			continue;
		fprintf(f, "| %s | %" PRId64 " | %" PRId64 " | %s |", report->runs[i].name, s->pid,
			s->queues, s->ids ? s->ids : "-");
		print_cell(f, s->slots_expected);
		print_cell(f, s->slots_active);
		if (amd_log)
			print_amdlog(f, s);
		fputc('\n', f);
	}
}

/* With a limit of time, they are ended by a signal. */
static void print_failed(FILE *f, const struct exp_plan *plan, const struct exp_report *report,
			 size_t m)
{
	size_t i;

	for (i = 0; i < report->n_runs && !plan->duration_ns; i++) {
		const struct exp_sample *s = &report->runs[i].of[m];

		if (s->there && s->status > 0)
			fprintf(f, "\n%s: the command ended with %" PRId64 "\n",
				report->runs[i].name, s->status);
	}
}

static void print_model(FILE *f, const struct exp_plan *plan, const struct exp_report *report,
			size_t m)
{
	const struct exp_model *model = &report->models[m];

	if (!plan->command[m])
		return;
	fprintf(f, "\n## Model %c\n\n", (int)('A' + m));
	if (!plan->foreign)
		fprintf(f, "`%s`\n", plan->command[m]);
	print_runs(f, report, m, plan->amd_log);
	print_failed(f, plan, report, m);
	if (model->runs > 1 && model->overlap < 0) {
		fprintf(f,
			"\nSame queue ids every run: not known, the text "
			"has no ids\n\nSame number of queues every run: %s\n",
			model->same_number ? "yes" : "no");
	} else if (model->runs > 1) {
		fprintf(f,
			"\nSame queue ids every run: %s (overlap with the "
			"first: %.2f, %s)\n\n",
			model->same_ids ? "yes" : "no", model->overlap,
			diff_verdict_name(model->verdict));
		fprintf(f, "Same number of queues every run: %s\n",
			model->same_number ? "yes" : "no");
	} else {
		fprintf(f, "\nSame queue ids every run: not known, %s\n",
			model->runs ? "it ran alone only once" : "it did not run alone");
	}
	if (model->runs)
		fprintf(f, "\nEach queue in one slot of each XCC: %s\n",
			model->slots_right ? "yes" : "no");
}

static void print_common(FILE *f, const struct exp_run *run)
{
	fprintf(f, "\n%s: ", run->name);
	if (run->overlap < 0)
		fprintf(f, "ids in common: not known, ");
	else
		fprintf(f, "%" PRId64 " ids in common (overlap %.2f), ", run->common_ids,
			run->overlap);
	fprintf(f, "%" PRId64 " slots in common\n", run->common_slots);
	if (run->a_before_b >= 0)
		fprintf(f,
			"\n%s: queues of A before B came, and with it: %s "
			"(overlap %.2f)\n",
			run->name, run->a_before_b == 1 ? "the same" : "not the same",
			run->a_before_b);
}

static void print_both(FILE *f, const struct exp_report *report)
{
	size_t i;

	fprintf(f, "\n## A and B\n\nIds of A alone and B alone in common: ");
	if (report->a_against_b < 0)
		fprintf(f, "not known\n");
	else
		fprintf(f, "%.0f%%\n", 100 * report->a_against_b);
	for (i = 0; i < report->n_runs; i++) {
		const struct exp_run *run = report->runs + i;

		if (run->kind == EXP_BOTH && run->apart)
			fprintf(f,
				"\n%s: one of them had no queue when the "
				"other had its own: they need to run longer\n",
				run->name);
		else if (run->kind == EXP_BOTH)
			print_common(f, run);
	}
	fprintf(f, "\nQueue ids are a process's own: two processes that both "
		   "have such an id share no queue.\n");
}

void exp_print(FILE *f, const struct exp_plan *plan, const struct exp_report *report)
{
	size_t m;

	fprintf(f, "# Which queues do the models use?\n");
	for (m = 0; m < EXP_MODELS; m++)
		print_model(f, plan, report, m);
	if (plan->command[1])
		print_both(f, report);
	exp_print_log(f, plan, report);
	fprintf(f, "\n## What follows\n\nChoose queues by %s: %s.\n", report->strategy,
		report->reason);
	if (report->simulated)
		fprintf(f, "\nThe GPU was the simulated one.\n");
}
