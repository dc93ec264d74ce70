/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_SNAPSHOT_H
#define GP_SNAPSHOT_H

#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/types.h>

/**
 * struct gp_queue - what is known of one queue
 * @ctx:	the kfd_process that it belongs to: to compare, not to follow
 * @seen:	when the facts were read
 * @age_ms:	the same, in ms before now; 0 when they are fresh
 * @qid:	queue id
 * @gpu_id:	of its node
 * @type:	enum gp_view_queue_type, or -1 for a type that is not known
 * @priority:	as set by the process
 * @suspended:	by the debug interface
 * @evicted:	by the driver
 * @slots:	hardware slots it takes when mapped
 * @active:	slots that hold it now, -1 when that could not be read
 * @slot:	CP slot it was last seen in, pipe * queues of a pipe + queue,
 *		or -1: only where to look first
 * @mqd_addr:	GPU address of its MQD, for XCC 0 of its node
 * @mqd_stride:	from the MQD of one XCC to that of the next
 * @ring:	user address of its ring
 * @doorbell:	index of its doorbell in the device's doorbell BAR
 * @sdma_engine: of an SDMA queue, counted within the node
 * @sdma_rlc:	of an SDMA queue, in its engine
 *
 * Holds no reference and no pointer that is followed.
 */
struct gp_queue {
	unsigned long ctx;
	ktime_t seen;
	u64 age_ms;
	u32 qid;
	u32 gpu_id;
	int type;
	u32 priority;
	bool suspended;
	bool evicted;
	u32 slots;
	int active;
	int slot;
	u64 mqd_addr;
	u64 mqd_stride;
	u64 ring;
	u32 doorbell;
	u32 sdma_engine;
	u32 sdma_rlc;
};

/**
 * struct gp_list - the queues of a process
 * @n:		how many
 * @room:	how many there is memory for
 * @q:		in the order of their ids
 */
struct gp_list {
	u32 n;
	u32 room;
	struct gp_queue q[];
};

/**
 * gp_snapshot_take() - read the queues of a process
 * @pid:	of its thread group
 * @last:	what was read before, or NULL
 * @slots:	whether to look into the hardware
 * @list:	the result; free it with kvfree()
 *
 * Waits for no lock of the driver that is held for long: when the process is
 * busy, the facts of @last are taken over with their age. Process context.
 *
 * Return: 0, -ESTALE when KFD has no such process, -EBUSY when it is busy and
 * there is no @last, -EUCLEAN when the driver's data contradicts itself,
 * -EAGAIN when the queues would not hold still, -ENOMEM.
 */
int gp_snapshot_take(struct pid *pid, const struct gp_list *last, bool slots,
		     struct gp_list **list);

#endif /* GP_SNAPSHOT_H */
