// SPDX-License-Identifier: GPL-2.0-only
/* Partitions of a device, as MI300 has them. */
#include "vgpu_priv.h"

/*
 * Set up partitions of amdgpu, as far as KFD asks. MI300 has a manager of partitions also when
 * it has a single one: AMD's 6.12.12 and 7.x drop its interrupts without it.
 */
int vgpu_parts_init(struct vgpu *v)
{
	static const s8 modes[] = { [1] = AMDGPU_SPX_PARTITION_MODE,
				    [2] = AMDGPU_DPX_PARTITION_MODE,
				    [4] = AMDGPU_QPX_PARTITION_MODE };
	struct amdgpu_xcp_mgr *mgr;
	int i, xccs = vgpu_num_xcc(v);

	for (i = 0; i < vgpu_parts; i++)
		v->part[i].first_xcc = i * xccs;
	if (vgpu_parts == 1 && vgpu_chip->gc != IP_VERSION(9, 4, 3))
		return 0;
	mgr = kzalloc(sizeof(*mgr), GFP_KERNEL);
	if (!mgr)
		return -ENOMEM;
	mgr->adev = &v->adev;
	mutex_init(&mgr->xcp_lock);
	mgr->num_xcps = vgpu_parts;
	mgr->num_xcp_per_mem_partition = vgpu_parts;
	/*
	 * Take the mode by the rule of __aqua_vanjaram_calc_xcp_mode(): one XCC each is CPX,
	 * however many.
	 */
	mgr->mode = vgpu_parts > 1 && xccs == 1 ? AMDGPU_CPX_PARTITION_MODE : modes[vgpu_parts];
	for (i = 0; i < vgpu_parts; i++) {
		mgr->xcp[i].id = i;
		vgpu_set_xcp_mgr(&mgr->xcp[i], mgr);
		mgr->xcp[i].valid = true;
		mgr->xcp[i].ddev = &v->adev.ddev;
		mgr->xcp[i].ip[AMDGPU_XCP_GFX].valid = true;
		mgr->xcp[i].ip[AMDGPU_XCP_GFX].inst_mask = ((1 << xccs) - 1) << (i * xccs);
	}
	v->adev.xcp_mgr = mgr;
	return 0;
}

void vgpu_parts_fini(struct vgpu *v)
{
	kfree(v->adev.xcp_mgr);
}
