// SPDX-License-Identifier: LGPL-2.1-or-later
/* KFD's topology in sysfs: what the driver says of its nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/observe/observe.h"
#include "shared/parse.h"

/* Of a process, a file of this name and an id for each GPU that it may use. */
#define VRAM "vram_"

#define NODE(name, kind) GP_COLUMN(struct gpreempt_node, name, kind)
const struct gp_table gp_nodes_table = GP_TABLE(NODES, struct gpreempt_node, NODE);

int gp_node_gpu_id(const struct gpreempt *g, const char *node, uint64_t *gpu_id)
{
	return gp_read_number(g, gpu_id, GP_TOPOLOGY "/%.16s/gpu_id", node);
}

/* A line of the properties: a name, a space, a number. */
int gp_node_property(const struct gpreempt *g, const char *node, const char *name, uint64_t *value)
{
	size_t len = strlen(name);
	char text[4096], *at;
	ssize_t n;

	n = gp_read_small(g, text, sizeof(text), GP_TOPOLOGY "/%.16s/properties", node);
	if (n < 0)
		return n;
	for (at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, len) || at[len] != ' ')
			continue;
		*value = strtoull(at + len, NULL, 10);
		return 0;
	}
	return -ENODATA;
}

static int64_t property(const struct gpreempt *g, const char *node, const char *name)
{
	uint64_t value;

	if (gp_node_property(g, node, name, &value))
		return GPREEMPT_UNKNOWN;
	return value;
}

/* As the kernel writes the address of a PCI device. */
static void put_device(const struct gpreempt *g, const char *node, struct gpreempt_node *out)
{
	int64_t domain = property(g, node, "domain");
	int64_t location = property(g, node, "location_id");

	if (domain < 0 || location < 0)
		return;
	snprintf(out->device, sizeof(out->device), "%04x:%02x:%02x.%x", (unsigned int)domain,
		 (unsigned int)(location >> 8) & 0xff, (unsigned int)(location >> 3) & 0x1f,
		 (unsigned int)location & 7);
}

static bool fill(const struct gpreempt *g, const char *dir, const char *name, void *record)
{
	struct gpreempt_node *node = record;
	uint64_t gpu_id, number;

	(void)dir;
	if (shr_parse_u64(name, UINT32_MAX, &number) || gp_node_gpu_id(g, name, &gpu_id) || !gpu_id)
		return false;
	node->gpu_id = gpu_id;
	node->node = number;
	node->gfx = property(g, name, "gfx_target_version");
	node->xccs = property(g, name, "num_xcc");
	put_device(g, name, node);
	return true;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct gpreempt_node *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

int gp_sysfs_nodes(const struct gpreempt *g, void *records, size_t *count)
{
	struct gpreempt_node *nodes;
	int ret = gp_table_list(g, GP_TOPOLOGY, &gp_nodes_table, fill, &nodes, count);

	if (ret)
		return ret;
	if (*count)
		qsort(nodes, *count, sizeof(*nodes), compare_nodes);
	memcpy(records, &nodes, sizeof(nodes));
	return 0;
}

bool gp_is_vram(const char *name, uint64_t *gpu_id)
{
	return !strncmp(name, VRAM, strlen(VRAM)) &&
	       !shr_parse_u64(name + strlen(VRAM), UINT32_MAX, gpu_id);
}

struct search {
	const struct gpreempt *g;
	uint64_t gpu_id;
	const char *name;
	uint64_t *value;
	int ret;
};

static int look_at_node(void *arg, const char *node)
{
	struct search *search = arg;
	uint64_t gpu_id;

	if (gp_node_gpu_id(search->g, node, &gpu_id) || gpu_id != search->gpu_id)
		return 0;
	search->ret = gp_node_property(search->g, node, search->name, search->value);
	return 1;
}

int gp_gpu_property(const struct gpreempt *g, uint64_t gpu_id, const char *name, uint64_t *value)
{
	struct search search = { g, gpu_id, name, value, -ENODATA };

	g->ops->list_dir(g->be, GP_TOPOLOGY, look_at_node, &search);
	return search.ret;
}
