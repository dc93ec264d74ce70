/* SPDX-License-Identifier: GPL-2.0-only */
/* The records that files are printed of, and how they are read (queue.c, snapshot.c). */
#ifndef GP_SNAPSHOT_H
#define GP_SNAPSHOT_H

#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/sched.h>

#include <gpreempt/view.h>

struct gp_node;

/*
 * A queue, or a hardware slot that holds it now: the facts of the queue with those of the slot. No
 * reference is held, and no pointer followed. -1: not known, or the driver does not have it.
 */
struct gp_queue {
	unsigned long ctx; /* the kfd_process that it belongs to: to compare, not to follow */
	ktime_t seen;	   /* when the facts were read */
	u64 age_ms;	   /* time since then, in ms; 0 when the facts are fresh */
	int context;	   /* KFD context of the process, or -1 when it has one only */
	u32 qid;	   /* queue id */
	u32 gpu_id;	   /* its node */
	int type;	   /* enum gp_view_queue_type */
	u32 priority;	   /* priority that the process has set */
	u32 wants;	   /* share of the hardware that the process asks for */
	bool wanted;	   /* the driver wants it in the hardware */
	bool evicted;	   /* evicted by the driver */
	int suspended;	   /* suspended by the debug interface */
	int destroying;	   /* its process destroys it */
	int reset;	   /* the driver has reset it after a hang */
	int paused;	   /* its process is paused */
	s64 exception;	   /* exceptions that wait, a bit each */
	/* user addresses of its ring and of the indices, and bytes */
	u64 ring, ring_size, rptr_addr, wptr_addr;
	u64 cwsr; /* context save area: user address, bytes */
	u32 cwsr_size;
	u64 mqd;	/* GPU address of its MQD, for XCC 0 of its node */
	u64 mqd_stride; /* bytes from the MQD of one XCC to that of the next */
	s64 doorbell;	/* index of its doorbell in the device's doorbell BAR */
	int engine;	/* engine of an SDMA queue, counted within the node; -1: none */
	int rlc;	/* RLC of an SDMA queue, in its engine; -1: none */
	u32 slots;	/* hardware slots it takes when mapped */
	u32 first_slot; /* index of its first slot among those of its process */
	u32 proc, gpu;	/* index of its process and of its node in this read */
	/*
	 * slot in which it was last seen, or -1: for CP pipe * queues of a pipe + queue, for
	 * SDMA under MES engine * RLCs + RLC
	 */
	int slot;
	/* the members below are -1 until the hardware is read */
	int hardware;	/* enum gp_view_hardware: were they read, and if not, why */
	int active;	/* slots that hold it now */
	s64 rptr, wptr; /* indices in the slot; for a queue, in the first slot that holds it */
	int waves;	/* waves in flight in all XCCs, or in the slot's */
	/* place of a CP slot, and the address space that the slot works in */
	int xcc, pipe, queue, vmid;
	u64 state; /* filled in when it is printed, as unit */
	int unit;
};

/* Queues in the order of their ids, or slots in the order of their queues */
struct gp_list {
	u32 n;	  /* how many; the first member of every list of records */
	u32 room; /* how many there is memory for */
	u32 need; /* how many there are */
	struct gp_queue q[];
};

/* A node that a process can use. What is below evictions is known with the queues only. */
struct gp_gpu {
	u32 gpu_id;    /* the node's gpu_id for this process */
	bool vm;       /* the process has an address space there */
	int context;   /* KFD context of the process, or -1 when it has one only */
	int pid;       /* PID of the process on the host */
	int evictions; /* evictions that count now */
	u32 node_id;   /* the node's gpu_id for its queues: another one after a restore */
	int hardware;  /* state of the first queue that was not read, else READ; -1: no queue */
	s64 waves;     /* in flight */
	int waves_max; /* waves that fit in; 0: not known */
	int need;      /* queues of the process there, by the driver's count */
	bool unknown;  /* its queues are not known: the process was busy */
	int queues, suspended; /* queues that were read, and the suspended ones among them */
	int busy;	       /* 1: a queue is busy; 0: none is */
	int evicted;	       /* evicted now */
	s64 evicted_ms;	       /* time evicted, in all */
	u64 age_ms;	       /* largest age of the facts about its queues */
};

