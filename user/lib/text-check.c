// SPDX-License-Identifier: LGPL-2.1-or-later
/* Do queues and slots add up? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

static const char *const type_names[] = {
	[GPREEMPT_TEXT_COMPUTE] = "compute",
	[GPREEMPT_TEXT_SDMA] = "sdma",
	[GPREEMPT_TEXT_DIQ] = "diq",
	[GPREEMPT_TEXT_HIQ] = "hiq",
	[GPREEMPT_TEXT_OTHER] = "other",
};

const char *gpreempt_text_type_name(enum gpreempt_text_type type)
{
	return type_names[type];
}

static int compare(const void *a, const void *b)
{
	const struct gpreempt_text_check *x = a, *y = b;

	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return (x->xcc > y->xcc) - (x->xcc < y->xcc);
}

static void add(struct gpreempt_text_check *to,
		const struct gpreempt_text_check *from)
{
	to->queues += from->queues;
	to->slots_expected += from->slots_expected;
	to->slots_active += from->slots_active;
	to->slots_without_owner += from->slots_without_owner;
}

/* One entry for each MQD and each active slot, to be summed up. */
static size_t collect(const struct gpreempt_text_data *d, int64_t pid,
		      struct gpreempt_text_check *out)
{
	const struct gpreempt_text_queue *queue;
	struct gpreempt_text_check *at = out;
	size_t i;

	for (i = 0; i < d->n_mqds; i++) {
		queue = d->queues + d->mqds[i].queue;
		if (queue->type == GPREEMPT_TEXT_COMPUTE &&
		    (pid == GPREEMPT_UNKNOWN || queue->pid == pid))
			*at++ = (struct gpreempt_text_check){
				queue->gpu_id, d->mqds[i].xcc, 1, 1, 0, 0 };
	}
	for (i = 0; i < d->n_slots; i++) {
		const struct gpreempt_text_slot *slot = d->slots + i;
		bool owned = slot->owner >= 0;

		if (slot->type != GPREEMPT_TEXT_COMPUTE)
			continue;
		/* One that is not active makes its XCC known. */
		if (slot->regs.active != 1)
			*at++ = (struct gpreempt_text_check){
				slot->gpu_id, slot->nth_xcc, 0, 0, 0, 0 };
		else if (pid == GPREEMPT_UNKNOWN ||
			 (owned && d->queues[slot->owner].pid == pid))
			*at++ = (struct gpreempt_text_check){
				slot->gpu_id, slot->nth_xcc, 0, 0, 1, !owned };
	}
	return at - out;
}

int gpreempt_text_check(struct gpreempt_text *text, int64_t pid,
			struct gpreempt_text_check *sum,
			struct gpreempt_text_check **by_xcc, size_t *count)
{
	const struct gpreempt_text_data *d = gpreempt_text_get(text);
	struct gpreempt_text_check *all;
	size_t i, n, kept = 0;

	all = calloc(d->n_mqds + d->n_slots + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	n = collect(d, pid, all);
	qsort(all, n, sizeof(*all), compare);
	*sum = (struct gpreempt_text_check){ .gpu_id = GPREEMPT_UNKNOWN,
					     .xcc = GPREEMPT_UNKNOWN };
	for (i = 0; i < n; i++) {
		add(sum, all + i);
		if (kept && !compare(all + kept - 1, all + i))
			add(all + kept - 1, all + i);
		else
			all[kept++] = all[i];
	}
	/* A queue has an MQD for each XCC, and is one queue. */
	sum->queues = 0;
	for (i = 0; i < d->n_queues; i++)
		sum->queues += d->queues[i].type == GPREEMPT_TEXT_COMPUTE &&
			       (pid == GPREEMPT_UNKNOWN ||
				d->queues[i].pid == pid);
	*by_xcc = all;
	*count = kept;
	return 0;
}
