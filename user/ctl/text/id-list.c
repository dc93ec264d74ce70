// SPDX-License-Identifier: GPL-2.0-only
/* The queue ids of a text: those of its processes that are known. */
#include <stdlib.h>

#include "ctl/text/load.h"
#include "shared/array.h"
#include "shared/macro.h"

void ctl_add_id(struct ctl_text *out, int64_t pid, int64_t gpu_id, int64_t qid)
{
	struct ctl_id *id =
		shr_must(shr_array_add(&out->ids, &out->n_ids, sizeof(*id)));

	*id = (struct ctl_id){ pid, gpu_id, qid };
}

static int compare_ids(const void *a, const void *b)
{
	const struct ctl_id *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return (x->qid > y->qid) - (x->qid < y->qid);
}

void ctl_finish_ids(struct ctl_text *out)
{
	size_t i, kept = 0;

	for (i = 0; i < out->data->n_queues; i++)
		if (out->data->queues[i].older &&
		    out->data->queues[i].qid != GPREEMPT_UNKNOWN)
			ctl_add_id(out, out->data->queues[i].pid,
				   out->data->queues[i].gpu_id,
				   out->data->queues[i].qid);
	if (!out->n_ids)
		return;
	qsort(out->ids, out->n_ids, sizeof(*out->ids), compare_ids);
	for (i = 1; i < out->n_ids; i++)
		if (compare_ids(out->ids + kept, out->ids + i))
			out->ids[++kept] = out->ids[i];
	out->n_ids = kept + 1;
}

bool ctl_ids_known(const struct ctl_text *text, int64_t pid)
{
	size_t i;

	for (i = 0; i < text->n_ids; i++)
		if (!pid || text->ids[i].pid == pid)
			return true;
	return text->all_ids;
}
