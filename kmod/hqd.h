/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_HQD_H
#define GP_HQD_H

#include "node.h"
#include "snapshot.h"

/**
 * struct gp_hqd - registers of a slot that tell what it holds
 * @active:	it is active
 * @mqd:	GPU address of the MQD that it was loaded from; CP only
 * @ring:	user address of its ring; CP only
 * @vmid:	address space that it works in
 * @doorbell:	index of its doorbell
 * @rptr:	read pointer, in dwords; of SDMA in bytes
 * @wptr:	write pointer, the same
 */
struct gp_hqd {
	bool active;
	u64 mqd;
	u64 ring;
	u32 vmid;
	u32 doorbell;
	u64 rptr;
	u64 wptr;
};

/* Two registers of a dump as one number, the lower half first. */
static inline u64 gp_pair(const uint32_t (*regs)[2], u32 lo)
{
	return (u64)regs[lo + 1][1] << 32 | regs[lo][1];
}

/* The index of a doorbell, of a register that has its offset. */
static inline u32 gp_doorbell(u32 offset)
{
	return (offset & 0x0ffffffc) >> 2;
}

static inline bool gp_no_answer(const uint32_t (*regs)[2], u32 n_regs)
{
	u32 i;

	for (i = 0; i < n_regs; i++)
		if (regs[i][1] != GP_NO_ANSWER)
			return false;
	return true;
}

/**
 * gp_hqd_read() - look which hardware slots hold a queue now
 * @n:		its node, whose device is held and put to rest afterwards
 * @q:		sets its hardware, active, rptr, wptr, first_slot, and slot to where
 *		it was found
 * @slots:	takes the slots, or one record if they were not read, as far as there
 *		is room
 */
void gp_hqd_read(struct gp_node *n, struct gp_queue *q, struct gp_slots *slots);

/**
 * gp_hqd_dump() - read one CP slot
 * @n:		a node, awake
 * @slot:	pipe, of all pipes of all MECs, * queues of a pipe + queue
 * @inst:	XCC, as the driver numbers them
 * @hqd:	what it says
 *
 * Return: 0 or -enum gp_view_hardware.
 */
int gp_hqd_dump(struct gp_node *n, u32 slot, u32 inst, struct gp_hqd *hqd);

/**
 * gp_hqd_count() - count the active CP slots of KFD on the first XCC
 * @n:		a node, awake
 * @active:	how many, if they were read
 *
 * Return: 0 or -enum gp_view_hardware.
 */
int gp_hqd_count(struct gp_node *n, int *active);

/**
 * gp_sdma_find() - look which slot of an SDMA engine holds a queue (sdma.c)
 * @n:		its node, awake
 * @q:		sets its engine, rlc and slot where MES chooses them
 * @hqd:	what the slot says
 *
 * Return: 1, 0: none, or -enum gp_view_hardware.
 */
int gp_sdma_find(struct gp_node *n, struct gp_queue *q, struct gp_hqd *hqd);

/**
 * gp_waves_count() - count the waves in flight of queues (waves.c)
 * @n:		a node, whose device is held
 * @list:	sets waves of the queues there whose hardware was read
 * @slots:	their slots, which get their waves, too. NULL: they were not looked for; a
 *		queue's waves are those of its doorbell, and its hardware becomes the
 *		reason when they are not known
 * @counts:	room for GP_CP_SLOTS_MAX
 */
void gp_waves_count(struct gp_node *n, struct gp_list *list,
		    struct gp_slots *slots, struct kfd_cu_occupancy *counts);

#endif /* GP_HQD_H */
