// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the driver allocates for the GPU: GART memory (MQDs, HIQ ring,
 * run lists, fences) and pages of the doorbell BAR.  A GART address is a
 * number of ours that leads back to the kernel address.
 */
#include <linux/set_memory.h>
#include <linux/vmalloc.h>
#include "vgpu_priv.h"

#define VGPU_GTT_START 0x600000ull

struct vgpu_gtt {
	u64 addr;
	size_t size;
	void *cpu;
	struct amdgpu_bo *bo; /* whose memory it is; NULL: its own */
};

/* Give what has memory an address */
static int gtt_insert(struct vgpu *v, struct vgpu_gtt *g)
{
	int ret;

	mutex_lock(&v->lock);
	g->addr = v->gtt_next;
	v->gtt_next += g->size;
	ret = mtree_store_range(&v->gtt, g->addr, g->addr + g->size - 1, g,
				GFP_KERNEL);
	mutex_unlock(&v->lock);
	return ret;
}

int vgpu_gtt_alloc(struct vgpu *v, size_t size, void **handle, u64 *addr,
		   void **cpu)
{
	struct vgpu_gtt *g = kzalloc(sizeof(*g), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!g)
		return -ENOMEM;
	g->size = PAGE_ALIGN(size);
	g->cpu = vzalloc(g->size);
	if (!g->cpu)
		goto err_free;
	ret = gtt_insert(v, g);
	if (ret)
		goto err_vfree;
	*handle = g;
	*addr = g->addr;
	*cpu = g->cpu;
	return 0;

err_vfree:
	vfree(g->cpu);
err_free:
	kfree(g);
	return ret;
}

static int vgpu_alloc_mem(struct amdgpu_device *adev, size_t size,
			  VGPU_DOMAIN_PARAM void **mem_obj, u64 *gpu_addr,
			  void **cpu_ptr, bool cp_mqd_gfx9)
{
	struct vgpu *v = vgpu_of(adev);

	if (cp_mqd_gfx9 && READ_ONCE(v->faults.fail_create))
		return -ENOMEM;
	return vgpu_gtt_alloc(v, size, mem_obj, gpu_addr, cpu_ptr);
}

/*
 * The page of a queue's write index gets an address in GART as well, for MES
 * (init_user_queue()). What the driver is given is freed as other GART memory.
 */
static int vgpu_map_to_gart(struct amdgpu_bo *bo, struct amdgpu_bo **bo_gart)
{
	struct vgpu_mem *m = container_of(bo, struct vgpu_mem, bo);
	struct vgpu *v = vgpu_of_bdev(bo->tbo.bdev);
	struct vgpu_gtt *g;
	int ret;

	if (!m->kva || m->gart)
		return -EINVAL;
	g = kzalloc(sizeof(*g), GFP_KERNEL);
	if (!g)
		return -ENOMEM;
	g->size = PAGE_ALIGN(bo->tbo.base.size);
	g->cpu = m->kva;
	g->bo = bo;
	ret = gtt_insert(v, g);
	if (ret) {
		kfree(g);
		return ret;
	}
	drm_gem_object_get(&bo->tbo.base);
	m->gart = g->addr;
	*bo_gart = (struct amdgpu_bo *)g;
	return 0;
}

static void gart_unmap(struct amdgpu_bo *bo)
{
	container_of(bo, struct vgpu_mem, bo)->gart = 0;
	drm_gem_object_put(&bo->tbo.base);
}

/* What add_queue_mes() asks for; the driver's own wants a TTM resource */
static u64 vgpu_bo_gpu_offset(struct amdgpu_bo *bo)
{
	return container_of(bo, struct vgpu_mem, bo)->gart;
}

/* A queue whose MQD goes away must be out of the run list by now */
static void queues_forget(struct vgpu *v, struct vgpu_gtt *g)
{
	struct vgpu_queue *q, *next;

	list_for_each_entry_safe(q, next, &v->queues, node) {
		if (q->mqd_addr < g->addr || q->mqd_addr >= g->addr + g->size)
			continue;
		dev_warn(v->adev.dev, "MQD of a mapped queue was freed\n");
		vgpu_queue_free(v, q);
	}
}

void vgpu_gtt_free(struct vgpu *v, void **handle)
{
	struct vgpu_gtt *g = *handle;

	if (!g)
		return;
	mutex_lock(&v->lock);
	queues_forget(v, g);
	mtree_erase(&v->gtt, g->addr);
	mutex_unlock(&v->lock);
	if (g->bo)
		gart_unmap(g->bo);
	else
		vfree(g->cpu);
	kfree(g);
	*handle = NULL;
}

