// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the hardware slots that hold a queue.
 * Under the hardware scheduler the driver does not know them. A CP slot holds the queue whose MQD
 * address is in its CP_MQD_BASE_ADDR while CP_HQD_ACTIVE is set. Each XCC of a node has an MQD of
 * the queue and slots of its own. hqd_dump() costs 56 register reads, so it only confirms. Before
 * it comes hqd_is_occupied(), 1 read for an empty slot and at most 3 for another: it compares the
 * address of the ring, which is not unique, but a slot that has another one is not ours. The search
 * starts where the queue was last seen, the same pipe and queue in all XCCs as a rule.
 * A device that is lost has all registers read as ones, which no slot holds and the cheap look
 * takes for another ring; each read can take tens of ms, as long as PCI Express waits. So one
 * register is asked before the first search (gp_node_get_hw()), and after each XCC in which a queue
 * was not found. A device does not come back while it is awake here.
 * Under the hardware scheduler an SDMA queue has its RLC for life (load_sdma()). Under MES it may
 * have any, and its doorbell tells which. RB_ENABLE alone does not say that it is mapped there:
 * RLCs of real hosts keep it after the last process has gone, without a doorbell. So the doorbell
 * has to be enabled, and the queue's own.
 * Errors here and in waves.c are -enum gp_view_hardware: why it was not read.
 */

#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "layout.h"
#include "node.h"
#include "snapshot.h"

/* Registers of a dump by index, the same for gfx 9 to 12. */
#define HQD_MQD_BASE_LO	     0
#define HQD_MQD_BASE_HI	     1
#define HQD_ACTIVE	     2
#define HQD_VMID	     3
#define HQD_PQ_BASE_LO	     8
#define HQD_PQ_RPTR	     10
#define HQD_DOORBELL_CONTROL 15
#define HQD_PQ_WPTR_LO	     54
#define HQD_PQ_WPTR_HI	     55
#define HQD_N_REGS	     56

#define HQD_ACTIVE_BIT	  0x1
#define HQD_VMID_MASK	  0xf
#define HQD_MQD_BASE_MASK 0x0000fffffffffffcull

/* Reads of hqd_is_occupied() at most */
#define TEST_N_REGS 3

/* The ring's address is in units of this many bits. */
#define PQ_BASE_SHIFT 8
#define RING_LOW_BITS ((1ull << PQ_BASE_SHIFT) - 1)

/* Two registers of a dump as one number, the lower half first. */
static u64 gp_pair(const uint32_t (*regs)[2], u32 lo)
{
	return (u64)regs[lo + 1][1] << 32 | regs[lo][1];
}

/* The index of a doorbell, of a register that has its offset. */
static u32 gp_doorbell(u32 offset)
{
	return (offset & 0x0ffffffc) >> 2;
}

static bool gp_no_answer(const uint32_t (*regs)[2], u32 n_regs)
{
	u32 i;

	for (i = 0; i < n_regs; i++)
		if (regs[i][1] != GP_NO_ANSWER)
			return false;
	return true;
}

/* The dump has the registers one after the other, by their addresses. */
static bool in_order(const uint32_t (*regs)[2], u32 n_regs)
{
	u32 i;

	for (i = 1; i < n_regs; i++)
		if (regs[i][0] != regs[0][0] + i * sizeof(u32))
			return false;
	return true;
}

/* A driver without kfd_node has one XCC, and these hooks no parameter for it. */
static int call_dump(const struct gp_node *n, u32 slot, u32 inst, uint32_t (**regs)[2], u32 *n_regs)
{
	u32 pipe = slot / n->n_queues, queue = slot % n->n_queues;

	if (gp_layout.has_nodes)
		return n->hqd_dump(n->adev, pipe, queue, regs, n_regs, inst);
	return n->hqd_dump_gpu(n->adev, pipe, queue, regs, n_regs);
}

/* The slot has the ring, as the cheap look has it. */
static bool may_hold(struct gp_node *n, u64 ring, u32 slot, u32 inst)
{
	u32 pipe = slot / n->n_queues, queue = slot % n->n_queues;

	if (!n->hqd_is_occupied)
		return true;
	gp_node_add_reads(n, TEST_N_REGS);
	if (gp_layout.has_nodes)
		return n->hqd_is_occupied(n->adev, ring, pipe, queue, inst);
	return n->hqd_is_occupied_gpu(n->adev, ring, pipe, queue);
}

