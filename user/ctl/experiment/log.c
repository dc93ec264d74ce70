// SPDX-License-Identifier: GPL-2.0-only
/* The figures of a model in a run: of the driver's text, and of ROCm's log. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctl/amdlog/amdlog.h"
#include "ctl/experiment/experiment.h"
#include "shared/array.h"
#include "shared/macro.h"

static char *list_ids(const struct ctl_text *text, int64_t pid)
{
	char *list = NULL;
	size_t i;

	for (i = 0; i < text->n_ids; i++)
		if (text->ids[i].pid == pid)
			text_append(&list, "%" PRIx64 ":%" PRId64, text->ids[i].gpu_id,
				    text->ids[i].qid);
	return list;
}

void exp_fill_sample(struct exp_sample *sample)
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

void exp_read_log(const char *dir, size_t m, struct exp_sample *sample)
{
	const struct gp_amdlog_data *d;
	struct gp_amdlog *log;
	char name[] = "a.err";
	size_t i;
	int fd, ret;

	name[0] = 'a' + m;
	fd = text_open_in(dir, name, INT64_MAX);
	if (fd < 0)
		return;
	ret = amdlog_read_fd(fd, NULL, NULL, &log);
	close(fd);
	if (ret)
		return;
	d = gp_amdlog_get(log);
	/* What the program itself printed is no log. */
	if (!d->records) {
		gp_amdlog_free(log);
		return;
	}
	sample->hardware_queues = 0;
	sample->run_us = 0;
	if (d->level >= GP_AMDLOG_PACKETS)
		sample->dispatches = 0;
	for (i = 0; i < d->n_queues; i++) {
		if (d->level >= GP_AMDLOG_PACKETS)
			sample->dispatches += d->queues[i].dispatches;
		sample->hardware_queues += d->queues[i].created;
		if (d->queues[i].backlog > sample->backlog)
			sample->backlog = d->queues[i].backlog;
	}
	for (i = 0; i < d->n_processes; i++)
		if (d->processes[i].run_us > sample->run_us)
			sample->run_us = d->processes[i].run_us;
	gp_amdlog_free(log);
}

#define FIGURE(member, what, per)                                       \
	{                                                               \
#member, what, offsetof(struct exp_sample, member), per \
	}

static const struct figure {
	const char *key;
	const char *what;
	size_t offset;
	int64_t per; /* what is printed is so many of them */
} figures[] = {
	FIGURE(dispatches, "dispatches", 1),
	FIGURE(hardware_queues, "hardware queues", 1),
	FIGURE(run_us, "run ms", 1000),
	FIGURE(backlog, "most packets waiting", 1),
};

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

/* Of all runs of that kind whose log has it. */
static int64_t median(const struct exp_report *report, const struct column *column,
		      const struct figure *figure)
{
	int64_t values[EXP_RUNS_MAX];
	size_t i, n = 0;

	for (i = 0; i < report->n_runs; i++) {
		const struct exp_sample *sample = &report->runs[i].of[column->m];
		int64_t value = *(const int64_t *)((const char *)sample + figure->offset);

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

struct json_object *exp_json_log(const struct exp_plan *plan, const struct exp_report *report)
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

			out_add(one, figures[j].key, out_json_number(value));
		}
		out_add(all, columns[i].key, one);
	}
	return all;
}

void exp_print_log(FILE *f, const struct exp_plan *plan, const struct exp_report *report)
{
	size_t i, j, n = n_columns(plan);

	if (!plan->amd_log)
		return;
	fprintf(f, "\n## ROCm's log\n\nMedian of the runs:\n\n| |");
	for (i = 0; i < n; i++)
		fprintf(f, " %s |", columns[i].what);
	fprintf(f, "\n| --- |");
	for (i = 0; i < n; i++)
		fprintf(f, " --- |");
	for (j = 0; j < ARRAY_SIZE(figures); j++) {
		fprintf(f, "\n| %s |", figures[j].what);
		for (i = 0; i < n; i++) {
			int64_t value = median(report, columns + i, figures + j);

			if (value == GPREEMPT_UNKNOWN)
				fprintf(f, " - |");
			else
				fprintf(f, " %" PRId64 " |", value / figures[j].per);
		}
	}
	fputc('\n', f);
}
