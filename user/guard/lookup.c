// SPDX-License-Identifier: GPL-2.0-only
/* Finding targets and nodes in the lists of guard. */
#include "guard/guard.h"

struct guard_offline *guard_find_offline(struct guard *guard, pid_t pid)
{
	size_t i;

	for (i = 0; i < guard->n_offline; i++)
		if (guard->offline[i].target.pid == pid)
			return &guard->offline[i];
	return NULL;
}

static uint64_t node_bit(struct guard *guard, int64_t gpu_id)
{
	size_t i;

	for (i = 0; i < guard->n_nodes; i++)
		if (guard->common->gpu_id[i] == gpu_id)
			return 1ULL << i;
	if (i == GUARD_NODES || gpu_id == GPREEMPT_UNKNOWN)
		return 0;
	guard->common->gpu_id[guard->n_nodes++] = gpu_id;
	return 1ULL << i;
}

uint64_t guard_nodes_of(struct guard *guard, const struct gpreempt_view *view)
{
	uint64_t nodes = 0;
	size_t i;

	for (i = 0; i < view->count; i++)
		nodes |= node_bit(guard, view->queues[i].gpu_id);
	return nodes;
}

uint64_t guard_nodes_of_entity(const struct guard *guard,
			       const struct guard_offline *offline, int entity)
{
	uint64_t nodes = 0;
	size_t i;

	for (i = 0; i < guard->n_nodes; i++)
		if (offline->entity[i] == entity)
			nodes |= 1ULL << i;
	return nodes;
}
