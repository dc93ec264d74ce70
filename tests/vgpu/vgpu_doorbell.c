// SPDX-License-Identifier: GPL-2.0-only
/*
 * The BAR of doorbells: memory, whose pages the driver gives to processes, and to
 * its own queues.
 */
#include <linux/set_memory.h>
#include "vgpu_drift_kfd.h"
#include "vgpu_priv.h"

/* Returns the doorbell in the BAR, by dwords; NULL: no doorbell can be there */
u64 __iomem *vgpu_doorbell(struct vgpu *v, u32 dword)
{
	if (dword >= (VGPU_BAR_PAGES * PAGE_SIZE - 8) / 4)
		return NULL;
	return (u64 __iomem *)(page_address(v->bar) + dword * 4ul);
}

static bool notrace vgpu_is_doorbell(unsigned long addr)
{
	struct vgpu *v;
	int i;

	for (i = 0; i < VGPU_MAX_GPUS; i++) {
		v = READ_ONCE(vgpu_devices[i]);
		if (v && addr - (unsigned long)page_address(v->bar) < VGPU_BAR_PAGES * PAGE_SIZE)
			return true;
	}
	return false;
}

static void vgpu_write_kernel_doorbell64(void __iomem *db, u64 value)
{
	writeq(value, db);
	vgpu_cp_kick();
}

/* The driver's own rings: MES */
static void vgpu_mm_wdoorbell64(struct amdgpu_device *adev, u32 index, u64 value)
{
	u64 __iomem *db = vgpu_doorbell(vgpu_of(adev), index);

	if (db)
		writeq(value, db);
	vgpu_cp_kick();
}

/*
 * Pages of the BAR are buffers of the driver's. Before (6.5 and older), KFD shared out
 * the BAR itself, and mapped its own page with ioremap(), which refuses memory.
 */
#ifdef VGPU_HAS_DOORBELL_BO
static int vgpu_bo_create_kernel(struct amdgpu_device *adev, unsigned long size, int align,
				 u32 domain, struct amdgpu_bo **bo_ptr, u64 *gpu_addr,
				 void **cpu_addr)
{
	struct vgpu *v = vgpu_of(adev);
	unsigned int pages = PAGE_ALIGN(size) >> PAGE_SHIFT, start;
	struct ttm_resource *res;
	struct amdgpu_bo *bo;
	void *cpu;

	if (domain != AMDGPU_GEM_DOMAIN_DOORBELL)
		return -EOPNOTSUPP;
	bo = kzalloc(sizeof(*bo), GFP_KERNEL);
	res = kzalloc(sizeof(*res), GFP_KERNEL);
	if (!bo || !res)
		goto err_free;
	mutex_lock(&v->lock);
	start = bitmap_find_next_zero_area(v->bar_used, VGPU_BAR_PAGES, 0, pages, 0);
	if (start < VGPU_BAR_PAGES)
		bitmap_set(v->bar_used, start, pages);
	mutex_unlock(&v->lock);
	if (start >= VGPU_BAR_PAGES)
		goto err_free;
	res->mem_type = AMDGPU_PL_DOORBELL;
	res->start = start;
	res->size = size;
	bo->tbo.bdev = &adev->mman.bdev;
	bo->tbo.type = ttm_bo_type_kernel;
	bo->tbo.resource = res;
	bo->tbo.base.size = pages << PAGE_SHIFT;
	cpu = page_address(v->bar) + (start << PAGE_SHIFT);
	memset(cpu, 0, pages << PAGE_SHIFT);
	*bo_ptr = bo;
	if (gpu_addr)
		*gpu_addr = (u64)start << PAGE_SHIFT;
	if (cpu_addr)
		*cpu_addr = cpu;
	return 0;

err_free:
	kfree(res);
	kfree(bo);
	return -ENOMEM;
}

