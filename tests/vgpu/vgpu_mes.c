// SPDX-License-Identifier: GPL-2.0-only
/*
 * MES, the scheduler of gfx 11 and 12.  The driver's own functions (mes_v11_0.c,
 * mes_v12_0.c) write frames to its ring, ring a doorbell and poll two fences: that
 * of the frame and that of the ring.  What they ask for is done here: ADD_QUEUE and
 * REMOVE_QUEUE of one queue, beside the others, SUSPEND and RESUME of all.
 *
 * What a frame has is in vgpu_mes_v11.c and vgpu_mes_v12.c.
 *
 * All but init, start and fini under vgpu.lock.
 */
#include <linux/delay.h>
#include "kfd_priv.h"
#include "vgpu_mes_frame.h"
#include "vgpu_priv.h"

#define RING_DWORDS 4096
#define RING_FENCES 8 /* frames that the driver has in flight, at most */

/* The device that amdgpu_mes_init() makes MES of, one at a time */
static struct amdgpu_device *in_init;

/* The one partition: gfx 11 and 12 have no more */
static struct vgpu_part *part(struct vgpu *v)
{
	return &v->part[0];
}

static bool set_resources(struct vgpu *v, const struct vgpu_mes_frame *f)
{
	struct vgpu_part *p = part(v);
	int pipe, i;

	vgpu_count(v, mes_set_resources);
	p->vmid_mask = f->vmid_mask & 0xffff;
	p->queue_mask = 0;
	for (pipe = 0; pipe < VGPU_PIPES; pipe++)
		p->queue_mask |= (u64)(f->compute_mask[pipe] & 0xff)
				 << (pipe * VGPU_QUEUES_PER_PIPE);
	for (i = 0; i < ARRAY_SIZE(v->mes.sdma_mask); i++)
		v->mes.sdma_mask[i] = f->sdma_mask[i];
	v->mes.on = true;
	return true;
}

static struct vgpu_queue *find_queue(struct vgpu *v, u32 doorbell)
{
	struct vgpu_queue *q;

	list_for_each_entry(q, &v->queues, node)
		if (q->doorbell == doorbell)
			return q;
	return NULL;
}

/* An SDMA queue's own MQD says where its write index stands in the process. */
static bool add_queue(struct vgpu *v, const struct vgpu_mes_frame *f, u64 now)
{
	struct vgpu_queue_args args = {
		.pasid = f->pasid,
		.doorbell = f->doorbell,
		.mqd_addr = f->mqd_addr,
		.sdma = f->sdma,
	};
	struct vgpu_queue *q;

	vgpu_count(v, mes_add);
	/* Its write index as MES sees it: mapped to GART (init_user_queue()). */
	if (!v->mes.on || find_queue(v, args.doorbell) || !vgpu_gtt_ptr(v, f->wptr_addr, 8) ||
	    !vgpu_gtt_ptr(v, f->gang_addr, AMDGPU_MES_GANG_CTX_SIZE) ||
	    !vgpu_gtt_ptr(v, f->process_addr, AMDGPU_MES_PROC_CTX_SIZE))
		return false;
	vgpu_engine_run(v, now);
	q = vgpu_queue_new(v, part(v), &args);
	if (!q)
		return false;
	v->last_work = now;
	if (v->mes.suspended)
		return true;
	vgpu_slot_place(v, q);
	if (q->work.magic)
		q->ready_at = now + v->times.restore_ns;
	return true;
}

/* Off its slot at once; what that takes until the fence is written is the return */
static u64 unmap(struct vgpu *v, struct vgpu_queue *q)
{
	u64 ns = v->times.unmap_ns + (q->work.magic ? v->times.save_ns : 0);

	vgpu_queue_unload(v, q);
	return ns;
}

