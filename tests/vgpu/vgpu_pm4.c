// SPDX-License-Identifier: GPL-2.0-only
/*
 * PM4 packets of user queues: those that AMD's kfdtest submits.  They take turns with the packets
 * of AQL queues (vgpu_aql.c).  A packet has its effect at its end, so one that an unmap interrupts
 * restarts and nothing is done twice.  CP's state between two packets is where hardware keeps it:
 * the compute registers and the place in an indirect buffer are in the MQD.
 *
 * All under vgpu.lock.
 */
#include "soc15d.h"
#include "vgpu_engine.h"
#include "vgpu_priv.h"

#define PM4_DWORDS	  8 /* dwords that are copied; the rest of a packet is read in place */
#define IB_DWORDS	  4 /* length of INDIRECT_BUFFER */
#define IB_SIZE		  0xfffff /* dwords of an indirect buffer */
#define USES_THREADS	  BIT(5)  /* DISPATCH_DIRECT counts work-items, not workgroups */
#define COMPUTE_FIRST	  0x2e00  /* COMPUTE_DISPATCH_INITIATOR, the second dword of an MQD */
#define COMPUTE_COUNT	  0x50	  /* up to COMPUTE_USER_DATA_15 */
#define COMPUTE_PGM_RSRC3 0x2e2d  /* gc_9_4_3_offset.h; the MQD has no name for it */

/* In RELEASE_MEM and WAIT_REG_MEM (kfd_pm4_headers_ai.h) */
enum { DATA_32 = 1, DATA_64, DATA_CLOCK };
enum { INT_ALONE = 1, INT_AFTER_WRITE };
#define WAIT_FOR_MEMORY BIT(4)

/* The place of the next packet, in the ring or in an indirect buffer, and what is there */
struct pm4_source {
	u64 base;
	u32 size, at; /* dwords */
	u64 left;
	bool ib;
};

/* A compute register, in the MQD */
static u32 *compute_reg(struct vgpu_queue *q, u32 reg)
{
	return (u32 *)q->mqd + 1 + reg - COMPUTE_FIRST;
}

static struct pm4_source source_of(struct vgpu_queue *q)
{
	const struct v9_mqd *m = q->mqd;
	u32 dwords = m->cp_hqd_ib_control & IB_SIZE;

	if (m->cp_hqd_ib_rptr < dwords)
		return (struct pm4_source){ .base = vgpu_join64(&m->cp_hqd_ib_base_addr_lo),
					    .size = dwords,
					    .at = m->cp_hqd_ib_rptr,
					    .left = dwords - m->cp_hqd_ib_rptr,
					    .ib = true };
	return (struct pm4_source){ .base = q->ring,
				    .size = q->ring_packets,
				    .at = q->rptr % q->ring_packets,
				    .left = q->wptr - q->rptr };
}

static u32 *dword_at(struct vgpu *v, struct vgpu_queue *q, const struct pm4_source *s, u32 i)
{
	return vgpu_user_ptr(v, q->pasid, s->base + (s->at + i) % s->size * 4ull, 4);
}

/* The opcode; padding is as a NOP */
static u32 opcode(u32 header)
{
	return CP_PACKET_GET_TYPE(header) == PACKET_TYPE2 ? PACKET3_NOP :
							    CP_PACKET3_GET_OPCODE(header);
}

