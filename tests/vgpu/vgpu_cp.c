// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command processor: one thread for all virtual GPUs.  It sleeps until a
 * GPU has something due or the driver rings its HIQ's doorbell.  Nothing in it
 * waits: what takes time (an unmap that saves) is a deadline of its device, so
 * eight GPUs save at the same time.
 */
#include <linux/kthread.h>
#include "kfd_priv.h"
#include "kfd_pm4_headers_ai.h"
#include "kfd_pm4_opcodes.h"
#include "vgpu_priv.h"

#define GRACE_UNIT_NS 488 /* 1,024 clocks of 2.1 GHz */

static struct task_struct *thread;
static atomic_t kicked;

/* Wake the thread, from any context, also while it is being stopped. */
void vgpu_cp_kick(void)
{
	struct task_struct *t;

	atomic_set(&kicked, 1);
	rcu_read_lock(); /* a task is freed after a grace period */
	t = READ_ONCE(thread);
	if (t)
		wake_up_process(t);
	rcu_read_unlock();
}

static void drop_part(struct vgpu *v, struct vgpu_part *p)
{
	struct vgpu_queue *q, *next;

	list_for_each_entry_safe(q, next, &v->queues, node)
		if (q->part == p)
			vgpu_queue_free(v, q);
}

void vgpu_cp_drop_all(struct vgpu *v)
{
	struct vgpu_part *p;

	vgpu_for_each_part(v, p)
		drop_part(v, p);
}

/* The MQD for the i-th XCC of a partition */
static struct v9_mqd *hiq_mqd(struct vgpu *v, struct vgpu_part *p, int i)
{
	return vgpu_gtt_ptr(v, p->hiq.mqd_addr[i], sizeof(struct v9_mqd));
}

/* The KIQ switched the HIQ on: fill its register files */
static bool hiq_load(struct vgpu *v, struct vgpu_part *p)
{
	struct v9_mqd *m;
	u32 *hqd;
	int i;

	for (i = 0; i < vgpu_num_xcc(v); i++) {
		m = hiq_mqd(v, p, i);
		if (!m)
			return false;
		hqd = vgpu_hqd(v, p->first_xcc + i, VGPU_HIQ_MEC, 0, 0);
		memcpy(hqd, (u32 *)m + VGPU_MQD_HQD_OFFSET, VGPU_HQD_REGS * sizeof(u32));
		hqd[HQD_ACTIVE] = 1;
	}
	p->hiq.rptr = 0;
	p->hiq.ready_at = 0;
	p->hiq.unmapping = false;
	p->hiq.loaded = true;
	return true;
}

/* The driver stopped its HIQ, or a reset did: nothing is mapped any more */
void vgpu_hiq_reset(struct vgpu *v, struct vgpu_part *p)
{
	drop_part(v, p);
	memset(p->vmid_pasid, 0, sizeof(p->vmid_pasid));
	p->hiq.loaded = false;
}

static bool map_queue(struct vgpu *v, struct vgpu_part *p, u32 pasid,
		      const struct vgpu_shader *shader, const u32 *pkt)
{
	u32 engine = pkt[1] >> 26 & 7, ext = pkt[1] >> 2 & 3;
	struct vgpu_queue_args args = {
		.pasid = pasid,
		.doorbell = pkt[2] >> 2 & 0x3ffffff,
		.mqd_addr = vgpu_join64(pkt + 3),
		.wptr_va = vgpu_join64(pkt + 5),
		.sdma = engine || ext,
		.shader = *shader,
	};

	return vgpu_queue_new(v, p, &args);
}

/* Addresses are in units of 256 bytes; above them, gfx 9.0 has the bit TRAP_EN. */
static struct vgpu_shader map_process(const struct pm4_mes_map_process *pkt)
{
	return (struct vgpu_shader){
		.tba = (pkt->sq_shader_tba_lo | (pkt->sq_shader_tba_hi & 0xffull) << 32) << 8,
		.tma = (pkt->sq_shader_tma_lo | (pkt->sq_shader_tma_hi & 0xffull) << 32) << 8,
		.lds_base = (u64)(pkt->sh_mem_bases >> 16) << 48,
	};
}

