/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VGPU_MES_DECODE by the layout of the driver's header that was included before this.
 * The headers of gfx 11 and 12 use the same names for frames that are aligned
 * differently, so each is in a file of its own.
 */
#include "vgpu_mes_frame.h"

/* One frame, as the firmware reads it */
union frame {
	union MES_API_HEADER header;
	union MESAPI_SET_HW_RESOURCES resources;
	union MESAPI__ADD_QUEUE add;
	union MESAPI__REMOVE_QUEUE remove;
	union MESAPI__SUSPEND suspend;
	union MESAPI__RESUME resume;
	union MESAPI__RESET reset;
	union MESAPI__MISC misc;
	union MESAPI__QUERY_MES_STATUS query;
};

static void take_fence(struct vgpu_mes_frame *f, const struct MES_API_STATUS *status)
{
	f->fence_addr = status->api_completion_fence_addr;
	f->fence_value = status->api_completion_fence_value;
}

static void take_resources(struct vgpu_mes_frame *f, const union frame *raw)
{
	int i;

	f->op = VGPU_MES_SET_RESOURCES;
	f->vmid_mask = raw->resources.vmid_mask_gfxhub;
	for (i = 0; i < ARRAY_SIZE(f->compute_mask); i++)
		f->compute_mask[i] = raw->resources.compute_hqd_mask[i];
	for (i = 0; i < ARRAY_SIZE(f->sdma_mask); i++)
		f->sdma_mask[i] = raw->resources.sdma_hqd_mask[i];
	take_fence(f, &raw->resources.api_status);
}

static void take_queue(struct vgpu_mes_frame *f, const union frame *raw)
{
	f->op = VGPU_MES_ADD_QUEUE;
	f->pasid = raw->add.process_id;
	f->doorbell = raw->add.doorbell_offset;
	f->sdma = raw->add.queue_type == MES_QUEUE_TYPE_SDMA;
	f->mqd_addr = raw->add.mqd_addr;
	f->wptr_addr = raw->add.wptr_addr;
	f->gang_addr = raw->add.gang_context_addr;
	f->process_addr = raw->add.process_context_addr;
	take_fence(f, &raw->add.api_status);
}

void VGPU_MES_DECODE(struct vgpu_mes_frame *f, const u32 *dwords)
{
	const union frame *raw = (const union frame *)dwords;

	BUILD_BUG_ON(sizeof(union frame) != VGPU_FRAME_DWORDS * 4);
	memset(f, 0, sizeof(*f));
	switch (raw->header.opcode) {
	case MES_SCH_API_SET_HW_RSRC:
		return take_resources(f, raw);
	case MES_SCH_API_ADD_QUEUE:
		return take_queue(f, raw);
	case MES_SCH_API_REMOVE_QUEUE:
		f->op = VGPU_MES_REMOVE_QUEUE;
		f->doorbell = raw->remove.doorbell_offset;
		return take_fence(f, &raw->remove.api_status);
	case MES_SCH_API_SUSPEND:
		f->op = VGPU_MES_SUSPEND;
		f->all = raw->suspend.suspend_all_gangs;
		return take_fence(f, &raw->suspend.api_status);
	case MES_SCH_API_RESUME:
		f->op = VGPU_MES_RESUME;
		f->all = raw->resume.resume_all_gangs;
		return take_fence(f, &raw->resume.api_status);
	case MES_SCH_API_RESET:
		f->op = VGPU_MES_RESET;
		return take_fence(f, &raw->reset.api_status);
	case MES_SCH_API_MISC:
		f->op = VGPU_MES_MISC;
		return take_fence(f, &raw->misc.api_status);
	case MES_SCH_API_QUERY_SCHEDULER_STATUS:
		f->op = VGPU_MES_QUERY;
		return take_fence(f, &raw->query.api_status);
	default:
		f->op = VGPU_MES_UNKNOWN;
	}
}
