// SPDX-License-Identifier: GPL-2.0-only
/*
 * decode --view: does gpreempt.ko's view of a process say the same as the driver's own text, which
 * prints the registers themselves? The pointers of a queue at work are left out: a ring may come
 * round between two looks. So is the priority, which the text has from the view.
 */
#include <inttypes.h>

#include "load.h"

/* A look at the view. */
struct look {
	struct gpreempt_view *view;
	struct gpreempt_hqds *hqds;
};

static int look(struct gpreempt *g, pid_t pid, struct look *l)
{
	struct gpreempt_error err;

	*l = (struct look){ 0 };
	return gpreempt_view_read(g, pid, &l->view, &err) ||
			       gpreempt_hqds_read(g, pid, &l->hqds, &err) ?
		       ctl_fail(&err) :
		       0;
}

static void forget(struct look *l)
{
	gpreempt_list_free(l->view);
	gpreempt_list_free(l->hqds);
}

/* A queue of the text, with its first MQD. */
struct text_queue {
	struct gp_text_queue q;
	struct gp_text_regs regs;
};

/* A number that the view and the text have, and its places in their rows. */
struct both {
	const char *name;
	size_t ours, theirs;
};

#define QUEUE(name, member, place)                                                                \
	{                                                                                         \
		name, offsetof(struct gpreempt_queue, member), offsetof(struct text_queue, place) \
	}
#define SLOT(name, member, place)                                                                 \
	{                                                                                         \
		name, offsetof(struct gpreempt_hqd, member), offsetof(struct gp_text_slot, place) \
	}

static const struct both of_queues[] = {
	QUEUE("mqd", mqd, regs.mqd),
	QUEUE("ring_size", ring_size, regs.ring_size),
	QUEUE("doorbell", doorbell, regs.doorbell),
	QUEUE("cwsr", cwsr, regs.cwsr),
	QUEUE("cwsr_size", cwsr_size, regs.cwsr_size),
	QUEUE("active", active, q.slots_active),
	QUEUE("slots", slots, q.slots_expected),
};

static const struct both of_slots[] = {
	SLOT("active", active, regs.active),
	SLOT("vmid", vmid, regs.vmid),
	SLOT("doorbell", doorbell, regs.doorbell),
};

static int64_t at(const void *row, size_t place)
{
	return *(const int64_t *)((const char *)row + place);
}

/* Compare a row, if both looks have it; one that is not in the text differs in all. */
static void compare(struct decode_view *sum, const struct both *rows, size_t n, const void *before,
		    const void *after, const void *theirs)
{
	size_t i;

	for (i = 0; after && i < n; i++) {
		int64_t ours = at(before, rows[i].ours);
		int64_t value = theirs ? at(theirs, rows[i].theirs) : GPREEMPT_UNKNOWN;

		/* Leave out a value that changed meanwhile, or that only one of both has. */
		if (ours < 0 || ours != at(after, rows[i].ours) || (theirs && value < 0))
			continue;
		sum->compared++;
		sum->agree += value == ours;
		if (value != ours && !*sum->differs)
			snprintf(sum->differs, sizeof(sum->differs),
				 theirs ? "%s %#" PRIx64 ", in the text %#" PRIx64 :
					  "%s %#" PRIx64 ", not in the text",
				 rows[i].name, ours, value);
	}
}

static void compare_queue(struct decode_view *sum, const struct gpreempt_queue *queue,
			  const struct gpreempt_view *after, const struct gp_text_data *d,
			  int64_t pid)
{
	const struct gpreempt_queue *later = NULL;
	struct text_queue theirs;
	bool found = false;
	size_t i;

	for (i = 0; i < after->count; i++)
		if (after->queues[i].gpu_id == queue->gpu_id &&
		    after->queues[i].ring == queue->ring)
			later = &after->queues[i];
	for (i = 0; i < d->n_queues && !found; i++) {
		theirs.q = d->queues[i];
		found = theirs.q.pid == pid && theirs.q.gpu_id == queue->gpu_id &&
			theirs.q.n_mqds && ctl_ring_of(d, &theirs.q) == queue->ring;
		if (found)
			theirs.regs = d->mqds[theirs.q.mqds].regs;
	}
	compare(sum, of_queues, ARRAY_SIZE(of_queues), queue, later, found ? &theirs : NULL);
}

static void compare_slot(struct decode_view *sum, const struct gpreempt_hqd *slot,
			 const struct gpreempt_hqds *after, const struct gp_text_data *d)
{
	const struct gpreempt_hqd *later = NULL, *h;
	const struct gp_text_slot *theirs = NULL, *s;

	for (h = after->hqds; h < after->hqds + after->count; h++)
		if (h->gpu_id == slot->gpu_id && h->xcc == slot->xcc && h->pipe == slot->pipe &&
		    h->queue == slot->queue && h->qid == slot->qid)
			later = h;
	for (s = d->slots; s < d->slots + d->n_slots; s++)
		if (s->gpu_id == slot->gpu_id && s->xcc == slot->xcc && s->pipe == slot->pipe &&
		    s->queue == slot->queue && s->type == GP_TEXT_COMPUTE)
			theirs = s;
	compare(sum, of_slots, ARRAY_SIZE(of_slots), slot, later, theirs);
}

int decode_view(pid_t pid, struct ctl_text *text, struct decode_view *sum)
{
	__cleanup_handle struct gpreempt *g = NULL;
	struct look before = { 0 }, after = { 0 };
	int ret = ctl_open(NULL, &g);
	size_t i;

	*sum = (struct decode_view){ 0 };
	if (!ret)
		ret = look(g, pid, &before);
	if (!ret)
		ret = ctl_text_live(text);
	if (!ret) {
		ret = look(g, pid, &after);
		if (ret)
			ctl_text_free(text);
	}
	/* The MQD of an SDMA queue is not in each text. */
	for (i = 0; !ret && i < before.view->count; i++)
		if (before.view->queues[i].type <= GPREEMPT_QUEUE_COMPUTE_PM4)
			compare_queue(sum, &before.view->queues[i], after.view, text->data, pid);
	for (i = 0; !ret && i < before.hqds->count; i++)
		if (before.hqds->hqds[i].active == 1 && before.hqds->hqds[i].xcc >= 0)
			compare_slot(sum, &before.hqds->hqds[i], after.hqds, text->data);
	forget(&before);
	forget(&after);
	return ret;
}
