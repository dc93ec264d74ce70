// SPDX-License-Identifier: LGPL-2.1-or-later
/* KFD's topology in sysfs: what the driver says of its nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/observe/observe.h"
#include "shared/array.h"
#include "shared/parse.h"

struct list {
	const struct gpreempt *g;
	struct gpreempt_node *nodes;
	size_t count;
};

int gp_node_gpu_id(const struct gpreempt *g, const char *node, uint64_t *gpu_id)
{
	char text[32];
	ssize_t n;

	n = gp_read_small(g, text, sizeof(text), GP_TOPOLOGY "/%.16s/gpu_id",
			  node);
	if (n < 0)
		return n;
	text[strcspn(text, "\n")] = '\0';
	return shr_parse_u64(text, UINT32_MAX, gpu_id);
}

/* A line of the properties: a name, a space, a number. */
int gp_node_property(const struct gpreempt *g, const char *node,
		     const char *name, uint64_t *value)
{
	size_t len = strlen(name);
	char text[4096], *at;
	ssize_t n;

	n = gp_read_small(g, text, sizeof(text),
			  GP_TOPOLOGY "/%.16s/properties", node);
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

static int64_t property(const struct gpreempt *g, const char *node,
			const char *name)
{
	uint64_t value;

	if (gp_node_property(g, node, name, &value))
		return GPREEMPT_UNKNOWN;
	return value;
}

/* As the kernel writes the address of a PCI device. */
static void put_device(const struct gpreempt *g, const char *node,
		       struct gpreempt_node *out)
{
	int64_t domain = property(g, node, "domain");
	int64_t location = property(g, node, "location_id");

	if (domain < 0 || location < 0)
		return;
	snprintf(out->device, sizeof(out->device), "%04x:%02x:%02x.%x",
		 (unsigned int)domain, (unsigned int)(location >> 8) & 0xff,
		 (unsigned int)(location >> 3) & 0x1f,
		 (unsigned int)location & 7);
}

static int add_node(void *arg, const char *name)
{
	struct list *list = arg;
	struct gpreempt_node *node;
	uint64_t gpu_id, number;

	if (shr_parse_u64(name, UINT32_MAX, &number) ||
	    gp_node_gpu_id(list->g, name, &gpu_id) || !gpu_id)
		return 0;
	node = shr_array_add(&list->nodes, &list->count, sizeof(*node));
	if (!node)
		return -ENOMEM;
	gp_node_unknown(node);
	node->gpu_id = gpu_id;
	node->node = number;
	node->gfx = property(list->g, name, "gfx_target_version");
	node->xccs = property(list->g, name, "num_xcc");
	put_device(list->g, name, node);
	return 0;
}

static int compare_nodes(const void *a, const void *b)
{
	const struct gpreempt_node *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

int gp_sysfs_nodes(const struct gpreempt *g, struct gpreempt_node **out,
		   size_t *count)
{
	struct list list = { .g = g };
	int ret;

	ret = g->ops->list_dir(g->be, GP_TOPOLOGY, add_node, &list);
	if (ret) {
		free(list.nodes);
		return ret;
	}
	if (list.count)
		qsort(list.nodes, list.count, sizeof(*list.nodes),
		      compare_nodes);
	*out = list.nodes;
	*count = list.count;
	return 0;
}
