// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many waves of a queue are in flight.
 *
 * The driver counts the waves in flight of all slots of an XCC at once, one
 * shader engine after the other, and reports the doorbell that it saw last in each
 * slot. A count is a queue's if the queue was in that slot before, and if that
 * doorbell is its own: a queue that left the slot meanwhile has no count. That
 * one left, another one came and the first came back, all while an XCC was
 * counted, is not looked for. A queue that was in no slot has the waves that were
 * counted where its doorbell was last: more than 0 means that it executes, and is
 * not off.
 */

#include <linux/sched/signal.h>
#include <linux/string.h>

#include <gpreempt/view.h>

#include "hqd.h"
#include "stats.h"

/* What was counted of a queue in one XCC; -1: it is not known. */
static int waves_in(const struct gp_node *n, const struct gp_queue *q, u32 inst,
		    struct gp_slots *slots,
		    const struct kfd_cu_occupancy *counts)
{
	const struct kfd_cu_occupancy *c;
	struct gp_slot *s = &slots->s[q->first_slot];
	u32 i;

	for (i = 0; i < q->active; i++, s++) {
		if (s->xcc != inst)
			continue;
		c = &counts[s->pipe * n->n_queues + s->queue];
		if (!c->wave_cnt || c->doorbell_off == q->doorbell)
			s->waves = c->wave_cnt;
		return s->waves;
	}
	/* In no slot before: it has come into one, or executes all the same. */
	for (i = 0; i < n->n_slots; i++)
		if (counts[i].wave_cnt && counts[i].doorbell_off == q->doorbell)
			return counts[i].wave_cnt;
	return 0;
}

/* Count the waves in one XCC: 0 or an error. */
static int count_waves(const struct gp_node *n, u32 inst,
		       struct kfd_cu_occupancy *counts)
{
	int per_cu;
	u32 i, used = 0;

	/* The driver adds to what is there. */
	memset(counts, 0, GP_CP_SLOTS_MAX * sizeof(*counts));
	n->get_cu_occupancy(n->adev, counts, &per_cu, inst);
	for (i = 0; i < GP_CP_SLOTS_MAX; i++)
		used += counts[i].wave_cnt != 0;
	gp_stat_inc(GP_STAT_wave_counts);
	/* Of each engine which slots have waves, and two of each of these. */
	gp_stat_add(GP_STAT_registers, n->engines * (1 + 2 * used));
	return gp_hqd_check(n, inst);
}

static bool counts_waves(const struct gp_node *n, const struct gp_queue *q)
{
	return q->gpu_id == n->gpu_id && gp_queue_is_cp(q->type) &&
	       q->hardware == GP_VIEW_HARDWARE_READ;
}

/* Set the waves of all queues that have some here: how many such there are. */
static u32 set_waves(const struct gp_node *n, struct gp_list *list, int waves)
{
	u32 i, count = 0;

	for (i = 0; i < list->n; i++) {
		if (!counts_waves(n, &list->q[i]))
			continue;
		list->q[i].waves = waves;
		list->q[i].busy = -1;
		count++;
	}
	return count;
}

/*
 * Whether a queue is busy is taken from the first XCC, on which each dispatch begins: to
 * count in all of them takes so long that of two processes in turns both seem to be.
 */
static void add_waves(const struct gp_node *n, u32 inst, struct gp_list *list,
		      struct gp_slots *slots,
		      const struct kfd_cu_occupancy *counts)
{
	bool first = inst == gp_node_first_xcc(n);
	struct gp_queue *q;
	int waves;
	u32 i;

	for (i = 0; i < list->n; i++) {
		q = &list->q[i];
		if (!counts_waves(n, q))
			continue;
		waves = waves_in(n, q, inst, slots, counts);
		q->waves = waves < 0 || q->waves < 0 ? -1 : q->waves + waves;
		if (first)
			q->busy = waves < 0 ? -1 : waves > 0;
	}
}

void gp_waves_count(struct gp_node *n, struct gp_list *list,
		    struct gp_slots *slots, struct kfd_cu_occupancy *counts)
{
	unsigned long mask = n->xcc_mask;
	unsigned int inst;

	if (!n->get_cu_occupancy || !set_waves(n, list, -1) ||
	    gp_node_get_hw(n) != GP_VIEW_HARDWARE_READ)
		return;
	set_waves(n, list, 0);
	for_each_set_bit(inst, &mask, 32) {
		if (fatal_signal_pending(current) ||
		    count_waves(n, inst, counts)) {
			set_waves(n, list, -1);
			break;
		}
		add_waves(n, inst, list, slots, counts);
	}
	gp_node_put_hw(n);
}
