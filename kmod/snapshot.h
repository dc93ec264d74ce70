/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_SNAPSHOT_H
#define GP_SNAPSHOT_H

#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <gpreempt/view.h>

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
	 * enum gp_view_hardware: if it is not GP_VIEW_HARDWARE_READ, the slots of the queue are
	 * not known, and all but the first four members are -1
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

/* One GPU process in a line */
struct gp_summary {
	struct pid *of; /* its thread group: to compare, not to follow */
	bool unknown;	/* its queues are not known: it was busy */
	int pid;	/* as the host counts */
	int ns_pid;	/* in its innermost namespace */
	/* name of its leader, empty when that has ended */
	char comm[TASK_COMM_LEN];
	int gpus;   /* nodes on which it has an address space, -1: not known */
	int queues; /* how many; -1: not known, and nothing that follows is */
	union {
		/* the same of each type */
		int by_type[GP_VIEW_QUEUE_TYPE_COUNT];
		struct {
			int aql, pm4, sdma, xgmi;
		};
	};
	int active; /* slots that hold its queues, -1: not known */
	int slots;  /* slots that they take when mapped */
	/* how many of its queues are, -1: the driver has no debug interface */
	int suspended;
	int evicted;  /* how many of its queues are */
	int debugged; /* a debugger holds it, -1: not known */
	int paused;   /* the same: it is paused */
	s64 age_ms;   /* the largest age of what is known of its queues */
};

/* GPU processes */
struct gp_summaries {
	u32 n;
	u32 room;
	struct gp_summary s[];
};

/* What a reader wants. */
enum {
	GP_READ_QUEUES = 1, /* without it: gpu_id, vm and context of the nodes alone */
	GP_READ_SLOTS = 2,  /* the slots of the queues */
	GP_READ_WAVES = 4,  /* and their waves: those in their slots, or of their doorbells */
};

/**
 * struct gp_snapshot - what was read, all in one walk over KFD's table
 * @queues:	of one process by their ids, of all by processes
 * @slots:	of the queues of one process
 * @gpus:	of processes, in the order of the driver
 * @procs:	the processes, without what their queues add up to
 */
struct gp_snapshot {
	struct gp_list *queues;
	struct gp_slots *slots;
	struct gp_gpus *gpus;
	struct gp_summaries *procs;
};

/** gp_snapshot_free() - free the lists, as far as they are there */
void gp_snapshot_free(struct gp_snapshot *s);

/**
 * gp_snapshot_take() - read the queues of a process, or of all
 * @pid:	of its thread group; NULL: of all
 * @last:	what was read of the same before, or of all; or NULL
 * @what:	of GP_READ_QUEUES, GP_READ_SLOTS and GP_READ_WAVES
 * @out:	the result; end it with gp_snapshot_free()
 *
 * Waits for no lock of the driver that is held for long: when a process is
 * busy, the facts of @last are taken over with their age. If there are none, or its
 * data contradicts itself, it and its nodes are unknown when all are read. Process context.
 *
 * Return: 0, -ESTALE when KFD has no such process, -EBUSY when it is busy and
 * @last has no queue of it, or its queues would not hold still, -EUCLEAN when the
 * driver's data contradicts itself, -E2BIG when it has too many contexts, -EINTR when
 * the reader is being killed, -ENOMEM.
 */
int gp_snapshot_take(struct pid *pid, const struct gp_list *last, unsigned int what,
		     struct gp_snapshot *out);

#endif /* GP_SNAPSHOT_H */
