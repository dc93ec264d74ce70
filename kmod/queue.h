/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_QUEUE_H
#define GP_QUEUE_H

#include <linux/ktime.h>
#include <linux/types.h>

struct gp_node;

/* What is known of one queue. Holds no reference and no pointer that is followed. */
struct gp_queue {
	/* the kfd_process that it belongs to: to compare, not to follow */
	unsigned long ctx;
	ktime_t seen; /* when the facts were read */
	u64 age_ms;   /* the same, in ms before now; 0 when they are fresh */
	int context;  /* of the process, or -1 when it has one only */
	u32 qid;      /* queue id */
	u32 gpu_id;   /* of its node */
	/* enum gp_view_queue_type, or -1 for a type that is not known */
	int type;
	u32 priority;	/* as set by the process */
	u32 wants;	/* share of the hardware, as the process asks for */
	bool wanted;	/* the driver wants it in the hardware */
	bool evicted;	/* by the driver */
	int suspended;	/* by the debug interface; -1 when the driver has none */
	int destroying; /* being destroyed; -1 likewise */
	/* the driver has reset it after a hang; -1 when it does not say */
	int reset;
	int paused;    /* its process is paused; -1 likewise */
	s64 exception; /* exceptions that wait, a bit each; -1 likewise */
	/* its ring: user address, bytes */
	u64 ring;
	u64 ring_size;
	/* user addresses of its indices */
	u64 rptr_addr;
	u64 wptr_addr;
	/* context save area: user address, bytes */
	u64 cwsr;
	u32 cwsr_size;
	u64 mqd;	/* GPU address of its MQD, for XCC 0 of its node */
	u64 mqd_stride; /* from the MQD of one XCC to that of the next */
	u32 doorbell;	/* index of its doorbell in the device's doorbell BAR */
	int engine;	/* of an SDMA queue, counted within the node; -1: none */
	int rlc;	/* of an SDMA queue, in its engine; -1: none */
	u32 slots;	/* hardware slots it takes when mapped */
	int hardware;	/* whether they were read: enum gp_view_hardware */
	int active;	/* slots that hold it now, -1 when that could not be read */
	/* of the first of these slots, -1: there is none */
	s64 rptr;
	s64 wptr;
	int waves; /* in flight in all XCCs, -1: not known */
	/* where the records of its slots are among those of its process */
	u32 first_slot;
	/* where its process and its node are among what was read with it */
	u32 proc;
	u32 gpu;
	/*
	 * slot it was last seen in, of CP pipe * queues of a pipe + queue, of
	 * SDMA under MES engine * RLCs + RLC, or -1: only where to look first
	 */
	int slot;
	/* filled in when it is printed */
	u64 state;
	int unit;
};

/* The queues of a process, in the order of their ids */
struct gp_list {
	u32 n;		     /* how many; the first member of every list of records */
	u32 room;	     /* how many there is memory for */
	u32 need;	     /* how many there are */
	struct gp_queue q[]; /* the queues */
};

/* A node that a process can use. What is below evictions is known with the queues only. */
struct gp_gpu {
	u32 gpu_id;    /* of the node, as the process has it */
	bool vm;       /* the process has an address space there */
	int context;   /* of the process, or -1 when it has one only */
	int pid;       /* of the process, as the host counts */
	int evictions; /* that count there now; -1: not known */
	/*
	 * of the node, as the queues have it: another one than gpu_id when the
	 * process was restored from a checkpoint
	 */
	u32 node_id;
	/*
	 * of the first of its queues there that was not read, else
	 * GP_VIEW_HARDWARE_READ; -1: it has no queue there
	 */
	int hardware;
	/* in flight, and that fit in; -1 and 0: not known */
	s64 waves;
	int waves_max;
	/* queues of the process there, as the driver counts; -1: not known */
	int need;
	bool unknown; /* its queues are not: the process was busy */
	/* that were read, and are suspended; -1: not known */
	int queues;
	int suspended;
	int busy;	/* 1: a queue is; 0: none is; -1: not known */
	int evicted;	/* now; -1: not known */
	s64 evicted_ms; /* in all; -1: not known */
	u64 age_ms;	/* the largest age of what is known of its queues */
};

/* The nodes of processes, in the order of the driver. */
struct gp_gpus {
	u32 n;
	u32 room;
	struct gp_gpu g[];
};

/*
 * Copy what the driver notes of a process's evictions from a node, which is loaded: sets
 * evicted, evicted_ms and need, if they are known.
 */
void gp_evictions_copy(const struct gp_node *n, void *pdd, struct gp_gpu *gpu);
/* How many evictions count there now, -1: not known. */
int gp_evictions_count(void *pdd);

/* Whether a queue of that type takes CP slots, one in each XCC. */
bool gp_queue_is_cp(int type);

/*
 * Add the queues of a kfd_process out of gp_table_walk(), whose nodes are loaded, to a list
 * as far as there is room; the hardware is not read. Holds the mutex of the process several
 * times, each for a few queues: one that is made or destroyed meanwhile may be added, or
 * twice, or not. Does not sleep.
 *
 * 0, -EBUSY when the driver holds the mutex or the list has changed (and the list is as
 * before), -EUCLEAN, -EAGAIN when a queue is on none of the nodes: one that the process has
 * opened since they were loaded.
 */
int gp_queues_copy(void *p, const struct gp_node *nodes, u32 count, struct gp_list *out);

/* Number of a kfd_process among its program's, -1: the first. */
int gp_queue_context(void *p);

/* What a queue shows until its hardware is read. */
void gp_queue_forget_hardware(struct gp_queue *q);

#endif /* GP_QUEUE_H */
