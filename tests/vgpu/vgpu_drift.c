// SPDX-License-Identifier: GPL-2.0-only
/* Parts of vgpu_drift.h that need functions of the driver. */
#include "vgpu_priv.h"

#define PASID_BITS 16

#ifdef VGPU_HAS_PASIDS
void vgpu_init_pasids(struct amdgpu_device *adev)
{
	xa_init_flags(&adev->vm_manager.pasids, XA_FLAGS_LOCK_IRQ);
}

#ifdef VGPU_HAS_RELEASE_VM
int vgpu_take_pasid(struct amdgpu_device *adev, struct amdgpu_fpriv *fpriv)
{
	return 0;
}
#else
int vgpu_take_pasid(struct amdgpu_device *adev, struct amdgpu_fpriv *fpriv)
{
	int pasid = vgpu_syms.amdgpu_pasid_alloc(PASID_BITS);
	int ret;

	if (pasid < 0)
		return pasid;
	ret = xa_err(xa_store_irq(&adev->vm_manager.pasids, pasid, &fpriv->vm, GFP_KERNEL));
	if (ret)
		vgpu_syms.amdgpu_pasid_free(pasid);
	else
		fpriv->vm.pasid = pasid;
	return ret;
}
#endif

struct amdgpu_vm *vgpu_vm_of_pasid(struct amdgpu_device *adev, u32 pasid)
{
	return xa_load(&adev->vm_manager.pasids, pasid);
}

void vgpu_forget_pasid(struct amdgpu_device *adev, struct amdgpu_vm *vm)
{
	if (!vm->pasid)
		return;
	xa_erase_irq(&adev->vm_manager.pasids, vm->pasid);
#ifndef VGPU_HAS_RELEASE_VM
	vgpu_syms.amdgpu_pasid_free(vm->pasid);
#endif
	vm->pasid = 0;
}
#else
void vgpu_init_pasids(struct amdgpu_device *adev)
{
}

int vgpu_take_pasid(struct amdgpu_device *adev, struct amdgpu_fpriv *fpriv)
{
	int pasid = vgpu_syms.amdgpu_pasid_alloc(PASID_BITS, fpriv);

	if (pasid > 0)
		fpriv->vm.pasid = pasid;
	return pasid < 0 ? pasid : 0;
}

/* All devices share the table: one of another's is none. */
struct amdgpu_vm *vgpu_vm_of_pasid(struct amdgpu_device *adev, u32 pasid)
{
	struct amdgpu_fpriv *fpriv;
	unsigned long flags;

	vgpu_syms.amdgpu_pasid_lock(&flags);
	fpriv = vgpu_syms.amdgpu_pasid_get_fpriv_locked(pasid);
	vgpu_syms.amdgpu_pasid_unlock(flags);
	if (!fpriv || fpriv->vm.root.bo->tbo.bdev != &adev->mman.bdev)
		return NULL;
	return &fpriv->vm;
}

void vgpu_forget_pasid(struct amdgpu_device *adev, struct amdgpu_vm *vm)
{
	if (vm->pasid)
		vgpu_syms.amdgpu_pasid_free(vm->pasid);
	vm->pasid = 0;
}
#endif
