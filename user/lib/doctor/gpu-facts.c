// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the known faults depend on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/doctor/checks.h"
#include "lib/doctor/faults.h"
#include "lib/observe/observe.h"

#define MES_VERSION 0xfff /* the rest of the number is of its interface */
#define MAX_KCQ	    8	  /* kernel queues, the driver's default and limit */

static int64_t read_linux(const struct gpreempt *g)
{
	unsigned int major, minor;
	char text[64];

	/* The release tells nothing of amdgpu-dkms, which alone has a version. */
	if (gp_read_small(g, text, sizeof(text), GP_AMDGPU "/version") >= 0 ||
	    gp_look_in(g, GP_AMDGPU) < 0 ||
	    gp_read_small(g, text, sizeof(text), "/proc/sys/kernel/osrelease") < 0 ||
	    sscanf(text, "%u.%u", &major, &minor) != 2 || minor > 999)
		return GPREEMPT_UNKNOWN;
	return (int64_t)major * 1000 + minor;
}

static int64_t read_mes(const struct gpreempt *g, const struct gpreempt_node *node)
{
	int64_t version;
	char text[24];

	if (!*node->device ||
	    gp_read_small(g, text, sizeof(text),
			  "/sys/bus/pci/devices/%s/fw_version/mes_fw_version", node->device) < 0)
		return GPREEMPT_UNKNOWN;
	version = strtoull(text, NULL, 16) & MES_VERSION;
	return version ? version : GPREEMPT_UNKNOWN;
}

static int64_t read_kernel_queues(const struct gpreempt *g)
{
	char text[24];
	long value;

	if (gp_read_small(g, text, sizeof(text), GP_AMDGPU "/parameters/num_kcq") < 0)
		return GPREEMPT_UNKNOWN;
	value = strtol(text, NULL, 10);
	return value < 0 || value > MAX_KCQ ? MAX_KCQ : value;
}

static int64_t count_compute(const struct gpreempt_view *view, int64_t gpu_id)
{
	int64_t n = 0;
	size_t i;

	for (i = 0; i < view->count; i++)
		n += view->queues[i].gpu_id == gpu_id && gp_is_compute(&view->queues[i]);
	return n;
}

static void add_process(struct gpreempt *g, pid_t pid, struct gp_gpu_facts *facts, size_t count)
{
	struct gpreempt_view *view;
	size_t i;

	/* It has ended meanwhile. */
	if (gpreempt_view_read(g, pid, &view, NULL))
		return;
	for (i = 0; i < count; i++) {
		int64_t n = count_compute(view, facts[i].gpu_id);
		int64_t *value = facts[i].value;

		value[GP_FACT_CLIENTS] += n > 0;
		value[GP_FACT_WAITING] += n;
		if (n > value[GP_FACT_QUEUES])
			value[GP_FACT_QUEUES] = n;
	}
	gpreempt_view_free(view);
}

/* All facts about queues, or none. */
static void read_queues(struct gpreempt *g, struct gp_gpu_facts *facts, size_t count)
{
	struct gpreempt_targets *processes;
	size_t i;

	if (gpreempt_processes(g, &processes, NULL))
		return;
	for (i = 0; i < count; i++)
		facts[i].value[GP_FACT_CLIENTS] = facts[i].value[GP_FACT_QUEUES] =
			facts[i].value[GP_FACT_WAITING] = 0;
	for (i = 0; i < processes->count; i++)
		add_process(g, processes->targets[i].pid, facts, count);
	gpreempt_targets_free(processes);
	for (i = 0; i < count; i++) {
		int64_t *waiting = &facts[i].value[GP_FACT_WAITING];
		uint64_t slots;

		if (gp_gpu_property(g, facts[i].gpu_id, "num_cp_queues", &slots))
			*waiting = GPREEMPT_UNKNOWN;
		else
			*waiting = *waiting > (int64_t)slots ? *waiting - (int64_t)slots : 0;
	}
}

static void read_facts(const struct gpreempt *g, const struct gpreempt_node *node,
		       struct gp_gpu_facts *facts)
{
	size_t i;

	facts->gpu_id = node->gpu_id;
	for (i = 0; i < GP_FACTS; i++)
		facts->value[i] = GPREEMPT_UNKNOWN;
	facts->value[GP_FACT_LINUX] = read_linux(g);
	facts->value[GP_FACT_GFX] = node->gfx;
	facts->value[GP_FACT_MES] = read_mes(g, node);
	facts->value[GP_FACT_KERNEL_QUEUES] = read_kernel_queues(g);
}

int gp_gpu_facts_read(struct gpreempt *g, struct gp_gpu_facts **out, size_t *count)
{
	struct gp_gpu_facts *facts;
	struct gpreempt_nodes *nodes;
	int ret = gpreempt_nodes_read(g, &nodes, NULL);
	size_t i;

	if (ret)
		return ret;
	facts = calloc(nodes->count + 1, sizeof(*facts));
	for (i = 0; facts && i < nodes->count; i++)
		read_facts(g, &nodes->nodes[i], &facts[i]);
	if (facts)
		read_queues(g, facts, nodes->count);
	*out = facts;
	*count = nodes->count;
	gpreempt_nodes_free(nodes);
	return facts ? 0 : -ENOMEM;
}
