// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine: packets of the mapped compute queues, in virtual time; those of PM4 are in
 * vgpu_pm4.c.
 *
 * One packet at a time has the GPU, all XCCs of it.  Of the queues that are
 * ready, those of the highest priority take turns of quantum_ns; a queue of
 * higher priority that becomes ready goes first at once, and the packet that it
 * displaces goes on later where it was.  Time is counted, not ticked: a late
 * turn of the command processor retires what was due in between.
 *
 * A packet is consumed (its header made invalid, the read index moved) when it
 * begins.  All under vgpu.lock.
 */
#include "vgpu_engine.h"
#include "vgpu_priv.h"

#define AQL_BYTES 64
enum { VENDOR_PM4_IB = 1, VENDOR_BARRIER_VALUE };
enum { AQL_VENDOR, AQL_INVALID, AQL_DISPATCH, AQL_AND, AQL_AGENT, AQL_OR };

/* Places in packets and signals, from the HSA specification, in bytes */
#define AQL_DEPS	  8  /* barrier: five dependent signals */
#define AQL_KERNARG	  40 /* dispatch */
#define AQL_COMPLETION	  56
#define AQL_VENDOR_FORMAT 2 /* vendor: AMD's packets */
#define AQL_VENDOR_SIGNAL 8
#define AQL_VENDOR_VALUE  16
#define AQL_VENDOR_MASK	  24
#define AQL_VENDOR_COND	  32
#define SIGNAL_VALUE	  8
#define SIGNAL_MAILBOX	  16
#define SIGNAL_EVENT	  24
#define SIGNAL_START	  32
#define SIGNAL_END	  40
#define SIGNAL_BYTES	  64

#define POLL_MIN_NS   20000ull /* doorbells are never looked at more often */
#define IDLE_AFTER_NS 2000000ull
#define POLL_IDLE_NS  2000000ull /* then; all GPUs at once */
#define DEEP_AFTER_NS 50000000ull
#define POLL_DEEP_NS  5000000ull
#define POLL_CODE_NS  100000ull /* the end of a packet whose code is executed is not known */

static s64 *signal_value(struct vgpu *v, struct vgpu_queue *q, u64 signal)
{
	void *p = vgpu_user_ptr(v, q->pasid, signal, SIGNAL_BYTES);

	return p ? p + SIGNAL_VALUE : NULL;
}

/* Barrier: AND waits for all of its signals to be zero, OR for one */
static bool barrier_open(struct vgpu *v, struct vgpu_queue *q, const void *pkt, bool any)
{
	const u64 *dep = pkt + AQL_DEPS;
	bool seen = false, zero;
	s64 *value;
	int i;

	for (i = 0; i < 5; i++) {
		if (!dep[i])
			continue;
		seen = true;
		value = signal_value(v, q, dep[i]);
		zero = value && !READ_ONCE(*value);
		if (any && zero)
			return true;
		if (!any && !zero)
			return false;
	}
	return !any || !seen;
}

/* AMD's barrier on a signal's value; its other packet waits for nothing */
static bool vendor_open(struct vgpu *v, struct vgpu_queue *q, const void *pkt)
{
	s64 *value, ref = *(const s64 *)(pkt + AQL_VENDOR_VALUE), is;
	u64 signal = *(const u64 *)(pkt + AQL_VENDOR_SIGNAL);

	if (*(const u8 *)(pkt + AQL_VENDOR_FORMAT) != VENDOR_BARRIER_VALUE || !signal)
		return true;
	value = signal_value(v, q, signal);
	if (!value)
		return false;
	is = READ_ONCE(*value) & *(const s64 *)(pkt + AQL_VENDOR_MASK);
	switch (*(const u32 *)(pkt + AQL_VENDOR_COND)) {
	case 0:
		return is == ref;
	case 1:
		return is != ref;
	case 2:
		return is < ref;
	case 3:
		return is >= ref;
	default:
		return true;
	}
}

static bool packet_open(struct vgpu *v, struct vgpu_queue *q, const void *pkt, u8 type)
{
	switch (type) {
	case AQL_AND:
	case AQL_OR:
		return barrier_open(v, q, pkt, type == AQL_OR);
	case AQL_VENDOR:
		return vendor_open(v, q, pkt);
	default:
		return true;
	}
}

