// SPDX-License-Identifier: GPL-2.0-only
/* The queues of processes, a line each. */
#include <errno.h>
#include <string.h>

#include <gpreempt/view.h>

#include "cli/cli.h"
#include "cli/table.h"
#include "lib/see/words.h"
#include "shared/util.h"

#define STATE	   96  /* room for all words of a state together */
#define EXCEPTIONS 384 /* characters for exceptions */

/* A row of the view, with the columns that are texts. */
struct row {
	int64_t pid;
	int64_t gpu; /* index of its GPU */
	const char *pci;
	struct gpreempt_queue q;
	const char *type;
	char state[STATE];
	char exception[EXCEPTIONS];
	const char *hardware;
	const char *unit;
};

#define NUMBER(member, title, what, ...) \
	OUT_NAMED(#member, struct row, q.member, title, what, __VA_ARGS__)

/* Columns by their importance for a reader; the last ones are for programs. */
static const struct out_field fields[] = {
	OUT_FIELD(struct row, pid, "PID", OUT_DEC),
	NUMBER(qid, "QUEUE", OUT_DEC),
	OUT_FIELD(struct row, gpu, "GPU", OUT_DEC),
	OUT_FIELD(struct row, pci, NULL, OUT_TEXT),
	OUT_NAMED("kfd_gpu_id", struct row, q.gpu_id, NULL, OUT_HEX),
	OUT_FIELD(struct row, type, "TYPE", OUT_TEXT, .rank = 1),
	OUT_FIELD(struct row, state, "STATE", OUT_SET, .array = true),
	NUMBER(active, "ACTIVE", OUT_DEC, .rank = 2),
	NUMBER(slots, "SLOTS", OUT_DEC, .rank = 3),
	NUMBER(waves, "WAVES", OUT_DEC, .rank = 4),
	NUMBER(priority, "PRIORITY", OUT_DEC, .rank = 5),
	NUMBER(age_ms, "AGE-MS", OUT_DEC, .rank = 6),
	NUMBER(suspended, NULL, OUT_FLAG),
	NUMBER(evicted, NULL, OUT_FLAG),
	OUT_FIELD(struct row, hardware, NULL, OUT_TEXT),
	NUMBER(wants, NULL, OUT_DEC),
	NUMBER(doorbell, NULL, OUT_HEX),
	NUMBER(engine, NULL, OUT_DEC),
	NUMBER(rlc, NULL, OUT_DEC),
	NUMBER(rptr, NULL, OUT_DEC),
	NUMBER(wptr, NULL, OUT_DEC),
	OUT_FIELD(struct row, unit, NULL, OUT_TEXT),
	NUMBER(ring, NULL, OUT_HEX),
	NUMBER(ring_size, NULL, OUT_DEC),
	NUMBER(rptr_addr, NULL, OUT_HEX),
	NUMBER(wptr_addr, NULL, OUT_HEX),
	NUMBER(mqd, NULL, OUT_HEX),
	NUMBER(cwsr, NULL, OUT_HEX),
	NUMBER(cwsr_size, NULL, OUT_DEC),
	OUT_FIELD(struct row, exception, NULL, OUT_SET, .array = true),
	NUMBER(context, NULL, OUT_DEC),
};

/* Check that each column of the view is among them. */
#define COUNT_COLUMN(name, kind) 1 +
_Static_assert(ARRAY_SIZE(fields) == GP_VIEW_QUEUES_COLUMNS(COUNT_COLUMN) 3,
	       "a column of the view is missing");

static const struct out_table table = OUT_TABLE("queues", fields, struct row);

/* A word, or NULL for "-". */
static const char *known(const char *word)
{
	return strcmp(word, GP_VIEW_UNKNOWN) ? word : NULL;
}

static void fill_row(struct row *row, pid_t pid, const struct gp_gpus *gpus,
		     const struct gpreempt_queue *queue)
{
	const struct gp_gpu *gpu = gp_gpus_get(gpus, queue->gpu_id);

	row->pid = pid;
	row->gpu = gpu ? gpu->index : GPREEMPT_UNKNOWN;
	row->pci = gpu ? gpu->device : NULL;
	row->q = *queue;
	row->type = known(gpreempt_word(GPREEMPT_WORD_TYPE, queue->type));
	row->hardware = known(gpreempt_word(GPREEMPT_WORD_HARDWARE, queue->hardware));
	row->unit = known(gpreempt_word(GPREEMPT_WORD_UNIT, queue->unit));
	gpreempt_state_text(queue->state, row->state, sizeof(row->state));
	if (!known(row->state))
		*row->state = '\0';
	/* JSON has no words for none, and null for "". */
	strcpy(row->exception, queue->exception ? "" : ",");
	if (queue->exception > 0)
		gpreempt_exception_text(queue->exception, row->exception, sizeof(row->exception));
}

struct queues_args {
	struct ctl_target_args targets;
	struct out_form form;
};

/* The output, target by target. */
struct report {
	const struct queues_args *args;
	enum out_mode mode;
	struct json_object *targets; /* OUT_JSON only */
	struct row *rows;
	size_t count;
	struct gp_gpus gpus; /* none: their names are not known */
	bool sysfs;
};

/* Report the rows of the target, which begin at row @first. */
static void report_json(struct report *r, pid_t pid, enum gpreempt_source source, size_t first)
{
	struct json_object *object = json_object_new_object();
	const char *from = source == GPREEMPT_SOURCE_SYSFS ? "sysfs" : "module";
	const struct row *rows = first < r->count ? r->rows + first : NULL;

	out_add(object, "pid", json_object_new_int(pid));
	out_add(object, "source", out_json_text(from));
	out_add(object, table.name, out_json_rows(&table, rows, r->count - first));
	json_object_array_add(r->targets, object);
}

/* Report one target. 0, or the exit status after a message. */
static int report_target(struct report *r, struct gpreempt *g, pid_t pid)
{
	struct gpreempt_error err;
	__cleanup_list struct gpreempt_view *view = NULL;
	size_t i, first = r->count;

	if (gpreempt_view_read(g, pid, &view, &err))
		return ctl_fail(&err);
	for (i = 0; i < view->count; i++) {
		const struct gpreempt_queue *q = &view->queues[i];

		if (gp_filter_matches(&r->args->targets.queues, q->qid, q->gpu_id, q->priority))
			fill_row(shr_must(shr_array_add(&r->rows, &r->count, sizeof(*r->rows))),
				 pid, &r->gpus, q);
	}
	r->sysfs |= view->source == GPREEMPT_SOURCE_SYSFS;
	if (r->mode == OUT_JSON)
		report_json(r, pid, view->source, first);
	return 0;
}

static void print_report(struct report *r)
{
	struct json_object *object;

	if (r->mode == OUT_JSON) {
		object = json_object_new_object();
		out_add(object, "targets", r->targets);
		out_json_print(object);
	} else if (r->count || r->mode == OUT_PIPE) {
		out_print(&r->args->form, &table, r->rows, r->count);
	}
	if (!r->count && r->mode != OUT_JSON)
		ctl_note("there is no such queue now");
	if (r->sysfs)
		ctl_note_sysfs(r->args->targets.from);
	free(r->rows);
}

static int run_queues(void *data)
{
	const struct queues_args *args = data;
	struct report r = { .args = args, .mode = args->form.mode };
	__cleanup_list struct gpreempt_targets *list = NULL;
	__cleanup_handle struct gpreempt *g = NULL;
	int ret = ctl_open(args->targets.from, &g);
	size_t i;

	if (!ret)
		ret = ctl_targets(g, &args->targets, &list);
	if (!ret && r.mode == OUT_JSON)
		r.targets = json_object_new_array();
	if (list)
		gp_gpus_read(g, &r.gpus, NULL);
	for (i = 0; list && i < list->count; i++) {
		int one = report_target(&r, g, list->targets[i].pid);

		ret = i ? ctl_merge_status(ret, one) : one;
	}
	if (list)
		print_report(&r);
	gp_gpus_free(&r.gpus);
	return ret;
}

static const struct ctl_option options[] = {
	CTL_QUEUE_OPTIONS(struct queues_args),
	CTL_WAIT_OPTION(struct queues_args),
	CTL_TABLE_OPTIONS(struct queues_args),
	CTL_FROM_OPTION(struct queues_args),
	{ 0 },
};

const struct ctl_command ctl_queues = {
	.name = "queues",
	.run = run_queues,
	CTL_TARGET_ARGS(struct queues_args),
	.min_words = 1,
	.usage = "TARGET",
	.summary = "Show the GPU queues of a process.",
	.details =
		"ACTIVE of the SLOTS hold a queue now; a compute queue has one in each XCC of\n"
		"its GPU. A queue in a slot may be idle: WAVES execute now. AGE-MS is the age of\n"
		"the row, above 0 if the driver had the process locked; ACTIVE and WAVES are\n"
		"always of now. \"-\" means unknown; without gpreempt.ko, or without root, only\n"
		"ids, GPUs and types are known. In a pipe and with --json there are more columns.\n",
	.examples = "  gpreempt-ctl queues comm:train --gpu 0\n"
		    "  gpreempt-ctl queues comm:train --priority '<=5' --sort priority\n",
	.table = &table,
	.options = options,
};
