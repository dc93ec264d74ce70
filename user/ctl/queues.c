// SPDX-License-Identifier: GPL-2.0-only
#include <unistd.h>

#include <gpreempt/view.h>

#include "ctl/ctl.h"
#include "shared/macro.h"

#define CELL 24

static void cell_DEC(int64_t value, char *cell)
{
	snprintf(cell, CELL, "%lld", (long long)value);
}

static void cell_HEX(int64_t value, char *cell)
{
	snprintf(cell, CELL, "0x%llx", (unsigned long long)value);
}

static void cell_FLAG(int64_t value, char *cell)
{
	cell_DEC(value, cell);
}

static void cell_WORD(int64_t value, char *cell)
{
	snprintf(cell, CELL, "%s", gpreempt_queue_type_name(value));
}

static const struct column {
	const char *name;
	size_t offset;
	void (*cell)(int64_t value, char *cell);
} columns[] = {
#define COLUMN(name, kind) \
	{ #name, offsetof(struct gpreempt_queue, name), cell_##kind },
	GP_VIEW_QUEUES_COLUMNS(COLUMN)
#undef COLUMN
};

static void get_cell(const struct gpreempt_queue *queue,
		     const struct column *column, char *cell)
{
	int64_t value = *(const int64_t *)((const char *)queue +
					   column->offset);

	if (value == GPREEMPT_UNKNOWN)
		snprintf(cell, CELL, GP_VIEW_UNKNOWN);
	else
		column->cell(value, cell);
}

static void print_row(const struct gpreempt_queue *queue)
{
	char cell[CELL];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++) {
		const char *end = i + 1 < ARRAY_SIZE(columns) ? " " : "\n";

		if (queue)
			get_cell(queue, &columns[i], cell);
		/* Types are the only long cells. */
		printf("%-*s%s",
		       columns[i].cell == cell_WORD ? 11 :
		       *end == '\n' ? 0 : (int)sizeof("suspended") - 1,
		       queue ? cell : columns[i].name, end);
	}
}

static int queues_one(struct ctl_args *args)
{
	struct gpreempt_error err;
	struct gpreempt_view *view;
	struct gpreempt *g;
	size_t i;
	int ret;

	ret = gpreempt_new(NULL, &g);
	if (ret)
		return ctl_fail_reason(GPREEMPT_SYSTEM, ret, args->pid);
	ret = gpreempt_view_read(g, args->pid, &view, &err);
	gpreempt_free(g);
	if (ret)
		return ctl_fail(&err);
	print_row(NULL);
	for (i = 0; i < view->count; i++)
		print_row(&view->queues[i]);
	if (view->source == GPREEMPT_SOURCE_SYSFS)
		ctl_note("state and slots are not known: %s",
			 geteuid() ? "only root may read them" :
			 "gpreempt.ko does not show this process; "
			 "load it with: modprobe gpreempt");
	gpreempt_view_free(view);
	return 0;
}

static int run_queues(const struct ctl_command *cmd, struct ctl_args *args)
{
	(void)cmd;
	return ctl_each_target(args, queues_one);
}

const struct ctl_command ctl_queues = {
	.name = "queues",
	.run = run_queues,
	.words = CTL_TARGETS,
	.min_words = 1,
	.usage = "TARGET",
	.shared = CTL_SHARED_WAIT,
	.summary = "Show the GPU queues of a process.",
	.details =
	"A queue that is \"active\" is in hardware slots, one in each XCC of its\n"
	"GPU. It does not follow that it executes something.\n"
	"\"-\" stands for what is not known. Without gpreempt.ko that is all but\n"
	"ids, GPUs and types.\n",
};
