// SPDX-License-Identifier: GPL-2.0-only
/*
 * SDMA engines: each SDMA queue that is mapped works through its ring, in
 * virtual time like the AQL engine and beside it.  A packet has its effect at
 * its end, so one that an unmap interrupts restarts and nothing is done
 * twice.  Packets as SDMA 4.4 has them.
 *
 * All under vgpu.lock.
 */
#include "vega10_sdma_pkt_open.h"
#include "vgpu_priv.h"

#define SDMA_MAX_DWORDS	  16
#define SDMA_ATOMIC_ADD64 0x2f
#define POLL_MEM	  (1u << 31) /* POLL_REGMEM: memory, else a register */
#define WRITE_COUNT	  3	     /* the dword of WRITE before its data */

/* Dwords that a WRITE writes; the driver's ring test has 0 there for one */
static u32 write_dwords(const u32 *pkt)
{
	return (pkt[WRITE_COUNT] & SDMA_PKT_WRITE_UNTILED_DW_3_count_mask) + 1;
}

/* Length of a packet in dwords; 0: not understood */
static u32 packet_dwords(const u32 *pkt)
{
	u32 h = pkt[0], sub = h >> 8 & 0xff;

	switch (h & 0xff) {
	case SDMA_OP_NOP:
		return 1 + (h >> 16 & 0x3fff);
	case SDMA_OP_COPY:
		return sub == SDMA_SUBOP_COPY_LINEAR	      ? 7 :
		       sub == SDMA_SUBOP_COPY_LINEAR_SUB_WIND ? 13 :
								0;
	case SDMA_OP_WRITE:
		return sub == SDMA_SUBOP_WRITE_LINEAR ? WRITE_COUNT + 1 + write_dwords(pkt) : 0;
	case SDMA_OP_FENCE:
		return 4;
	case SDMA_OP_TRAP:
		return 2;
	case SDMA_OP_POLL_REGMEM:
		return sub ? 0 : 6;
	case SDMA_OP_ATOMIC:
		return 8;
	case SDMA_OP_CONST_FILL:
		return sub ? 0 : 5;
	case SDMA_OP_TIMESTAMP:
		return 3;
	default:
		return 0;
	}
}

static u32 *ring_at(struct vgpu *v, struct vgpu_queue *q, u32 dword)
{
	return vgpu_user_ptr(v, q->pasid, q->ring + (q->rptr + dword * 4) % q->ring_bytes, 4);
}

/*
 * The packet at the read pointer, and of a longer one its first dwords; false: none,
 * or its ring is not there.  The length is sure once the count of a WRITE is read.
 */
static bool packet_fetch(struct vgpu *v, struct vgpu_queue *q, u32 *pkt, u32 *dwords)
{
	u32 i, *p;

	pkt[WRITE_COUNT] = 0; /* not that of the last packet */
	for (i = 0, *dwords = 1; i < *dwords; i++) {
		p = ring_at(v, q, i);
		if (!p)
			return false;
		if (i < SDMA_MAX_DWORDS)
			pkt[i] = READ_ONCE(*p);
		if (!i || i == WRITE_COUNT)
			*dwords = packet_dwords(pkt);
		if (*dwords > q->ring_bytes / 4)
			*dwords = 0;
	}
	return true;
}

/* Is a value as it is waited for?  Functions 0 to 6: always < <= == != >= > */
bool vgpu_poll_holds(u32 function, u32 val, u32 ref)
{
	switch (function) {
	case 1:
		return val < ref;
	case 2:
		return val <= ref;
	case 3:
		return val == ref;
	case 4:
		return val != ref;
	case 5:
		return val >= ref;
	case 6:
		return val > ref;
	default:
		return true;
	}
}

