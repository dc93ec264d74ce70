/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between drivers, and only those. tests/vgpu/Kbuild looks for the names in the
 * driver's private headers; no version is asked for.
 */
#ifndef VGPU_DRIFT_H
#define VGPU_DRIFT_H

#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/pci.h>
#include <drm/drm_gem.h>
#include "amdgpu.h"
#include "amdgpu_amdkfd.h"
#include "v9_structs.h"

struct svm_range_bo;
struct amdgpu_reset_context;

/* A VM's lists had a lock of their own; now its reservation is enough (7.x). */
static inline void vgpu_init_vm_locks(struct amdgpu_vm *vm)
{
	mutex_init(&vm->eviction_lock);
#ifdef VGPU_HAS_STATUS_LOCK
	spin_lock_init(&vm->status_lock);
#endif
}

/* The task of a VM is a part of it; then memory of its own (6.9, and in later ones of 6.1). */
#ifdef VGPU_HAS_OWN_TASK
#define VGPU_TASK_SYMS(X) X(amdgpu_vm_put_task_info, void, (struct amdgpu_task_info *))
#define vgpu_task(vm)	  ((vm)->task_info)
#define vgpu_put_task(vm) vgpu_syms.amdgpu_vm_put_task_info(vgpu_task(vm))

static inline int vgpu_new_task(struct amdgpu_vm *vm)
{
	vm->task_info = kzalloc(sizeof(*vm->task_info), GFP_KERNEL);
	if (!vm->task_info)
		return -ENOMEM;
	kref_init(&vm->task_info->refcount);
	return 0;
}
#else
#define VGPU_TASK_SYMS(X)
#define vgpu_task(vm)	  (&(vm)->task_info)
#define vgpu_new_task(vm) 0
#define vgpu_put_task(vm)
#endif

