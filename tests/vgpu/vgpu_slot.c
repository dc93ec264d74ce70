// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues of the run list and their slots.  A compute queue takes the same pipe
 * and queue on every XCC.  The fields that are used here stand at the same places
 * in v9_mqd, v11_compute_mqd and v12_compute_mqd.
 * Loading copies the MQD to the register files, unloading writes back what
 * hardware saves: read pointer, and a packet in flight, whose rest goes to the
 * control stack behind the MQD with the offsets that get_wave_state reads.
 *
 * All under vgpu.lock.
 */
#include "gc/gc_9_0_sh_mask.h"
#include "vgpu_priv.h"

#define DOORBELL_ON                                     \
	(CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_EN_MASK | \
	 CP_HQD_PQ_DOORBELL_CONTROL__DOORBELL_SCHD_HIT_MASK)
#define SAVED_WAVE_BYTES 4096 /* bytes in the wave area that a saved packet shows */

/* Registers of its slot in the i-th XCC of its partition */
static u32 *slot_hqd(struct vgpu *v, struct vgpu_queue *q, int i)
{
	return vgpu_hqd(v, q->part->first_xcc + i, 0, q->pipe, q->queue);
}

static bool compute_init(struct vgpu *v, struct vgpu_queue *q)
{
	struct v9_mqd *m = q->mqd;
	const u32 *hqd = (u32 *)m + VGPU_MQD_HQD_OFFSET;
	u32 ctl = hqd[HQD_PQ_CONTROL];

	/* init_mqd_v9_4_3() has it; elsewhere an MQD is alone */
	q->stride = vgpu_xcc_stride(m) ?: PAGE_SIZE + PAGE_ALIGN(m->cp_hqd_cntl_stack_size);
	if (!vgpu_gtt_ptr(v, q->mqd_addr, (size_t)q->stride * vgpu_num_xcc(v)))
		return false;
	q->aql = (ctl >> vgpu_chip->regs->aql_shift & 3) == 2;
	q->ring = vgpu_join64(hqd + HQD_PQ_BASE) << 8;
	q->dwords = q->aql ? 16 : 1;
	q->ring_packets = (2u << REG_GET_FIELD(ctl, CP_HQD_PQ_CONTROL, QUEUE_SIZE)) / q->dwords;
	q->rptr_va = vgpu_join64(hqd + HQD_RPTR_REPORT);
	q->wptr_va = vgpu_join64(hqd + HQD_WPTR_POLL);
	q->priority = hqd[HQD_PIPE_PRIO] << 8 | (hqd[HQD_QUEUE_PRIO] & 0xff);
	return true;
}

/* Make a queue for a scheduler; NULL when its arguments make no sense */
struct vgpu_queue *vgpu_queue_new(struct vgpu *v, struct vgpu_part *p,
				  const struct vgpu_queue_args *args)
{
	struct vgpu_queue *q = kzalloc(sizeof(*q), GFP_KERNEL);

	if (!q)
		return NULL;
	q->part = p;
	q->pasid = args->pasid;
	q->pipe = -1;
	q->doorbell = args->doorbell;
	q->mqd_addr = args->mqd_addr;
	q->mqd = vgpu_gtt_ptr(v, q->mqd_addr, sizeof(struct v9_sdma_mqd));
	q->sdma = args->sdma;
	q->wptr_va = args->wptr_va;
	q->shader = args->shader;
	if (!q->mqd)
		goto err;
	if (q->sdma) {
		if (!vgpu_rlc_init(v, q))
			goto err;
	} else if (!compute_init(v, q)) {
		goto err;
	}
	list_add_tail(&q->node, &v->queues);
	return q;

err:
	kfree(q);
	return NULL;
}

void vgpu_queue_free(struct vgpu *v, struct vgpu_queue *q)
{
	if (v->running == q)
		v->running = NULL;
	vgpu_shader_drop(v, q);
	if (q->pipe >= 0) {
		int i;

		for (i = 0; i < vgpu_num_xcc(v); i++)
			slot_hqd(v, q, i)[HQD_ACTIVE] = 0;
	}
	list_del(&q->node);
	kfree(q);
}

