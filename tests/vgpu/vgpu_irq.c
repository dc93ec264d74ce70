// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts, as entries of an IH ring handed to the driver's own entry.  What
 * they wake is an event: a completion signal's, or the one that an SDMA trap names.
 */
#include "kfd_priv.h"
#include "soc15_ih_clientid.h"
#include "soc15_int.h"
#include "vgpu_priv.h"

#define IH_DWORDS    8
#define IH_VMID_TYPE (1u << 31)

/* Returns the IH's number for the die of an XCC: two XCCs an AID, 4 numbers each */
static u32 node_id(int xcc)
{
	return xcc / 2 * 4 + (xcc % 2 ? 2 : 1);
}

static void raise(struct vgpu *v, struct vgpu_queue *q, u32 client, u32 source, u32 context)
{
	u32 ih[IH_DWORDS] = {
		[0] = client | source << 8 | (u32)q->vmid << 24 | IH_VMID_TYPE,
		[3] = q->pasid | node_id(q->part->first_xcc) << 16,
		[4] = context,
	};

	vgpu_count(v, interrupts);
	vgpu_syms.amdgpu_amdkfd_interrupt(&v->adev, ih);
}

void vgpu_irq_signal(struct vgpu *v, struct vgpu_queue *q, u32 event)
{
	raise(v, q, SOC15_IH_CLIENTID_GRBM_CP, SOC15_INTSRC_CP_END_OF_PIPE, event);
}

void vgpu_irq_sdma(struct vgpu *v, struct vgpu_queue *q, u32 context)
{
	raise(v, q, SOC15_IH_CLIENTID_SDMA0, SOC15_INTSRC_SDMA_TRAP, context);
}
