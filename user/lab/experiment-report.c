// SPDX-License-Identifier: GPL-2.0-only
/* The report of an experiment: the figures of each model in each run, and a verdict. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/table.h"
#include "shared/util.h"
#include "amdlog.h"
#include "experiment.h"
#include "snapshot.h"

/* A model in a run. */
struct exp_sample {
	bool there;
	int64_t pid;
	int64_t status; /* exit status of its command, in the shell's form */
	char *ids;	/* "f7bc:0,f7bc:1"; "": none is known */
	int64_t queues;
	int64_t slots_expected;
	int64_t slots_active;
	int64_t priority;   /* the least of its queues' */
	int64_t dispatches; /* dispatches in ROCm's log */
	int64_t hardware_queues;
	int64_t backlog; /* most packets that waited in a queue */
	int64_t run_us;
	struct ctl_text text;
};

struct exp_run {
	char name[EXP_NAME];
	enum exp_kind kind;
	struct exp_sample of[EXP_MODELS];
	bool apart;	   /* one had ended when the other had queues */
	double overlap;	   /* overlap of the ids of A and B, when both run; or -1 */
	double a_before_b; /* overlap of A's queues before B came and with B; or -1 */
	int64_t common_ids;
	int64_t common_slots;
};

struct exp_model {
	uint64_t runs;	/* runs in which it had queues */
	double overlap; /* lowest overlap of a run with the first one; or -1 */
	bool same_ids;
	bool same_number;
	bool slots_right; /* in each run, each queue in all its slots */
	enum diff_verdict verdict;
};

struct exp_report {
	struct exp_run *runs;
	size_t n_runs;
	struct exp_model models[EXP_MODELS];
	double a_against_b;   /* ids of the first run of each; -1: no B */
	bool simulated;	      /* where it was made */
	const char *strategy; /* "id", "priority", "pid" */
	const char *reason;
};

/* The figures of a model in a run: of the driver's text, and of ROCm's log. */

static char *list_ids(const struct ctl_text *text, int64_t pid)
{
	char *list = NULL;
	size_t i;

	for (i = 0; i < text->n_ids; i++)
		if (text->ids[i].pid == pid)
			text_append(&list, "%" PRIx64 ":%" PRId64, text->ids[i].gpu_id,
				    text->ids[i].qid);
	return list ?: shr_must(strdup(""));
}

/* Fill in the figures of a sample whose text and pid are there. */
static void exp_fill_sample(struct exp_sample *sample)
{
	struct gp_text_check sum = ctl_text_check(&sample->text, sample->pid);
	size_t i;

	sample->there = true;
	sample->priority = GPREEMPT_UNKNOWN;
	sample->dispatches = GPREEMPT_UNKNOWN;
	sample->hardware_queues = GPREEMPT_UNKNOWN;
	sample->run_us = GPREEMPT_UNKNOWN;
	sample->backlog = GPREEMPT_UNKNOWN;
	sample->ids = list_ids(&sample->text, sample->pid);
	sample->slots_expected = sum.slots_expected;
	sample->slots_active = sum.slots_active;
	for (i = 0; i < sample->text.data->n_queues; i++) {
		const struct gp_text_queue *q = sample->text.data->queues + i;

		if (q->pid != sample->pid)
			continue;
		sample->queues++;
		if (q->priority != GPREEMPT_UNKNOWN &&
		    (sample->priority == GPREEMPT_UNKNOWN || q->priority < sample->priority))
			sample->priority = q->priority;
	}
}

