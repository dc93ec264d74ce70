// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers of GPU processes: host memory, pinned or our own, that a VM maps at
 * an address.  Mappings stand in the VM's real interval tree, so that the
 * driver's own look-ups (queue buffers and their reference counts) work on them.
 *
 * Locks: kgd_mem.lock, then the VM's page directory (dma_resv), then vgpu.lock.
 */
#include <linux/interval_tree_generic.h>
#include <linux/vmalloc.h>
#include <drm/drm_gem.h>
#include "kfd_priv.h"
#include "vgpu_priv.h"

/*
 * A user buffer above this is not pinned and can't be reached by the command
 * processor.  A context-save area of an MI308X queue has 49 MB that nothing
 * touches where no code is executed: a saved packet lives in the control stack behind the MQD.
 */
#define VGPU_PIN_MAX	  (32ul << 20)
#define VGPU_PIN_MAX_CODE (128ul << 20)

#define MAP_START(m) ((m)->start)
#define MAP_LAST(m)  ((m)->last)
INTERVAL_TREE_DEFINE(struct amdgpu_bo_va_mapping, rb, u64, __subtree_last, MAP_START, MAP_LAST,
		     static, vgpu_it)

static struct vgpu_mem *mem_of(struct kgd_mem *mem)
{
	return container_of(mem, struct vgpu_mem, mem);
}

static void mem_unpin(struct vgpu_mem *m)
{
	if (!m->pages)
		return;
	if (m->kva)
		vunmap(m->kva);
	unpin_user_pages(m->pages, m->npages);
	kvfree(m->pages);
}

static void mem_free(struct drm_gem_object *obj)
{
	struct vgpu_mem *m = container_of(obj, struct vgpu_mem, bo.tbo.base);

	if (m->pages)
		mem_unpin(m);
	else
		vfree(m->kva);
	drm_gem_free_mmap_offset(obj);
	vgpu_gem_fini(obj);
	mutex_destroy(&m->mem.lock);
	kfree(m);
}

static int mem_mmap(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	struct vgpu_mem *m = container_of(obj, struct vgpu_mem, bo.tbo.base);

	if (!m->kva || m->pages)
		return -EINVAL;
	return remap_vmalloc_range(vma, m->kva, 0);
}

static const struct vm_operations_struct mem_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
};

static const struct drm_gem_object_funcs mem_funcs = {
	.free = mem_free,
	.mmap = mem_mmap,
	.vm_ops = &mem_vm_ops,
};

static int mem_pin(struct vgpu_mem *m, u64 user, size_t size)
{
	long got;

	m->npages = size >> PAGE_SHIFT;
	m->pages = kvcalloc(m->npages, sizeof(*m->pages), GFP_KERNEL);
	if (!m->pages)
		return -ENOMEM;
	got = pin_user_pages_fast(user, m->npages, FOLL_WRITE | FOLL_LONGTERM, m->pages);
	if (got == m->npages)
		m->kva = vmap(m->pages, m->npages, VM_MAP, PAGE_KERNEL);
	if (m->kva)
		return 0;
	if (got > 0)
		unpin_user_pages(m->pages, got);
	kvfree(m->pages);
	m->pages = NULL;
	return got < 0 ? got : got == m->npages ? -ENOMEM : -EFAULT;
}

/*
 * The driver refuses what is above its limit, 15/16 of the memory at most, so that
 * none of it wakes the OOM killer (amdgpu_amdkfd_gpuvm_init_mem_limits()).
 */
static bool mem_fits(size_t size)
{
	return (long)(size >> PAGE_SHIFT) <= si_mem_available() - (long)(totalram_pages() / 16);
}

static int mem_back(struct vgpu_mem *m, u32 flags, u64 *offset, size_t size)
{
	int ret;

	if (flags & (KFD_IOC_ALLOC_MEM_FLAGS_DOORBELL | KFD_IOC_ALLOC_MEM_FLAGS_MMIO_REMAP))
		return 0;
	if (flags & KFD_IOC_ALLOC_MEM_FLAGS_USERPTR) {
		if (!offset || !*offset)
			return -EINVAL;
		if (size > VGPU_PIN_MAX_CODE || (size > VGPU_PIN_MAX && !vgpu_shader_there()))
			return 0;
		return mem_pin(m, untagged_addr(*offset), size);
	}
	if (!(flags & (KFD_IOC_ALLOC_MEM_FLAGS_VRAM | KFD_IOC_ALLOC_MEM_FLAGS_GTT)))
		return -EINVAL;
	m->kva = mem_fits(size) ? vmalloc_user(size) : NULL;
	if (!m->kva)
		return -ENOMEM;
	ret = drm_gem_create_mmap_offset(&m->bo.tbo.base);
	if (!ret && offset)
		*offset = drm_vma_node_offset_addr(&m->bo.tbo.base.vma_node);
	return ret;
}

