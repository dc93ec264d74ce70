/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOAD_TOPOLOGY_H
#define LOAD_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

/* The properties of a KFD node that a queue's buffers depend on. */
struct load_node {
	uint32_t node;
	uint32_t gpu_id;
	uint32_t render_minor;
	uint32_t gfx_target_version;
	uint32_t num_xcc;
	uint32_t simd_count;
	uint32_t simd_per_cu;
	uint32_t array_count;
	uint32_t arrays_per_engine;
	uint32_t cwsr_size;	 /* bytes for one XCC */
	uint32_t ctl_stack_size; /* bytes for one XCC */
};

/* Fills @nodes with the GPU nodes in topology order. Returns how many, or -errno. */
int load_topology_read(struct load_node *nodes, size_t max);

/* Works out the sizes that the driver does not show, as KFD does it. */
void load_size_cwsr(struct load_node *node);

/* Bytes of a whole context save area, which KFD wants as one exact mapping. */
uint64_t load_cwsr_bytes(const struct load_node *node);

#endif