/* Read the log of model number m in a run; the figures are unknown if there is none. */
static void exp_read_log(const char *dir, size_t m, struct exp_sample *sample)
{
	const struct gp_amdlog_data *d;
	struct gp_amdlog *log;
	char name[] = "a.err";
	int64_t dispatches = 0;
	bool packets = false;
	size_t i;

	name[0] = 'a' + m;
	if (amdlog_read_fd(text_open_in(dir, name, INT64_MAX), GPREEMPT_UNKNOWN, NULL, NULL, NULL,
			   &log))
		return;
	d = gp_amdlog_get(log);
	/* The program's own output alone is no log. */
	if (!d->records) {
		gp_amdlog_free(log);
		return;
	}
	sample->hardware_queues = d->level >= 3 ? 0 : GPREEMPT_UNKNOWN;
	sample->run_us = 0;
	for (i = 0; i < d->n_queues; i++) {
		out_sum(&sample->hardware_queues, d->queues[i].created);
		if (d->queues[i].backlog > sample->backlog)
			sample->backlog = d->queues[i].backlog;
	}
	for (i = 0; i < d->n_processes; i++) {
		/* All run at one level: one that launches nothing has no packets. */
		if (d->processes[i].dispatches != GPREEMPT_UNKNOWN)
			packets = true;
		if (d->processes[i].dispatches != GPREEMPT_UNKNOWN || d->processes[i].kernels > 0)
			out_sum(&dispatches, d->processes[i].dispatches);
		if (d->processes[i].run_us > sample->run_us)
			sample->run_us = d->processes[i].run_us;
	}
	if (packets)
		sample->dispatches = dispatches;
	gp_amdlog_free(log);
}

#define SAMPLE(key, member, title, what) OUT_NAMED(key, struct exp_sample, member, title, what)
/* Figures of ROCm's log, and their headings. */
#define FIGURES                                                                         \
	SAMPLE("dispatches", dispatches, "dispatches", OUT_DEC),                        \
		SAMPLE("hardware_queues", hardware_queues, "hardware queues", OUT_DEC), \
		SAMPLE("run_us", run_us, "run ms", OUT_DEC),                            \
		SAMPLE("backlog", backlog, "most packets waiting", OUT_DEC)

static const struct out_field figures[] = { FIGURES };

/* Index of the run's time, which each log has. */
#define RUN_US 2

static const struct out_field sample_fields[] = {
	SAMPLE("pid", pid, NULL, OUT_DEC),
	SAMPLE("exit_status", status, NULL, OUT_DEC),
	SAMPLE("queue_ids", ids, NULL, OUT_TEXT),
	SAMPLE("queues", queues, NULL, OUT_DEC),
	SAMPLE("slots_expected", slots_expected, NULL, OUT_DEC),
	SAMPLE("slots_active", slots_active, NULL, OUT_DEC),
	SAMPLE("priority", priority, NULL, OUT_DEC),
	FIGURES,
};

static const struct out_table sample_table = OUT_TABLE("sample", sample_fields, struct exp_sample);

static const struct column {
	const char *key;
	const char *what;
	enum exp_kind kind;
	size_t m;
} columns[] = {
	{ "a_alone", "A alone", EXP_A, 0 },
	{ "b_alone", "B alone", EXP_B, 1 },
	{ "a_with_b", "A with B", EXP_BOTH, 0 },
	{ "b_with_a", "B with A", EXP_BOTH, 1 },
};

/* Returns the median of all runs of that kind whose log has the figure. */
static int64_t median(const struct exp_report *report, const struct column *column,
		      const struct out_field *figure)
{
	int64_t values[EXP_RUNS_MAX];
	size_t i, n = 0;

	for (i = 0; i < report->n_runs; i++) {
		const struct exp_sample *sample = &report->runs[i].of[column->m];
		int64_t value = out_number_of(figure, sample);

		if (report->runs[i].kind == column->kind && sample->there &&
		    value != GPREEMPT_UNKNOWN)
			values[n++] = value;
	}
	if (!n)
		return GPREEMPT_UNKNOWN;
	qsort(values, n, sizeof(*values), shr_compare_first);
	return values[(n - 1) / 2];
}

static size_t n_columns(const struct exp_plan *plan)
{
	return plan->command[1] ? ARRAY_SIZE(columns) : 1;
}

static struct json_object *exp_json_log(const struct exp_plan *plan,
					const struct exp_report *report)
{
	struct json_object *all, *one;
	size_t i, j;

	if (!plan->amd_log)
		return NULL;
	all = json_object_new_object();
	for (i = 0; i < n_columns(plan); i++) {
		one = json_object_new_object();
		for (j = 0; j < ARRAY_SIZE(figures); j++) {
			int64_t value = median(report, columns + i, figures + j);

			out_add(one, figures[j].name, out_json_number(value));
		}
		out_add(all, columns[i].key, one);
	}
	return all;
}

