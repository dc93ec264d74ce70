/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_SNAPSHOT_H
#define GP_SNAPSHOT_H

#include <linux/pid.h>
#include <linux/types.h>

#include "queue.h"

/* One hardware slot that holds a queue */
struct gp_slot {
	u64 age_ms; /* of qid and type, as in struct gp_queue */
	/* of the queue */
	u32 qid;
	u32 gpu_id;
	int type;
	/* of a CP slot, -1 of others */
	int xcc;
	int pipe;
	int queue;
	/* of an SDMA slot, -1 of others */
	int engine;
	int rlc;
	/* its registers */
	int vmid;
	s64 doorbell;
	s64 rptr;
	s64 wptr;
	int waves; /* of the queue in flight in this XCC, -1: not known */
	/*
	 * enum gp_view_hardware: if it is not GP_VIEW_HARDWARE_READ, the slots
	 * of the queue are not known, and all but the first four members are
	 * -1
	 */
	int hardware;
	/* filled in when it is printed */
	int active;
	int unit;
};

/* The slots of the queues of a process, in the order of the queues. */
struct gp_slots {
	u32 n;
	u32 room;
	struct gp_slot s[];
};

/**
 * gp_snapshot_take() - read the queues of a process
 * @pid:	of its thread group. NULL: of all processes, in the order of the table, with
 *		the waves of queues in place of their slots, by doorbell; those of a busy
 *		process are missing
 * @last:	what was read before, or NULL
 * @hardware:	whether to look into the hardware
 * @list:	the result; free it with kvfree()
 * @slots:	the slots that were found, the same; NULL: not wanted
 *
 * Waits for no lock of the driver that is held for long: when the process is
 * busy, the facts of @last are taken over with their age. Process context.
 *
 * Return: 0, -ESTALE when KFD has no such process, -EBUSY when it is busy and
 * @last has no queue of it, -EUCLEAN when the driver's data contradicts itself,
 * -EAGAIN when the queues would not hold still, -E2BIG when it has too many
 * contexts, -EINTR when the reader is being killed, -ENOMEM.
 */
int gp_snapshot_take(struct pid *pid, const struct gp_list *last, bool hardware,
		     struct gp_list **list, struct gp_slots **slots);

#endif /* GP_SNAPSHOT_H */
