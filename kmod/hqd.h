/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_HQD_H
#define GP_HQD_H

#include "node.h"
#include "snapshot.h"

/* Registers of a slot that tell what it holds */
struct gp_hqd {
	bool active;  /* it is active */
	u64 mqd;      /* GPU address of the MQD that it was loaded from; CP only */
	u64 ring;     /* user address of its ring; CP only */
	u32 vmid;     /* address space that it works in */
	u32 doorbell; /* index of its doorbell */
	u64 rptr;     /* read pointer, in dwords; of SDMA in bytes */
	u64 wptr;     /* write pointer, the same */
};

/*
 * Look which hardware slots hold a queue now. The device of its node is held, and put to
 * rest afterwards. Sets hardware, active, rptr, wptr and first_slot of the queue, and slot
 * to where it was found. The slots, or one record if they were not read, are added as far
 * as there is room.
 */
void gp_hqd_read(struct gp_node *n, struct gp_queue *q, struct gp_slots *slots);

/*
 * Read one CP slot of a node that is awake: pipe, of all pipes of all MECs, * queues of a
 * pipe + queue; of an XCC as the driver numbers them. 0 or -enum gp_view_hardware.
 */
int gp_hqd_dump(struct gp_node *n, u32 slot, u32 inst, struct gp_hqd *hqd);

/*
 * Count the active CP slots of KFD on the first XCC of a node that is awake. 0 or -enum
 * gp_view_hardware.
 */
int gp_hqd_count(struct gp_node *n, int *active);

/*
 * In waves.c: count the waves in flight of the queues of a node whose device is held and
 * whose hardware was read, and of their slots, too. Without slots they were not looked
 * for: a queue's waves are those of its doorbell, and its hardware becomes the reason when
 * they are not known. There is room for GP_CP_SLOTS_MAX counts.
 */
void gp_waves_count(struct gp_node *n, struct gp_list *list, struct gp_slots *slots,
		    struct kfd_cu_occupancy *counts);

#endif /* GP_HQD_H */