static void print_cell(FILE *f, int64_t value)
{
	if (value == GPREEMPT_UNKNOWN)
		fprintf(f, " - |");
	else
		fprintf(f, " %" PRId64 " |", value);
}

static void exp_print_log(FILE *f, const struct exp_plan *plan, const struct exp_report *report)
{
	size_t i, j, n = n_columns(plan);
	bool no_packets = false;

	if (!plan->amd_log)
		return;
	fprintf(f, "\n## ROCm's log\n\nMedian of the runs:\n\n| |");
	for (i = 0; i < n; i++)
		fprintf(f, " %s |", columns[i].what);
	fprintf(f, "\n| --- |");
	for (i = 0; i < n; i++)
		fprintf(f, " --- |");
	for (j = 0; j < ARRAY_SIZE(figures); j++) {
		fprintf(f, "\n| %s |", figures[j].heading);
		for (i = 0; i < n; i++) {
			int64_t value = median(report, columns + i, figures + j);

			/* There is a log, and not this in it. */
			no_packets |= !j && value == GPREEMPT_UNKNOWN &&
				      median(report, columns + i, figures + RUN_US) >= 0;
			print_cell(f, j == RUN_US && value >= 0 ? value / 1000 : value);
		}
	}
	fputc('\n', f);
	if (no_packets && plan->amd_log < GP_AMDLOG_PACKETS)
		fprintf(f, "\n" GP_AMDLOG_PACKETS_FROM ".\n");
}

static struct json_object *real(double value)
{
	return value < 0 ? NULL : out_json_double(value);
}

static struct json_object *json_run(const struct exp_run *run)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "name", out_json_text(run->name));
	if (run->of[0].there)
		out_add(o, "a", out_json_row(&sample_table, &run->of[0]));
	if (run->of[1].there)
		out_add(o, "b", out_json_row(&sample_table, &run->of[1]));
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

static struct json_object *exp_json(const struct exp_plan *plan, const struct exp_report *report)
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
			s->queues, *s->ids ? s->ids : "-");
		print_cell(f, s->slots_expected);
		print_cell(f, s->slots_active);
		if (amd_log)
			print_amdlog(f, s);
		fputc('\n', f);
	}
}

/* Print the failed runs. Models with a limit of time end by a signal, which is no failure. */
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

static void exp_print(FILE *f, const struct exp_plan *plan, const struct exp_report *report)
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

/* Results of the runs: the answers to the seeds' questions, and their thresholds. */

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

/* Returns the overlap of their ids; or -1. @common: NULL, or gets the counts of common ones. */
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

/* Compare A's queues with those that it had before B came, which are in a snapshot of their own. */
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

/* Fill in a run. 0, -ENOENT when the run was not made, or the exit status. */
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
	/* A verdict needs two runs. */
	if (model->runs > 1)
		model->verdict = diff_judge(model->overlap);
	return first;
}

/* Choose the key by which a scheduler should find the queues that it suspends. */
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

static int exp_report_make(const struct exp_plan *plan, struct exp_report *report)
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
			ret = fill_run(plan, run);
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

static void exp_report_free(struct exp_report *report)
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

static int write_report(const struct exp_plan *plan, const struct exp_report *report,
			const char *name, bool json)
{
	char path[4096], *text;
	size_t size;
	FILE *file = shr_must(open_memstream(&text, &size));
	int ret;

	if (json)
		out_json_write(file, exp_json(plan, report));
	else
		exp_print(file, plan, report);
	if (fclose(file))
		abort();
	snprintf(path, sizeof(path), "%s/%s", plan->dir, name);
	ret = shr_file_replace(path, 0600, text, size);
	free(text);
	return ret ? ctl_fail_file("report", path, "cannot be written", ret) : 0;
}

int exp_report(const struct exp_plan *plan, enum out_mode mode, bool write)
{
	struct exp_report result;
	int ret = exp_report_make(plan, &result);

	if (!ret) {
		if (write)
			ret = write_report(plan, &result, "report.md", false);
		if (write && !ret)
			ret = write_report(plan, &result, "report.json", true);
		if (mode == OUT_JSON)
			out_json_print(exp_json(plan, &result));
		else
			exp_print(stdout, plan, &result);
	}
	exp_report_free(&result);
	return ret;
}
