/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_QUEUE_H
#define GP_QUEUE_H

#include <linux/ktime.h>
#include <linux/types.h>

struct gp_node;

/**
 * struct gp_queue - what is known of one queue
 * @ctx:	the kfd_process that it belongs to: to compare, not to follow
 * @seen:	when the facts were read
 * @age_ms:	the same, in ms before now; 0 when they are fresh
 * @context:	of the process, or -1 when it has one only
 * @qid:	queue id
 * @gpu_id:	of its node
 * @type:	enum gp_view_queue_type, or -1 for a type that is not known
 * @priority:	as set by the process
 * @wants:	the same
 * @wanted:	the driver wants it in the hardware
 * @evicted:	by the driver
 * @suspended:	by the debug interface; -1 when the driver has none
 * @destroying:	being destroyed; -1 likewise
 * @reset:	the driver has reset it after a hang; -1 when it does not say
 * @paused:	its process is paused; -1 likewise
 * @exception:	exceptions that wait, a bit each; -1 likewise
 * @ring, @ring_size: its ring: user address, bytes
 * @rptr_addr, @wptr_addr: user addresses of its indices
 * @cwsr, @cwsr_size: context save area: user address, bytes
 * @mqd:	GPU address of its MQD, for XCC 0 of its node
 * @mqd_stride:	from the MQD of one XCC to that of the next
 * @doorbell:	index of its doorbell in the device's doorbell BAR
 * @engine: of an SDMA queue, counted within the node; -1: none
 * @rlc:	of an SDMA queue, in its engine; -1: none
 * @slots:	hardware slots it takes when mapped
 * @hardware:	whether they were read: enum gp_view_hardware
 * @active:	slots that hold it now, -1 when that could not be read
 * @rptr, @wptr: of the first of these slots, -1: there is none
 * @waves:	in flight in all XCCs, -1: not known
 * @first_slot:	where the records of its slots are among those of its process
 * @slot:	slot it was last seen in, of CP pipe * queues of a pipe + queue, of
 *		SDMA under MES engine * RLCs + RLC, or -1: only where to look first
 * @state, @unit: filled in when it is printed
 *
 * Holds no reference and no pointer that is followed.
 */
struct gp_queue {
	unsigned long ctx;
	ktime_t seen;
	u64 age_ms;
	int context;
	u32 qid;
	u32 gpu_id;
	int type;
	u32 priority;
	u32 wants;
	bool wanted;
	bool evicted;
	int suspended;
	int destroying;
	int reset;
	int paused;
	s64 exception;
	u64 ring;
	u64 ring_size;
	u64 rptr_addr;
	u64 wptr_addr;
	u64 cwsr;
	u32 cwsr_size;
	u64 mqd;
	u64 mqd_stride;
	u32 doorbell;
	int engine;
	int rlc;
	u32 slots;
	int hardware;
	int active;
	s64 rptr;
	s64 wptr;
	int waves;
	u32 first_slot;
	int slot;
	u64 state;
	int unit;
};

/**
 * struct gp_list - the queues of a process, in the order of their ids
 * @n:		how many; the first member of every list of records
 * @room:	how many there is memory for
 * @need:	how many there are
 * @debugged:	a debugger holds the process; -1: the driver has none
 * @paused:	the process is paused, in one of its contexts; -1 likewise
 * @gpus:	nodes on which it has an address space, in all contexts
 * @q:		the queues
 */
struct gp_list {
	u32 n;
	u32 room;
	u32 need;
	int debugged;
	int paused;
	u32 gpus;
	struct gp_queue q[];
};

/**
 * gp_queue_is_cp() - whether it takes CP slots, one in each XCC
 * @type:	of the queue
 */
bool gp_queue_is_cp(int type);

/**
 * gp_queues_copy() - add the queues of a kfd_process to a list
 * @p:		kfd_process out of gp_table_walk()
 * @nodes:	of the process, loaded
 * @count:	of @nodes
 * @out:	to add to, as far as there is room; the hardware is not read
 *
 * Holds the mutex of the process several times, each for a few queues: one that is
 * made or destroyed meanwhile may be added, or twice, or not. Does not sleep.
 *
 * Return: 0, -EBUSY when the driver holds the mutex or the list has changed, -EUCLEAN,
 * -EAGAIN when a queue is on none of @nodes: one that the process has opened since they
 * were loaded. @out is as before after -EBUSY.
 */
int gp_queues_copy(void *p, const struct gp_node *nodes, u32 count,
		   struct gp_list *out);

/** gp_queue_context() - number of a kfd_process among its program's, -1: the first */
int gp_queue_context(void *p);

/** gp_queue_forget_hardware() - what it shows until its hardware is read */
void gp_queue_forget_hardware(struct gp_queue *q);

#endif /* GP_QUEUE_H */