static bool poll_over(struct vgpu *v, struct vgpu_queue *q, const u32 *pkt)
{
	u32 *p;

	if (!(pkt[0] & POLL_MEM))
		return true; /* an HDP flush */
	p = vgpu_user_ptr(v, q->pasid, vgpu_join64(pkt + 1), 4);
	if (!p)
		return false;
	return vgpu_poll_holds(pkt[0] >> 28 & 7, READ_ONCE(*p) & pkt[4], pkt[3]);
}

static u64 packet_bytes(const u32 *pkt)
{
	switch (pkt[0] & 0xff) {
	case SDMA_OP_COPY:
		if (pkt[0] >> 8 & 0xff)
			return (u64)((pkt[11] & 0x3fff) + 1) * ((pkt[11] >> 16 & 0x3fff) + 1) *
				       ((pkt[12] & 0x7ff) + 1)
			       << (pkt[0] >> 29);
		return (pkt[1] & 0x3fffffff) + 1ull;
	case SDMA_OP_WRITE:
		return write_dwords(pkt) * 4;
	case SDMA_OP_CONST_FILL:
		return (pkt[4] & 0x3fffff) + 1ull;
	default:
		return 0;
	}
}

static void copy(struct vgpu *v, struct vgpu_queue *q, u64 dst, u64 src, u64 bytes)
{
	void *to = vgpu_user_ptr(v, q->pasid, dst, bytes);
	void *from = vgpu_user_ptr(v, q->pasid, src, bytes);

	if (to && from)
		memmove(to, from, bytes);
}

/* A box of elements, line by line; pitches count elements and are one less */
static void copy_window(struct vgpu *v, struct vgpu_queue *q, const u32 *pkt)
{
	u32 shift = pkt[0] >> 29, x = (pkt[11] & 0x3fff) + 1;
	u32 y, ny = (pkt[11] >> 16 & 0x3fff) + 1, z, nz = (pkt[12] & 0x7ff) + 1;
	u64 src, dst;

	for (z = 0; z < nz; z++)
		for (y = 0; y < ny; y++) {
			src = ((pkt[4] & 0x7ff) + z) * ((pkt[5] & 0xfffffff) + 1ull) +
			      ((pkt[3] >> 16 & 0x3fff) + y) * ((pkt[4] >> 13) + 1ull) +
			      (pkt[3] & 0x3fff);
			dst = ((pkt[9] & 0x7ff) + z) * ((pkt[10] & 0xfffffff) + 1ull) +
			      ((pkt[8] >> 16 & 0x3fff) + y) * ((pkt[9] >> 13) + 1ull) +
			      (pkt[8] & 0x3fff);
			copy(v, q, vgpu_join64(pkt + 6) + (dst << shift),
			     vgpu_join64(pkt + 1) + (src << shift), (u64)x << shift);
		}
}

static void fill(struct vgpu *v, struct vgpu_queue *q, const u32 *pkt)
{
	u64 i, bytes = packet_bytes(pkt);
	u32 unit = 1u << (pkt[0] >> 30);
	void *p = vgpu_user_ptr(v, q->pasid, vgpu_join64(pkt + 1), bytes);

	for (i = 0; p && i + unit <= bytes; i += unit)
		memcpy(p + i, pkt + 3, unit);
}

static void atomic(struct vgpu *v, struct vgpu_queue *q, const u32 *pkt)
{
	u64 addr = vgpu_join64(pkt + 1);
	atomic64_t *p = vgpu_user_ptr(v, q->pasid, addr, 8);

	if ((pkt[0] >> 25 & 0x7f) != SDMA_ATOMIC_ADD64) {
		vgpu_count(v, sdma_unknown);
		return;
	}
	if (p && IS_ALIGNED(addr, 8))
		atomic64_add(vgpu_join64(pkt + 3), p);
}

void vgpu_store(struct vgpu *v, struct vgpu_queue *q, u64 addr, u64 val, size_t bytes)
{
	void *p = vgpu_user_ptr(v, q->pasid, addr, bytes);

	if (p)
		memcpy(p, &val, bytes);
}

