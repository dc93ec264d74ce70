// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process on virtual GPUs: what KFD acquires when it takes a render node's
 * VM, shared by the process's VMs on all GPUs, with its eviction fence.
 */
#include <drm/drm_file.h>
#include "kfd_priv.h"
#include "vgpu_priv.h"

/* Our process infos, by address: the driver hands them back as void pointers */
static DEFINE_XARRAY(infos);
#define INFO_KEY(info) ((unsigned long)(info) >> 3)

static bool notrace is_info(unsigned long info)
{
	return xa_load(&infos, INFO_KEY(info));
}

static bool notrace is_file(unsigned long filp)
{
	return ((struct file *)filp)->f_op == &vgpu_drm_fops;
}

static int vgpu_file_to_fpriv(struct file *filp, struct amdgpu_fpriv **fpriv)
{
	struct drm_file *file = filp->private_data;

	*fpriv = file->driver_priv;
	return 0;
}

static struct amdkfd_process_info *info_new(struct kfd_process *process)
{
	struct amdkfd_process_info *info = kzalloc(sizeof(*info), GFP_KERNEL);

	if (!info)
		return NULL;
	mutex_init(&info->lock);
	vgpu_init_notifier_lock(info);
	INIT_LIST_HEAD(&info->vm_list_head);
	INIT_LIST_HEAD(&info->kfd_bo_list);
	INIT_LIST_HEAD(&info->userptr_valid_list);
	INIT_LIST_HEAD(&info->userptr_inval_list);
	info->eviction_fence = vgpu_syms.amdgpu_amdkfd_fence_create(dma_fence_context_alloc(1),
								    current->mm,
								    VGPU_FENCE_OWNER(process));
	VGPU_SET_CONTEXT(info, process);
	if (!info->eviction_fence)
		goto err_free;
	if (xa_err(xa_store(&infos, INFO_KEY(info), info, GFP_KERNEL)))
		goto err_fence;
	info->pid = get_task_pid(current->group_leader, PIDTYPE_PID);
	return info;

err_fence:
	dma_fence_put(&info->eviction_fence->base);
err_free:
	kfree(info);
	return NULL;
}

static void info_free(struct amdkfd_process_info *info)
{
	xa_erase(&infos, INFO_KEY(info));
	dma_fence_put(&info->eviction_fence->base);
	put_pid(info->pid);
	mutex_destroy(&info->lock);
	vgpu_destroy_notifier_lock(info);
	kfree(info);
}

static int vgpu_acquire_process_vm(struct amdgpu_device *adev, vgpu_vm_owner of,
				   void **process_info, struct dma_fence **ef)
{
	struct amdkfd_process_info *info;
	struct amdgpu_vm *vm = vgpu_owned_vm(of);

	if (vm->process_info)
		return -EINVAL;
	if (!*process_info)
		*process_info =
			info_new(container_of(process_info, struct kfd_process, kgd_process_info));
	info = *process_info;
	if (!info)
		return -ENOMEM;
	mutex_lock(&info->lock);
	vm->process_info = info;
	list_add_tail(&vm->vm_list_node, &info->vm_list_head);
	info->n_vms++;
	if (ef)
		*ef = dma_fence_get(&info->eviction_fence->base);
	mutex_unlock(&info->lock);
	return 0;
}

void vgpu_vm_detach(struct amdgpu_vm *vm)
{
	struct amdkfd_process_info *info = vm->process_info;
	bool last;

	if (!info)
		return;
	mutex_lock(&info->lock);
	list_del_init(&vm->vm_list_node);
	last = !--info->n_vms;
	vm->process_info = NULL;
	mutex_unlock(&info->lock);
	if (last)
		info_free(info);
}

static void vgpu_destroy_cb(struct amdgpu_device *adev, struct amdgpu_vm *vm)
{
	vgpu_vm_detach(vm);
}

/* KFD frees the PASID itself: the file must not look it up again */
static void vgpu_release_process_vm(struct amdgpu_device *adev, void *drm_priv)
{
	struct amdgpu_vm *vm = drm_priv_to_vm(drm_priv);
	struct vgpu *v = vgpu_of(adev);

	mutex_lock(&v->lock);
	vgpu_forget_pasid(adev, vm);
	mutex_unlock(&v->lock);
}

/* While it is, what was evicted is not restored; the driver tries again and again */
bool vgpu_short_of_memory;

/* After an eviction: nothing was moved, a new fence is all that it takes */
static int vgpu_restore_process_bos(void *process_info, struct dma_fence __rcu **ef)
{
	struct amdkfd_process_info *info = process_info;
	struct amdgpu_amdkfd_fence *fence, *old;

	if (READ_ONCE(vgpu_short_of_memory))
		return -ENOMEM;
	mutex_lock(&info->lock);
	old = info->eviction_fence;
	if (!dma_fence_is_signaled(&old->base))
		goto out;
	fence = vgpu_syms.amdgpu_amdkfd_fence_create(old->base.context, old->mm,
						     VGPU_FENCE_OWNER(info));
	if (!fence) {
		mutex_unlock(&info->lock);
		return -ENOMEM;
	}
	info->eviction_fence = fence;
	dma_fence_put(&old->base);
	dma_fence_put(rcu_replace_pointer(*ef, dma_fence_get(&fence->base), true));
out:
	mutex_unlock(&info->lock);
	return 0;
}

/* Ask the driver to evict process @pid, as TTM does when memory gets short */
int vgpu_vm_evict(pid_t pid)
{
	struct amdkfd_process_info *info;
	struct dma_fence *fence = NULL;
	unsigned long key;

	xa_lock(&infos);
	xa_for_each(&infos, key, info)
		if (pid_nr(info->pid) == pid)
			fence = dma_fence_get(&info->eviction_fence->base);
	xa_unlock(&infos);
	if (!fence)
		return -ESRCH;
	vgpu_enable_signaling(fence);
	dma_fence_put(fence);
	return 0;
}

static int vgpu_add_gws(void *info, void *gws, struct kgd_mem **mem)
{
	return -EOPNOTSUPP;
}

static int vgpu_criu_resume(void *info)
{
	return -EOPNOTSUPP;
}

static void vgpu_block_mmu_notifications(void *info)
{
}

/* clang-format off */
struct vgpu_hook vgpu_vm_hooks[] = {
	{ "amdgpu_file_to_fpriv", vgpu_file_to_fpriv, is_file },
	{ "amdgpu_amdkfd_gpuvm_acquire_process_vm", vgpu_acquire_process_vm,
	  vgpu_is_adev },
	VGPU_RELEASE_VM_HOOK(vgpu_release_process_vm)
	{ "amdgpu_amdkfd_gpuvm_destroy_cb", vgpu_destroy_cb, vgpu_is_adev },
	{ "amdgpu_amdkfd_gpuvm_restore_process_bos", vgpu_restore_process_bos,
	  is_info },
	{ "amdgpu_amdkfd_add_gws_to_process", vgpu_add_gws, is_info },
	{ "amdgpu_amdkfd_criu_resume", vgpu_criu_resume, is_info },
	{ "amdgpu_amdkfd_block_mmu_notifications", vgpu_block_mmu_notifications,
	  is_info },
	{}
};
/* clang-format on */
