/* SPDX-License-Identifier: GPL-2.0-only */
/* A frame that the driver gives to MES, whichever generation's header it is laid out by. */
#ifndef VGPU_MES_FRAME_H
#define VGPU_MES_FRAME_H

#include <linux/types.h>

#define VGPU_FRAME_DWORDS 64

/* Opcodes: both headers have the same. */
enum vgpu_mes_op {
	VGPU_MES_SET_RESOURCES,
	VGPU_MES_ADD_QUEUE,
	VGPU_MES_REMOVE_QUEUE,
	VGPU_MES_SUSPEND,
	VGPU_MES_RESUME,
	VGPU_MES_MISC,
	VGPU_MES_QUERY,
	VGPU_MES_RESET,
	VGPU_MES_UNKNOWN,
};

/**
 * struct vgpu_mes_frame - what is used of one
 * @fence_addr: GPU address of its own fence, 0: none
 * @all: SUSPEND and RESUME: of all gangs
 * @doorbell: ADD_QUEUE and REMOVE_QUEUE; what follows: ADD_QUEUE alone
 * @vmid_mask: SET_HW_RSRC, and all behind it
 */
struct vgpu_mes_frame {
	enum vgpu_mes_op op;
	u64 fence_addr, fence_value;
	bool all;
	u32 doorbell;
	u32 pasid;
	bool sdma;
	u64 mqd_addr, wptr_addr, gang_addr, process_addr;
	u32 vmid_mask;
	u32 compute_mask[8];
	u32 sdma_mask[2];
};

void vgpu_mes_decode_v11(struct vgpu_mes_frame *f, const u32 *dwords);
void vgpu_mes_decode_v12(struct vgpu_mes_frame *f, const u32 *dwords);

#endif