/* Show the pointers of a loaded queue as its registers would */
void vgpu_slot_sync(struct vgpu *v, struct vgpu_queue *q)
{
	u64 wptr = q->wptr * q->dwords;
	u32 *hqd;
	int i;

	q->moved = false;
	if (q->sdma) {
		vgpu_rlc_sync(v, q);
		return;
	}
	if (!q->dwords)
		return;
	for (i = 0; i < vgpu_num_xcc(v); i++) {
		hqd = slot_hqd(v, q, i);
		WRITE_ONCE(hqd[HQD_PQ_RPTR], (q->rptr % q->ring_packets) * q->dwords);
		WRITE_ONCE(hqd[HQD_PQ_WPTR], lower_32_bits(wptr));
		WRITE_ONCE(hqd[HQD_PQ_WPTR + 1], upper_32_bits(wptr));
	}
}

static struct vgpu_work *saved_work(struct vgpu_queue *q)
{
	struct v9_mqd *m = q->mqd;
	u32 size = m->cp_hqd_cntl_stack_size;

	BUILD_BUG_ON(sizeof(struct vgpu_work) > VGPU_SAVE_BYTES);
	/* "MES write to areas beyond MQD size" (allocate_mqd() of gfx 11) */
	if (vgpu_chip->mes)
		return q->mqd + PAGE_SIZE - VGPU_SAVE_BYTES;
	if (size < VGPU_SAVE_BYTES || PAGE_SIZE + size > q->stride)
		return NULL;
	return q->mqd + PAGE_SIZE;
}

/* Mark what get_wave_state() reads: nothing saved, or one packet's worth */
static void mark_saved(struct vgpu *v, struct vgpu_queue *q, bool saved)
{
	struct v9_mqd *m;
	int i;

	for (i = 0; i < vgpu_num_xcc(v); i++) {
		m = vgpu_xcc_mqd(q, i);
		m->cp_hqd_cntl_stack_offset =
			m->cp_hqd_cntl_stack_size - (saved ? VGPU_SAVE_BYTES : 0);
		m->cp_hqd_wg_state_offset =
			m->cp_hqd_cntl_stack_size + (saved ? SAVED_WAVE_BYTES : 0);
	}
}

/* Read pointers of PM4 come round with the ring, in 32 bits */
static void pointers_load(struct vgpu *v, struct vgpu_queue *q)
{
	u64 *rptr = vgpu_user_ptr(v, q->pasid, q->rptr_va, 8);
	u64 *wptr = vgpu_user_ptr(v, q->pasid, q->wptr_va, 8);
	struct vgpu_work *saved = saved_work(q);
	u64 *doorbell = (u64 __force *)vgpu_doorbell(v, q->doorbell);

	if (!rptr || !wptr || !doorbell || !q->ring_packets) {
		q->dwords = 0;
		return;
	}
	vgpu_doorbell_arm(q, doorbell);
	q->wptr = READ_ONCE(*wptr);
	q->rptr = READ_ONCE(*rptr);
	if (!q->aql)
		q->rptr = q->wptr - ((q->wptr - q->rptr) & (q->ring_packets - 1));
	if (saved && saved->magic == VGPU_WORK_MAGIC) {
		q->work = *saved;
		saved->magic = 0;
		mark_saved(v, q, false);
		vgpu_shader_restore(v, q);
		vgpu_count(v, restores);
	}
}

/* The queue has its VMID and, when it is a compute queue, its slot */
static void vgpu_queue_load(struct vgpu *v, struct vgpu_queue *q)
{
	u32 *hqd;
	int i;

	q->loaded = true;
	if (q->sdma) {
		vgpu_rlc_load(v, q);
		return;
	}
	for (i = 0; i < vgpu_num_xcc(v); i++) {
		hqd = slot_hqd(v, q, i);
		memcpy(hqd, (u32 *)vgpu_xcc_mqd(q, i) + VGPU_MQD_HQD_OFFSET,
		       VGPU_HQD_REGS * sizeof(u32));
		hqd[HQD_VMID] = q->vmid | q->vmid << 8;
		hqd[HQD_DOORBELL] |= DOORBELL_ON;
		WRITE_ONCE(hqd[HQD_ACTIVE], 1);
	}
	pointers_load(v, q);
	vgpu_slot_sync(v, q);
}

