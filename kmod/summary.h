/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_SUMMARY_H
#define GP_SUMMARY_H

#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <gpreempt/view.h>

#include "proc.h"

/* One GPU process in a line */
struct gp_summary {
	int pid;    /* as the host counts */
	int ns_pid; /* in its innermost namespace */
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

/* All GPU processes, in the order of their birth. */
struct gp_summaries {
	u32 n;
	struct gp_summary s[];
};

/**
 * gp_summary_take() - read all GPU processes
 *
 * Return: them, to be freed with kvfree(), or -EINTR, -ENOMEM as a pointer.
 */
struct gp_summaries *gp_summary_take(void);

/* A node that a process can use. What is below ctx is known of usage only. */
struct gp_gpu {
	u32 gpu_id;	   /* of the node, as the process has it */
	bool vm;	   /* the process has an address space there */
	int context;	   /* of the process, or -1 when it has one only */
	unsigned long ctx; /* the kfd_process: to compare, not to follow */
	int pid;	   /* of the process, as the host counts */
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
	/* that were read, and are suspended; -1: not known */
	int queues;
	int suspended;
	int busy;	/* 1: a queue is; 0: none is; -1: not known */
	int evicted;	/* now; -1: not known */
	s64 evicted_ms; /* in all; -1: not known */
	u64 age_ms;	/* the largest age of what is known of its queues */
};

/* The nodes of a process, in the order of the driver. */
struct gp_gpus {
	u32 n;
	u32 room;
	struct gp_gpu g[];
};

/**
 * gp_gpus_take() - read the nodes of a process
 * @pid:	of its thread group; NULL: of each process those on which it has queues
 * @usage:	only those on which it has an address space, for gp_usage_take()
 *
 * Return: them, to be freed with kvfree(), or as a pointer -ESTALE when KFD has no
 * such process, -EUCLEAN when the driver's data contradicts itself, -EAGAIN when
 * the number would not hold still, -ENOMEM.
 */
struct gp_gpus *gp_gpus_take(struct pid *pid, bool usage);

/**
 * gp_usage_take() - read how much of its nodes a process uses
 * @proc:	the process; NULL: all, where they have queues, with one count of the
 *		waves in each XCC
 *
 * Return: the nodes on which it has an address space, or an error as a pointer: of
 * gp_gpus_take() or gp_proc_read().
 */
struct gp_gpus *gp_usage_take(struct gp_proc *proc);

#endif /* GP_SUMMARY_H */
