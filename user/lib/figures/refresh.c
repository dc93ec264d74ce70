// SPDX-License-Identifier: LGPL-2.1-or-later
/* Who is there, what memory each process has, and what slots its queues. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/figures/store.h"
#include "lib/observe/observe.h"
#include "shared/clock.h"
#include "shared/parse.h"

/* Slots may take that part of a CPU's time, and so may memory. */
#define SLOW_PART 250

#define BANKS 4 /* of memory, in a node of the topology, that are looked for */

/* The memory of a GPU, which its topology has in banks. */
static int64_t vram_size(struct gpreempt *g, int64_t node)
{
	int64_t size = 0;
	uint64_t bank;
	char name[64];
	int i;

	for (i = 0; i < BANKS; i++) {
		snprintf(name, sizeof(name), "%lld/mem_banks/%d", (long long)node, i);
		if (gp_node_property(g, name, "size_in_bytes", &bank))
			break;
		size += bank;
	}
	return i ? size : GPREEMPT_UNKNOWN;
}

static int add_nodes(struct gp_figures *f, struct gpreempt_error *err)
{
	struct gpreempt_nodes *nodes;
	struct gp_gpu_figures *gpu;
	size_t i;
	int ret = gpreempt_nodes_read(f->g, &nodes, err);

	if (ret)
		return ret;
	for (i = 0; i < nodes->count; i++) {
		gpu = gp_figures_node(f, nodes->nodes[i].gpu_id);
		if (!gpu) {
			gpu = shr_add(&f->gpus);
			if (!gpu)
				break;
			gpu->waves = gpu->waves_max = GPREEMPT_UNKNOWN;
			gpu->vram_size = vram_size(f->g, nodes->nodes[i].node);
		}
		gpu->node = nodes->nodes[i];
	}
	gpreempt_nodes_free(nodes);
	return 0;
}

/* What the module, or sysfs, knows of all processes; with register reads. */
static int add_slots(struct gp_figures *f, struct gpreempt_error *err)
{
	struct gpreempt_process_list *list;
	struct gp_process_figures *p;
	size_t i;
	int ret = gpreempt_processes_read(f->g, &list, err);

	if (ret)
		return ret;
	f->source = list->source;
	for (i = 0; i < list->count; i++) {
		const struct gpreempt_process *from = &list->processes[i];

		p = gp_figures_process(f, from->pid);
		if (!p)
			break;
		p->active = from->active;
		p->slots = from->slots;
		p->paused = from->paused;
		p->debugged = from->debugged;
		if (p->active == GPREEMPT_UNKNOWN || p->slots <= 0)
			continue;
		p->slots_held += p->active;
		p->slots_taken += p->slots;
	}
	gpreempt_processes_free(list);
	return 0;
}

static int see_process(void *arg, const char *name)
{
	struct gp_figures *f = arg;
	struct gp_process_figures *p;
	uint64_t pid;

	if (shr_parse_u64(name, INT32_MAX, &pid))
		return 0;
	p = gp_figures_process(f, pid);
	if (!p)
		return -ENOMEM;
	p->there = true;
	return 0;
}

/* Is that the process that it was? Another one may have its number. */
static bool is_same(struct gp_figures *f, struct gp_process_figures *p)
{
	struct pollfd fd = { .fd = p->fd, .events = POLLIN };
	uint64_t start;

	/* The files of a snapshot stay as they are. */
	if (!p->there || f->g->saved)
		return p->there;
	if (p->fd >= 0)
		return poll(&fd, 1, 0) <= 0;
	return gpreempt_start_time(f->g, p->pid, &start) || start == p->start;
}

/* Take out who has ended. */
static void drop_ended(struct gp_figures *f)
{
	size_t i, kept = 0;

	for (i = 0; i < f->processes.count; i++) {
		struct gp_process_figures *p = &f->processes.items[i];

		if (is_same(f, p))
			f->processes.items[kept++] = *p;
		else
			gp_figures_clear_process(p);
	}
	f->processes.count = kept;
}