/*
 * Dumps allocate their result. Reclaim may call the driver's MMU notifiers then, which only try for
 * the reset lock (add_queue_mes(), remove_queue_mes()); it must not start I/O.
 */
int gp_hqd_dump(struct gp_node *n, u32 slot, u32 inst, struct gp_hqd *hqd)
{
	unsigned int flags = memalloc_noio_save();
	uint32_t(*regs)[2] = NULL;
	u32 n_regs = 0;
	int ret;

	ret = call_dump(n, slot, inst, &regs, &n_regs);
	memalloc_noio_restore(flags);
	if (ret)
		return -GP_VIEW_HARDWARE_FAILED;
	gp_node_add_reads(n, n_regs);
	ret = -GP_VIEW_HARDWARE_UNSUPPORTED;
	/* Refuse another layout of the dump: guesses are no good. */
	if (n_regs != HQD_N_REGS || !in_order(regs, n_regs))
		goto out;
	ret = gp_no_answer(regs, n_regs) ? gp_node_lose(n) : 0;
	if (ret)
		goto out;
	hqd->mqd = gp_pair(regs, HQD_MQD_BASE_LO) & HQD_MQD_BASE_MASK;
	hqd->ring = gp_pair(regs, HQD_PQ_BASE_LO) << PQ_BASE_SHIFT;
	hqd->active = regs[HQD_ACTIVE][1] & HQD_ACTIVE_BIT;
	hqd->vmid = regs[HQD_VMID][1] & HQD_VMID_MASK;
	hqd->rptr = regs[HQD_PQ_RPTR][1];
	hqd->wptr = gp_pair(regs, HQD_PQ_WPTR_LO);
	hqd->doorbell = gp_doorbell(regs[HQD_DOORBELL_CONTROL][1]);
out:
	kfree(regs);
	return ret;
}

/* Registers of an SDMA dump by distance in dwords, the same for gfx 9 to 12. */
#define SDMA_RB_CNTL 0
#define SDMA_RPTR    3
#define SDMA_WPTR    5

#define SDMA_RB_ENABLE	     0x1
#define SDMA_VMID_SHIFT	     24
#define SDMA_VMID_MASK	     0xf
#define SDMA_DOORBELL_ENABLE 0x10000000

/* Layouts of the other registers by generation: gfx 9 to 11, and 12. */
struct sdma_layout {
	u32 n_regs_min, n_regs_max, doorbell, doorbell_offset;
};

static const struct sdma_layout sdma_layout_9 = { 42, 44, 0x12, 0x2b };
static const struct sdma_layout sdma_layout_12 = { 49, 49, 0x0f, 0x11 };

#define GFX_12 120000

/* A register of an SDMA dump; clears *known when the dump does not have it. */
static u32 sdma_reg(const uint32_t (*regs)[2], u32 n_regs, u32 distance, bool *known)
{
	u32 i;

	for (i = 0; i < n_regs; i++)
		if (regs[i][0] == regs[0][0] + distance * sizeof(u32))
			return regs[i][1];
	*known = false;
	return 0;
}

static int rlc_shows(const struct gp_node *n, const uint32_t (*regs)[2], u32 n_regs,
		     struct gp_hqd *hqd)
{
	const struct sdma_layout *l = n->gfx >= GFX_12 ? &sdma_layout_12 : &sdma_layout_9;
	bool known = n_regs >= l->n_regs_min && n_regs <= l->n_regs_max;
	u32 cntl = sdma_reg(regs, n_regs, SDMA_RB_CNTL, &known);
	u32 enable = sdma_reg(regs, n_regs, l->doorbell, &known);
	u32 offset = sdma_reg(regs, n_regs, l->doorbell_offset, &known);

