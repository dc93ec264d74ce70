// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text of gpreempt.ko's queues file. */
#include <stdlib.h>

#include "lib/observe/observe.h"
#include "lib/core/table.h"

static const struct gp_column columns[] = {
#define COLUMN(name, kind) GP_COLUMN(struct gpreempt_queue, name, kind)
	GP_VIEW_QUEUES_ALL_COLUMNS(COLUMN)
#undef COLUMN
};

_Static_assert((int)GPREEMPT_QUEUE_COMPUTE_AQL ==
			       (int)GP_VIEW_QUEUE_COMPUTE_AQL &&
		       (int)GPREEMPT_QUEUE_COMPUTE_PM4 ==
			       (int)GP_VIEW_QUEUE_COMPUTE_PM4 &&
		       (int)GPREEMPT_QUEUE_SDMA == (int)GP_VIEW_QUEUE_SDMA &&
		       (int)GPREEMPT_QUEUE_SDMA_XGMI ==
			       (int)GP_VIEW_QUEUE_SDMA_XGMI,
	       "the types of the view and of the library have one numbering");

static const struct gp_table queues_table = {
	.head = GP_VIEW_QUEUES_NAME " - version: ",
	.version = GP_VIEW_QUEUES_VERSION,
	.columns = columns,
	.n_columns = ARRAY_SIZE(columns),
	.record_size = sizeof(struct gpreempt_queue),
	.line = "#" GP_VIEW_QUEUES_ALL_COLUMNS(GP_COLUMN_NAME),
};

void gp_queue_unknown(struct gpreempt_queue *queue)
{
	gp_table_forget(&queues_table, queue);
}

int gp_compare_queues(const void *a, const void *b)
{
	const struct gpreempt_queue *x = a, *y = b;

	return (x->qid > y->qid) - (x->qid < y->qid);
}

int gpreempt_view_parse(const char *text, size_t len,
			struct gpreempt_view **out)
{
	struct gpreempt_view *view = calloc(1, sizeof(*view));
	void *records;
	int ret;

	if (!view)
		return -ENOMEM;
	ret = gp_table_parse(&queues_table, text, len, &records, &view->count);
	if (ret) {
		free(view);
		return ret;
	}
	view->source = GPREEMPT_SOURCE_MODULE;
	view->queues = records;
	qsort(view->queues, view->count, sizeof(*view->queues),
	      gp_compare_queues);
	*out = view;
	return 0;
}