/* Length of a packet in dwords; 0: not understood */
static u32 packet_dwords(u32 header, bool ib)
{
	u32 count = CP_PACKET_GET_COUNT(header);

	if (CP_PACKET_GET_TYPE(header) == PACKET_TYPE2)
		return 1;
	if (CP_PACKET_GET_TYPE(header) != PACKET_TYPE3)
		return 0;
	switch (CP_PACKET3_GET_OPCODE(header)) {
	case PACKET3_NOP:
		return count == VGPU_NOP_ONE_DWORD ? 1 : count + 2;
	case PACKET3_SET_SH_REG:
	case PACKET3_ACQUIRE_MEM:
	case PACKET3_EVENT_WRITE:
		return count + 2;
	case PACKET3_WRITE_DATA:
		return count < 3 ? 0 : count + 2;
	case PACKET3_RELEASE_MEM:
		return count < 6 ? 0 : count + 2;
	case PACKET3_WAIT_REG_MEM:
		return count < 4 ? 0 : count + 2;
	case PACKET3_DISPATCH_DIRECT:
		return count < 3 ? 0 : count + 2;
	case PACKET3_INDIRECT_BUFFER:
		return count + 2 != IB_DWORDS || ib ? 0 : IB_DWORDS;
	default:
		return 0;
	}
}

/*
 * The packet at the read pointer: its first dwords, and how many it has.  False: none, or its
 * memory is not there.  An unknown packet stops its queue, as an illegal one stops CP.
 */
static bool packet_fetch(struct vgpu *v, struct vgpu_queue *q, struct pm4_source *s, u32 *pkt,
			 u32 *dwords)
{
	u32 i, *p;

	*s = source_of(q);
	for (i = 0, *dwords = 1; i < *dwords && i < PM4_DWORDS; i++) {
		p = dword_at(v, q, s, i);
		if (!p)
			return false;
		pkt[i] = READ_ONCE(*p);
		if (i)
			continue;
		*dwords = packet_dwords(pkt[0], s->ib);
		if (*dwords > s->left && !s->ib)
			return false;
		if (!*dwords || *dwords > s->left) {
			vgpu_count(v, pm4_unknown);
			q->rptr = q->wptr;
			return false;
		}
	}
	return true;
}

static bool wait_is_over(struct vgpu *v, struct vgpu_queue *q, const u32 *pkt)
{
	u32 *p;

	if (!(pkt[1] & WAIT_FOR_MEMORY))
		return true;
	p = vgpu_user_ptr(v, q->pasid, vgpu_join64(pkt + 2) & ~3ull, 4);
	return p && vgpu_poll_holds(pkt[1] & 7, READ_ONCE(*p) & pkt[5], pkt[4]);
}

/* The sizes go into an AQL packet, for all who look at one */
static void dispatch_begin(struct vgpu *v, struct vgpu_queue *q, const u32 *pkt)
{
	const struct v9_mqd *m = q->mqd;
	const u32 *size = &m->compute_num_thread_x;
	struct engine_launch launch = {
		.entry = (m->compute_pgm_lo | (u64)(m->compute_pgm_hi & 0xff) << 32) << 8,
		.rsrc = { m->compute_pgm_rsrc1, m->compute_pgm_rsrc2,
			  *compute_reg(q, COMPUTE_PGM_RSRC3) },
	};
	u16 *sizes = (u16 *)(launch.packet + AQL_WORKGROUP);
	u32 *grid = (u32 *)(launch.packet + AQL_GRID);
	int i;

	launch.packet[AQL_SETUP] = 3;
	for (i = 0; i < 3; i++) {
		sizes[i] = size[i];
		grid[i] = pkt[1 + i] * (pkt[4] & USES_THREADS ? 1 : sizes[i]);
	}
	memcpy(launch.user, &m->compute_user_data_0, sizeof(launch.user));
	vgpu_shader_begin(v, q, &launch);
	vgpu_waves_begin(v, q, launch.packet);
}

/* Begin the packet at the read pointer, if there is one that may */
bool vgpu_pm4_begin(struct vgpu *v, struct vgpu_queue *q)
{
	u32 pkt[PM4_DWORDS], dwords, op;
	struct pm4_source s;

	if (!packet_fetch(v, q, &s, pkt, &dwords))
		return false;
	op = opcode(pkt[0]);
	if (op == PACKET3_WAIT_REG_MEM && !wait_is_over(v, q, pkt))
		return false;
	memset(&q->work, 0, sizeof(q->work));
	q->work.left_ns = vgpu_clamp_ns(v->times.barrier_ns);
	if (op == PACKET3_DISPATCH_DIRECT)
		dispatch_begin(v, q, pkt);
	q->work.start = v->time;
	q->work.magic = VGPU_WORK_MAGIC;
	vgpu_count(v, dispatched);
	return true;
}