static bool remove_queue(struct vgpu *v, struct vgpu_mes_ring *r, const struct vgpu_mes_frame *f,
			 u64 now)
{
	struct vgpu_queue *q = find_queue(v, f->doorbell);
	u32 pasid;

	vgpu_count(v, mes_remove);
	if (!q)
		return false;
	vgpu_engine_run(v, now);
	r->ready_at = now + unmap(v, q);
	pasid = q->pasid;
	vgpu_queue_free(v, q);
	vgpu_vmid_release(v, part(v), pasid);
	return true;
}

/* amdgpu_mes_suspend() asks for all gangs, never for one */
static bool suspend_all(struct vgpu *v, struct vgpu_mes_ring *r, const struct vgpu_mes_frame *f,
			u64 now)
{
	struct vgpu_queue *q;
	u64 ns = 0;

	vgpu_count(v, mes_suspend);
	if (!f->all)
		return false;
	vgpu_engine_run(v, now);
	list_for_each_entry(q, &v->queues, node)
		ns = max(ns, unmap(v, q));
	v->mes.suspended = true;
	r->ready_at = now + ns;
	return true;
}

static bool resume_all(struct vgpu *v, const struct vgpu_mes_frame *f, u64 now)
{
	vgpu_count(v, mes_resume);
	if (!f->all)
		return false;
	v->mes.suspended = false;
	v->time = now;
	v->last_work = now;
	vgpu_slots_assign(v, part(v));
	return true;
}

/* Begin a frame; false: it is refused.  r->ready_at says when it is over. */
static bool frame_begin(struct vgpu *v, struct vgpu_mes_ring *r, const struct vgpu_mes_frame *f,
			u64 now)
{
	switch (f->op) {
	case VGPU_MES_SET_RESOURCES:
		/* The KIQ's pipe (gfx 12) has nothing to share out. */
		return r != v->mes.ring || set_resources(v, f);
	case VGPU_MES_ADD_QUEUE:
		return add_queue(v, f, now);
	case VGPU_MES_REMOVE_QUEUE:
		return remove_queue(v, r, f, now);
	case VGPU_MES_SUSPEND:
		return suspend_all(v, r, f, now);
	case VGPU_MES_RESUME:
		return resume_all(v, f, now);
	case VGPU_MES_MISC:
		vgpu_count(v, mes_misc);
		return true;
	case VGPU_MES_QUERY:
		return true;
	default:
		vgpu_count(v, mes_other);
		return f->op != VGPU_MES_UNKNOWN;
	}
}

/* A frame that was refused has no fence; the ring's, which follows it, is written */
static void frame_end(struct vgpu *v, const struct vgpu_mes_frame *f)
{
	u64 *fence;

	if (!f->fence_addr)
		return;
	fence = vgpu_gtt_ptr(v, f->fence_addr, 8);
	if (fence)
		/* After all that the frame did. */
		smp_store_release(fence, f->fence_value);
}

static void read_frame(struct amdgpu_ring *ring, u64 at, struct vgpu_mes_frame *f)
{
	u32 dwords[VGPU_FRAME_DWORDS] __aligned(8);
	int i;

	for (i = 0; i < VGPU_FRAME_DWORDS; i++)
		dwords[i] = ring->ring[(at + i) & ring->buf_mask];
	vgpu_chip->mes->decode(f, dwords);
}

static u64 ring_step(struct vgpu *v, int pipe, u64 now)
{
	struct amdgpu_ring *ring = &v->adev.mes.ring[pipe];
	struct vgpu_mes_ring *r = &v->mes.ring[pipe];
	u64 *doorbell = (u64 __force *)vgpu_doorbell(v, ring->doorbell_index);
	struct vgpu_mes_frame f;
	u64 wptr;

	/* Pairs with the driver's write: the frames before it are whole. */
	wptr = smp_load_acquire(doorbell);
	while (r->rptr < wptr) {
		read_frame(ring, r->rptr, &f);
		if (READ_ONCE(v->faults.fail_fence))
			return U64_MAX; /* the firmware hangs */
		if (!r->begun) {
			r->begun = true;
			r->ready_at = now;
			if (!frame_begin(v, r, &f, now)) {
				vgpu_count(v, mes_refused);
				memset(&f, 0, sizeof(f));
			}
		}
		if (now < r->ready_at)
			return r->ready_at;
		frame_end(v, &f);
		r->begun = false;
		r->rptr += VGPU_FRAME_DWORDS;
		WRITE_ONCE(*ring->rptr_cpu_addr, r->rptr & ring->buf_mask);
	}
	return U64_MAX;
}

