// SPDX-License-Identifier: GPL-2.0-only
/* The figures of a model in a run, out of the driver's text. */
#include <inttypes.h>
#include <stdlib.h>

#include "ctl/experiment/experiment.h"

static char *list_ids(const struct ctl_text *text, int64_t pid)
{
	char *list = NULL, *more;
	size_t i;

	for (i = 0; i < text->n_ids; i++) {
		if (text->ids[i].pid != pid)
			continue;
		if (asprintf(&more, "%s%s%" PRIx64 ":%" PRId64,
			     list ? list : "", list ? "," : "",
			     text->ids[i].gpu_id, text->ids[i].qid) < 0)
			abort();
		free(list);
		list = more;
	}
	return list;
}

void exp_fill_sample(struct exp_sample *sample)
{
	struct gpreempt_text_check sum, *by_xcc;
	size_t i, count;

	sample->there = true;
	sample->priority = GPREEMPT_UNKNOWN;
	sample->ids = list_ids(&sample->text, sample->pid);
	if (gpreempt_text_check(sample->text.text, sample->pid, &sum, &by_xcc,
				&count))
		abort();
	free(by_xcc);
	sample->slots_expected = sum.slots_expected;
	sample->slots_active = sum.slots_active;
	for (i = 0; i < sample->text.data->n_queues; i++) {
		const struct gpreempt_text_queue *q =
			sample->text.data->queues + i;

		if (q->pid != sample->pid)
			continue;
		sample->queues++;
		if (q->priority != GPREEMPT_UNKNOWN &&
		    (sample->priority == GPREEMPT_UNKNOWN ||
		     q->priority < sample->priority))
			sample->priority = q->priority;
	}
}