static void vgpu_bo_free_kernel(struct amdgpu_bo **bo_ptr, u64 *gpu_addr, void **cpu_addr)
{
	struct amdgpu_bo *bo = *bo_ptr;
	struct vgpu *v = vgpu_of(amdgpu_ttm_adev(bo->tbo.bdev));

	mutex_lock(&v->lock);
	bitmap_clear(v->bar_used, bo->tbo.resource->start, bo->tbo.base.size >> PAGE_SHIFT);
	mutex_unlock(&v->lock);
	kfree(bo->tbo.resource);
	kfree(bo);
	*bo_ptr = NULL;
	if (gpu_addr)
		*gpu_addr = 0;
	if (cpu_addr)
		*cpu_addr = NULL;
}

#define VGPU_BAR_HOOKS                                                      \
	{ "amdgpu_bo_create_kernel", vgpu_bo_create_kernel, vgpu_is_adev }, \
		{ "amdgpu_bo_free_kernel", vgpu_bo_free_kernel, vgpu_is_bo_ptr },
#else
static bool notrace vgpu_is_kfd(unsigned long kfd)
{
	return vgpu_is_adev((unsigned long)((struct kfd_dev *)kfd)->adev);
}

/* All of the BAR is KFD's: the GPU has no ring of the driver's */
static int vgpu_kfd_doorbell_init(struct kfd_dev *kfd)
{
	size_t slice =
		PAGE_ALIGN(kfd->device_info.doorbell_size * KFD_MAX_NUM_OF_QUEUES_PER_PROCESS);
	struct vgpu *v = vgpu_of(kfd->adev);

	kfd->max_doorbell_slices = VGPU_BAR_PAGES * PAGE_SIZE / slice;
	kfd->doorbell_base = v->adev.doorbell.base;
	kfd->doorbell_base_dw_offset = 0;
	kfd->doorbell_kernel_ptr = (u32 __iomem *)page_address(v->bar);
	return 0;
}

static void vgpu_kfd_doorbell_fini(struct kfd_dev *kfd)
{
}

#define VGPU_BAR_HOOKS                                                \
	{ "kfd_doorbell_init", vgpu_kfd_doorbell_init, vgpu_is_kfd }, \
		{ "kfd_doorbell_fini", vgpu_kfd_doorbell_fini, vgpu_is_kfd },
#endif

int vgpu_bar_init(struct vgpu *v)
{
	int ret = -ENOMEM;

	v->bar = alloc_pages(GFP_KERNEL | __GFP_ZERO, VGPU_BAR_ORDER);
	v->mmio = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!v->bar || !v->mmio)
		goto err_free;
	/* user space maps it uncached, as a BAR; both views must agree */
	ret = set_memory_uc((unsigned long)page_address(v->bar), VGPU_BAR_PAGES);
	if (ret)
		goto err_free;
	ret = set_memory_uc((unsigned long)page_address(v->mmio), 1);
	if (ret)
		goto err_bar;
	v->adev.doorbell.base = page_to_phys(v->bar);
	v->adev.doorbell.size = VGPU_BAR_PAGES * PAGE_SIZE;
	v->adev.rmmio_remap.bus_addr = page_to_phys(v->mmio);
	if (vgpu_chip->mes) /* doorbells of its rings come first */
		__set_bit(0, v->bar_used);
	return 0;

err_bar:
	set_memory_wb((unsigned long)page_address(v->bar), VGPU_BAR_PAGES);
err_free:
	if (v->bar)
		__free_pages(v->bar, VGPU_BAR_ORDER);
	if (v->mmio)
		__free_page(v->mmio);
	v->bar = v->mmio = NULL;
	return ret;
}

void vgpu_bar_fini(struct vgpu *v)
{
	set_memory_wb((unsigned long)page_address(v->bar), VGPU_BAR_PAGES);
	__free_pages(v->bar, VGPU_BAR_ORDER);
	set_memory_wb((unsigned long)page_address(v->mmio), 1);
	__free_page(v->mmio);
}

/* clang-format off */
struct vgpu_hook vgpu_doorbell_hooks[] = {
	VGPU_BAR_HOOKS
	{ "write_kernel_doorbell64", vgpu_write_kernel_doorbell64,
	  vgpu_is_doorbell },
	{ "amdgpu_mm_wdoorbell64", vgpu_mm_wdoorbell64, vgpu_is_adev },
	{}
};
/* clang-format on */
