// SPDX-License-Identifier: LGPL-2.1-or-later
/* Processes and GPUs of which figures are kept. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/core/internal.h"
#include "lib/figures/store.h"

void gp_figures_init(struct gp_figures *f, struct gpreempt *g)
{
	*f = (struct gp_figures){ .g = g };
}

void gp_figures_clear_process(struct gp_process_figures *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->gpus.items);
}

void gp_figures_clear(struct gp_figures *f)
{
	size_t i;

	for (i = 0; i < f->processes.count; i++)
		gp_figures_clear_process(&f->processes.items[i]);
	free(f->processes.items);
	free(f->gpus.items);
	gp_figures_init(f, f->g);
}

void gp_figures_begin(struct gp_figures *f)
{
	size_t i, j;

	for (i = 0; i < f->processes.count; i++) {
		struct gp_process_figures *p = &f->processes.items[i];

		for (j = 0; j < p->gpus.count; j++)
			p->gpus.items[j].share = (struct gp_share){ 0 };
	}
	for (i = 0; i < f->gpus.count; i++)
		f->gpus.items[i].share = (struct gp_share){ 0 };
}

/*
 * The item of an array in the order of its first field that has that key, or a new
 * one, zeroed, in its place. NULL: no memory.
 */
static void *find_or_add(void *array, size_t *count, size_t size, int64_t key, bool *added)
{
	size_t from = 0, to = *count, at;
	char *items;

	memcpy(&items, array, sizeof(items));
	while (from < to) {
		int64_t here;

		at = (from + to) / 2;
		memcpy(&here, items + at * size, sizeof(here));
		if (here == key)
			return items + at * size;
		if (here < key)
			from = at + 1;
		else
			to = at;
	}
	if (!shr_array_add(array, count, size))
		return NULL;
	memcpy(&items, array, sizeof(items));
	items += from * size;
	memmove(items + size, items, (*count - 1 - from) * size);
	memset(items, 0, size);
	memcpy(items, &key, sizeof(key));
	*added = true;
	return items;
}

/* NULL without memory. */
struct gp_process_figures *gp_figures_process(struct gp_figures *f, int64_t pid)
{
	const struct gpreempt *g = f->g;
	struct gp_process_figures *p;
	bool added = false;

	p = find_or_add(&f->processes.items, &f->processes.count, sizeof(*p), pid, &added);
	if (!added)
		return p;
	p->fd = g->saved ? -1 : g->ops->open_process(g->be, pid);
	gpreempt_start_time(f->g, pid, &p->start);
	gp_read_comm(g, pid, p->comm, sizeof(p->comm));
	p->active = p->slots = p->paused = p->debugged = GPREEMPT_UNKNOWN;
	p->there = true;
	return p;
}

struct gp_figure *gp_figures_gpu(struct gp_process_figures *p, int64_t gpu_id)
{
	struct gp_figure *gpu;
	bool added = false;

	gpu = find_or_add(&p->gpus.items, &p->gpus.count, sizeof(*gpu), gpu_id, &added);
	if (added)
		gpu->queues = gpu->suspended = gpu->waves = gpu->vram = gpu->evicted =
			gpu->evicted_ms = GPREEMPT_UNKNOWN;
	return gpu;
}

struct gp_gpu_figures *gp_figures_node(struct gp_figures *f, int64_t gpu_id)
{
	size_t i;

	for (i = 0; i < f->gpus.count; i++)
		if (f->gpus.items[i].node.gpu_id == gpu_id)
			return &f->gpus.items[i];
	return NULL;
}

void gp_figures_sum(int64_t *to, int64_t value)
{
	if (value == GPREEMPT_UNKNOWN || *to == GPREEMPT_UNKNOWN)
		*to = GPREEMPT_UNKNOWN;
	else
		*to += value;
}