/* IB of a RUN_LIST: processes, each followed by its queues */
static void run_list_parse(struct vgpu *v, struct vgpu_part *p, const u32 *ib, u32 dwords)
{
	struct vgpu_shader shader = { .tba = 0 };
	u32 i = 0, n, pasid = 0;

	while (i < dwords) {
		n = ib[i] ? (ib[i] >> 16 & 0x3fff) + 2 : 1;
		if (i + n > dwords)
			break;
		switch (ib[i] >> 8 & 0xff) {
		case IT_MAP_PROCESS:
			pasid = ib[i + 1] & 0xffff;
			if (n * 4 >= sizeof(struct pm4_mes_map_process))
				shader = map_process((void *)(ib + i));
			vgpu_count(v, map_process);
			break;
		case IT_MAP_QUEUES:
			vgpu_count(v, map_queues);
			if (n != 7 || !map_queue(v, p, pasid, &shader, ib + i))
				vgpu_count(v, pm4_unknown);
			break;
		}
		i += n;
	}
}

static void run_list(struct vgpu *v, struct vgpu_part *p, const u32 *pkt, u64 now)
{
	u32 dwords = pkt[3] & 0xfffff;
	u32 *ib = vgpu_gtt_ptr(v, vgpu_join64(pkt + 1) & ~3ull, dwords * 4ul);

	vgpu_count(v, run_list);
	vgpu_engine_run(v, now);
	drop_part(v, p);
	if (!ib) {
		vgpu_count(v, pm4_unknown);
		return;
	}
	run_list_parse(v, p, ib, dwords);
	v->time = now;
	v->last_work = now;
	vgpu_slots_assign(v, p);
	v->resume_at = now + (vgpu_any_busy(v) ? v->times.restore_ns : 0);
	v->rotate_at = v->resume_at + v->times.rotate_ns;
}

static bool unmap_wants(struct vgpu_part *p, const u32 *pkt, struct vgpu_queue *q)
{
	if (q->part != p)
		return false;
	return (pkt[1] >> 4 & 3) != 1 || q->pasid == (pkt[2] & 0xffff);
}

static bool is_of(struct vgpu *v, struct vgpu_queue *q, u32 pid)
{
	struct amdgpu_vm *vm = vgpu_vm_of_pasid(&v->adev, q->pasid);

	return pid == 1 || (vm && vgpu_task(vm)->tgid == pid);
}

/*
 * The failed queue stays in its slot, and its doorbell in the HIQ's MQD tells
 * the driver; once, for the first queue that has a slot.
 */
static struct vgpu_queue *unmap_failed(struct vgpu *v, struct vgpu_part *p, const u32 *pkt)
{
	struct v9_mqd *m = hiq_mqd(v, p, 0);
	struct vgpu_queue *q;

	if (!v->faults.fail_preempt || !m)
		return NULL;
	list_for_each_entry(q, &v->queues, node)
		if (!q->sdma && q->pipe >= 0 && unmap_wants(p, pkt, q) &&
		    is_of(v, q, v->faults.fail_preempt)) {
			v->faults.fail_preempt = 0;
			m->queue_doorbell_id0 = q->doorbell;
			return q;
		}
	return NULL;
}

static void unmap_done(struct vgpu *v, struct vgpu_part *p, const u32 *pkt, u64 now)
{
	struct vgpu_queue *q, *next, *failed = unmap_failed(v, p, pkt);

	list_for_each_entry_safe(q, next, &v->queues, node) {
		if (!unmap_wants(p, pkt, q) || q == failed)
			continue;
		vgpu_queue_unload(v, q);
		vgpu_queue_free(v, q);
	}
	v->time = now; /* nothing ran meanwhile */
}

/*
 * UNMAP_QUEUES takes time: a fixed part, and with a packet in flight the grace
 * period that the driver set and the save.  Returns true when it is over.
 */
