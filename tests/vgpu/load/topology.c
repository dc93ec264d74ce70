// SPDX-License-Identifier: GPL-2.0-only
/* GPU nodes as sysfs shows them. */
#include "topology.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NODES	  "/sys/class/kfd/kfd/topology/nodes"
#define MAX_NODES 128

static const struct {
	const char *name;
	size_t offset;
} properties[] = {
	{ "drm_render_minor", offsetof(struct load_node, render_minor) },
	{ "gfx_target_version", offsetof(struct load_node, gfx_target_version) },
	{ "num_xcc", offsetof(struct load_node, num_xcc) },
	{ "simd_count", offsetof(struct load_node, simd_count) },
	{ "simd_per_cu", offsetof(struct load_node, simd_per_cu) },
	{ "array_count", offsetof(struct load_node, array_count) },
	{ "simd_arrays_per_engine", offsetof(struct load_node, arrays_per_engine) },
	{ "cwsr_size", offsetof(struct load_node, cwsr_size) },
	{ "ctl_stack_size", offsetof(struct load_node, ctl_stack_size) },
};

static void set_property(struct load_node *node, const char *name, uint64_t value)
{
	size_t i;

	for (i = 0; i < sizeof(properties) / sizeof(properties[0]); i++) {
		if (strcmp(properties[i].name, name) == 0) {
			*(uint32_t *)((char *)node + properties[i].offset) = (uint32_t)value;
			return;
		}
	}
}

static int read_gpu_id(unsigned int node, uint32_t *gpu_id)
{
	char path[96];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), NODES "/%u/gpu_id", node);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	n = fscanf(f, "%u", gpu_id);
	fclose(f);
	return n == 1 ? 0 : -EIO;
}

static int read_properties(struct load_node *node)
{
	unsigned long long value;
	char path[96], name[64];
	FILE *f;

	snprintf(path, sizeof(path), NODES "/%u/properties", node->node);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fscanf(f, "%63s %llu", name, &value) == 2)
		set_property(node, name, value);
	fclose(f);
	return 0;
}

#define RDNA	     100100
#define PAGES(bytes) (((bytes) + 4095) & ~4095u)

static uint32_t cus_of_xcc(const struct load_node *node)
{
	return node->simd_count / node->simd_per_cu / node->num_xcc;
}

static uint32_t waves_of_xcc(const struct load_node *node)
{
	uint32_t cus = cus_of_xcc(node), arrays, limit;

	if (node->gfx_target_version >= RDNA)
		return cus * 32;
	/* sysfs multiplies the arrays of one XCC by their number */
	arrays = node->array_count / node->num_xcc;
	limit = arrays / node->arrays_per_engine * 512;
	return cus * 40 < limit ? cus * 40 : limit;
}

/* KiB of vector registers in a CU */
static uint32_t vgpr_kib(uint32_t version)
{
	if (version / 100 == 904 || version == 90008 || version == 90010)
		return 512;
	if (version / 10 == 11000 || version / 10 == 12000)
		return version % 10 < 2 ? 384 : 256;
	return 256;
}

/*
 * Not every driver shows the sizes (those before 6.12, amdgpu-dkms), and some of these
 * take no other: a header and 8 or 12 bytes a wave for the control stack, and for each
 * CU its vector registers, 64 KiB of LDS and 20 of other registers.
 */
void load_size_cwsr(struct load_node *node)
{
	uint32_t wave = node->gfx_target_version >= RDNA ? 12 : 8, cu;

	if (node->cwsr_size || !node->simd_per_cu || !node->arrays_per_engine)
		return;
	cu = (vgpr_kib(node->gfx_target_version) + 64 + 20) * 1024;
	node->ctl_stack_size = PAGES(waves_of_xcc(node) * wave + 48);
	node->cwsr_size = node->ctl_stack_size + cus_of_xcc(node) * cu;
}

int load_topology_read(struct load_node *nodes, size_t max)
{
	unsigned int i, found = 0;
	uint32_t gpu_id;
	int ret;

	for (i = 0; i < MAX_NODES && found < max; i++) {
		ret = read_gpu_id(i, &gpu_id);
		if (ret == -ENOENT)
			break;
		/* EPERM: a device cgroup hides the node. gpu_id 0: a CPU. */
		if (ret || gpu_id == 0)
			continue;
		nodes[found] = (struct load_node){
			.node = i,
			.gpu_id = gpu_id,
			.num_xcc = 1,
		};
		ret = read_properties(&nodes[found]);
		if (ret)
			return ret;
		load_size_cwsr(&nodes[found]);
		found++;
	}
	return (int)found;
}

/*
 * Beside the waves themselves the area holds 32 bytes a wave for a debugger,
 * per XCC. sysfs does not show that size, so it is computed as KFD does it.
 */
static uint64_t debugger_bytes(const struct load_node *node)
{
	if (!node->simd_per_cu || !node->arrays_per_engine || !node->num_xcc)
		return 0;
	return (waves_of_xcc(node) * 32ULL + 63) & ~63ULL;
}

uint64_t load_cwsr_bytes(const struct load_node *node)
{
	uint64_t bytes = (node->cwsr_size + debugger_bytes(node)) * node->num_xcc;

	return (bytes + 4095) & ~4095ULL;
}
