// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which slot of an SDMA engine holds a queue.
 *
 * Under the hardware scheduler an SDMA queue has its RLC for life (load_sdma()
 * in node.c). Under MES it may have any, and its doorbell tells which; the search
 * starts where it was last seen. RB_ENABLE alone does not say that it is
 * mapped there: RLCs of real hosts keep it after the last process has gone,
 * with no doorbell. So the doorbell has to be enabled, and the queue's own.
 */

#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "hqd.h"
#include "stats.h"

/* Registers of an SDMA dump by distance in dwords, the same for gfx 9 to 12. */
#define SDMA_RB_CNTL 0
#define SDMA_RPTR    3
#define SDMA_WPTR    5

#define SDMA_RB_ENABLE	     0x1
#define SDMA_VMID_SHIFT	     24
#define SDMA_VMID_MASK	     0xf
#define SDMA_DOORBELL_ENABLE 0x10000000

/* The others by generation: gfx 9 to 11, and 12. */
struct sdma_layout {
	u32 n_regs_min, n_regs_max, doorbell, doorbell_offset;
};

static const struct sdma_layout sdma_layout_9 = { 42, 44, 0x12, 0x2b };
static const struct sdma_layout sdma_layout_12 = { 49, 49, 0x0f, 0x11 };

#define GFX_12 120000

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

static int rlc_shows(const struct gp_node *n, const uint32_t (*regs)[2],
		     u32 n_regs, struct gp_hqd *hqd)
{
	const struct sdma_layout *l = n->gfx >= GFX_12 ? &sdma_layout_12 :
							 &sdma_layout_9;
	bool known = n_regs >= l->n_regs_min && n_regs <= l->n_regs_max;
	u32 cntl = sdma_reg(regs, n_regs, SDMA_RB_CNTL, &known);
	u32 enable = sdma_reg(regs, n_regs, l->doorbell, &known);
	u32 offset = sdma_reg(regs, n_regs, l->doorbell_offset, &known);

	if (!known)
		return -GP_VIEW_HARDWARE_UNSUPPORTED;
	hqd->active = (cntl & SDMA_RB_ENABLE) &&
		      (enable & SDMA_DOORBELL_ENABLE);
	hqd->doorbell = gp_doorbell(offset);
	hqd->vmid = cntl >> SDMA_VMID_SHIFT & SDMA_VMID_MASK;
	hqd->rptr = gp_pair(regs, SDMA_RPTR);
	hqd->wptr = gp_pair(regs, SDMA_WPTR);
	return 0;
}

/* Whether an RLC of the node holds the queue: 1, 0 or an error. */
static int rlc_holds(struct gp_node *n, const struct gp_queue *q, u32 engine,
		     u32 rlc, struct gp_hqd *hqd)
{
	uint32_t(*regs)[2] = NULL;
	unsigned int flags;
	u32 n_regs = 0;
	int ret;

	flags = memalloc_noio_save();
	ret = n->hqd_sdma_dump(n->adev, n->sdma_first + engine, rlc, &regs,
			       &n_regs);
	memalloc_noio_restore(flags);
	if (ret)
		return -GP_VIEW_HARDWARE_FAILED;
	gp_node_add_reads(n, n_regs);
	ret = gp_no_answer(regs, n_regs) ? gp_node_lose(n) :
					   rlc_shows(n, regs, n_regs, hqd);
	kfree(regs);
	return ret ?: hqd->active && hqd->doorbell == q->doorbell;
}

/* The RLC that MES has given to the queue; q->slot is the number of it then. */
static int search_rlcs(struct gp_node *n, struct gp_queue *q,
		       struct gp_hqd *hqd)
{
	u32 count = n->sdma_engines * n->sdma_rlcs, first, i, at;
	int ret;

	first = q->slot >= 0 && q->slot < count ? q->slot : 0;
	for (i = 0; i < count; i++) {
		at = (first + i) % count;
		ret = gp_node_rest(n) ?:
					rlc_holds(n, q, at / n->sdma_rlcs,
						  at % n->sdma_rlcs, hqd);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		q->slot = at;
		q->engine = at / n->sdma_rlcs;
		q->rlc = at % n->sdma_rlcs;
		return 1;
	}
	return 0;
}

int gp_sdma_find(struct gp_node *n, struct gp_queue *q, struct gp_hqd *hqd)
{
	if (!n->hqd_sdma_dump || !n->sdma_rlcs)
		return -GP_VIEW_HARDWARE_UNSUPPORTED;
	if (n->sdma_by_doorbell)
		return search_rlcs(n, q, hqd);
	if (q->engine < 0)
		return -GP_VIEW_HARDWARE_UNSUPPORTED;
	return rlc_holds(n, q, q->engine, q->rlc, hqd);
}