static bool unmap_queues(struct vgpu *v, struct vgpu_part *p, const u32 *pkt, u64 now)
{
	u64 grace = v->wait_times >> 8 & 0xff;

	if (p->hiq.unmapping) {
		if (p->hiq.ready_at == U64_MAX)
			return false;
		unmap_done(v, p, pkt, now);
		p->hiq.unmapping = false;
		return true;
	}
	vgpu_count(v, unmap_queues);
	vgpu_engine_run(v, now);
	v->running = NULL;
	p->hiq.unmapping = true;
	p->hiq.ready_at = now + v->times.unmap_ns;
	if (vgpu_any_busy(v))
		p->hiq.ready_at =
			grace ? p->hiq.ready_at + v->times.save_ns + grace * GRACE_UNIT_NS :
				U64_MAX;
	return false;
}

static void query_status(struct vgpu *v, const u32 *pkt)
{
	u64 *fence = vgpu_gtt_ptr(v, vgpu_join64(pkt + 3), 8);

	vgpu_count(v, query_status);
	if (fence && !READ_ONCE(v->faults.fail_fence))
		/* Order the fence after the writes of earlier packets. */
		smp_store_release(fence, vgpu_join64(pkt + 5));
}

/* Run one packet; false: it is not over yet */
static bool hiq_packet(struct vgpu *v, struct vgpu_part *p, const u32 *pkt, u64 now)
{
	switch (pkt[0] >> 8 & 0xff) {
	case IT_SET_RESOURCES:
		vgpu_count(v, set_resources);
		p->vmid_mask = pkt[1] & 0xffff;
		p->queue_mask = vgpu_join64(pkt + 2);
		break;
	case IT_RUN_LIST:
		run_list(v, p, pkt, now);
		break;
	case IT_UNMAP_QUEUES:
		return unmap_queues(v, p, pkt, now);
	case IT_QUERY_STATUS:
		query_status(v, pkt);
		break;
	case IT_WRITE_DATA:
		vgpu_count(v, write_data);
		vgpu_wreg(&v->adev, pkt[2] * 4, pkt[4]);
		break;
	case IT_NOP:
		vgpu_count(v, nop);
		break;
	default:
		vgpu_count(v, pm4_unknown);
	}
	return true;
}

static void hiq_report(struct vgpu *v, struct vgpu_part *p, struct v9_mqd *m, u64 wptr)
{
	u32 *hqd = vgpu_hqd(v, p->first_xcc, VGPU_HIQ_MEC, 0, 0);
	u32 size = 2u << (m->cp_hqd_pq_control & 0x3f);
	u32 *report;

	report = vgpu_gtt_ptr(v, vgpu_join64(&m->cp_hqd_pq_rptr_report_addr_lo), 4);
	if (report)
		WRITE_ONCE(*report, p->hiq.rptr % size);
	hqd[HQD_PQ_RPTR] = p->hiq.rptr % size;
	hqd[HQD_PQ_WPTR] = lower_32_bits(wptr);
	hqd[HQD_PQ_WPTR + 1] = upper_32_bits(wptr);
}

/* Run the packets of the HIQ that are due; returns when to come again, ns */
static u64 vgpu_hiq_step(struct vgpu *v, struct vgpu_part *p, u64 now)
{
	u64 *doorbell = (u64 __force *)vgpu_doorbell(v, p->hiq.doorbell);
	struct v9_mqd *m = hiq_mqd(v, p, 0);
	u32 pkt[8], size, i, n;
	u64 wptr;
	u32 *ring;

	if (!m || !doorbell)
		return U64_MAX;
	size = 2u << (m->cp_hqd_pq_control & 0x3f);
	ring = vgpu_gtt_ptr(v, vgpu_join64(&m->cp_hqd_pq_base_lo) << 8, size * 4ul);
	wptr = READ_ONCE(*doorbell);
	while (ring && p->hiq.rptr < wptr) {
		if (now < p->hiq.ready_at)
			return p->hiq.ready_at;
		for (i = 0; i < ARRAY_SIZE(pkt); i++)
			pkt[i] = ring[(p->hiq.rptr + i) % size];
		n = pkt[0] >> 16 & 0x3fff;
		n = pkt[0] && n != VGPU_NOP_ONE_DWORD ? n + 2 : 1;
		if (!hiq_packet(v, p, pkt, now))
			continue;
		p->hiq.rptr += n;
		hiq_report(v, p, m, wptr);
	}
	return U64_MAX;
}