/* The task of a VM became DRM's struct (7.x). */
static inline void vgpu_name_task(struct amdgpu_task_info *ti)
{
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

/*
 * XCCs came with MI300 (6.5). Before, a device is one core, and what is there for each
 * XCC of it has no index.
 */
#ifdef VGPU_HAS_XCC
#define VGPU_AND_XCC(...)      __VA_ARGS__, int xcc
#define VGPU_THIS_XCC(xcc)     (xcc)
#define VGPU_AND_INST(...)     __VA_ARGS__, u32 inst
#define vgpu_kiq(adev, i)      (&(adev)->gfx.kiq[i])
#define vgpu_ring_xcc(ring)    ((ring)->xcc_id)
#define vgpu_mec_bitmap(gfx)   ((gfx)->mec_bitmap[0].queue_bitmap)
#define vgpu_cu_bitmap(gfx, i) ((gfx)->cu_info.bitmap[i])

static inline void vgpu_set_ring_xcc(struct amdgpu_ring *ring, int xcc)
{
	ring->xcc_id = xcc;
}

static inline void vgpu_set_xccs(struct amdgpu_gfx *gfx, int all, int each)
{
	gfx->xcc_mask = (1 << all) - 1;
	gfx->num_xcc_per_xcp = each;
}

/* Bytes to the MQD of the next XCC, where the MQD has it */
static inline u32 vgpu_xcc_stride(const struct v9_mqd *m)
{
	return m->cp_mqd_stride_size;
}

/* How the workgroups of a queue are shared: its MQD for an XCC has that XCC's number */
static inline u32 vgpu_xcc_number(const struct v9_mqd *m)
{
	return m->compute_current_logic_xcc_id;
}

/* ... how many workgroups go to one XCC before the next has some; 0: no sharing */
static inline u32 vgpu_xcc_chunk(const struct v9_mqd *m)
{
	return m->compute_tg_chunk_size;
}

/* ... and the one XCC that has them all then */
static inline u32 vgpu_xcc_target(const struct v9_mqd *m)
{
	return m->pm4_target_xcc_in_xcp;
}

static inline void vgpu_init_partition_lock(struct amdgpu_device *adev)
{
	mutex_init(&adev->gfx.partition_mutex);
}
#else
#define VGPU_AND_XCC(...)      __VA_ARGS__
#define VGPU_THIS_XCC(xcc)     0
#define VGPU_AND_INST(...)     __VA_ARGS__
#define vgpu_kiq(adev, i)      (&(adev)->gfx.kiq)
#define vgpu_ring_xcc(ring)    0
#define vgpu_mec_bitmap(gfx)   ((gfx)->mec.queue_bitmap)
#define vgpu_xcc_stride(m)     0
#define vgpu_xcc_number(m)     ((void)(m), 0u)
#define vgpu_xcc_chunk(m)      ((void)(m), 1u)
#define vgpu_xcc_target(m)     ((void)(m), 0)
#define vgpu_cu_bitmap(gfx, i) ((gfx)->cu_info.bitmap)
#define vgpu_set_ring_xcc(ring, xcc)
#define vgpu_set_xccs(gfx, all, each)
#define vgpu_init_partition_lock(adev)
#endif

/* Sizes of caches, which older drivers have in tables of their own (6.5) */
static inline void vgpu_set_caches(struct amdgpu_gfx_config *config)
{
#ifdef VGPU_HAS_CACHE_SIZES
	config->gc_tcp_size_per_cu = 32;
	config->gc_num_cu_per_sqc = 2;
	config->gc_tcc_size = 4096;
#endif
}

/* Slots of the write-back page have a lock of their own (6.12) */
static inline void vgpu_init_wb_lock(struct amdgpu_device *adev)
{
#ifdef VGPU_HAS_WB_LOCK
	spin_lock_init(&adev->wb.lock);
#endif
}

/* Invalidations of user memory have a lock of their own (6.2) */
#ifdef VGPU_HAS_NOTIFIER_LOCK
#define vgpu_init_notifier_lock(info)	 mutex_init(&(info)->notifier_lock)
#define vgpu_destroy_notifier_lock(info) mutex_destroy(&(info)->notifier_lock)
#else
#define vgpu_init_notifier_lock(info)
#define vgpu_destroy_notifier_lock(info)
#endif

/* A buffer stood in a list by TTM's structure; now by a list head (6.7) */
static inline void vgpu_init_validate_list(struct kgd_mem *mem)
{
#ifdef VGPU_HAS_TTM_VALIDATE
	INIT_LIST_HEAD(&mem->validate_list.head);
#else
	INIT_LIST_HEAD(&mem->validate_list);
#endif
}

/* Buffers of a queue can't be unmapped while it is there (6.12) */
static inline unsigned int vgpu_queue_uses(const struct amdgpu_bo_va *bo_va)
{
#ifdef VGPU_HAS_QUEUE_REFCOUNT
	return bo_va->queue_refcount;
#else
	return 0;
#endif
}

/* A process's VM is named by itself, before by the file that it is of (6.2) */
#ifdef VGPU_HAS_ACQUIRE_VM
typedef struct amdgpu_vm *vgpu_vm_owner;
#define vgpu_owned_vm(vm) (vm)
#else
typedef struct file *vgpu_vm_owner;
#define vgpu_owned_vm(file) drm_priv_to_vm((file)->private_data)
#endif

/* Buffers are exported, and imported by their file; before, by the buffer (6.8) */
#ifdef VGPU_HAS_DMABUF_FD
#define VGPU_EXPORT_HOOK(to) { "amdgpu_amdkfd_gpuvm_export_dmabuf", to, vgpu_is_mem },
#define VGPU_IMPORT_DMABUF   "amdgpu_amdkfd_gpuvm_import_dmabuf_fd"
#else
#define VGPU_EXPORT_HOOK(to)
#define VGPU_IMPORT_DMABUF "amdgpu_amdkfd_gpuvm_import_dmabuf"
#endif

/* Memory that another process maps by a handle (amdgpu-dkms) */
#ifdef VGPU_HAS_IPC
#define VGPU_IPC_HOOK(to) { "amdgpu_amdkfd_gpuvm_export_ipc_obj", to, vgpu_is_adev },
#else
#define VGPU_IPC_HOOK(to)
#endif

/* Debug sessions, and the drain of interrupts at their end (6.5) */
#ifdef VGPU_HAS_DEBUG_TRAP
#define VGPU_DEBUG_SYMS(X)  X(kfd_dbg_trap_disable, int, (struct kfd_process *))
#define VGPU_DRAIN_HOOK(to) { "amdgpu_amdkfd_send_close_event_drain_irq", to, vgpu_is_adev },
#else
#define VGPU_DEBUG_SYMS(X)
#define VGPU_DRAIN_HOOK(to)
#endif

/* Before a reset, KFD looks at what is reset (6.12) */
#ifdef VGPU_HAS_RESET_CONTEXT
#define VGPU_RESET_SYMS(X) \
	X(amdgpu_amdkfd_pre_reset, int, (struct amdgpu_device *, struct amdgpu_reset_context *))
#define vgpu_pre_reset(adev, context) vgpu_syms.amdgpu_amdkfd_pre_reset(adev, context)
#else
#define VGPU_RESET_SYMS(X)	      X(amdgpu_amdkfd_pre_reset, int, (struct amdgpu_device *))
#define vgpu_pre_reset(adev, context) ((void)(context), vgpu_syms.amdgpu_amdkfd_pre_reset(adev))
#endif

/* After an unmap, KFD looks for SDMA engines that hang, and resets them (7.x) */
#ifdef VGPU_HAS_SDMA_RESET
#define VGPU_SDMA_RESET_HOOK(to) { "amdgpu_sdma_reset_engine", to, vgpu_is_adev },
#else
#define VGPU_SDMA_RESET_HOOK(to)
#endif

/* MES as the bench has it, with a ring for each pipe (6.11), then of each XCC (7.x) */
#ifdef VGPU_HAS_MES_RINGS
#define VGPU_MES_SYMS(X)                                  \
	X(amdgpu_mes_init, int, (struct amdgpu_device *)) \
	X(amdgpu_mes_fini, void, (struct amdgpu_device *))
#else
#define VGPU_MES_SYMS(X)
#endif

/* MES tells the driver in a buffer which queues hang (7.x) */
#ifdef VGPU_HAS_HUNG_QUEUES
#define VGPU_HUNG_QUEUES_HOOK(to) { "amdgpu_bo_create_kernel", to, vgpu_mes_is_made },
#else
#define VGPU_HUNG_QUEUES_HOOK(to)
#endif

/* An ftrace handler asked for the registers as they are; then by functions (6.3) */
#ifdef VGPU_HAS_FTRACE_ARGUMENT
#define vgpu_first_argument(fregs) ftrace_regs_get_argument(fregs, 0)
#define vgpu_set_ip(fregs, ip)	   ftrace_regs_set_instruction_pointer(fregs, ip)
#else
#define vgpu_first_argument(fregs) regs_get_kernel_argument(ftrace_get_regs(fregs), 0)
#define vgpu_set_ip(fregs, ip)	   ftrace_instruction_pointer_set(fregs, ip)
#endif

/* Which driver a device wants became a part of every device (6.12 of Debian) */
static inline int vgpu_set_driver(struct pci_dev *pdev, const char *name)
{
#ifdef VGPU_HAS_DEVICE_OVERRIDE
	return device_set_driver_override(&pdev->dev, name);
#else
	return driver_set_override(&pdev->dev, &pdev->driver_override, name, strlen(name));
#endif
}

/* Before (6.5), a GEM object without memory had only its reservation to give up */
static inline void vgpu_gem_fini(struct drm_gem_object *obj)
{
#ifdef VGPU_HAS_GEM_FINI
	drm_gem_private_object_fini(obj);
#else
	dma_resv_fini(&obj->_resv);
#endif
}

/* DRM's offsets have all 64 bits; it asks that files admit that (6.12) */
#ifdef VGPU_HAS_FOP_FLAGS
#define VGPU_UNSIGNED_OFFSET .fop_flags = FOP_UNSIGNED_OFFSET,
#else
#define VGPU_UNSIGNED_OFFSET
#endif

/* The accessors of registers moved into a structure (7.x). */
static inline void vgpu_set_pcie(struct amdgpu_device *adev,
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
 * filled when it took a file's VM, and cleared when it released that. Newer ones (6.14,
 * amdgpu-dkms) give a PASID to each file when it is opened; the newest (7.x) have one
 * table for all devices, behind functions.
 */
#ifdef VGPU_HAS_RELEASE_VM
#define VGPU_RELEASE_VM_HOOK(to) { "amdgpu_amdkfd_gpuvm_release_process_vm", to, vgpu_is_adev },
#else
#define VGPU_RELEASE_VM_HOOK(to)
#endif

#ifdef VGPU_HAS_RELEASE_VM
#define VGPU_PASID_SYMS(X)
#elif defined(VGPU_HAS_PASIDS)
#define VGPU_PASID_SYMS(X)                         \
	X(amdgpu_pasid_alloc, int, (unsigned int)) \
	X(amdgpu_pasid_free, void, (u32))
#else
#define VGPU_PASID_SYMS(X)                                                \
	X(amdgpu_pasid_alloc, int, (unsigned int, struct amdgpu_fpriv *)) \
	X(amdgpu_pasid_free, void, (u32))                                 \
	X(amdgpu_pasid_lock, void, (unsigned long *))                     \
	X(amdgpu_pasid_unlock, void, (unsigned long))                     \
	X(amdgpu_pasid_get_fpriv_locked, struct amdgpu_fpriv *, (u32))
#endif

/*
 * Argument that makes amdgpu_amdkfd_suspend() and _resume() leave processes alone: first "only
 * for power management"; later (7.x) "are processes meant at all".
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
#define VGPU_RLC_SYMS(X)    X(amdgpu_init_rlc_reg_funcs, void, (struct amdgpu_device *))
#define vgpu_init_rlc(adev) vgpu_syms.amdgpu_init_rlc_reg_funcs(adev)
#else
#define VGPU_RLC_SYMS(X)
#define vgpu_init_rlc(adev)
#endif

#define VGPU_DRIFT_SYMS(X) \
	VGPU_PASID_SYMS(X) \
	VGPU_TASK_SYMS(X)  \
	VGPU_RLC_SYMS(X) VGPU_RESET_SYMS(X) VGPU_MES_SYMS(X) VGPU_DEBUG_SYMS(X)

/* vgpu_drift.c. The last two under the device's lock. */
void vgpu_init_pasids(struct amdgpu_device *adev);
int vgpu_take_pasid(struct amdgpu_device *adev, struct amdgpu_fpriv *fpriv);
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

/* Is that memory to be write-combined (amdgpu-dkms)? */
#ifdef VGPU_HAS_USWC_MODE
#define VGPU_USWC_PARAM(last) last, bool is_uswc_mode
#else
#define VGPU_USWC_PARAM(last) last
#endif

/* Owner of a fence besides its mm: memory of SVM, then a context (7.x). */
#ifdef VGPU_HAS_CONTEXT_ID
typedef u16 vgpu_fence_owner;
#define VGPU_FENCE_OWNER(process)	((process)->context_id)
#define VGPU_SET_CONTEXT(info, process) ((info)->context_id = (process)->context_id)
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

/* A timer gets its function when it is set up (6.13) */
static inline void vgpu_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *timer))
{
#ifdef VGPU_HAS_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer->function = function;
#endif
}

/* A driver no longer says of what day it is (6.14). */
#ifdef VGPU_HAS_DATE
#define VGPU_DATE .date = "20261120",
#else
#define VGPU_DATE
#endif

#endif /* VGPU_DRIFT_H */