/* All that its ring has behind the count */
static void write_data(struct vgpu *v, struct vgpu_queue *q, const u32 *pkt)
{
	u32 i, *from, *to;

	for (i = 0; i < write_dwords(pkt); i++) {
		from = ring_at(v, q, WRITE_COUNT + 1 + i);
		to = vgpu_user_ptr(v, q->pasid, vgpu_join64(pkt + 1) + i * 4, 4);
		if (from && to)
			*to = READ_ONCE(*from);
	}
}

static void packet_do(struct vgpu *v, struct vgpu_queue *q, const u32 *pkt)
{
	switch (pkt[0] & 0xff) {
	case SDMA_OP_COPY:
		if (pkt[0] >> 8 & 0xff)
			copy_window(v, q, pkt);
		else
			copy(v, q, vgpu_join64(pkt + 5), vgpu_join64(pkt + 3), packet_bytes(pkt));
		break;
	case SDMA_OP_WRITE:
		write_data(v, q, pkt);
		break;
	case SDMA_OP_FENCE:
		vgpu_store(v, q, vgpu_join64(pkt + 1), pkt[3], 4);
		break;
	case SDMA_OP_TRAP:
		vgpu_irq_sdma(v, q, pkt[1] & 0xfffffff);
		break;
	case SDMA_OP_ATOMIC:
		atomic(v, q, pkt);
		break;
	case SDMA_OP_CONST_FILL:
		fill(v, q, pkt);
		break;
	case SDMA_OP_TIMESTAMP:
		vgpu_store(v, q, vgpu_join64(pkt + 1), q->time / VGPU_CLOCK_NS, 8);
		break;
	}
	atomic64_add(packet_bytes(pkt), &v->counter[VGPU_CNT_sdma_bytes]);
}

static u64 packet_ns(struct vgpu *v, const u32 *pkt)
{
	return v->times.sdma_ns + (packet_bytes(pkt) * v->times.sdma_mib_ns >> 20);
}

/* The packet is over: its effect, and the read pointer in memory */
static void packet_end(struct vgpu *v, struct vgpu_queue *q, const u32 *pkt, u32 dwords)
{
	u64 *rptr;

	packet_do(v, q, pkt);
	vgpu_count(v, sdma_packets);
	q->work.magic = 0;
	q->rptr += dwords * 4;
	q->moved = true;
	rptr = vgpu_user_ptr(v, q->pasid, q->rptr_va, 8);
	if (rptr)
		WRITE_ONCE(*rptr, q->rptr);
}

/* An unknown packet stops its queue, as an illegal one stops an engine */
static bool packet_known(struct vgpu *v, struct vgpu_queue *q, u32 dwords)
{
	if (dwords)
		return true;
	vgpu_count(v, sdma_unknown);
	q->rptr = q->wptr;
	return false;
}

void vgpu_sdma_run(struct vgpu *v, struct vgpu_queue *q, u64 until)
{
	u32 pkt[SDMA_MAX_DWORDS] = { 0 }, dwords;
	u64 slice;

	q->time = max(q->time, v->resume_at);
	while (q->time < until && q->rptr < q->wptr) {
		if (!packet_fetch(v, q, pkt, &dwords) || !packet_known(v, q, dwords))
			break;
		if ((pkt[0] & 0xff) == SDMA_OP_POLL_REGMEM && !poll_over(v, q, pkt))
			break;
		if (!q->work.magic) {
			q->work.magic = VGPU_WORK_MAGIC;
			q->work.left_ns = vgpu_clamp_ns(packet_ns(v, pkt));
		}
		slice = min(q->work.left_ns, until - q->time);
		q->work.left_ns -= slice;
		q->time += slice;
		vgpu_busy_add(v, q, slice);
		if (!q->work.left_ns)
			packet_end(v, q, pkt, dwords);
	}
	if (q->rptr == q->wptr || !q->work.magic)
		q->time = until;
}
