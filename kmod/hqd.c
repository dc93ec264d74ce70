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
 * An SDMA queue has its RLC for life. RB_ENABLE alone does not say that it is
 * mapped there: RLCs of real hosts keep it after the last process has gone,
 * with no doorbell. So the doorbell has to be enabled, and the queue's own.
 */

#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <gpreempt/view.h>

#include "hqd.h"

/* Registers of a dump by index, the same for gfx 9 to 12. */
#define HQD_MQD_BASE_LO		0
#define HQD_MQD_BASE_HI		1
#define HQD_ACTIVE		2
#define HQD_DOORBELL_CONTROL	15
#define HQD_N_REGS		56

#define HQD_ACTIVE_BIT		0x1
#define HQD_DOORBELL_MASK	0x0ffffffc
#define HQD_DOORBELL_SHIFT	2
#define HQD_MQD_BASE_MASK	0x0000fffffffffffcull

/* Registers of an SDMA dump by distance in dwords, the same for gfx 9 to 11. */
#define SDMA_RB_CNTL		0
#define SDMA_DOORBELL		0x12
#define SDMA_DOORBELL_OFFSET	0x2b
#define SDMA_N_REGS_MIN		42
#define SDMA_N_REGS_MAX		44

#define SDMA_RB_ENABLE		0x1
#define SDMA_DOORBELL_ENABLE	0x10000000

/* Whether a dump shows the queue of that MQD; -EOPNOTSUPP: not such a dump. */
static int dump_shows(const uint32_t (*regs)[2], u32 n_regs, u64 mqd,
		      u32 doorbell)
{
	u64 base;

	if (n_regs != HQD_N_REGS ||
	    regs[HQD_ACTIVE][0] - regs[HQD_MQD_BASE_LO][0] !=
	    HQD_ACTIVE * sizeof(u32))
		return -EOPNOTSUPP;
	base = (u64)regs[HQD_MQD_BASE_HI][1] << 32 | regs[HQD_MQD_BASE_LO][1];
	return (regs[HQD_ACTIVE][1] & HQD_ACTIVE_BIT) &&
	       !((base ^ mqd) & HQD_MQD_BASE_MASK) &&
	       (regs[HQD_DOORBELL_CONTROL][1] & HQD_DOORBELL_MASK) >>
	       HQD_DOORBELL_SHIFT == doorbell;
}

/* Whether one slot of one XCC holds the queue: 1, 0 or an error. */
static int slot_holds(const struct gp_node *n, const struct gp_queue *q,
		      u32 inst, u32 slot, u64 mqd)
{
	u32 pipe = slot / n->n_queues, queue = slot % n->n_queues;
	uint32_t (*regs)[2] = NULL;
	unsigned int flags;
	u32 n_regs = 0;
	int ret;

	if (n->hqd_is_occupied &&
	    !n->hqd_is_occupied(n->adev, q->ring, pipe, queue, inst))
		return 0;
	/* The dump allocates, and reclaim could come back to the driver. */
	flags = memalloc_noreclaim_save();
	ret = n->hqd_dump(n->adev, pipe, queue, &regs, &n_regs, inst);
	memalloc_noreclaim_restore(flags);
	if (ret)
		return ret;
	ret = dump_shows(regs, n_regs, mqd, q->doorbell);
	kfree(regs);
	return ret;
}

/* The same for all slots of one XCC. */
static int xcc_holds(const struct gp_node *n, struct gp_queue *q, u32 inst,
		     u64 mqd)
{
	unsigned int slot;
	int ret = 0;

	if (q->slot >= 0 && q->slot < n->n_slots)
		ret = slot_holds(n, q, inst, q->slot, mqd);
	if (ret)
		return ret;
	for_each_set_bit(slot, n->cp_slots, n->n_slots) {
		if (slot == q->slot)
			continue;
		ret = slot_holds(n, q, inst, slot, mqd);
		if (ret > 0)
			q->slot = slot;
		if (ret)
			return ret;
	}
	return 0;
}

static int count_cp_slots(const struct gp_node *n, struct gp_queue *q)
{
	unsigned long mask = n->xcc_mask;
	u64 mqd = q->mqd_addr;
	unsigned int inst;
	int ret, active = 0;

	for_each_set_bit(inst, &mask, 32) {
		ret = xcc_holds(n, q, inst, mqd);
		if (ret < 0)
			return -1;
		active += ret;
		mqd += q->mqd_stride;
	}
	return active;
}

/* A register of an SDMA dump; clears *known when the dump does not have it. */
static u32 sdma_reg(const uint32_t (*regs)[2], u32 n_regs, u32 distance,
		    bool *known)
{
	u32 i;

	for (i = 0; i < n_regs; i++)
		if (regs[i][0] == regs[0][0] + distance * sizeof(u32))
			return regs[i][1];
	*known = false;
	return 0;
}

static int rlc_shows(const uint32_t (*regs)[2], u32 n_regs, u32 doorbell)
{
	bool known = n_regs >= SDMA_N_REGS_MIN && n_regs <= SDMA_N_REGS_MAX;
	u32 cntl = sdma_reg(regs, n_regs, SDMA_RB_CNTL, &known);
	u32 enable = sdma_reg(regs, n_regs, SDMA_DOORBELL, &known);
	u32 offset = sdma_reg(regs, n_regs, SDMA_DOORBELL_OFFSET, &known);

	if (!known)
		return -EOPNOTSUPP;
	return (cntl & SDMA_RB_ENABLE) && (enable & SDMA_DOORBELL_ENABLE) &&
	       (offset & HQD_DOORBELL_MASK) >> HQD_DOORBELL_SHIFT == doorbell;
}

static int count_sdma_slots(const struct gp_node *n, const struct gp_queue *q)
{
	uint32_t (*regs)[2] = NULL;
	unsigned int flags;
	u32 n_regs = 0;
	int ret;

	if (!n->hqd_sdma_dump)
		return -1;
	flags = memalloc_noreclaim_save();
	ret = n->hqd_sdma_dump(n->adev, n->sdma_first + q->sdma_engine,
			       q->sdma_rlc, &regs, &n_regs);
	memalloc_noreclaim_restore(flags);
	if (ret)
		return -1;
	ret = rlc_shows(regs, n_regs, q->doorbell);
	kfree(regs);
	return ret < 0 ? -1 : ret;
}

void gp_hqd_read(const struct gp_node *n, struct gp_queue *q)
{
	switch (q->type) {
	case GP_VIEW_QUEUE_COMPUTE_AQL:
	case GP_VIEW_QUEUE_COMPUTE_PM4:
		q->active = count_cp_slots(n, q);
		break;
	case GP_VIEW_QUEUE_SDMA:
	case GP_VIEW_QUEUE_SDMA_XGMI:
		q->active = count_sdma_slots(n, q);
		break;
	default:
		q->active = -1;
	}
}