static void vgpu_free_mem(struct amdgpu_device *adev, void **mem_obj)
{
	vgpu_gtt_free(vgpu_of(adev), mem_obj);
}

/* Caller holds v->lock, for as long as it uses the pointer */
void *vgpu_gtt_ptr(struct vgpu *v, u64 addr, size_t len)
{
	struct vgpu_gtt *g = mtree_load(&v->gtt, addr);

	if (!g || addr + len > g->addr + g->size)
		return NULL;
	return g->cpu + (addr - g->addr);
}

/* GWS is only a number in the topology here */
static int vgpu_alloc_gws(struct amdgpu_device *adev, size_t size,
			  void **mem_obj)
{
	*mem_obj = &vgpu_of(adev)->gtt_next;
	return 0;
}

static void vgpu_free_gws(struct amdgpu_device *adev, void *mem_obj)
{
}

/* In the BAR, in dwords; NULL for what no doorbell can be */
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
		if (v && addr - (unsigned long)page_address(v->bar) <
				 VGPU_BAR_PAGES * PAGE_SIZE)
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
static void vgpu_mm_wdoorbell64(struct amdgpu_device *adev, u32 index,
				u64 value)
{
	u64 __iomem *db = vgpu_doorbell(vgpu_of(adev), index);

	if (db)
		writeq(value, db);
	vgpu_cp_kick();
}

static int vgpu_bo_create_kernel(struct amdgpu_device *adev, unsigned long size,
				 int align, u32 domain,
				 struct amdgpu_bo **bo_ptr, u64 *gpu_addr,
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
	start = bitmap_find_next_zero_area(v->bar_used, VGPU_BAR_PAGES, 0,
					   pages, 0);
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

static void vgpu_bo_free_kernel(struct amdgpu_bo **bo_ptr, u64 *gpu_addr,
				void **cpu_addr)
{
	struct amdgpu_bo *bo = *bo_ptr;
	struct vgpu *v = vgpu_of(amdgpu_ttm_adev(bo->tbo.bdev));

	mutex_lock(&v->lock);
	bitmap_clear(v->bar_used, bo->tbo.resource->start,
		     bo->tbo.base.size >> PAGE_SHIFT);
	mutex_unlock(&v->lock);
	kfree(bo->tbo.resource);
	kfree(bo);
	*bo_ptr = NULL;
	if (gpu_addr)
		*gpu_addr = 0;
	if (cpu_addr)
		*cpu_addr = NULL;
}

int vgpu_gtt_init(struct vgpu *v)
{
	int ret = -ENOMEM;

	mt_init(&v->gtt);
	v->gtt_next = VGPU_GTT_START;
	v->bar = alloc_pages(GFP_KERNEL | __GFP_ZERO, VGPU_BAR_ORDER);
	v->mmio = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!v->bar || !v->mmio)
		goto err_free;
	/* user space maps it uncached, as a BAR; both views must agree */
	ret = set_memory_uc((unsigned long)page_address(v->bar),
			    VGPU_BAR_PAGES);
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

void vgpu_gtt_fini(struct vgpu *v)
{
	WARN_ON(!mtree_empty(&v->gtt));
	mtree_destroy(&v->gtt);
	set_memory_wb((unsigned long)page_address(v->bar), VGPU_BAR_PAGES);
	__free_pages(v->bar, VGPU_BAR_ORDER);
	set_memory_wb((unsigned long)page_address(v->mmio), 1);
	__free_page(v->mmio);
}

struct vgpu_hook vgpu_mem_hooks[] = {
	{ VGPU_ALLOC_MEM, vgpu_alloc_mem, vgpu_is_adev },
	{ VGPU_FREE_MEM, vgpu_free_mem, vgpu_is_adev },
	{ "amdgpu_amdkfd_alloc_gws", vgpu_alloc_gws, vgpu_is_adev },
	{ "amdgpu_amdkfd_free_gws", vgpu_free_gws, vgpu_is_adev },
	{ "amdgpu_bo_create_kernel", vgpu_bo_create_kernel, vgpu_is_adev },
	{ "amdgpu_bo_free_kernel", vgpu_bo_free_kernel, vgpu_is_bo_ptr },
	{ "write_kernel_doorbell64", vgpu_write_kernel_doorbell64,
	  vgpu_is_doorbell },
	{ "amdgpu_mm_wdoorbell64", vgpu_mm_wdoorbell64, vgpu_is_adev },
	{ "amdgpu_amdkfd_map_gtt_bo_to_gart", vgpu_map_to_gart, vgpu_is_bo },
	{ "amdgpu_bo_gpu_offset", vgpu_bo_gpu_offset, vgpu_is_bo },
	{}
};
