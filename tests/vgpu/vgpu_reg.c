// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers.  With no MMIO mapped, the driver's accessors come here with a
 * byte address.  What a select register leads to is answered from the register
 * files that the command processor writes; everything is counted.
 *
 * Where they stand is a row of vgpu_chip.c.  The fields of GRBM_GFX_CNTL are the
 * same in all generations.
 */
#include <linux/delay.h>
#include <linux/pm_runtime.h>
#include "gc/gc_9_0_sh_mask.h"
#include "vgpu_priv.h"

#define GC_SEGMENT 0x4000   /* dwords above a base that belong to it */
#define OTHER_BASE 0x200000 /* blocks of which we have no register */

/* reg_offset tables: [instance][BASE_IDX] */
static u32 gc_table[VGPU_MAX_XCCS][6], sdma_table[VGPU_SDMA_ENGINES][6];
static u32 other_table[6] = {
	OTHER_BASE, OTHER_BASE, OTHER_BASE, OTHER_BASE, OTHER_BASE, OTHER_BASE
};

void vgpu_reg_tables(struct vgpu *v)
{
	const struct vgpu_regs *r = vgpu_chip->regs;
	struct amdgpu_device *adev = &v->adev;
	int i, j;

	for (i = 0; i < MAX_HWIP; i++)
		for (j = 0; j < HWIP_MAX_INSTANCE; j++)
			adev->reg_offset[i][j] = other_table;
	for (i = 0; i < VGPU_MAX_XCCS; i++) {
		for (j = 0; j < 6; j++)
			gc_table[i][j] = r->base[i] + (j ? r->base1 : 0);
		adev->reg_offset[GC_HWIP][i] = gc_table[i];
	}
	/* Instances of one block, or blocks of their own (before MI300) */
	for (i = 0; i < vgpu_chip->sdma->engines; i++) {
		for (j = 0; j < 6; j++)
			sdma_table[i][j] =
				vgpu_chip->sdma->base[i] - i * vgpu_chip->sdma->numbered_on;
		adev->reg_offset[SDMA0_HWIP][i] = sdma_table[i];
		if (i)
			adev->reg_offset[SDMA0_HWIP + i][0] = sdma_table[i];
	}
}

/* Register number of a GC instance's first segment, or -1 */
static int gc_reg(u32 dword, int *xcc)
{
	const struct vgpu_regs *r = vgpu_chip->regs;
	int i;

	for (i = 0; i < vgpu_xccs; i++)
		if (dword - r->base[i] < GC_SEGMENT || dword - r->base[i] == r->grbm ||
		    dword - r->base[i] == r->grbm_index) {
			*xcc = i;
			return dword - r->base[i];
		}
	return -1;
}

u32 *vgpu_rlc(struct vgpu *v, int engine, int rlc)
{
	return v->sdma[engine * VGPU_SDMA_QUEUES + rlc];
}

static u32 *sdma_reg(struct vgpu *v, u32 dword)
{
	const struct vgpu_sdma_chip *s = vgpu_chip->sdma;
	u32 off;
	int i;

	for (i = 0; i < s->engines; i++) {
		off = dword - s->base[i] - s->first;
		if (off < s->queues * s->stride)
			return &vgpu_rlc(v, i, off / s->stride)[off % s->stride];
	}
	return NULL;
}

/* The HQD file that the XCC's select register leads to; NULL for the others */
static u32 *selected_hqd(struct vgpu *v, int xcc)
{
	u32 sel = READ_ONCE(v->select[xcc]);
	int me = REG_GET_FIELD(sel, GRBM_GFX_CNTL, MEID);

	if (!me || me > VGPU_MECS)
		return NULL;
	return vgpu_hqd(v, xcc, me - 1, REG_GET_FIELD(sel, GRBM_GFX_CNTL, PIPEID),
			REG_GET_FIELD(sel, GRBM_GFX_CNTL, QUEUEID));
}