	if (!known)
		return -GP_VIEW_HARDWARE_UNSUPPORTED;
	hqd->active = (cntl & SDMA_RB_ENABLE) && (enable & SDMA_DOORBELL_ENABLE);
	hqd->doorbell = gp_doorbell(offset);
	hqd->vmid = cntl >> SDMA_VMID_SHIFT & SDMA_VMID_MASK;
	hqd->rptr = gp_pair(regs, SDMA_RPTR);
	hqd->wptr = gp_pair(regs, SDMA_WPTR);
	return 0;
}

/* An RLC of the node holds the queue: 1, 0 or an error. */
static int rlc_holds(struct gp_node *n, const struct gp_queue *q, u32 engine, u32 rlc,
		     struct gp_hqd *hqd)
{
	uint32_t(*regs)[2] = NULL;
	unsigned int flags;
	u32 n_regs = 0;
	int ret;

	flags = memalloc_noio_save();
	ret = n->hqd_sdma_dump(n->adev, n->sdma_first + engine, rlc, &regs, &n_regs);
	memalloc_noio_restore(flags);
	if (ret)
		return -GP_VIEW_HARDWARE_FAILED;
	gp_node_add_reads(n, n_regs);
	ret = gp_no_answer(regs, n_regs) ? gp_node_lose(n) : rlc_shows(n, regs, n_regs, hqd);
	kfree(regs);
	return ret ?: hqd->active && hqd->doorbell == q->doorbell;
}

/* The RLC that MES has given to the queue; q->slot is the number of it then. */
static int search_rlcs(struct gp_node *n, struct gp_queue *q, struct gp_hqd *hqd)
{
	u32 count = n->sdma_engines * n->sdma_rlcs, first, i, at;
	int ret;

	first = q->slot >= 0 && q->slot < count ? q->slot : 0;
	for (i = 0; i < count; i++) {
		at = (first + i) % count;
		ret = gp_node_rest(n) ?: rlc_holds(n, q, at / n->sdma_rlcs, at % n->sdma_rlcs, hqd);
		if (ret < 0)
			return ret;
		if (!ret)
			continue;
		q->slot = at;
		q->engine = at / n->sdma_rlcs;
		q->rlc = at % n->sdma_rlcs;
		return 1;
	}
	return 0;
}

static int sdma_find(struct gp_node *n, struct gp_queue *q, struct gp_hqd *hqd)
{
	if (!n->hqd_sdma_dump || !n->sdma_rlcs)
		return -GP_VIEW_HARDWARE_UNSUPPORTED;
	if (n->sdma_by_doorbell)
		return search_rlcs(n, q, hqd);
	if (q->engine < 0)
		return -GP_VIEW_HARDWARE_UNSUPPORTED;
	return rlc_holds(n, q, q->engine, q->rlc, hqd);
}

/* The device answers, if there is no short way to ask: by a slot. */
static int check_slot(struct gp_node *n)
{
	u32 slot = find_first_bit(n->cp_slots, n->n_slots);
	struct gp_hqd hqd;

	if (n->get_iq_wait_times || slot >= n->n_slots)
		return 0;
	return gp_hqd_dump(n, slot, gp_node_first_xcc(n), &hqd);
}

/* Does one slot of one XCC hold the queue? 1, 0 or an error. */
static int slot_holds(struct gp_node *n, const struct gp_queue *q, u32 inst, u32 slot, u64 mqd,
		      struct gp_hqd *hqd)
{
	int ret;

	if (!may_hold(n, q->ring, slot, inst))
		return 0;
	ret = gp_hqd_dump(n, slot, inst, hqd);
	if (ret)
		return ret;
	/* KFD gives the MQD addresses of a queue to the next one. */
	return hqd->active && hqd->doorbell == q->doorbell &&
	       hqd->mqd == (mqd & HQD_MQD_BASE_MASK) && hqd->ring == (q->ring & ~RING_LOW_BITS);
}

/* Does any slot of one XCC hold the queue? Then q->slot is that slot. */
static int xcc_holds(struct gp_node *n, struct gp_queue *q, u32 inst, u64 mqd, struct gp_hqd *hqd)
{
	u32 first = q->slot >= 0 && q->slot < n->n_slots ? q->slot : 0;
	u32 i, slot;
	int ret;

	for (i = 0; i < n->n_slots; i++) {
		slot = (first + i) % n->n_slots;
		if (!test_bit(slot, n->cp_slots))
			continue;
		ret = gp_node_rest(n) ?: slot_holds(n, q, inst, slot, mqd, hqd);
		if (ret > 0)
			q->slot = slot;
		if (ret)
			return ret;
	}
	return 0;
}