u64 vgpu_mes_step(struct vgpu *v, u64 now)
{
	u64 next = U64_MAX;
	int i;

	for (i = 0; i < vgpu_chip->mes->rings; i++)
		if (v->adev.mes.ring[i].ring)
			next = min(next, ring_step(v, i, now));
	return next;
}

/* A GPU reset: the firmware starts again, with the resources that it had */
void vgpu_mes_reset(struct vgpu *v)
{
	int i;

	for (i = 0; i < vgpu_chip->mes->rings; i++) {
		struct amdgpu_ring *ring = &v->adev.mes.ring[i];
		struct vgpu_mes_ring *r = &v->mes.ring[i];

		r->rptr = ring->wptr;
		r->begun = false;
		*ring->fence_drv.cpu_addr = ring->fence_drv.sync_seq;
	}
	v->mes.suspended = false;
}

/* Do what amdgpu_device_wb_get() does, which newer drivers call by another name; dwords */
static u32 wb_take(struct amdgpu_device *adev)
{
	u32 slot = find_first_zero_bit(adev->wb.used, adev->wb.num_wb);

	__set_bit(slot, adev->wb.used);
	return slot * 8;
}

/* Do what mes_v11_0_ring_init() and amdgpu_ring_init() do, as far as a MES ring goes */
static int ring_init(struct vgpu *v, int pipe)
{
	struct amdgpu_device *adev = &v->adev;
	struct amdgpu_ring *ring = &adev->mes.ring[pipe];
	u32 rptr, wptr, fence;
	void *cpu;
	u64 addr;
	int ret;

	ret = vgpu_gtt_alloc(v, RING_DWORDS * 4, &v->mes.rings[pipe], &addr, &cpu);
	if (ret)
		return ret;
	rptr = wb_take(adev);
	wptr = wb_take(adev);
	fence = wb_take(adev);
	ring->adev = adev;
	ring->funcs = (void *)vgpu_sym(vgpu_chip->mes->ring_funcs);
	ring->me = 3;
	ring->pipe = pipe;
	ring->use_doorbell = true;
	ring->doorbell_index = (AMDGPU_NAVI10_DOORBELL_MES_RING0 + pipe) << 1;
	ring->no_scheduler = true;
	ring->max_dw = RING_DWORDS / RING_FENCES;
	ring->ring_size = RING_DWORDS * 4;
	ring->buf_mask = RING_DWORDS - 1;
	ring->ptr_mask = U64_MAX;
	ring->rptr_cpu_addr = &adev->wb.wb[rptr];
	ring->wptr_cpu_addr = &adev->wb.wb[wptr];
	ring->fence_drv.cpu_addr = &adev->wb.wb[fence];
	ring->fence_drv.gpu_addr = adev->wb.gpu_addr + fence * 4;
	ring->fence_drv.num_fences_mask = RING_FENCES - 1;
	ring->gpu_addr = addr;
	ring->ring = cpu;
	return ring->funcs ? 0 : -ENOENT;
}