/* Which GPUs a process may use is fixed when it opens /dev/kfd: once is enough. */
static int list_gpus(struct gp_figures *f, struct gp_process_figures *p)
{
	struct gpreempt_process_gpus *list;
	int ret = 0;
	size_t i;

	if (gpreempt_process_gpus_read(f->g, p->pid, 0, &list, NULL))
		return 0;
	for (i = 0; !ret && i < list->count; i++)
		if (!gp_figures_gpu(p, list->gpus[i].gpu_id))
			ret = -ENOMEM;
	p->listed = list->count && !ret;
	gpreempt_process_gpus_free(list);
	return ret;
}

static int read_memory(struct gp_figures *f, struct gp_process_figures *p)
{
	/* The module has the rest. */
	unsigned int what = GPREEMPT_FIGURE_VRAM | (f->looks ? 0 : GPREEMPT_FIGURE_EVICTED);
	struct gpreempt_process_gpu gpu;
	int ret = p->listed ? 0 : list_gpus(f, p);
	size_t i;

	for (i = 0; !ret && i < p->gpus.count; i++) {
		gpu.gpu_id = p->gpus.items[i].gpu_id;
		gp_process_gpu_read(f->g, p->pid, what, &gpu);
		p->gpus.items[i].vram = gpu.vram;
		if (!f->looks)
			p->gpus.items[i].evicted_ms = gpu.evicted_ms;
	}
	return ret;
}

/*
 * Those that are new, and of the others so many as there is time for, in turn: each of
 * them costs a file for each of its GPUs.
 */
static int read_memories(struct gp_figures *f, uint64_t now)
{
	uint64_t until = shr_thread_cpu_ns() + (now - f->refresh_ns) / SLOW_PART;
	size_t i, count = f->processes.count;
	bool late = false;
	int ret = 0;

	for (i = 0; !ret && i < count; i++)
		if (!f->processes.items[i].listed)
			ret = read_memory(f, &f->processes.items[i]);
	for (i = 0; !ret && !late && i < count; i++) {
		f->memory_at = (f->memory_at + 1) % count;
		ret = read_memory(f, &f->processes.items[f->memory_at]);
		late = shr_thread_cpu_ns() > until;
	}
	f->refresh_ns = now;
	return ret;
}

static void add_up_memory(struct gp_figures *f)
{
	size_t i, j;

	for (i = 0; i < f->gpus.count; i++)
		f->gpus.items[i].vram = 0;
	for (i = 0; i < f->processes.count; i++) {
		struct gp_process_figures *p = &f->processes.items[i];

		for (j = 0; j < p->gpus.count; j++) {
			struct gp_gpu_figures *gpu = gp_figures_node(f, p->gpus.items[j].gpu_id);

			if (gpu)
				gp_figures_sum(&gpu->vram, p->gpus.items[j].vram);
		}
	}
}

int gp_figures_refresh(struct gp_figures *f, uint64_t now, struct gpreempt_error *err)
{
	const struct gpreempt *g = f->g;
	uint64_t cpu = shr_thread_cpu_ns();
	size_t i;
	int ret;

	for (i = 0; i < f->processes.count; i++)
		f->processes.items[i].there = false;
	ret = g->ops->list_dir(g->be, GP_SYSFS_PROC, see_process, f);
	if (ret < 0)
		return gp_error(err, ret, ret == -ENOENT ? GPREEMPT_NO_KFD : GPREEMPT_SYSTEM, 0,
				GP_FIGURES_STEP);
	drop_ended(f);
	if (now >= f->slow_ns) {
		ret = add_nodes(f, err);
		if (!ret)
			ret = add_slots(f, err);
		f->slow_ns = now + SLOW_PART * (shr_thread_cpu_ns() - cpu);
	}
	if (!ret)
		ret = read_memories(f, now);
	add_up_memory(f);
	return ret;
}