/* Add a record of the queue: of one of its slots, or that says why it has none known. */
static struct gp_queue *add_slot(const struct gp_queue *q, struct gp_list *slots)
{
	struct gp_queue *s;

	if (!slots || slots->n >= slots->room)
		return NULL;
	s = &slots->q[slots->n++];
	*s = *q;
	return s;
}

/* Take a slot down for the queue, the first also as the queue's own. */
static void note_slot(const struct gp_node *n, struct gp_queue *q, const struct gp_hqd *hqd,
		      int xcc, struct gp_list *slots)
{
	struct gp_queue *s = add_slot(q, slots);

	if (!q->active++) {
		q->rptr = hqd->rptr;
		q->wptr = hqd->wptr;
	}
	if (!s)
		return;
	s->active = 1;
	s->vmid = hqd->vmid;
	s->rptr = hqd->rptr;
	s->wptr = hqd->wptr;
	if (xcc < 0)
		return;
	s->xcc = xcc;
	s->pipe = q->slot / n->n_queues;
	s->queue = q->slot % n->n_queues;
}

static int find_cp_slots(struct gp_node *n, struct gp_queue *q, struct gp_list *slots)
{
	unsigned long mask = n->xcc_mask;
	u64 mqd = q->mqd;
	struct gp_hqd hqd;
	unsigned int inst;
	int ret;

	for_each_set_bit(inst, &mask, 32) {
		if (fatal_signal_pending(current))
			return -GP_VIEW_HARDWARE_FAILED;
		ret = xcc_holds(n, q, inst, mqd, &hqd);
		if (ret > 0)
			note_slot(n, q, &hqd, inst, slots);
		else if (!ret)
			ret = gp_node_check(n, inst);
		if (ret < 0)
			return ret;
		mqd += q->mqd_stride;
	}
	return q->active < q->slots ? check_slot(n) : 0;
}

static int find_sdma_slot(struct gp_node *n, struct gp_queue *q, struct gp_list *slots)
{
	struct gp_hqd hqd = {};
	int ret = sdma_find(n, q, &hqd);

	if (ret > 0)
		note_slot(n, q, &hqd, -1, slots);
	return min(ret, 0);
}

/* The slots of a queue of a node that can be read: 0 or an error. */
static int find_slots(struct gp_node *n, struct gp_queue *q, struct gp_list *slots)
{
	q->active = 0;
	if (gp_queue_is_cp(q->type))
		return find_cp_slots(n, q, slots);
	return q->type >= 0 ? find_sdma_slot(n, q, slots) : -GP_VIEW_HARDWARE_UNSUPPORTED;
}

void gp_hqd_read(struct gp_node *n, struct gp_queue *q, struct gp_list *slots)
{
	struct gp_queue *s;
	int ret;

	q->first_slot = slots ? slots->n : 0;
	q->hardware = gp_node_get_hw(n);
	if (q->hardware == GP_VIEW_HARDWARE_READ) {
		ret = find_slots(n, q, slots);
		gp_node_put_hw(n);
		if (!ret)
			return;
		gp_queue_forget_hardware(q);
		q->hardware = -ret;
		if (slots)
			slots->n = q->first_slot;
	}
	gp_stat_unread(q->hardware);
	s = add_slot(q, slots);
	if (!s)
		return;
	s->doorbell = -1;
	s->engine = -1;
	s->rlc = -1;
}

int gp_hqd_count(struct gp_node *n, int *active)
{
	struct gp_hqd hqd;
	unsigned int slot;
	int ret, count = 0;

	for_each_set_bit(slot, n->cp_slots, n->n_slots) {
		ret = gp_node_rest(n) ?: gp_hqd_dump(n, slot, gp_node_first_xcc(n), &hqd);
		if (ret)
			return ret;
		count += hqd.active;
	}
	ret = gp_node_check(n, gp_node_first_xcc(n));
	if (!ret)
		*active = count;
	return ret;
}
