// SPDX-License-Identifier: GPL-2.0-only
/*
 * SDMA queues in their RLCs: under HWS the one that the MQD names, under MES one
 * that MES takes.  Where registers and fields stand is a row of vgpu_chip.c.
 *
 * All under vgpu.lock.
 */
#include "sdma/sdma_4_4_0_sh_mask.h"
#include "vgpu_priv.h"

#define SDMA_RPTR 3 /* registers of an RLC */
#define SDMA_WPTR 5

/*
 * A doorbell is memory here: a value that no ring has makes any write to it
 * show, also of packet 0.  A ring before this is in the write index in memory.
 */
void vgpu_doorbell_arm(struct vgpu_queue *q, u64 *doorbell)
{
	xchg(doorbell, VGPU_DOORBELL_NONE);
	q->doorbell_seen = VGPU_DOORBELL_NONE;
}

static bool rlc_used(struct vgpu *v, int engine, int rlc)
{
	struct vgpu_queue *q;

	list_for_each_entry(q, &v->queues, node)
		if (q->sdma && q->engine == engine && q->rlc == rlc)
			return true;
	return false;
}

/*
 * MES is not told what the MQD names and takes what is free.  From the last engine
 * on, so that it is not by chance what the driver believes.
 */
static bool rlc_choose(struct vgpu *v, struct vgpu_queue *q)
{
	const struct vgpu_sdma_chip *s = vgpu_chip->sdma;
	int rlc, engine;

	for (rlc = 0; rlc < s->queues; rlc++)
		for (engine = s->engines - 1; engine >= 0; engine--) {
			if (!(v->mes.sdma_mask[engine] >> rlc & 1) || rlc_used(v, engine, rlc))
				continue;
			q->engine = engine;
			q->rlc = rlc;
			return true;
		}
	return false;
}

/* The MQD counts the engines of the partition */
bool vgpu_rlc_init(struct vgpu *v, struct vgpu_queue *q)
{
	const struct vgpu_sdma_chip *s = vgpu_chip->sdma;
	struct v9_sdma_mqd *m = q->mqd;
	const u32 *mqd = q->mqd;

	if (!vgpu_chip->mes) {
		q->engine = m->sdma_engine_id + (q->part - v->part) * (s->engines / vgpu_parts);
		q->rlc = m->sdma_queue_id;
	} else if (!rlc_choose(v, q)) {
		return false;
	}
	q->ring = vgpu_join64(&m->sdmax_rlcx_rb_base) << 8;
	q->ring_bytes = 4u << REG_GET_FIELD(m->sdmax_rlcx_rb_cntl, SDMA0_RLC0_RB_CNTL, RB_SIZE);
	q->rptr_va = mqd[s->mqd_rptr_lo] | (u64)mqd[s->mqd_rptr_hi] << 32;
	q->rptr = vgpu_join64(&m->sdmax_rlcx_rb_rptr);
	return q->engine < s->engines && q->rlc < s->queues;
}

void vgpu_rlc_sync(struct vgpu *v, struct vgpu_queue *q)
{
	u32 *reg = vgpu_rlc(v, q->engine, q->rlc);

	WRITE_ONCE(reg[SDMA_RPTR], lower_32_bits(q->rptr));
	WRITE_ONCE(reg[SDMA_RPTR + 1], upper_32_bits(q->rptr));
	WRITE_ONCE(reg[SDMA_WPTR], lower_32_bits(q->wptr));
	WRITE_ONCE(reg[SDMA_WPTR + 1], upper_32_bits(q->wptr));
}

void vgpu_rlc_load(struct vgpu *v, struct vgpu_queue *q)
{
	u32 *reg = vgpu_rlc(v, q->engine, q->rlc);
	const struct vgpu_sdma_chip *s = vgpu_chip->sdma;
	const u32 *mqd = q->mqd;
	u64 *doorbell = (u64 __force *)vgpu_doorbell(v, q->doorbell);
	u64 *wptr = vgpu_user_ptr(v, q->pasid, q->wptr_va, 8);
	size_t i;

	if (doorbell && wptr) {
		vgpu_doorbell_arm(q, doorbell);
		q->wptr = READ_ONCE(*wptr);
	}
	q->time = v->time;
	for (i = 0; i < s->nranges; i++)
		memcpy(reg + s->range[i].reg, mqd + s->range[i].mqd,
		       s->range[i].count * sizeof(u32));
	reg[0] |= SDMA0_RLC0_RB_CNTL__RB_ENABLE_MASK |
		  (u32)q->vmid << SDMA0_RLC0_RB_CNTL__RB_VMID__SHIFT;
	reg[s->doorbell] |= SDMA0_RLC0_DOORBELL__ENABLE_MASK;
	reg[s->doorbell_offset] = mqd[s->mqd_doorbell_offset];
}

void vgpu_rlc_unload(struct vgpu *v, struct vgpu_queue *q)
{
	u32 *reg = vgpu_rlc(v, q->engine, q->rlc);
	struct v9_sdma_mqd *m = q->mqd;

	vgpu_rlc_sync(v, q);
	m->sdmax_rlcx_rb_rptr = lower_32_bits(q->rptr);
	m->sdmax_rlcx_rb_rptr_hi = upper_32_bits(q->rptr);
	q->work.magic = 0;
	/* RB_ENABLE stays, as seen on real hosts; the doorbell goes */
	reg[vgpu_chip->sdma->doorbell] = 0;
	reg[vgpu_chip->sdma->doorbell_offset] = 0;
}
