// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which hardware slots hold a queue.
 *
 * Under the hardware scheduler the driver does not know. A CP slot holds the
 * queue whose MQD address is in its CP_MQD_BASE_ADDR while CP_HQD_ACTIVE is
 * set. Each XCC of a node has an MQD of the queue and slots of its own.
 *
 * hqd_dump() costs 56 register reads, so it only confirms. Before it comes
 * hqd_is_occupied(), 1 read for an empty slot and at most 3 for another: it
 * compares the address of the ring. That address is not unique, as processes
 * can have their rings at the same one; a slot that has another one is not
 * ours, though. The search starts where the queue was last seen, which is the
 * same pipe and queue in all XCCs as a rule, and seldom changes.
 *
 * A device that is lost has all registers read as ones, which no slot holds and
 * the cheap look takes for another ring; and each read can take as long as PCI
 * Express waits for an answer, tens of ms. So one register is asked before the
 * first search (gp_node_get_hw()), and after each XCC in which a queue was not found.
 * A device does not come back while it is awake here.
 *
 * Errors here and in sdma.c and waves.c are -enum gp_view_hardware: why it was not read.
 */

#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <gpreempt/view.h>

#include "hqd.h"
#include "layout.h"
#include "stats.h"

/* Registers of a dump by index, the same for gfx 9 to 12. */
#define HQD_MQD_BASE_LO	     0
#define HQD_MQD_BASE_HI	     1
#define HQD_ACTIVE	     2
#define HQD_VMID	     3
#define HQD_PQ_BASE_LO	     8
#define HQD_PQ_RPTR	     10
#define HQD_DOORBELL_CONTROL 15
#define HQD_PQ_WPTR_LO	     54
#define HQD_PQ_WPTR_HI	     55
#define HQD_N_REGS	     56

#define HQD_ACTIVE_BIT	  0x1
#define HQD_VMID_MASK	  0xf
#define HQD_MQD_BASE_MASK 0x0000fffffffffffcull

/* What hqd_is_occupied() reads at most. */
#define TEST_N_REGS 3

/* The ring's address is in units of this many bits. */
#define PQ_BASE_SHIFT 8
#define RING_LOW_BITS ((1ull << PQ_BASE_SHIFT) - 1)

/* Whether a dump has the registers one after the other, by their addresses. */
static bool in_order(const uint32_t (*regs)[2], u32 n_regs)
{
	u32 i;

	for (i = 1; i < n_regs; i++)
		if (regs[i][0] != regs[0][0] + i * sizeof(u32))
			return false;
	return true;
}

/* A driver without kfd_node has one XCC, and these hooks no parameter for it. */
static int call_dump(const struct gp_node *n, u32 slot, u32 inst,
		     uint32_t (**regs)[2], u32 *n_regs)
{
	u32 pipe = slot / n->n_queues, queue = slot % n->n_queues;

	if (gp_layout.has_nodes)
		return n->hqd_dump(n->adev, pipe, queue, regs, n_regs, inst);
	return n->hqd_dump_gpu(n->adev, pipe, queue, regs, n_regs);
}

/* Whether the slot has the ring, as the cheap look has it. */
static bool may_hold(struct gp_node *n, u64 ring, u32 slot, u32 inst)
{
	u32 pipe = slot / n->n_queues, queue = slot % n->n_queues;

	if (!n->hqd_is_occupied)
		return true;
	gp_node_add_reads(n, TEST_N_REGS);
	if (gp_layout.has_nodes)
		return n->hqd_is_occupied(n->adev, ring, pipe, queue, inst);
	return n->hqd_is_occupied_gpu(n->adev, ring, pipe, queue);
}

/*
 * The dumps allocate their result. Reclaim may call the driver's MMU notifiers
 * then, which of the locks that are held here only try for one (the reset lock,
 * add_queue_mes() and remove_queue_mes()); it must not start I/O.
 */
int gp_hqd_dump(struct gp_node *n, u32 slot, u32 inst, struct gp_hqd *hqd)
{
	unsigned int flags = memalloc_noio_save();
	uint32_t(*regs)[2] = NULL;
	u32 n_regs = 0;
	int ret;

	ret = call_dump(n, slot, inst, &regs, &n_regs);
	memalloc_noio_restore(flags);
	if (ret)
		return -GP_VIEW_HARDWARE_FAILED;
	gp_node_add_reads(n, n_regs);
	ret = -GP_VIEW_HARDWARE_UNSUPPORTED;
	/* Another layout of the dump is not one to guess at. */
	if (n_regs != HQD_N_REGS || !in_order(regs, n_regs))
		goto out;
	ret = gp_no_answer(regs, n_regs) ? gp_node_lose(n) : 0;
	if (ret)
		goto out;
	hqd->mqd = gp_pair(regs, HQD_MQD_BASE_LO) & HQD_MQD_BASE_MASK;
	hqd->ring = gp_pair(regs, HQD_PQ_BASE_LO) << PQ_BASE_SHIFT;
	hqd->active = regs[HQD_ACTIVE][1] & HQD_ACTIVE_BIT;
	hqd->vmid = regs[HQD_VMID][1] & HQD_VMID_MASK;
	hqd->rptr = regs[HQD_PQ_RPTR][1];
	hqd->wptr = gp_pair(regs, HQD_PQ_WPTR_LO);
	hqd->doorbell = gp_doorbell(regs[HQD_DOORBELL_CONTROL][1]);
out:
	kfree(regs);
	return ret;
}

/* Whether the device answers, if there is no short way to ask: by a slot. */
static int check_slot(struct gp_node *n)
{
	u32 slot = find_first_bit(n->cp_slots, n->n_slots);
	struct gp_hqd hqd;

	if (n->get_iq_wait_times || slot >= n->n_slots)
		return 0;
	return gp_hqd_dump(n, slot, gp_node_first_xcc(n), &hqd);
}

