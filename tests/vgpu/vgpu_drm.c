// SPDX-License-Identifier: GPL-2.0-only
/*
 * The render node.  A file of it carries what amdgpu's own would: a
 * struct amdgpu_fpriv with a VM, so that KFD can acquire it.
 */
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>
#include <drm/amdgpu_drm.h>
#include "vgpu_priv.h"

struct vgpu_file {
	struct amdgpu_fpriv fpriv; /* first: driver_priv leads here */
	struct amdgpu_bo root;	   /* page directory: a lock, no table */
};

static void vm_init(struct vgpu *v, struct vgpu_file *f, struct drm_file *file)
{
	struct amdgpu_vm *vm = &f->fpriv.vm;

	drm_gem_private_object_init(&v->adev.ddev, &f->root.tbo.base, PAGE_SIZE);
	f->root.tbo.bdev = &v->adev.mman.bdev;
	vm->va = RB_ROOT_CACHED;
	vgpu_init_vm_locks(vm);
	INIT_LIST_HEAD(&vm->vm_list_node);
	vm->root.bo = &f->root;
	vm->root.vm = vm;
	/* a page-aligned address that no two live VMs share */
	vm->pd_phys_addr = (u64)(unsigned long)f & GENMASK_ULL(46, PAGE_SHIFT);
	vm->last_update = dma_fence_get_stub();
	vm->last_unlocked = dma_fence_get_stub();
	vm->last_tlb_flush = dma_fence_get_stub();
	vm->is_compute_context = true;
	vgpu_name_task(vgpu_task(vm));
}

static int vgpu_open(struct drm_device *ddev, struct drm_file *file)
{
	struct vgpu *v = vgpu_of(drm_to_adev(ddev));
	struct vgpu_file *f = kzalloc(sizeof(*f), GFP_KERNEL);
	int ret;

	if (!f)
		return -ENOMEM;
	ret = vgpu_new_task(&f->fpriv.vm);
	if (ret) {
		kfree(f);
		return ret;
	}
	ret = vgpu_take_pasid(&v->adev, &f->fpriv);
	if (ret) {
		vgpu_put_task(&f->fpriv.vm);
		kfree(f);
		return ret;
	}
	vm_init(v, f, file);
	file->driver_priv = f;
	return 0;
}

static void vgpu_postclose(struct drm_device *ddev, struct drm_file *file)
{
	struct vgpu *v = vgpu_of(drm_to_adev(ddev));
	struct vgpu_file *f = file->driver_priv;
	struct amdgpu_vm *vm = &f->fpriv.vm;

	mutex_lock(&v->lock);
	vgpu_forget_pasid(&v->adev, vm);
	mutex_unlock(&v->lock);
	vgpu_vm_detach(vm);
	WARN_ON(!RB_EMPTY_ROOT(&vm->va.rb_root));
	dma_fence_put(vm->last_update);
	dma_fence_put(vm->last_unlocked);
	dma_fence_put(vm->last_tlb_flush);
	vgpu_put_task(vm);
	vgpu_gem_fini(&f->root.tbo.base);
	kfree(f);
}

/* The one ioctl that ROCm's libraries make, answered by the driver itself */
static int vgpu_info_ioctl(struct drm_device *ddev, void *data, struct drm_file *file)
{
	return vgpu_syms.amdgpu_info_ioctl(ddev, data, file);
}

static const struct drm_ioctl_desc ioctls[] = {
	DRM_IOCTL_DEF_DRV(AMDGPU_INFO, vgpu_info_ioctl, DRM_AUTH | DRM_RENDER_ALLOW),
};

/* clang-format off */
const struct file_operations vgpu_drm_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = drm_ioctl,
	.compat_ioctl = drm_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	VGPU_UNSIGNED_OFFSET
};
/* clang-format on */

const struct drm_driver vgpu_drm_driver = { .driver_features = DRIVER_RENDER | DRIVER_GEM,
					    .open = vgpu_open,
					    .postclose = vgpu_postclose,
					    .ioctls = ioctls,
					    .num_ioctls = ARRAY_SIZE(ioctls),
					    .fops = &vgpu_drm_fops,
					    /* name that ROCm's libraries ask for */
					    .name = "amdgpu",
					    .desc = "simulated AMD GPU",
					    .major = 3,
					    .minor = 59,
					    VGPU_DATE };
