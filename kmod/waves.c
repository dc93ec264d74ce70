// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the waves of a queue that are in flight.
 * The driver counts those of all slots of an XCC at once, one shader engine after the other, and
 * reports the doorbell that it saw last in each slot. A count is a queue's if the queue was in that
 * slot before, and if that doorbell is its own: a queue that left the slot meanwhile has no count.
 * A queue that left for another one and came back, all while an XCC was counted, is not looked
 * for. A queue that was in no slot has the waves that were counted where its doorbell was
 * last: more than 0 means that it executes, and is not off.
 */

#include <linux/sched/signal.h>

#include "layout.h"
#include "node.h"
#include "snapshot.h"

/* Waves that were counted of a queue in one XCC; -1: it is not known */
static int waves_in(const struct gp_node *n, const struct gp_queue *q, u32 inst,
		    struct gp_list *slots, const struct kfd_cu_occupancy *counts)
{
	const struct kfd_cu_occupancy *c;
	struct gp_queue *s;
	int i;

	for (i = 0; slots && i < q->active; i++) {
		s = &slots->q[q->first_slot + i];
		if (s->xcc != inst)
			continue;
		c = &counts[s->pipe * n->n_queues + s->queue];
		if (!c->wave_cnt || c->doorbell_off == q->doorbell)
			s->waves = c->wave_cnt;
		return s->waves;
	}
	/* The queue was in no slot before: it has come into one, or executes all the same. */
	for (i = 0; i < n->n_slots; i++)
		if (counts[i].wave_cnt && counts[i].doorbell_off == q->doorbell)
			return counts[i].wave_cnt;
	return 0;
}

/* Count the waves in one XCC: 0 or an error. */
static int count_waves(struct gp_node *n, u32 inst, struct kfd_cu_occupancy *counts)
{
	int per_cu;
	u32 i, used = 0;

	/* Clear the counts: the driver adds to them. */
	memset(counts, 0, GP_CP_SLOTS_MAX * sizeof(*counts));
	n->get_cu_occupancy(n->adev, counts, &per_cu, inst);
	for (i = 0; i < GP_CP_SLOTS_MAX; i++)
		used += counts[i].wave_cnt != 0;
	gp_stat_inc(GP_STAT_wave_counts);
	/* Reads of each engine: which slots have waves, and two of each of these. */
	gp_node_add_reads(n, n->engines * (1 + 2 * used));
	/* A device that died meanwhile reads as ones, or as 0 if the driver knows it. */
	return used ? gp_node_check(n, inst) : gp_node_is_lost(n) ? gp_node_lose(n) : 0;
}

static bool counts_waves(const struct gp_node *n, const struct gp_queue *q)
{
	return q->gpu_id == n->gpu_id && q->hardware == GP_VIEW_HARDWARE_READ;
}

static bool has_queues(const struct gp_node *n, const struct gp_list *list)
{
	u32 i;

	for (i = 0; i < list->n; i++)
		if (counts_waves(n, &list->q[i]))
			return true;
	return false;
}

/* Set the waves of all queues that have some here: how many such there are. */
static u32 set_waves(const struct gp_node *n, struct gp_list *list, int waves)
{
	u32 i, count = 0;

	for (i = 0; i < list->n; i++) {
		if (!counts_waves(n, &list->q[i]) || !gp_queue_is_cp(list->q[i].type))
			continue;
		list->q[i].waves = waves;
		count++;
	}
	return count;
}

static void add_waves(const struct gp_node *n, u32 inst, struct gp_list *list,
		      struct gp_list *slots, const struct kfd_cu_occupancy *counts)
{
	struct gp_queue *q;
	int waves;
	u32 i;

	for (i = 0; i < list->n; i++) {
		q = &list->q[i];
		if (!counts_waves(n, q) || !gp_queue_is_cp(q->type))
			continue;
		waves = waves_in(n, q, inst, slots, counts);
		q->waves = waves < 0 || q->waves < 0 ? -1 : q->waves + waves;
	}
}

/* Mark waves as unknown, with the reason for queues whose slots were not read. */
static void forget_waves(const struct gp_node *n, struct gp_list *list, bool slots,
			 enum gp_view_hardware why)
{
	u32 i;

	set_waves(n, list, -1);
	gp_stat_unread(why);
	for (i = 0; i < list->n && !slots; i++)
		if (counts_waves(n, &list->q[i]))
			list->q[i].hardware = why;
}

void gp_waves_count(struct gp_node *n, struct gp_list *list, struct gp_list *slots,
		    struct kfd_cu_occupancy *counts)
{
	const bool counted = n->get_cu_occupancy && set_waves(n, list, -1);
	unsigned long mask = counted ? n->xcc_mask : 0;
	unsigned int inst;
	int ret;

	/* The hardware of SDMA queues has to be checked, too, if no slots were read. */
	if (!counted && (slots || !has_queues(n, list)))
		return;
	ret = -gp_node_get_hw(n);
	if (!ret)
		set_waves(n, list, mask ? 0 : -1);
	for_each_set_bit(inst, &mask, 32) {
		ret = ret ?: gp_node_rest(n) ?: count_waves(n, inst, counts);
		if (ret || fatal_signal_pending(current))
			break;
		add_waves(n, inst, list, slots, counts);
	}
	if (ret || inst < 32)
		forget_waves(n, list, slots, -ret);
	gp_node_put_hw(n);
}