static int vgpu_alloc_memory(struct amdgpu_device *adev, u64 va, u64 size, void *drm_priv,
			     struct kgd_mem **mem, u64 *offset, u32 flags, bool criu_resume)
{
	struct amdgpu_vm *vm = drm_priv_to_vm(drm_priv);
	struct vgpu_mem *m;
	int ret;

	if (criu_resume || (flags & KFD_IOC_ALLOC_MEM_FLAGS_AQL_QUEUE_MEM))
		return -EOPNOTSUPP;
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return -ENOMEM;
	size = PAGE_ALIGN(size);
	drm_gem_private_object_init(&adev->ddev, &m->bo.tbo.base, size);
	m->bo.tbo.base.funcs = &mem_funcs;
	m->bo.tbo.bdev = &adev->mman.bdev;
	m->bo.kfd_bo = &m->mem;
	mutex_init(&m->mem.lock);
	INIT_LIST_HEAD(&m->mem.attachments);
	vgpu_init_validate_list(&m->mem);
	m->mem.bo = &m->bo;
	m->mem.va = va;
	m->mem.alloc_flags = flags;
	m->mem.domain = flags & KFD_IOC_ALLOC_MEM_FLAGS_VRAM ? AMDGPU_GEM_DOMAIN_VRAM :
							       AMDGPU_GEM_DOMAIN_GTT;
	m->bo.preferred_domains = m->mem.domain;
	m->mem.process_info = vm->process_info;
	ret = mem_back(m, flags, offset, size);
	if (!ret)
		ret = drm_vma_node_allow(&m->bo.tbo.base.vma_node, drm_priv);
	if (ret) {
		drm_gem_object_put(&m->bo.tbo.base);
		return ret;
	}
	*mem = &m->mem;
	return 0;
}

static struct vgpu_attach *vgpu_attached(struct vgpu_mem *m, struct amdgpu_vm *vm)
{
	struct kfd_mem_attachment *att;

	list_for_each_entry(att, &m->mem.attachments, list)
		if (att->bo_va->base.vm == vm)
			return container_of(att, struct vgpu_attach, att);
	return NULL;
}

/* Take the mapping out of the VM; caller holds m->mem.lock */
static void vgpu_detach(struct vgpu_mem *m, struct vgpu_attach *a)
{
	struct amdgpu_vm *vm = a->bo_va.base.vm;
	struct vgpu *v = vgpu_of_bdev(vm->root.bo->tbo.bdev);
	struct amdgpu_vm_bo_base **p;

	mutex_lock(&v->lock);
	vgpu_it_remove(&a->map, &vm->va);
	vgpu_shader_unmapped();
	mutex_unlock(&v->lock);
	for (p = &m->bo.vm_bo; *p; p = &(*p)->next)
		if (*p == &a->bo_va.base) {
			*p = a->bo_va.base.next;
			break;
		}
	list_del(&a->att.list);
	m->mem.mapped_to_gpu_memory--;
	kfree(a);
}

static int vgpu_free_memory(struct amdgpu_device *adev, struct kgd_mem *mem, void *drm_priv,
			    u64 *size)
{
	struct vgpu_mem *m = mem_of(mem);
	bool mapped;

	mutex_lock(&mem->lock);
	mapped = mem->mapped_to_gpu_memory;
	mutex_unlock(&mem->lock);
	if (mapped)
		return -EBUSY;
	if (size)
		*size = mem->domain == AMDGPU_GEM_DOMAIN_VRAM ? m->bo.tbo.base.size : 0;
	drm_vma_node_revoke(&m->bo.tbo.base.vma_node, drm_priv);
	drm_gem_object_put(&m->bo.tbo.base);
	return 0;
}

static void attach_init(struct vgpu_attach *a, struct vgpu_mem *m, struct amdgpu_vm *vm,
			struct amdgpu_device *adev)
{
	a->att.bo_va = &a->bo_va;
	a->att.adev = adev;
	a->att.va = m->mem.va;
	a->att.is_mapped = true;
	a->bo_va.base.vm = vm;
	a->bo_va.base.bo = &m->bo;
	a->bo_va.ref_count = 1;
	INIT_LIST_HEAD(&a->bo_va.valids);
	INIT_LIST_HEAD(&a->bo_va.invalids);
	a->map.bo_va = &a->bo_va;
	a->map.start = m->mem.va >> AMDGPU_GPU_PAGE_SHIFT;
	a->map.last = a->map.start + (m->bo.tbo.base.size >> AMDGPU_GPU_PAGE_SHIFT) - 1;
}

