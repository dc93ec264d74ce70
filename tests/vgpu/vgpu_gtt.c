// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the driver allocates for the GPU: GART memory (MQDs, HIQ ring,
 * run lists, fences).  A GART address is a number of ours that leads back to the
 * kernel address.
 */
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
	ret = mtree_store_range(&v->gtt, g->addr, g->addr + g->size - 1, g, GFP_KERNEL);
	mutex_unlock(&v->lock);
	return ret;
}

int vgpu_gtt_alloc(struct vgpu *v, size_t size, void **handle, u64 *addr, void **cpu)
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

static int vgpu_alloc_mem(struct amdgpu_device *adev, size_t size, VGPU_DOMAIN_PARAM void **mem_obj,
			  u64 *gpu_addr, void **cpu_ptr, VGPU_USWC_PARAM(bool cp_mqd_gfx9))
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

/* Offset for add_queue_mes(); the driver's own function wants a TTM resource */
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
static int vgpu_alloc_gws(struct amdgpu_device *adev, size_t size, void **mem_obj)
{
	*mem_obj = &vgpu_of(adev)->gtt_next;
	return 0;
}

static void vgpu_free_gws(struct amdgpu_device *adev, void *mem_obj)
{
}

void vgpu_gtt_init(struct vgpu *v)
{
	mt_init(&v->gtt);
	v->gtt_next = VGPU_GTT_START;
}

void vgpu_gtt_fini(struct vgpu *v)
{
	WARN_ON(!mtree_empty(&v->gtt));
	mtree_destroy(&v->gtt);
}

struct vgpu_hook vgpu_mem_hooks[] = { { VGPU_ALLOC_MEM, vgpu_alloc_mem, vgpu_is_adev },
				      { VGPU_FREE_MEM, vgpu_free_mem, vgpu_is_adev },
				      { "amdgpu_amdkfd_alloc_gws", vgpu_alloc_gws, vgpu_is_adev },
				      { "amdgpu_amdkfd_free_gws", vgpu_free_gws, vgpu_is_adev },
#ifdef VGPU_HAS_MES_RINGS
				      { "amdgpu_amdkfd_map_gtt_bo_to_gart", vgpu_map_to_gart,
					vgpu_is_bo },
				      { "amdgpu_bo_gpu_offset", vgpu_bo_gpu_offset, vgpu_is_bo },
#endif
				      {} };
