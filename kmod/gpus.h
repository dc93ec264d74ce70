/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_GPUS_H
#define GP_GPUS_H

#include <linux/pid.h>
#include <linux/types.h>

/**
 * struct gp_gpu - a node that a process can use
 * @gpu_id:	of the node
 * @vm:		the process has an address space there
 * @context:	of the process, or -1 when it has one only
 */
struct gp_gpu {
	u32 gpu_id;
	bool vm;
	int context;
};

/**
 * struct gp_gpus - the nodes of a process
 * @n:		how many
 * @room:	how many there is memory for
 * @g:		in the driver's order
 */
struct gp_gpus {
	u32 n;
	u32 room;
	struct gp_gpu g[];
};

/**
 * gp_gpus_take() - read the nodes of a process
 * @pid:	of its thread group
 * @gpus:	the result; free it with kvfree()
 *
 * Return: 0, -ESTALE when KFD has no such process, -EUCLEAN when the driver's
 * data contradicts itself, -EAGAIN when the number would not hold still,
 * -ENOMEM.
 */
int gp_gpus_take(struct pid *pid, struct gp_gpus **gpus);

#endif /* GP_GPUS_H */
