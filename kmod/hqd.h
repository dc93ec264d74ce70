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

/**
 * gp_hqd_read() - look which hardware slots hold a queue now
 * @n:		its node, awake
 * @q:		sets its hardware, active, rptr, wptr, and slot to where it was
 *		found
 * @slots:	takes the slots, as far as there is room; NULL: not wanted
 */
void gp_hqd_read(const struct gp_node *n, struct gp_queue *q,
		 struct gp_slots *slots);

/**
 * gp_hqd_dump() - read one CP slot
 * @n:		a node, awake
 * @slot:	pipe, of all pipes of all MECs, * queues of a pipe + queue
 * @inst:	XCC, as the driver numbers them
 * @hqd:	what it says
 *
 * Return: 0, -EOPNOTSUPP when the dump is not laid out as expected, -ENODEV when
 * the device does not answer, or an error of the driver's.
 */
int gp_hqd_dump(const struct gp_node *n, u32 slot, u32 inst,
		struct gp_hqd *hqd);

/**
 * gp_hqd_count() - count the active CP slots of KFD on one XCC
 * @n:		a node, awake
 * @inst:	XCC
 * @active:	how many, if they were read
 *
 * Return: GP_VIEW_HARDWARE_READ, or why not.
 */
enum gp_view_hardware gp_hqd_count(const struct gp_node *n, u32 inst,
				   int *active);

#endif /* GP_HQD_H */