static bool code_begin(struct vgpu *v, struct vgpu_queue *q, const void *pkt, u64 at)
{
	struct engine_launch launch = { .packet_at = at };

	memcpy(launch.packet, pkt, sizeof(launch.packet));
	return vgpu_shader_begin(v, q, &launch);
}

static void dispatch_begin(struct vgpu *v, struct vgpu_queue *q, const void *pkt, u64 at)
{
	u64 kernarg = *(const u64 *)(pkt + AQL_KERNARG);
	struct vgpu_kernarg *arg = NULL;

	q->work.left_ns = vgpu_clamp_ns(v->times.packet_ns);
	if (vgpu_shader_there() && code_begin(v, q, pkt, at))
		return;
	if (kernarg)
		arg = vgpu_user_ptr(v, q->pasid, kernarg, sizeof(*arg));
	if (!arg || arg->magic != VGPU_KERNARG_MAGIC)
		return;
	q->work.left_ns = vgpu_clamp_ns(arg->duration_ns);
	q->work.address = arg->address;
	q->work.addend = arg->addend;
}

/* Begin the packet at the read pointer, if there is one that may */
static bool packet_begin(struct vgpu *v, struct vgpu_queue *q)
{
	u64 at = q->ring + q->rptr % q->ring_packets * AQL_BYTES;
	u64 *rptr = vgpu_user_ptr(v, q->pasid, q->rptr_va, 8);
	void *pkt = vgpu_user_ptr(v, q->pasid, at, AQL_BYTES);
	u8 type;

	if (!pkt || !rptr)
		return false;
	/* The packet is whole: programs write its header last. */
	type = smp_load_acquire((u16 *)pkt) & 0xff;
	if (type == AQL_INVALID || type > AQL_OR)
		return false;
	if (!packet_open(v, q, pkt, type))
		return false;
	memset(&q->work, 0, sizeof(q->work));
	if (type == AQL_DISPATCH) {
		dispatch_begin(v, q, pkt, at);
		vgpu_waves_begin(v, q, pkt);
	} else {
		q->work.left_ns = vgpu_clamp_ns(v->times.barrier_ns);
	}
	q->work.signal = *(u64 *)(pkt + AQL_COMPLETION);
	q->work.start = v->time;
	q->work.magic = VGPU_WORK_MAGIC;
	/* The packet was read: a program may write the next one here. */
	smp_store_release((u16 *)pkt, AQL_INVALID);
	WRITE_ONCE(*rptr, ++q->rptr);
	q->moved = true;
	vgpu_count(v, dispatched);
	return true;
}

/* Times, value, and who waits for an event: its mailbox and an interrupt */
static void signal_complete(struct vgpu *v, struct vgpu_queue *q, void *signal)
{
	u64 mailbox = READ_ONCE(*(u64 *)(signal + SIGNAL_MAILBOX));
	u32 event = READ_ONCE(*(u32 *)(signal + SIGNAL_EVENT));
	u64 *box = NULL;

	WRITE_ONCE(*(u64 *)(signal + SIGNAL_START), q->work.start / VGPU_CLOCK_NS);
	WRITE_ONCE(*(u64 *)(signal + SIGNAL_END), v->time / VGPU_CLOCK_NS);
	atomic64_dec((atomic64_t *)(signal + SIGNAL_VALUE));
	if (!mailbox)
		return;
	box = vgpu_user_ptr(v, q->pasid, mailbox, 8);
	if (box)
		WRITE_ONCE(*box, event);
	vgpu_irq_signal(v, q, event);
}

static void packet_end(struct vgpu *v, struct vgpu_queue *q)
{
	struct vgpu_work *w = &q->work;
	u64 *counter = NULL;
	void *signal = NULL;

	if (w->address && IS_ALIGNED(w->address, 8))
		counter = vgpu_user_ptr(v, q->pasid, w->address, 8);
	if (counter)
		atomic64_add(w->addend, (atomic64_t *)counter);
	if (w->signal)
		signal = vgpu_user_ptr(v, q->pasid, w->signal, SIGNAL_BYTES);
	if (signal)
		signal_complete(v, q, signal);
	if (!q->aql)
		vgpu_pm4_end(v, q);
	w->magic = 0;
	q->moved = true;
	vgpu_count(v, retired);
}