static int vgpu_map_memory(struct amdgpu_device *adev, struct kgd_mem *mem, void *drm_priv)
{
	struct amdgpu_vm *vm = drm_priv_to_vm(drm_priv);
	struct vgpu_mem *m = mem_of(mem);
	struct vgpu_attach *a = NULL;
	struct vgpu *v = vgpu_of(adev);
	int ret = 0;

	mutex_lock(&mem->lock);
	dma_resv_lock(vm->root.bo->tbo.base.resv, NULL);
	if (vgpu_attached(m, vm))
		goto out;
	ret = -ENOMEM;
	a = kzalloc(sizeof(*a), GFP_KERNEL);
	if (!a)
		goto out;
	attach_init(a, m, vm, adev);
	ret = -EINVAL;
	mutex_lock(&v->lock);
	if (!vgpu_it_iter_first(&vm->va, a->map.start, a->map.last)) {
		vgpu_it_insert(&a->map, &vm->va);
		ret = 0;
	}
	mutex_unlock(&v->lock);
	if (ret) {
		kfree(a);
		goto out;
	}
	a->bo_va.base.next = m->bo.vm_bo;
	m->bo.vm_bo = &a->bo_va.base;
	list_add(&a->att.list, &mem->attachments);
	mem->mapped_to_gpu_memory++;
out:
	dma_resv_unlock(vm->root.bo->tbo.base.resv);
	mutex_unlock(&mem->lock);
	return ret;
}

static int vgpu_unmap_memory(struct amdgpu_device *adev, struct kgd_mem *mem, void *drm_priv)
{
	struct amdgpu_vm *vm = drm_priv_to_vm(drm_priv);
	struct vgpu_mem *m = mem_of(mem);
	struct vgpu_attach *a;
	int ret = 0;

	mutex_lock(&mem->lock);
	dma_resv_lock(vm->root.bo->tbo.base.resv, NULL);
	a = vgpu_attached(m, vm);
	if (!a)
		ret = -EINVAL;
	else if (vgpu_queue_uses(&a->bo_va))
		ret = -EBUSY;
	else
		vgpu_detach(m, a);
	dma_resv_unlock(vm->root.bo->tbo.base.resv);
	mutex_unlock(&mem->lock);
	return ret;
}

static int vgpu_map_to_kernel(struct kgd_mem *mem, void **kptr, u64 *size)
{
	struct vgpu_mem *m = mem_of(mem);

	if (!m->kva || m->pages)
		return -EINVAL;
	*kptr = m->kva;
	if (size)
		*size = m->bo.tbo.base.size;
	return 0;
}

static void vgpu_unmap_from_kernel(struct kgd_mem *mem)
{
}

/* Both ways. The driver's own would use its DRM client, which is not there. */
static int vgpu_no_dmabuf(void *which)
{
	return -EOPNOTSUPP;
}

/*
 * A process has a VM for each partition and one PASID, which leads to the last
 * VM alone: what that does not map is looked for in the others.
 */
static struct amdgpu_bo_va_mapping *mapping(struct amdgpu_vm *vm, u64 va)
{
	u64 page = va >> AMDGPU_GPU_PAGE_SHIFT;
	struct amdgpu_bo_va_mapping *map = vgpu_it_iter_first(&vm->va, page, page);
	struct amdgpu_vm *other;

	if (map || vgpu_parts == 1 || !vm->process_info)
		return map;
	list_for_each_entry(other, &vm->process_info->vm_list_head, vm_list_node) {
		map = vgpu_it_iter_first(&other->va, page, page);
		if (map)
			break;
	}
	return map;
}

/*
 * Where the command processor finds a user address; NULL when it is not mapped
 * there or has no memory here.  Caller holds v->lock while it uses it.
 */
void *vgpu_user_ptr(struct vgpu *v, u32 pasid, u64 va, size_t len)
{
	struct amdgpu_vm *vm = vgpu_vm_of_pasid(&v->adev, pasid);
	struct amdgpu_bo_va_mapping *map = vm ? mapping(vm, va) : NULL;
	struct vgpu_mem *m;
	u64 offset;

	if (map) {
		m = container_of(map->bo_va->base.bo, struct vgpu_mem, bo);
		offset = va - (map->start << AMDGPU_GPU_PAGE_SHIFT);
		if (m->kva && offset + len <= m->bo.tbo.base.size)
			return m->kva + offset;
	}
	vgpu_count(v, bad_address);
	return NULL;
}

/* clang-format off */
struct vgpu_hook vgpu_bo_hooks[] = {
	{ "amdgpu_amdkfd_gpuvm_alloc_memory_of_gpu", vgpu_alloc_memory,
	  vgpu_is_adev },
	{ "amdgpu_amdkfd_gpuvm_free_memory_of_gpu", vgpu_free_memory,
	  vgpu_is_adev },
	{ "amdgpu_amdkfd_gpuvm_map_memory_to_gpu", vgpu_map_memory,
	  vgpu_is_adev },
	{ "amdgpu_amdkfd_gpuvm_unmap_memory_from_gpu", vgpu_unmap_memory,
	  vgpu_is_adev },
	{ VGPU_MAP_BO, vgpu_map_to_kernel, vgpu_is_mem },
	{ VGPU_UNMAP_BO, vgpu_unmap_from_kernel, vgpu_is_mem },
	VGPU_EXPORT_HOOK(vgpu_no_dmabuf)
	VGPU_IPC_HOOK(vgpu_no_dmabuf)
	{ VGPU_IMPORT_DMABUF, vgpu_no_dmabuf, vgpu_is_adev },
	{}
};
/* clang-format on */