/* Whether one slot of one XCC holds the queue: 1, 0 or an error. */
static int slot_holds(struct gp_node *n, const struct gp_queue *q, u32 inst,
		      u32 slot, u64 mqd, struct gp_hqd *hqd)
{
	int ret;

	if (!may_hold(n, q->ring, slot, inst))
		return 0;
	ret = gp_hqd_dump(n, slot, inst, hqd);
	if (ret)
		return ret;
	/* KFD gives the MQD addresses of a queue to the next one. */
	return hqd->active && hqd->doorbell == q->doorbell &&
	       hqd->mqd == (mqd & HQD_MQD_BASE_MASK) &&
	       hqd->ring == (q->ring & ~RING_LOW_BITS);
}

/* The same for all slots of one XCC; q->slot is the one then. */
static int xcc_holds(struct gp_node *n, struct gp_queue *q, u32 inst, u64 mqd,
		     struct gp_hqd *hqd)
{
	u32 first = q->slot >= 0 && q->slot < n->n_slots ? q->slot : 0;
	u32 i, slot;
	int ret;

	for (i = 0; i < n->n_slots; i++) {
		slot = (first + i) % n->n_slots;
		if (!test_bit(slot, n->cp_slots))
			continue;
		ret = gp_node_rest(n) ?: slot_holds(n, q, inst, slot, mqd, hqd);
		if (ret > 0)
			q->slot = slot;
		if (ret)
			return ret;
	}
	return 0;
}

/* Room for a slot of the queue, or for the line that says why it has none known. */
static struct gp_slot *add_slot(const struct gp_queue *q,
				struct gp_slots *slots)
{
	struct gp_slot *s = &slots->s[slots->n];

	if (slots->n >= slots->room)
		return NULL;
	slots->n++;
	memset(s, 0xff, sizeof(*s)); /* not known */
	s->age_ms = q->age_ms;
	s->qid = q->qid;
	s->gpu_id = q->gpu_id;
	s->type = q->type;
	s->hardware = q->hardware;
	return s;
}

/* Take a slot down for the queue, the first also as the queue's own. */
static void note_slot(const struct gp_node *n, struct gp_queue *q,
		      const struct gp_hqd *hqd, int xcc, struct gp_slots *slots)
{
	struct gp_slot *s = add_slot(q, slots);

	if (!q->active++) {
		q->rptr = hqd->rptr;
		q->wptr = hqd->wptr;
	}
	if (!s)
		return;
	s->xcc = xcc;
	if (xcc >= 0) {
		s->pipe = q->slot / n->n_queues;
		s->queue = q->slot % n->n_queues;
	} else {
		s->engine = q->engine;
		s->rlc = q->rlc;
	}
	s->vmid = hqd->vmid;
	s->doorbell = hqd->doorbell;
	s->rptr = hqd->rptr;
	s->wptr = hqd->wptr;
}

static int find_cp_slots(struct gp_node *n, struct gp_queue *q,
			 struct gp_slots *slots)
{
	unsigned long mask = n->xcc_mask;
	u64 mqd = q->mqd;
	struct gp_hqd hqd;
	unsigned int inst;
	int ret;

	for_each_set_bit(inst, &mask, 32) {
		if (fatal_signal_pending(current))
			return -GP_VIEW_HARDWARE_FAILED;
		ret = xcc_holds(n, q, inst, mqd, &hqd);
		if (ret > 0)
			note_slot(n, q, &hqd, inst, slots);
		else if (!ret)
			ret = gp_node_check(n, inst);
		if (ret < 0)
			return ret;
		mqd += q->mqd_stride;
	}
	return q->active < q->slots ? check_slot(n) : 0;
}

static int find_sdma_slot(struct gp_node *n, struct gp_queue *q,
			  struct gp_slots *slots)
{
	struct gp_hqd hqd = {};
	int ret = gp_sdma_find(n, q, &hqd);

	if (ret > 0)
		note_slot(n, q, &hqd, -1, slots);
	return min(ret, 0);
}

/* The slots of a queue of a node that can be read: 0 or an error. */
static int find_slots(struct gp_node *n, struct gp_queue *q,
		      struct gp_slots *slots)
{
	q->active = 0;
	if (gp_queue_is_cp(q->type))
		return find_cp_slots(n, q, slots);
	return q->type >= 0 ? find_sdma_slot(n, q, slots) :
			      -GP_VIEW_HARDWARE_UNSUPPORTED;
}

void gp_hqd_read(struct gp_node *n, struct gp_queue *q, struct gp_slots *slots)
{
	int ret;

	q->first_slot = slots->n;
	q->hardware = gp_node_get_hw(n);
	if (q->hardware == GP_VIEW_HARDWARE_READ) {
		ret = find_slots(n, q, slots);
		gp_node_put_hw(n);
		if (!ret)
			return;
		gp_queue_forget_hardware(q);
		q->hardware = -ret;
		slots->n = q->first_slot;
	}
	gp_stat_unread(q->hardware);
	add_slot(q, slots);
}

int gp_hqd_count(struct gp_node *n, int *active)
{
	struct gp_hqd hqd;
	unsigned int slot;
	int ret, count = 0;

	for_each_set_bit(slot, n->cp_slots, n->n_slots) {
		ret = gp_node_rest(n) ?:
			      gp_hqd_dump(n, slot, gp_node_first_xcc(n), &hqd);
		if (ret)
			return ret;
		count += hqd.active;
	}
	ret = gp_node_check(n, gp_node_first_xcc(n));
	if (!ret)
		*active = count;
	return ret;
}