/* Has the queue something to run at v->time?  Begins it. */
static bool queue_ready(struct vgpu *v, struct vgpu_queue *q)
{
	if (!q->loaded || !q->dwords || v->time < q->ready_at)
		return false;
	if (q->work.magic)
		return true;
	return q->rptr < q->wptr && (q->aql ? packet_begin(v, q) : vgpu_pm4_begin(v, q));
}

/*
 * Whose turn is it?  The running queue keeps it until its quantum ends or a
 * higher priority is ready; then the next of its equals, in run-list order.
 */
static struct vgpu_queue *engine_pick(struct vgpu *v)
{
	struct vgpu_queue *q, *best = NULL, *next = NULL;
	bool past = false;

	list_for_each_entry(q, &v->queues, node) {
		if (!queue_ready(v, q))
			continue;
		if (!best || q->priority > best->priority) {
			best = q;
			next = NULL;
		}
		if (past && q->priority == best->priority && !next)
			next = q;
		if (q == v->running)
			past = true;
	}
	if (!best)
		return NULL;
	if (v->running && v->running->work.magic && v->running->priority == best->priority) {
		if (v->time < v->quantum_end)
			return v->running;
		if (next)
			best = next;
	} else if (next && past && v->running->priority == best->priority) {
		best = next;
	}
	v->quantum_end = v->time + v->times.quantum_ns;
	return best;
}

/*
 * A GPU that had nothing to do begins a packet when it finds it, not when it
 * last looked: no packet may start before it was submitted.
 */
void vgpu_engine_run(struct vgpu *v, u64 until)
{
	struct vgpu_queue *q;
	u64 slice;

	if (v->idle)
		v->time = max(v->time, until);
	v->time = max(v->time, v->resume_at);
	while (v->time <= until) {
		q = engine_pick(v);
		v->running = q;
		v->idle = !q;
		if (!q)
			v->time = until;
		if (v->time == until)
			break;
		slice = min3(q->work.left_ns, until - v->time,
			     max(v->quantum_end, v->time + 1) - v->time);
		if (q->work.dispatch)
			slice = vgpu_shader_run(v, q, slice);
		else
			q->work.left_ns -= slice;
		v->time += slice;
		vgpu_busy_add(v, q, slice);
		v->last_work = v->time;
		if (!q->work.left_ns)
			packet_end(v, q);
	}
	list_for_each_entry(q, &v->queues, node) {
		if (q->sdma && q->loaded)
			vgpu_sdma_run(v, q, until);
		if (q->loaded && q->moved)
			vgpu_slot_sync(v, q);
	}
}

/* Read the doorbells: AQL writes the number of the last packet, PM4 and SDMA what was written */
void vgpu_engine_poll(struct vgpu *v, u64 now)
{
	struct vgpu_queue *q;
	u64 doorbell;

	list_for_each_entry(q, &v->queues, node) {
		if (!q->loaded || !(q->dwords || q->sdma))
			continue;
		doorbell = READ_ONCE(*(u64 __force *)vgpu_doorbell(v, q->doorbell));
		if (doorbell == q->doorbell_seen)
			continue;
		q->doorbell_seen = doorbell;
		q->wptr = max(q->wptr, doorbell + q->aql);
		q->moved = true;
		v->last_work = now;
	}
}

bool vgpu_any_busy(struct vgpu *v)
{
	struct vgpu_queue *q;

	list_for_each_entry(q, &v->queues, node)
		if (q->work.magic)
			return true;
	return false;
}

/* Returns when this GPU wants its next turn, ns; U64_MAX: when it is notified */
u64 vgpu_engine_next(struct vgpu *v, u64 now)
{
	struct vgpu_queue *q;
	bool any = false;
	u64 next, idle;

	list_for_each_entry(q, &v->queues, node)
		any |= q->loaded;
	if (!any)
		return U64_MAX;
	idle = now - v->last_work;
	if (idle > IDLE_AFTER_NS && !vgpu_any_busy(v)) {
		next = idle > DEEP_AFTER_NS ? POLL_DEEP_NS : POLL_IDLE_NS;
		return (div64_u64(now, next) + 1) * next;
	}
	next = now + v->times.poll_ns;
	if (v->resume_at > now)
		next = min(next, v->resume_at);
	if (v->running && v->running->work.magic)
		next = min(next, v->running->work.dispatch ? now + POLL_CODE_NS :
							     v->time + v->running->work.left_ns);
	return max(next, now + POLL_MIN_NS);
}
