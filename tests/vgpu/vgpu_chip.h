/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between generations of GPUs, from the driver's source: one row of vgpu_chip.c for
 * each value of the parameter profile.
 */
#ifndef VGPU_CHIP_H
#define VGPU_CHIP_H

#include <linux/types.h>
#include "amdgpu.h"

/**
 * struct vgpu_shaders - the shader array, as the driver reports it to user space
 * @xccs: XCCs without the parameter xccs; one that a part can't have more of: 1
 * @cu_places: CUs of a shader array, populated or not
 * @cu_bitmap: those that are populated
 */
struct vgpu_shaders {
	u8 xccs, engines, arrays, cu_places;
	u16 cu_bitmap;
	u8 simds, waves, wave_size;
};

/**
 * struct vgpu_regs - where the registers stand that the driver asks for
 * @base: GC's first segment of each XCC, dwords
 * @base1: from there to the second segment
 * @mqd_base: CP_MQD_BASE_ADDR, the first of an HQD's file, in the first segment
 * @grbm: GRBM_GFX_CNTL, from the first segment's base as well
 * @grbm_index: GRBM_GFX_INDEX, likewise
 * @aql_shift: of CP_HQD_PQ_CONTROL's SLOT_BASED_WPTR, which is 2 in an AQL queue
 */
struct vgpu_regs {
	const u32 *base;
	u32 base1;
	u32 mqd_base, grbm, grbm_index, iq_wait2, queue_reset;
	u32 active_status, active_count;
	u8 aql_shift;
};

/* Consecutive dwords of an SDMA MQD and where their registers stand */
struct vgpu_range {
	u8 mqd, reg, count;
};

/**
 * struct vgpu_sdma_chip - SDMA engines: their registers and MQDs
 * @fw: their firmware's version, of which the driver decides nothing here; programs
 *	(kfdtest) take 0 for "no firmware"
 * @base: of each engine, dwords
 * @first: RB_CNTL of the engine's first RLC, from the base
 * @numbered_on: how much higher the driver numbers an engine's registers than those of
 *	the engine before; 0: the same numbers from a base of its own
 * @stride: to the next RLC
 * @doorbell: DOORBELL among an RLC's registers; all registers of them are numbered
 *	from RB_CNTL
 * @doorbell_offset: DOORBELL_OFFSET
 * @mqd_doorbell_offset, @mqd_rptr_lo, @mqd_rptr_hi: dwords of the MQD
 * @bell: index of the first engine's doorbells, @bell_step to the next engine's
 */
struct vgpu_sdma_chip {
	u16 fw;
	u8 engines, queues;
	bool xgmi;
	const u32 *base;
	u32 first, numbered_on, stride;
	u8 doorbell, doorbell_offset;
	u8 mqd_doorbell_offset, mqd_rptr_lo, mqd_rptr_hi;
	u8 nranges;
	const struct vgpu_range *range;
	u16 bell, bell_step, bell_last;
};

struct vgpu_mes_frame;

/**
 * struct vgpu_mes_chip - the driver's code for MES, by its symbols
 * @decode: what a frame has
 * @version: of the firmware: API in bits 23:12, revision in bits 11:0
 * @rings: the scheduler's own, and with unified MES that of its KIQ pipe
 */
struct vgpu_mes_chip {
	const char *funcs, *ring_funcs, *set_hw_resources;
	void (*decode)(struct vgpu_mes_frame *f, const u32 *dwords);
	u32 version;
	u8 rings;
};

/**
 * struct vgpu_chip - one generation
 * @name: value of the parameter
 * @gc, @sdma_ip: versions of the IP blocks, which the driver's code goes by
 * @device: PCI device number of one of its parts
 * @mec_fw: firmware of the compute engines, one with which the driver debugs
 * @first_vmid: of KFD's, up to 15
 * @pipes, @queues_per_pipe: CP queues; the driver's own are the first two of a pipe
 * @mes: the scheduler is MES; NULL: HWS, with a HIQ
 */
struct vgpu_chip {
	const char *name;
	u32 gc, sdma_ip;
	enum amd_asic_type asic;
	u32 family;
	u16 device;
	u32 mec_fw;
	u8 first_vmid, pipes, queues_per_pipe;
	u32 bus_width, vram_type;
	u64 vram;
	struct vgpu_shaders shaders;
	const struct vgpu_regs *regs;
	const struct vgpu_sdma_chip *sdma;
	const struct vgpu_mes_chip *mes;
};

extern const struct vgpu_chip *vgpu_chip; /* row that was chosen */

int vgpu_chip_init(void);

#endif