void vgpu_queue_unload(struct vgpu *v, struct vgpu_queue *q)
{
	struct vgpu_work *saved;
	u32 *hqd, *mqd;
	int i;

	if (v->running == q)
		v->running = NULL;
	if (!q->loaded)
		return;
	q->loaded = false;
	if (q->sdma) {
		vgpu_rlc_unload(v, q);
		return;
	}
	vgpu_slot_sync(v, q);
	saved = q->work.magic ? saved_work(q) : NULL;
	if (saved) {
		mark_saved(v, q, true);
		vgpu_shader_save(v, q);
		*saved = q->work;
		vgpu_count(v, saves);
	}
	vgpu_shader_drop(v, q);
	q->work.magic = 0;
	for (i = 0; i < vgpu_num_xcc(v); i++) {
		hqd = slot_hqd(v, q, i);
		mqd = (u32 *)vgpu_xcc_mqd(q, i) + VGPU_MQD_HQD_OFFSET;
		mqd[HQD_PQ_RPTR] = hqd[HQD_PQ_RPTR];
		mqd[HQD_PQ_WPTR] = hqd[HQD_PQ_WPTR];
		mqd[HQD_PQ_WPTR + 1] = hqd[HQD_PQ_WPTR + 1];
		if (!v->faults.keep_slot)
			WRITE_ONCE(hqd[HQD_ACTIVE], 0);
	}
	q->pipe = -1;
}

/* The compute queue in a slot, or NULL */
static struct vgpu_queue *slot_queue(struct vgpu *v, int xcc, int pipe, int queue)
{
	struct vgpu_queue *q;

	list_for_each_entry(q, &v->queues, node)
		if (!q->sdma && q->part == vgpu_part_of_xcc(v, xcc) && q->pipe == pipe &&
		    q->queue == queue)
			return q;
	return NULL;
}

/* Release slots that were kept */
void vgpu_slots_clear(struct vgpu *v)
{
	int xcc, n, pipe, queue;

	for (n = 0; n < VGPU_PIPES * VGPU_QUEUES_PER_PIPE; n++) {
		pipe = n / VGPU_QUEUES_PER_PIPE;
		queue = n % VGPU_QUEUES_PER_PIPE;
		for (xcc = 0; xcc < vgpu_xccs; xcc++)
			if (!slot_queue(v, xcc, pipe, queue))
				WRITE_ONCE(vgpu_hqd(v, xcc, 0, pipe, queue)[HQD_ACTIVE], 0);
	}
}

static u8 vmid_of(struct vgpu_part *p, u32 pasid)
{
	int i, unused = 0;

	for (i = 15; i > 0; i--) {
		if (!(p->vmid_mask >> i & 1))
			continue;
		if (p->vmid_pasid[i] == pasid)
			return i;
		if (!p->vmid_pasid[i])
			unused = i;
	}
	if (unused)
		p->vmid_pasid[unused] = pasid;
	return unused;
}

/* Slots in the order in which hardware was seen to give them: pipe by pipe */
static bool slot_next(struct vgpu_part *p, int *n)
{
	int bit;

	while (*n < VGPU_PIPES * VGPU_QUEUES_PER_PIPE) {
		bit = *n % VGPU_PIPES * VGPU_QUEUES_PER_PIPE + *n / VGPU_PIPES;
		if (p->queue_mask >> bit & 1)
			return true;
		++*n;
	}
	return false;
}

/* The VMID of a process without a queue is another one's */
void vgpu_vmid_release(struct vgpu *v, struct vgpu_part *p, u32 pasid)
{
	struct vgpu_queue *q;
	int i;

	list_for_each_entry(q, &v->queues, node)
		if (q->part == p && q->pasid == pasid)
			return;
	for (i = 0; i < ARRAY_SIZE(p->vmid_pasid); i++)
		if (p->vmid_pasid[i] == pasid)
			p->vmid_pasid[i] = 0;
}