static void write_data(struct vgpu *v, struct vgpu_queue *q, const struct pm4_source *s,
		       const u32 *pkt, u32 dwords)
{
	u32 i, *from;

	for (i = 4; i < dwords; i++) {
		from = dword_at(v, q, s, i);
		if (from)
			vgpu_store(v, q, vgpu_join64(pkt + 2) + (i - 4) * 4, READ_ONCE(*from), 4);
	}
}

static void set_regs(struct vgpu *v, struct vgpu_queue *q, const struct pm4_source *s,
		     const u32 *pkt, u32 dwords)
{
	u32 i, reg, *from;

	for (i = 2; i < dwords; i++) {
		reg = PACKET3_SET_SH_REG_START + (pkt[1] & 0xffff) + i - 2;
		from = dword_at(v, q, s, i);
		if (from && reg - COMPUTE_FIRST < COMPUTE_COUNT)
			*compute_reg(q, reg) = READ_ONCE(*from);
	}
}

static void release_mem(struct vgpu *v, struct vgpu_queue *q, const u32 *pkt)
{
	u32 data = pkt[2] >> 29, interrupt = pkt[2] >> 24 & 7;
	u64 to = vgpu_join64(pkt + 3) & ~3ull;

	if (data == DATA_32 || data == DATA_64)
		vgpu_store(v, q, to, vgpu_join64(pkt + 5), data * 4);
	else if (data == DATA_CLOCK)
		vgpu_store(v, q, to, v->time / VGPU_CLOCK_NS, 8);
	if (interrupt == INT_ALONE || interrupt == INT_AFTER_WRITE)
		vgpu_irq_signal(v, q, pkt[7]);
}

/* The read pointer in the ring stays at an indirect buffer until that is over */
static void go_on(struct vgpu *v, struct vgpu_queue *q, u32 op, const u32 *pkt, u32 dwords, bool ib)
{
	struct v9_mqd *m = q->mqd;

	if (op == PACKET3_INDIRECT_BUFFER) {
		m->cp_hqd_ib_base_addr_lo = pkt[1] & ~3u;
		m->cp_hqd_ib_base_addr_hi = pkt[2] & 0xffff;
		m->cp_hqd_ib_control = pkt[3] & IB_SIZE;
		m->cp_hqd_ib_rptr = 0;
		if (m->cp_hqd_ib_control)
			return;
	} else if (ib) {
		m->cp_hqd_ib_rptr += dwords;
		if (m->cp_hqd_ib_rptr < m->cp_hqd_ib_control)
			return;
		dwords = IB_DWORDS;
	}
	q->rptr += dwords;
	vgpu_store(v, q, q->rptr_va, q->rptr % q->ring_packets, 4);
}

/* The packet is over: its effect, and the next one's place */
void vgpu_pm4_end(struct vgpu *v, struct vgpu_queue *q)
{
	u32 pkt[PM4_DWORDS], dwords, op;
	struct pm4_source s;

	if (!packet_fetch(v, q, &s, pkt, &dwords))
		return;
	op = opcode(pkt[0]);
	switch (op) {
	case PACKET3_WRITE_DATA:
		write_data(v, q, &s, pkt, dwords);
		break;
	case PACKET3_SET_SH_REG:
		set_regs(v, q, &s, pkt, dwords);
		break;
	case PACKET3_RELEASE_MEM:
		release_mem(v, q, pkt);
		break;
	}
	go_on(v, q, op, pkt, dwords, s.ib);
}