static u32 gc_read(struct vgpu *v, int xcc, u32 reg)
{
	u32 pipe = REG_GET_FIELD(v->select[xcc], GRBM_GFX_CNTL, PIPEID);
	const struct vgpu_regs *r = vgpu_chip->regs;
	u32 *hqd;

	if (reg - r->mqd_base < VGPU_HQD_REGS) {
		vgpu_count(v, reg_reads_hqd);
		hqd = selected_hqd(v, xcc);
		if (!hqd)
			return 0;
		/* A ring one page further on, of a slot that is the same */
		if (READ_ONCE(v->faults.other_ring) && reg - r->mqd_base == HQD_PQ_BASE)
			return READ_ONCE(hqd[HQD_PQ_BASE]) + (PAGE_SIZE >> 8);
		return READ_ONCE(hqd[reg - r->mqd_base]);
	}
	if (reg - r->active_count < VGPU_QUEUES_PER_PIPE) {
		vgpu_count(v, reg_reads_occupancy);
		return vgpu_waves_count(v, xcc, pipe, reg - r->active_count);
	}
	if (reg == r->active_status) {
		vgpu_count(v, reg_reads_occupancy);
		return vgpu_waves_status(v, xcc);
	}
	if (reg == r->grbm)
		return v->select[xcc];
	if (reg == r->grbm_index)
		return v->index[xcc];
	return reg == r->iq_wait2 ? READ_ONCE(v->wait_times) : 0;
}

static void gc_write(struct vgpu *v, int xcc, u32 reg, u32 val)
{
	const struct vgpu_regs *r = vgpu_chip->regs;
	u32 *hqd;

	if (reg == r->grbm) {
		WRITE_ONCE(v->select[xcc], val);
	} else if (reg == r->grbm_index) {
		WRITE_ONCE(v->index[xcc], val);
	} else if (reg == r->iq_wait2) {
		WRITE_ONCE(v->wait_times, val);
	} else if (reg == r->queue_reset) {
		if (val & 1)
			vgpu_queue_reset(v, xcc, v->select[xcc]);
	} else if (reg - r->mqd_base < VGPU_HQD_REGS) {
		hqd = selected_hqd(v, xcc);
		if (!hqd)
			return;
		WRITE_ONCE(hqd[reg - r->mqd_base], val);
		if (reg - r->mqd_base == HQD_DEQUEUE && val &&
		    hqd == vgpu_hqd(v, xcc, VGPU_HIQ_MEC, 0, 0))
			vgpu_hiq_stop(v, xcc);
	}
}

/*
 * A device that answers a read late, or not before PCI's completion time-out.  The CPU
 * that reads can do nothing meanwhile, but the others can: where it may, it sleeps, so
 * that the guest's one CPU is those others.
 */
static void wait_for_answer(u32 ms)
{
	if (!ms)
		return;
	if (preemptible() && !rcu_preempt_depth())
		usleep_range(ms * 1000ul, ms * 1000ul + 50);
	else
		mdelay(ms);
}

u32 vgpu_rreg(struct amdgpu_device *adev, u32 addr)
{
	struct vgpu *v = vgpu_of(adev);
	int reg, xcc;
	u32 *sdma;

	vgpu_count(v, reg_reads);
	if (pm_runtime_status_suspended(adev->dev))
		vgpu_count(v, reg_reads_asleep);
	wait_for_answer(READ_ONCE(v->faults.slow));
	if (READ_ONCE(v->faults.dead))
		return ~0u;
	sdma = sdma_reg(v, addr / 4);
	if (sdma) {
		vgpu_count(v, reg_reads_sdma);
		return READ_ONCE(*sdma);
	}
	reg = gc_reg(addr / 4, &xcc);
	return reg < 0 ? 0 : gc_read(v, xcc, reg);
}

void vgpu_wreg(struct amdgpu_device *adev, u32 addr, u32 val)
{
	struct vgpu *v = vgpu_of(adev);
	int reg, xcc;
	u32 *sdma;

	vgpu_count(v, reg_writes);
	sdma = sdma_reg(v, addr / 4);
	if (sdma) {
		WRITE_ONCE(*sdma, val);
		return;
	}
	reg = gc_reg(addr / 4, &xcc);
	if (reg >= 0)
		gc_write(v, xcc, reg, val);
}
