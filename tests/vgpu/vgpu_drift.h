/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between drivers, and only that. tests/vgpu/Kbuild looks what the
 * driver's private headers have; no version is asked for.
 */
#ifndef VGPU_DRIFT_H
#define VGPU_DRIFT_H

#include "amdgpu.h"

struct svm_range_bo;

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
static inline void
vgpu_set_pcie(struct amdgpu_device *adev,
	      u32 (*rreg)(struct amdgpu_device *adev, u32 reg),
	      void (*wreg)(struct amdgpu_device *adev, u32 reg, u32 value))
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
 * The VM that has a PASID. The driver had them in a table of each device, which KFD
 * filled when it took a file's VM. Newer ones (7.x) give a PASID to each file when it
 * is opened, and have one table for all devices, behind functions.
 */
#ifdef VGPU_HAS_PASIDS
#define VGPU_PASID_SYMS(X)
#define VGPU_RELEASE_VM_HOOK(to) \
	{ "amdgpu_amdkfd_gpuvm_release_process_vm", to, vgpu_is_adev },
#else
#define VGPU_PASID_SYMS(X)                                                \
	X(amdgpu_pasid_alloc, int, (unsigned int, struct amdgpu_fpriv *)) \
	X(amdgpu_pasid_free, void, (u32))                                 \
	X(amdgpu_pasid_lock, void, (unsigned long *))                     \
	X(amdgpu_pasid_unlock, void, (unsigned long))                     \
	X(amdgpu_pasid_get_fpriv_locked, struct amdgpu_fpriv *, (u32))
#define VGPU_RELEASE_VM_HOOK(to)
#endif

/*
 * What amdgpu_amdkfd_suspend() and _resume() are given to leave processes alone: that
 * this is for power management alone; later (7.x) whether processes are meant at all.
 */
#ifdef VGPU_HAS_SUSPEND_PROC
#define VGPU_KEEP_PROCESSES false
#else
#define VGPU_KEEP_PROCESSES true
#endif

/* A partition leads to its manager, which the topology asks for the mode (7.x). */
#ifdef VGPU_HAS_XCP_MGR
#define vgpu_set_xcp_mgr(xcp_, mgr) ((xcp_)->xcp_mgr = (mgr))
#else
#define vgpu_set_xcp_mgr(xcp_, mgr)
#endif

/* Registers that the RLC guards are read through functions of a table (7.x). */
#ifdef VGPU_HAS_RLC_REG_FUNCS
#define VGPU_RLC_SYMS(X) \
	X(amdgpu_init_rlc_reg_funcs, void, (struct amdgpu_device *))
#define vgpu_init_rlc(adev) vgpu_syms.amdgpu_init_rlc_reg_funcs(adev)
#else
#define VGPU_RLC_SYMS(X)
#define vgpu_init_rlc(adev)
#endif

#define VGPU_DRIFT_SYMS(X) VGPU_PASID_SYMS(X) VGPU_RLC_SYMS(X)

/* vgpu_drift.c. The last two under the device's lock. */
void vgpu_init_pasids(struct amdgpu_device *adev);
int vgpu_take_pasid(struct amdgpu_fpriv *fpriv);
struct amdgpu_vm *vgpu_vm_of_pasid(struct amdgpu_device *adev, u32 pasid);
void vgpu_forget_pasid(struct amdgpu_device *adev, struct amdgpu_vm *vm);

/* Memory for the kernel's own use: of GART, then of any domain (7.x). */
#ifdef VGPU_HAS_KERNEL_MEM
#define VGPU_ALLOC_MEM	  "amdgpu_amdkfd_alloc_kernel_mem"
#define VGPU_FREE_MEM	  "amdgpu_amdkfd_free_kernel_mem"
#define VGPU_MAP_BO	  "amdgpu_amdkfd_gpuvm_map_bo_to_kernel"
#define VGPU_UNMAP_BO	  "amdgpu_amdkfd_gpuvm_unmap_bo_from_kernel"
#define VGPU_DOMAIN_PARAM u32 domain,
#else
#define VGPU_ALLOC_MEM "amdgpu_amdkfd_alloc_gtt_mem"
#define VGPU_FREE_MEM  "amdgpu_amdkfd_free_gtt_mem"
#define VGPU_MAP_BO    "amdgpu_amdkfd_gpuvm_map_gtt_bo_to_kernel"
#define VGPU_UNMAP_BO  "amdgpu_amdkfd_gpuvm_unmap_gtt_bo_from_kernel"
#define VGPU_DOMAIN_PARAM
#endif

/* What a fence is made for besides a mm: memory of SVM, then a context (7.x). */
#ifdef VGPU_HAS_CONTEXT_ID
typedef u16 vgpu_fence_owner;
#define VGPU_FENCE_OWNER(process) ((process)->context_id)
#define VGPU_SET_CONTEXT(info, process) \
	((info)->context_id = (process)->context_id)
#else
typedef struct svm_range_bo *vgpu_fence_owner;
#define VGPU_FENCE_OWNER(process) NULL
#define VGPU_SET_CONTEXT(info, process)
#endif

/* Renamed in 7.x */
#ifdef VGPU_HAS_SW_SIGNALING
#define vgpu_enable_signaling dma_fence_enable_sw_signaling
#else
#define vgpu_enable_signaling dma_fence_enable_signaling
#endif

/* A driver no longer says of what day it is (6.14). */
#ifdef VGPU_HAS_DATE
#define VGPU_DATE .date = "20261120",
#else
#define VGPU_DATE
#endif

#endif /* VGPU_DRIFT_H */
