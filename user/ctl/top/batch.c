// SPDX-License-Identifier: GPL-2.0-only
/* Refreshes as tables, or as JSON, one object a line. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "ctl/top/columns.h"
#include "ctl/top/top.h"
#include "output/message.h"
#include "shared/clock.h"

static double wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static struct json_object *json_process(const struct top_process *p)
{
	struct json_object *object = out_json_row(&top_processes, p);

	/* The text of the column; here is the list itself. */
	json_object_object_del(object, "gpu");
	out_add(object, top_figures.name,
		out_json_rows(&top_figures, p->gpus.items, p->gpus.count));
	return object;
}

static void print_json(const struct top *t)
{
	struct json_object *object = json_object_new_object(), *list;
	const struct top_model *m = &t->model;
	size_t i;

	out_add(object, "time", out_json_double(wall_clock()));
	out_add(object, "simulated", out_json_flag(m->simulated));
	out_add(object, "looks", out_json_number(m->looks));
	out_add(object, "missing", out_json_text(m->missing));
	out_add(object, top_gpus.name, out_json_rows(&top_gpus, m->gpus.items, m->gpus.count));
	list = json_object_new_array();
	for (i = 0; i < m->lines.count; i++)
		json_object_array_add(list, json_process(m->lines.items[i].process));
	out_add(object, top_processes.name, list);
	out_json_print_line(object);
}

static int print_table(const struct top *t)
{
	const struct top_model *m = &t->model;
	struct top_process *rows = calloc(m->lines.count + 1, sizeof(*rows));
	size_t i;

	if (!rows)
		return -ENOMEM;
	for (i = 0; i < m->lines.count; i++)
		rows[i] = *m->lines.items[i].process;
	out_rows(t->args->mode, &top_processes, rows, m->lines.count);
	fflush(stdout);
	free(rows);
	return 0;
}

/* Once is enough. */
static void note_missing(const struct top *t, uint64_t number)
{
	if (!number && t->model.missing)
		ctl_note("%s", t->model.missing);
}

int top_batch(struct top *t)
{
	uint64_t next = shr_now_ns(), i;
	struct gpreempt_error err;

	/* Looks need to know the GPUs. */
	if (top_refresh(t, &err))
		return ctl_fail(&err);
	for (i = 0; !t->args->count || i < t->args->count; i++) {
		next = shr_later_ns(next, t->args->delay_ns);
		if (ctl_sampler_wait(&t->sampler, next, t->stop))
			break;
		if (top_refresh(t, &err))
			return ctl_fail(&err);
		note_missing(t, i);
		if (t->args->mode == OUT_JSON)
			print_json(t);
		else if (print_table(t))
			return ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
		if (ferror(stdout))
			break;
	}
	return 0;
}
