// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers.  With no MMIO mapped, the driver's accessors come here with a
 * byte address.  What a select register leads to is answered from the register
 * files that the command processor writes; everything is counted.
 *
 * Bases are those of an MI308X, read from a real host's hqds (docs/vgpu.md).
 */
#include "gc/gc_9_4_3_offset.h"
#include "gc/gc_9_4_3_sh_mask.h"
#include "sdma/sdma_4_4_2_offset.h"
#include "vgpu_priv.h"

#define GC_SEGMENT 0x4000   /* dwords that one base leads to */
#define GC_BASE1   0x8000   /* second base behind the first */
#define OTHER_BASE 0x200000 /* blocks of which we have no register */

static const u32 gc_base[VGPU_MAX_XCCS] = {
	0x2000, 0x32000, 0x42000, 0x72000, 0x82000, 0xb2000, 0xc2000, 0xf2000,
};
static const u32 sdma_base[VGPU_SDMA_ENGINES] = {
	0x1260, 0x1860, 0x39400, 0x39800, 0x41260, 0x41860, 0x79400, 0x79800,
};

/* reg_offset tables: [instance][BASE_IDX] */
static u32 gc_table[VGPU_MAX_XCCS][6], sdma_table[VGPU_SDMA_ENGINES][6];
static u32 other_table[6] = { OTHER_BASE, OTHER_BASE, OTHER_BASE,
			      OTHER_BASE, OTHER_BASE, OTHER_BASE };

void vgpu_reg_tables(struct vgpu *v)
{
	struct amdgpu_device *adev = &v->adev;
	int i, j;

	for (i = 0; i < MAX_HWIP; i++)
		for (j = 0; j < HWIP_MAX_INSTANCE; j++)
			adev->reg_offset[i][j] = other_table;
	for (i = 0; i < VGPU_MAX_XCCS; i++) {
		for (j = 0; j < 6; j++)
			gc_table[i][j] = gc_base[i] + (j ? GC_BASE1 : 0);
		adev->reg_offset[GC_HWIP][i] = gc_table[i];
	}
	for (i = 0; i < VGPU_SDMA_ENGINES; i++) {
		for (j = 0; j < 6; j++)
			sdma_table[i][j] = sdma_base[i];
		adev->reg_offset[SDMA0_HWIP][i] = sdma_table[i];
	}
}

/* Register number of a GC instance's first segment, or -1 */
static int gc_reg(u32 dword, int *xcc)
{
	int i;

	for (i = 0; i < VGPU_MAX_XCCS; i++)
		if (dword - gc_base[i] < GC_SEGMENT) {
			*xcc = i;
			return dword - gc_base[i];
		}
	return -1;
}

static u32 *sdma_reg(struct vgpu *v, u32 dword)
{
	u32 off;
	int i;

	for (i = 0; i < VGPU_SDMA_ENGINES; i++) {
		off = dword - sdma_base[i] - regSDMA_RLC0_RB_CNTL;
		if (off < VGPU_SDMA_QUEUES * VGPU_SDMA_STRIDE)
			return &v->sdma[i * VGPU_SDMA_QUEUES +
					off / VGPU_SDMA_STRIDE]
				       [off % VGPU_SDMA_STRIDE];
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
	return vgpu_hqd(v, xcc, me - 1,
			REG_GET_FIELD(sel, GRBM_GFX_CNTL, PIPEID),
			REG_GET_FIELD(sel, GRBM_GFX_CNTL, QUEUEID));
}

/* SPI's bitmap of slotted queues, pipe * 8 + queue */
static u32 active_status(struct vgpu *v, int xcc)
{
	u32 map = 0;
	int i;

	for (i = 0; i < VGPU_PIPES * VGPU_QUEUES_PER_PIPE; i++)
		if (vgpu_hqd(v, xcc, 0, i / VGPU_QUEUES_PER_PIPE,
			     i % VGPU_QUEUES_PER_PIPE)[HQD_ACTIVE] &
		    1)
			map |= 1u << i;
	return map;
}

static u32 gc_read(struct vgpu *v, int xcc, u32 reg)
{
	u32 pipe = REG_GET_FIELD(v->select[xcc], GRBM_GFX_CNTL, PIPEID);
	u32 *hqd;

	if (reg - regCP_MQD_BASE_ADDR < VGPU_HQD_REGS) {
		vgpu_count(v, reg_reads_hqd);
		hqd = selected_hqd(v, xcc);
		if (!hqd)
			return 0;
		/* A ring one page further on, of a slot that is the same */
		if (READ_ONCE(v->faults.other_ring) &&
		    reg - regCP_MQD_BASE_ADDR == HQD_PQ_BASE)
			return READ_ONCE(hqd[HQD_PQ_BASE]) + (PAGE_SIZE >> 8);
		return READ_ONCE(hqd[reg - regCP_MQD_BASE_ADDR]);
	}
	if (reg - regSPI_CSQ_WF_ACTIVE_COUNT_0 < VGPU_QUEUES_PER_PIPE) {
		vgpu_count(v, reg_reads_occupancy);
		return vgpu_part_of_xcc(v, xcc)
			->waves[pipe][reg - regSPI_CSQ_WF_ACTIVE_COUNT_0];
	}
	switch (reg) {
	case regSPI_CSQ_WF_ACTIVE_STATUS:
		vgpu_count(v, reg_reads_occupancy);
		return active_status(v, xcc);
	case regGRBM_GFX_CNTL:
		return v->select[xcc];
	case regCP_IQ_WAIT_TIME2:
		return READ_ONCE(v->wait_times);
	default:
		return 0;
	}
}

static void gc_write(struct vgpu *v, int xcc, u32 reg, u32 val)
{
	u32 *hqd;

	switch (reg) {
	case regGRBM_GFX_CNTL:
		WRITE_ONCE(v->select[xcc], val);
		return;
	case regCP_IQ_WAIT_TIME2:
		WRITE_ONCE(v->wait_times, val);
		return;
	case regSPI_COMPUTE_QUEUE_RESET:
		if (val & 1)
			vgpu_queue_reset(v, xcc, v->select[xcc]);
		return;
	}
	if (reg - regCP_MQD_BASE_ADDR < VGPU_HQD_REGS) {
		hqd = selected_hqd(v, xcc);
		if (hqd)
			WRITE_ONCE(hqd[reg - regCP_MQD_BASE_ADDR], val);
	}
}

u32 vgpu_rreg(struct amdgpu_device *adev, u32 addr)
{
	struct vgpu *v = vgpu_of(adev);
	int reg, xcc;
	u32 *sdma;

	vgpu_count(v, reg_reads);
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