/* Packets of a partition's HIQ that are due; when to come again, ns */
static u64 part_step(struct vgpu *v, struct vgpu_part *p, u64 now)
{
	/* Pairs with vgpu_kiq.c, which fills in the rest of hiq before. */
	if (!smp_load_acquire(&p->hiq.on)) {
		if (p->hiq.loaded)
			vgpu_hiq_reset(v, p);
		return U64_MAX;
	}
	if (!p->hiq.loaded && !hiq_load(v, p))
		return U64_MAX;
	return vgpu_hiq_step(v, p, now);
}

/* Does the engine run?  It has queues only from a scheduler, and stops for an unmap. */
bool vgpu_engine_on(struct vgpu *v)
{
	bool on = vgpu_chip->mes && v->mes.on;
	struct vgpu_part *p;

	vgpu_for_each_part(v, p) {
		if (p->hiq.loaded && p->hiq.unmapping)
			return false;
		on |= p->hiq.loaded;
	}
	return on;
}

static u64 device_step(struct vgpu *v, u64 now)
{
	struct vgpu_part *p;
	u64 next = U64_MAX;

	vgpu_count(v, wakeups);
	if (vgpu_chip->mes)
		next = vgpu_mes_step(v, now);
	vgpu_for_each_part(v, p)
		next = min(next, part_step(v, p, now));
	if (!vgpu_engine_on(v))
		return next;
	/* Work that a doorbell announces now must not begin before now. */
	vgpu_engine_run(v, now);
	vgpu_engine_poll(v, now);
	vgpu_engine_run(v, now);
	vgpu_rotate(v, now);
	return min(next, vgpu_engine_next(v, now));
}

/* Take one turn of all GPUs that have something due, or of all GPUs */
static u64 turn(bool all)
{
	u64 next = U64_MAX, now;
	struct vgpu *v;
	int i;

	mutex_lock(&vgpu_devices_lock);
	for (i = 0; i < VGPU_MAX_GPUS; i++) {
		v = vgpu_devices[i];
		if (!v)
			continue;
		mutex_lock(&v->lock);
		now = ktime_get_ns();
		if (all || now >= v->next_turn)
			v->next_turn = device_step(v, now);
		next = min(next, v->next_turn);
		mutex_unlock(&v->lock);
	}
	mutex_unlock(&vgpu_devices_lock);
	return next;
}

static int vgpu_cp(void *unused)
{
	ktime_t at;
	u64 next;

	while (!kthread_should_stop()) {
		next = turn(atomic_xchg(&kicked, 0));
		set_current_state(TASK_IDLE);
		if (!atomic_read(&kicked) && !kthread_should_stop()) {
			at = ns_to_ktime(next);
			schedule_hrtimeout(next == U64_MAX ? NULL : &at, HRTIMER_MODE_ABS);
		}
		__set_current_state(TASK_RUNNING);
	}
	return 0;
}

int vgpu_cp_init(void)
{
	struct task_struct *t = kthread_run(vgpu_cp, NULL, "vgpu-cp");

	if (IS_ERR(t))
		return PTR_ERR(t);
	/* Hardware does not wait for a CPU that polls for it. */
	set_user_nice(t, MIN_NICE);
	WRITE_ONCE(thread, t);
	return 0;
}

void vgpu_cp_exit(void)
{
	struct task_struct *t = thread;

	WRITE_ONCE(thread, NULL);
	kthread_stop(t);
}
