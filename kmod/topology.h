/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_TOPOLOGY_H
#define GP_TOPOLOGY_H

#include <linux/types.h>

#include "node.h"

/* One KFD node */
struct gp_host_node {
	/*
	 * for reading its hardware; its device is referenced while device is not empty
	 */
	struct gp_node n;
	u32 node;	 /* number in KFD's topology */
	char device[32]; /* name of the device */
	int scheduler;	 /* enum gp_view_scheduler */
	int hardware;	 /* enum gp_view_hardware */
	/* CP slots of KFD in use on the first XCC, -1: not known */
	int slots_used;
	u32 slots;   /* CP slots of KFD on each XCC */
	int hiq;     /* the driver's own queue is active; -1: not known */
	u64 hiq_mqd; /* GPU address of its MQD, 0: it has none */
	/* the scheduler's counts, -1: not known */
	s64 processes;
	s64 queues;
	s64 mapped;
	int oversubscribed; /* more than fits at once, -1: not known */
	/* of n, filled in when it is printed */
	u32 gpu_id;
	u32 gfx;
	u32 xccs;
	u32 xcc_mask;
};

/* The nodes of the host, in the order of the topology. */
struct gp_host_nodes {
	u32 n;
	u32 room;
	struct gp_host_node h[];
};

/**
 * gp_topology_take() - read all nodes
 *
 * Return: them, to be freed with kvfree(), or as a pointer -EBUSY while nodes come
 * or go, -EUCLEAN, -ENOMEM; -EOPNOTSUPP when the feature is off.
 */
struct gp_host_nodes *gp_topology_take(void);

#endif /* GP_TOPOLOGY_H */
