/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between drivers, and only that. tests/vgpu/Kbuild looks what the
 * driver's private headers have; no version is asked for.
 */
#ifndef VGPU_DRIFT_H
#define VGPU_DRIFT_H

#include "amdgpu.h"

/* A VM's lists had a lock of their own; now its reservation is enough (7.x). */
static inline void vgpu_init_vm_locks(struct amdgpu_vm *vm)
{
	mutex_init(&vm->eviction_lock);
#ifdef VGPU_HAS_STATUS_LOCK
	spin_lock_init(&vm->status_lock);
#endif
}

/* The task of a VM became DRM's struct (7.x). */
static inline void vgpu_name_task(struct amdgpu_task_info *ti)
{
	kref_init(&ti->refcount);
	ti->tgid = current->tgid;
	get_task_comm(ti->process_name, current->group_leader);
#ifdef VGPU_HAS_WEDGE_TASK
	ti->task.pid = current->pid;
	get_task_comm(ti->task.comm, current);
#else
	ti->pid = current->pid;
	get_task_comm(ti->task_name, current);
#endif
}

/* One lock for a device; then each partition has its own (7.x). */
static inline void vgpu_init_kfd_lock(struct amdgpu_device *adev)
{
#ifdef VGPU_HAS_KFD_SCH_MUTEX
	mutex_init(&adev->gfx.kfd_sch_mutex);
#endif
}

/* The accessors of registers moved into a structure (7.x). */
static inline void vgpu_set_pcie(struct amdgpu_device *adev,
				 u32 (*rreg)(struct amdgpu_device *adev, u32 reg),
				 void (*wreg)(struct amdgpu_device *adev, u32 reg,
					      u32 value))
{
#ifdef VGPU_HAS_REG_ACCESS
	adev->reg.pcie.rreg = rreg;
	adev->reg.pcie.wreg = wreg;
#else
	adev->pcie_rreg = rreg;
	adev->pcie_wreg = wreg;
#endif
}

/*
 * The VM that has a PASID. Newer drivers (7.x, and amdgpu-dkms) give one to each
 * file when it is opened and keep them in a table of their own, which is not
 * ported: what follows names what is missing.
 */
#ifndef VGPU_HAS_PASIDS
#error "vgpu: PASIDs by file (amdgpu_pasid_alloc()) are not ported"
#endif

static inline void vgpu_init_pasids(struct amdgpu_device *adev)
{
	xa_init_flags(&adev->vm_manager.pasids, XA_FLAGS_LOCK_IRQ);
}

static inline struct amdgpu_vm *vgpu_vm_of_pasid(struct amdgpu_device *adev,
						 u32 pasid)
{
	return xa_load(&adev->vm_manager.pasids, pasid);
}

static inline void vgpu_forget_pasid(struct amdgpu_device *adev,
				     struct amdgpu_vm *vm)
{
	if (vm->pasid)
		xa_erase_irq(&adev->vm_manager.pasids, vm->pasid);
}

#endif /* VGPU_DRIFT_H */
