// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text of gpreempt.ko's queues file. */
#include <stdlib.h>
#include <string.h>

#include "lib/internal.h"
#include "lib/table.h"

static const struct gp_column columns[] = {
#define COLUMN(name, kind) \
	{ #name, GP_VIEW_##kind, offsetof(struct gpreempt_queue, name) },
	GP_VIEW_QUEUES_COLUMNS(COLUMN)
#undef COLUMN
};

static const char *const type_words[] = {
	GP_VIEW_QUEUE_TYPES(GP_VIEW_QUEUE_TYPE_WORD)
};

_Static_assert((int)GPREEMPT_QUEUE_COMPUTE_AQL ==
	       (int)GP_VIEW_QUEUE_COMPUTE_AQL &&
	       (int)GPREEMPT_QUEUE_COMPUTE_PM4 ==
	       (int)GP_VIEW_QUEUE_COMPUTE_PM4 &&
	       (int)GPREEMPT_QUEUE_SDMA == (int)GP_VIEW_QUEUE_SDMA &&
	       (int)GPREEMPT_QUEUE_SDMA_XGMI == (int)GP_VIEW_QUEUE_SDMA_XGMI,
	       "the types of the view and of the library have one numbering");

static int64_t parse_type(const char *at, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(type_words); i++)
		if (strlen(type_words[i]) == len &&
		    !memcmp(type_words[i], at, len))
			return i;
	/* A newer module may know more types. */
	return GPREEMPT_UNKNOWN;
}

static const struct gp_table queues_table = {
	.head = GP_VIEW_QUEUES_NAME " - version: ",
	.version = GP_VIEW_QUEUES_VERSION,
	.columns = columns,
	.n_columns = ARRAY_SIZE(columns),
	.record_size = sizeof(struct gpreempt_queue),
	.word = parse_type,
};

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
	ret = gp_table_parse(&queues_table, text, len, &records,
			     &view->count);
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

const char *gpreempt_queue_type_name(int64_t type)
{
	if (type == GPREEMPT_QUEUE_COMPUTE)
		return "compute";
	if (type < 0 || type >= (int64_t)ARRAY_SIZE(type_words))
		return GP_VIEW_UNKNOWN;
	return type_words[type];
}