/* The nodes of processes, in the order of the driver */
struct gp_gpus {
	u32 n;
	u32 room;
	struct gp_gpu g[];
};

/* A GPU process in a line */
struct gp_summary {
	struct pid *of;		  /* its thread group: to compare, not to follow */
	bool unknown;		  /* its queues are not known: it was busy */
	int pid;		  /* PID on the host */
	int ns_pid;		  /* PID in its innermost namespace */
	char comm[TASK_COMM_LEN]; /* name of its leader; empty when the leader has ended */
	int gpus;		  /* nodes on which it has an address space */
	/* number of queues; -1: not known, and so are all members below */
	int queues;
	union {
		int by_type[GP_VIEW_QUEUE_TYPE_COUNT];
		struct {
			int aql, pm4, sdma, xgmi;
		};
	};
	int active;		/* slots that hold its queues */
	int slots;		/* slots that they take when mapped */
	int suspended, evicted; /* how many of its queues are */
	int debugged;		/* a debugger holds it */
	int paused;
	s64 age_ms; /* largest age of the facts about its queues */
};

/* GPU processes */
struct gp_summaries {
	u32 n;
	u32 room;
	struct gp_summary s[];
};

/* Parts of a snapshot that a reader wants */
enum {
	GP_READ_QUEUES = 1, /* without it: gpu_id, vm and context of the nodes alone */
	GP_READ_SLOTS = 2,  /* the slots of the queues */
	GP_READ_WAVES = 4,  /* and their waves: in their slots, or of their doorbells */
};

/* All that was read in one walk over KFD's table; end it with gp_snapshot_free(). */
struct gp_snapshot {
	struct gp_list *queues; /* queues of one process by their ids, of all by processes */
	struct gp_list *slots;	/* slots of the queues of one process, if the caller wants them */
	struct gp_gpus *gpus;
	struct gp_summaries *procs; /* processes, without the sums of their queues */
};

void gp_snapshot_free(struct gp_snapshot *s);

/*
 * Read the queues of a process, or of all without a pid. Waits for no lock of the driver that is
 * held for long: when a process is busy, the facts of last, which was read before or is NULL, are
 * taken over with their age. If there are none, or its data contradicts itself, it and its nodes
 * are unknown when all are read. 0, -ESTALE when KFD has no such process, -EBUSY when it is busy
 * and last has no queue of it or its queues would not hold still, -EUCLEAN, -E2BIG when it has too
 * many contexts, -EINTR when the reader is being killed, -ENOMEM.
 */
int gp_snapshot_take(struct pid *pid, const struct gp_list *last, unsigned int what,
		     struct gp_snapshot *out);

/* Add the queues up for each process, and put these in the order of their pids. */
void gp_snapshot_sum_procs(struct gp_snapshot *s);

/* Add the queues up for each node; keep nodes with an address space, for all: with queues. */
void gp_snapshot_sum_gpus(struct gp_snapshot *s, bool all);

/* Copy the driver's notes on a process's evictions: sets evicted, evicted_ms and need. */
void gp_evictions_copy(const struct gp_node *n, void *pdd, struct gp_gpu *gpu);
/* How many evictions count there now, -1: not known. */
int gp_evictions_count(void *pdd);

/* A queue of that type takes CP slots, one in each XCC. */
bool gp_queue_is_cp(int type);

/*
 * Add the queues of a kfd_process out of gp_table_walk(), whose nodes are loaded, to a list as far
 * as there is room. Holds the mutex of the process several times, each for a few queues: one that
 * is made or destroyed meanwhile may be added, or twice, or not. Does not sleep. 0, -EBUSY when the
 * driver holds the mutex or the list has changed (and ours is as before), -EUCLEAN, -EAGAIN when a
 * queue is on none of the nodes: one that the process has opened since they were loaded.
 */
int gp_queues_copy(void *p, const struct gp_node *nodes, u32 count, struct gp_list *out);

/* Number of a kfd_process among its program's, -1: the first. */
int gp_queue_context(void *p);

/* Mark the hardware of a queue as not read. */
void gp_queue_forget_hardware(struct gp_queue *q);

#endif /* GP_SNAPSHOT_H */
