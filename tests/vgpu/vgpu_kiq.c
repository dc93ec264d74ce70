// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel interface queue of each XCC.  The driver uses it for one thing
 * only: to start and stop its HIQ, under a spinlock, so the packets are taken
 * at the write pointer's update, on the driver's own stack.
 */
#include "kfd_priv.h"
#include "kfd_pm4_opcodes.h"
#include "vgpu_priv.h"

#define KIQ_DWORDS	 1024
#define KIQ_ENGINE_HIQ	 1
#define KIQ_UNMAP_DWORDS 6

static u32 pkt_op(u32 header)
{
	return header >> 8 & 0xff;
}

static u32 pkt_dwords(u32 header)
{
	return (header >> 16 & 0x3fff) + 2;
}

static void hiq_map(struct vgpu *v, int xcc, const u32 *pkt)
{
	struct vgpu_part *p = vgpu_part_of_xcc(v, xcc);
	int i = xcc - p->first_xcc;
	u64 __iomem *doorbell;

	if ((pkt[1] >> 26 & 7) != KIQ_ENGINE_HIQ)
		return;
	p->hiq.mqd_addr[i] = pkt[3] | (u64)pkt[4] << 32;
	p->hiq.doorbell = pkt[2] >> 2 & 0x3ffffff;
	/* a new ring starts at 0, what the last one's doorbell said is over */
	doorbell = vgpu_doorbell(v, p->hiq.doorbell);
	if (doorbell)
		writeq(0, doorbell);
	if (i != vgpu_num_xcc(v) - 1)
		return;
	p->hiq.loaded = false;
	/* Pairs with part_step(): hiq is filled in. */
	smp_store_release(&p->hiq.on, true);
	vgpu_cp_kick();
}

/* By KIQ, or by the register, as drivers before kfd_node do */
void vgpu_hiq_stop(struct vgpu *v, int xcc)
{
	WRITE_ONCE(vgpu_part_of_xcc(v, xcc)->hiq.on, false);
	WRITE_ONCE(vgpu_hqd(v, xcc, VGPU_HIQ_MEC, 0, 0)[HQD_ACTIVE], 0);
}

static void kiq_set_wptr(struct amdgpu_ring *ring)
{
	struct vgpu *v = vgpu_of(ring->adev);
	int xcc = vgpu_ring_xcc(ring);
	u32 pkt[8], n, i, op;

	while (v->kiq_rptr[xcc] != (ring->wptr & ring->buf_mask)) {
		for (i = 0; i < ARRAY_SIZE(pkt); i++)
			pkt[i] = ring->ring[(v->kiq_rptr[xcc] + i) & ring->buf_mask];
		n = pkt_dwords(pkt[0]);
		op = pkt_op(pkt[0]);
		if (op == IT_MAP_QUEUES)
			hiq_map(v, xcc, pkt);
		else if (op == IT_UNMAP_QUEUES)
			vgpu_hiq_stop(v, xcc);
		v->kiq_rptr[xcc] = (v->kiq_rptr[xcc] + n) & ring->buf_mask;
	}
}

static u64 kiq_get_rptr(struct amdgpu_ring *ring)
{
	return vgpu_of(ring->adev)->kiq_rptr[vgpu_ring_xcc(ring)];
}

static u64 kiq_get_wptr(struct amdgpu_ring *ring)
{
	return ring->wptr;
}

static int kiq_test_ring(struct amdgpu_ring *ring)
{
	return 0;
}

/* Called for 0 words, too, before 6.12; without an align_mask it is never more. */
static void kiq_insert_nop(struct amdgpu_ring *ring, u32 count)
{
}

static const struct amdgpu_ring_funcs kiq_ring_funcs = {
	.type = AMDGPU_RING_TYPE_KIQ,
	.get_rptr = kiq_get_rptr,
	.get_wptr = kiq_get_wptr,
	.set_wptr = kiq_set_wptr,
	.test_ring = kiq_test_ring,
	.insert_nop = kiq_insert_nop,
};

static void kiq_unmap_queues(struct amdgpu_ring *kiq, struct amdgpu_ring *ring,
			     enum amdgpu_unmap_queues_action action, u64 gpu_addr, u64 seq)
{
	int i;

	amdgpu_ring_write(kiq, 3u << 30 | (KIQ_UNMAP_DWORDS - 2) << 16 | IT_UNMAP_QUEUES << 8);
	amdgpu_ring_write(kiq, action);
	amdgpu_ring_write(kiq, ring->doorbell_index << 2);
	for (i = 3; i < KIQ_UNMAP_DWORDS; i++)
		amdgpu_ring_write(kiq, 0);
}

static const struct kiq_pm4_funcs kiq_pm4_funcs = {
	.kiq_unmap_queues = kiq_unmap_queues,
	.unmap_queues_size = KIQ_UNMAP_DWORDS,
};

int vgpu_kiq_init(struct vgpu *v)
{
	struct amdgpu_kiq *kiq;
	int i;

	for (i = 0; i < vgpu_xccs; i++) {
		kiq = vgpu_kiq(&v->adev, i);
		spin_lock_init(&kiq->ring_lock);
		kiq->pmf = &kiq_pm4_funcs;
		kiq->ring.adev = &v->adev;
		kiq->ring.funcs = &kiq_ring_funcs;
		vgpu_set_ring_xcc(&kiq->ring, i);
		kiq->ring.max_dw = 16;
		kiq->ring.ptr_mask = kiq->ring.buf_mask = KIQ_DWORDS - 1;
		kiq->ring.sched.ready = !vgpu_chip->mes; /* the ring is MES's own then */
		kiq->ring.ring = kcalloc(KIQ_DWORDS, sizeof(u32), GFP_KERNEL);
		if (!kiq->ring.ring)
			return -ENOMEM;
	}
	return 0;
}

void vgpu_kiq_fini(struct vgpu *v)
{
	int i;

	for (i = 0; i < vgpu_xccs; i++)
		kfree((void *)vgpu_kiq(&v->adev, i)->ring.ring);
}