/* A queue beside those that run: in the first slot that is free, if there is one */
void vgpu_slot_place(struct vgpu *v, struct vgpu_queue *q)
{
	struct vgpu_part *p = q->part;
	int n = 0;

	while (!q->sdma && slot_next(p, &n) &&
	       slot_queue(v, p->first_xcc, n % VGPU_PIPES, n / VGPU_PIPES))
		n++;
	if (!q->sdma && !slot_next(p, &n))
		return;
	q->vmid = vmid_of(p, q->pasid);
	if (!q->vmid)
		return;
	if (!q->sdma) {
		q->pipe = n % VGPU_PIPES;
		q->queue = n / VGPU_PIPES;
	}
	vgpu_queue_load(v, q);
}

/* Give slots and VMIDs in run-list order, as far as they go, and load */
void vgpu_slots_assign(struct vgpu *v, struct vgpu_part *p)
{
	struct vgpu_queue *q;
	int n = 0;

	memset(p->vmid_pasid, 0, sizeof(p->vmid_pasid));
	list_for_each_entry(q, &v->queues, node) {
		if (q->part != p || (!q->sdma && !slot_next(p, &n)))
			continue;
		q->vmid = vmid_of(p, q->pasid);
		if (!q->vmid)
			continue;
		if (!q->sdma) {
			q->pipe = n % VGPU_PIPES;
			q->queue = n / VGPU_PIPES;
			n++;
		}
		vgpu_queue_load(v, q);
	}
}

static bool rotate_part(struct vgpu *v, struct vgpu_part *p)
{
	struct vgpu_queue *q, *next;
	bool waiting = false;
	LIST_HEAD(had);

	list_for_each_entry(q, &v->queues, node)
		waiting |= q->part == p && !q->sdma && q->pipe < 0;
	if (!waiting)
		return false;
	list_for_each_entry_safe(q, next, &v->queues, node) {
		if (q->part != p || q->sdma || q->pipe < 0)
			continue;
		vgpu_queue_unload(v, q);
		list_move_tail(&q->node, &had);
	}
	list_splice_tail(&had, &v->queues);
	vgpu_slots_assign(v, p);
	vgpu_count(v, rotations);
	return true;
}

/* More queues than slots: after rotate_ns the mapped set goes to the end */
void vgpu_rotate(struct vgpu *v, u64 now)
{
	bool busy = vgpu_any_busy(v), rotated = false;
	struct vgpu_part *p;

	if (now < v->rotate_at)
		return;
	vgpu_for_each_part(v, p)
		rotated |= rotate_part(v, p);
	if (!rotated)
		return;
	v->resume_at = now + (busy ? v->times.save_ns + v->times.restore_ns : 0);
	v->rotate_at = v->resume_at + v->times.rotate_ns;
}

/* A queue reset through the registers of one XCC: its work is lost */
void vgpu_queue_reset(struct vgpu *v, int xcc, u32 select)
{
	int pipe = REG_GET_FIELD(select, GRBM_GFX_CNTL, PIPEID);
	int queue = REG_GET_FIELD(select, GRBM_GFX_CNTL, QUEUEID);
	int first = vgpu_part_of_xcc(v, xcc)->first_xcc, i;
	struct vgpu_queue *q;

	if (REG_GET_FIELD(select, GRBM_GFX_CNTL, MEID) != 1)
		return;
	mutex_lock(&v->lock);
	vgpu_count(v, queue_resets);
	WRITE_ONCE(vgpu_hqd(v, xcc, 0, pipe, queue)[HQD_ACTIVE], 0);
	for (i = 0; i < vgpu_num_xcc(v); i++)
		if (vgpu_hqd(v, first + i, 0, pipe, queue)[HQD_ACTIVE])
			goto out;
	q = slot_queue(v, xcc, pipe, queue);
	if (q)
		vgpu_queue_free(v, q);
out:
	mutex_unlock(&v->lock);
}
