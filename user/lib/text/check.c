// SPDX-License-Identifier: LGPL-2.1-or-later
/* Do queues and slots add up? */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/parse.h"

static const char *const type_names[] = {
	[GP_TEXT_COMPUTE] = "compute", [GP_TEXT_SDMA] = "sdma",	  [GP_TEXT_DIQ] = "diq",
	[GP_TEXT_HIQ] = "hiq",	       [GP_TEXT_OTHER] = "other",
};

const char *gp_text_type_name(enum gp_text_type type)
{
	return type_names[type];
}

/* What is about an XCC, of an MQD or a slot, to be summed up. */
struct entry {
	int64_t gpu_id;
	int64_t xcc;
	int64_t mqds;
	int64_t slots;
	int64_t unreadable; /* slots whose registers are not there */
	int64_t active;
	int64_t without_owner;
};

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return (x->xcc > y->xcc) - (x->xcc < y->xcc);
}

static void add(struct entry *to, const struct entry *from)
{
	to->mqds += from->mqds;
	to->slots += from->slots;
	to->unreadable += from->unreadable;
	to->active += from->active;
	to->without_owner += from->without_owner;
}

static size_t collect(const struct gp_text_data *d, int64_t pid, struct entry *out)
{
	bool all = pid <= 0;
	struct entry *at = out;
	size_t i;

	for (i = 0; i < d->n_mqds; i++) {
		const struct gp_text_queue *queue = d->queues + d->mqds[i].queue;

		if (queue->type == GP_TEXT_COMPUTE && (all || queue->pid == pid))
			*at++ = (struct entry){
				.gpu_id = queue->gpu_id,
				.xcc = d->mqds[i].xcc,
				.mqds = 1,
			};
	}
	for (i = 0; i < d->n_slots; i++) {
		const struct gp_text_slot *slot = d->slots + i;
		bool active = slot->regs.active == 1;
		bool owned = slot->owner >= 0;

		if (slot->type == GP_TEXT_COMPUTE)
			*at++ = (struct entry){
				.gpu_id = slot->gpu_id,
				.xcc = slot->nth_xcc,
				.slots = 1,
				.unreadable = slot->regs.active == GPREEMPT_UNKNOWN,
				.active = active &&
					  (all || (owned && d->queues[slot->owner].pid == pid)),
				.without_owner = active && all && !owned,
			};
	}
	return at - out;
}

/* All of one XCC together, sorted. Returns how many are left. */
static size_t sum_up(struct entry *entries, size_t count)
{
	size_t i, kept = 0;

	qsort(entries, count, sizeof(*entries), compare);
	for (i = 0; i < count; i++) {
		if (kept && !compare(entries + kept - 1, entries + i))
			add(entries + kept - 1, entries + i);
		else
			entries[kept++] = entries[i];
	}
	return kept;
}

/* What is not known is not 0. */
static struct gp_text_check judge(const struct gp_text_data *d, int64_t pid,
				  const struct entry *entry, bool slots_known)
{
	bool mqds_known = d->mqds_seen && !d->several_moments;

	/* What is in the text twice is not to be counted. */
	slots_known &= !d->several_moments;
	if (pid > 0)
		slots_known &= mqds_known;
	return (struct gp_text_check){
		.gpu_id = entry->gpu_id,
		.xcc = entry->xcc,
		.queues = mqds_known ? entry->mqds : GPREEMPT_UNKNOWN,
		.slots_expected = mqds_known ? entry->mqds : GPREEMPT_UNKNOWN,
		.slots_active = slots_known ? entry->active : GPREEMPT_UNKNOWN,
		.slots_without_owner = slots_known && mqds_known ? entry->without_owner :
								   GPREEMPT_UNKNOWN,
	};
}

/* Without its MQDs, for how many XCCs a queue is cannot be known. */
static bool mqds_are_missing(const struct gp_text_data *d, int64_t pid)
{
	size_t i;

	for (i = 0; i < d->n_queues; i++)
		if (d->queues[i].type == GP_TEXT_COMPUTE && !d->queues[i].n_mqds &&
		    (pid <= 0 || d->queues[i].pid == pid))
			return true;
	return false;
}

static int64_t count_queues(const struct gp_text_data *d, int64_t pid)
{
	int64_t count = 0;
	size_t i;

	for (i = 0; i < d->n_queues; i++)
		count += d->queues[i].type == GP_TEXT_COMPUTE &&
			 (pid <= 0 || d->queues[i].pid == pid);
	return count;
}

int gp_text_check(struct gp_text *text, int64_t pid, struct gp_text_check *sum,
		  struct gp_text_check **by_xcc, size_t *count)
{
	const struct gp_text_data *d = gp_text_get(text);
	struct entry all = { .gpu_id = GPREEMPT_UNKNOWN, .xcc = GPREEMPT_UNKNOWN };
	struct gp_text_check *out;
	struct entry *entries;
	bool all_known = d->hqds_seen;
	size_t i, n;

	entries = calloc(d->n_mqds + d->n_slots + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	n = sum_up(entries, collect(d, pid, entries));
	out = calloc(n + 1, sizeof(*out));
	if (!out) {
		free(entries);
		return -ENOMEM;
	}
	for (i = 0; i < n; i++) {
		bool known = entries[i].slots && !entries[i].unreadable;

		add(&all, entries + i);
		out[i] = judge(d, pid, entries + i, known);
		all_known &= known;
	}
	free(entries);
	*sum = judge(d, pid, &all, all_known);
	/* A queue has an MQD for each XCC, and is one queue. */
	if (sum->queues != GPREEMPT_UNKNOWN)
		sum->queues = count_queues(d, pid);
	if (mqds_are_missing(d, pid))
		sum->slots_expected = GPREEMPT_UNKNOWN;
	if (by_xcc) {
		*by_xcc = out;
		*count = n;
	} else {
		free(out);
	}
	return 0;
}