/* The driver's own amdgpu_mes_init(), and of its sw_init() what KFD's path needs */
int vgpu_mes_init(struct vgpu *v)
{
	struct amdgpu_device *adev = &v->adev;
	void *cpu;
	int ret, i;

	adev->enable_mes = true;
	adev->enable_mes_kiq = true;
	adev->enable_uni_mes = vgpu_chip->mes->rings > 1;
	ret = vgpu_gtt_alloc(v, AMDGPU_MAX_WB * sizeof(u32) * 8, &v->mes.wb, &adev->wb.gpu_addr,
			     &cpu);
	if (ret)
		return ret;
	adev->wb.wb = cpu;
	adev->wb.num_wb = AMDGPU_MAX_WB;
	/* The kernel has no rings of its own here; newer drivers leave them room. */
	adev->gfx.num_compute_rings = vgpu_chip->pipes * VGPU_KGD_QUEUES;
	WRITE_ONCE(in_init, adev);
	ret = vgpu_syms.amdgpu_mes_init(adev);
	WRITE_ONCE(in_init, NULL);
	adev->gfx.num_compute_rings = 0;
	if (ret)
		return ret;
	adev->mes.funcs = (void *)vgpu_sym(vgpu_chip->mes->funcs);
	adev->mes.sched_version = vgpu_chip->mes->version;
	adev->mes.kiq_version = vgpu_chip->mes->version;
	for (i = 0; !ret && i < vgpu_chip->mes->rings; i++)
		ret = ring_init(v, i);
	return ret ?: adev->mes.funcs ? 0 : -ENOENT;
}

/* Start as mes_v11_0_hw_init() does: SET_HW_RSRC, by the driver's own function */
int vgpu_mes_start(struct vgpu *v)
{
	int (*set)(struct amdgpu_mes *, int) = (void *)vgpu_sym(vgpu_chip->mes->set_hw_resources);
	int ret, i;

	if (!set)
		return -ENOENT;
	/* The function of gfx 11 takes no pipe, and does not look at it. */
	for (i = 0; i < vgpu_chip->mes->rings; i++) {
		ret = set(&v->adev.mes, i);
		if (ret)
			return ret;
		v->adev.mes.ring[i].sched.ready = true;
	}
	return 0;
}

/*
 * Where MES would list the queues that hang: it learns of none here, and the page
 * stays as the driver made it.  There is no buffer object, which the driver does not free.
 */
static int vgpu_hung_queues(struct amdgpu_device *adev, unsigned long size, int align, u32 domain,
			    struct amdgpu_bo **bo, u64 *gpu_addr, void **cpu_addr)
{
	static u8 page[PAGE_SIZE] __aligned(8);

	if (size > sizeof(page))
		return -ENOMEM;
	*gpu_addr = 0;
	*cpu_addr = page;
	return 0;
}

static bool notrace vgpu_mes_is_made(unsigned long adev)
{
	return adev && adev == (unsigned long)READ_ONCE(in_init);
}

static bool notrace is_ring(unsigned long ring)
{
	return vgpu_is_adev((unsigned long)((struct amdgpu_ring *)ring)->adev);
}

/*
 * The driver's own spins, up to 2.1 s, and would keep a CPU from the thread that it
 * waits for.  Its first look is with interrupts off, and finds what it wants.
 */
static long vgpu_fence_wait(struct amdgpu_ring *ring, u32 seq, long timeout_us)
{
	ktime_t end = ktime_add_us(ktime_get(), timeout_us);

	while ((s32)(seq - READ_ONCE(*ring->fence_drv.cpu_addr)) > 0) {
		if (ktime_after(ktime_get(), end))
			return 0;
		if (irqs_disabled())
			udelay(2);
		else
			usleep_range(20, 40);
	}
	return max(ktime_us_delta(end, ktime_get()), 1ll);
}

/* clang-format off */
struct vgpu_hook vgpu_mes_hooks[] = {
	{ "amdgpu_fence_wait_polling", vgpu_fence_wait, is_ring },
	VGPU_HUNG_QUEUES_HOOK(vgpu_hung_queues)
	{}
};
/* clang-format on */

void vgpu_mes_fini(struct vgpu *v)
{
	struct amdgpu_device *adev = &v->adev;
	int i;

	if (adev->mes.adev) {
		vgpu_syms.amdgpu_mes_fini(adev);
		adev->mes.adev = NULL;
	}
	for (i = 0; i < ARRAY_SIZE(v->mes.rings); i++) {
		adev->mes.ring[i].ring = NULL;
		if (v->mes.rings[i])
			vgpu_gtt_free(v, &v->mes.rings[i]);
	}
	if (v->mes.wb)
		vgpu_gtt_free(v, &v->mes.wb);
}
