// SPDX-License-Identifier: LGPL-2.1-or-later
/* A look: which processes execute something now, and on which GPUs. */
#include <errno.h>

#include "lib/figures/store.h"
#include "lib/observe/observe.h"

const char *const gp_method_names[GP_METHODS] = {
	[GP_METHOD_NONE] = GP_VIEW_UNKNOWN,
	[GP_METHOD_PACKETS] = "packets",
	[GP_METHOD_WAVES] = "waves",
};

double gp_share_percent(const struct gp_share *share)
{
	return share->looks ? 100.0 * share->busy / share->looks : -1;
}

/* The queues of the process whose lines stand together, where they had to be read. */
struct queues {
	int64_t pid; /* 0: of none yet */
	struct gpreempt_view *view;
};

/* Has a queue of it that a slot holds packets that were not read? -1: not known. */
static int has_packets(struct gpreempt *g, const struct gpreempt_usage *u, struct queues *of)
{
	int found = -1;
	size_t i;

	if (of->pid != u->pid) {
		gpreempt_view_free(of->view);
		of->pid = u->pid;
		if (gpreempt_view_read(g, u->pid, &of->view, NULL))
			of->view = NULL;
	}
	for (i = 0; of->view && i < of->view->count && found < 1; i++) {
		const struct gpreempt_queue *q = &of->view->queues[i];

		if (q->gpu_id == u->gpu_id && gp_is_compute(q) && q->active != GPREEMPT_UNKNOWN)
			found = q->active && q->rptr != q->wptr;
	}
	return found;
}

/* Does it execute? -1: that is not known. */
static int is_busy(struct gp_figures *f, const struct gpreempt_usage *u, struct queues *of,
		   enum gp_method *method)
{
	*method = GP_METHOD_WAVES;
	switch (u->hardware) {
	case GP_VIEW_HARDWARE_UNUSED:
	case GP_VIEW_HARDWARE_ASLEEP:
		return 0;
	case GP_VIEW_HARDWARE_READ:
		if (u->busy != GPREEMPT_UNKNOWN)
			return u->busy;
		*method = GP_METHOD_PACKETS;
		return has_packets(f->g, u, of);
	default:
		return -1;
	}
}

/* Begin a look at something; what is known of it is added up. */
static void begin_look(struct gp_look *look, uint64_t number)
{
	*look = (struct gp_look){ .number = number, .method = GP_METHOD_WAVES };
}

static void see(struct gp_look *look, int busy, enum gp_method method)
{
	look->busy |= busy > 0;
	look->unknown |= busy < 0;
	if (method < look->method)
		look->method = method;
}

/* What is busy is, whatever is not known beside it. */
static void end_look(struct gp_share *share, const struct gp_look *look)
{
	if (!look->busy && look->unknown)
		return;
	if (!share->looks || look->method < share->method)
		share->method = look->method;
	share->looks++;
	share->busy += look->busy;
}

/* A process that has several contexts has several lines. */
static int add_line(struct gp_figures *f, const struct gpreempt_usage *u, struct queues *of)
{
	struct gp_gpu_figures *node = gp_figures_node(f, u->gpu_id);
	struct gp_process_figures *p = gp_figures_process(f, u->pid);
	struct gp_figure *gpu = p ? gp_figures_gpu(p, u->gpu_id) : NULL;
	enum gp_method method;
	int busy;

	if (!gpu)
		return -ENOMEM;
	if (gpu->look.number != f->looks) {
		begin_look(&gpu->look, f->looks);
		gpu->queues = gpu->suspended = gpu->waves = gpu->evicted = 0;
		gpu->evicted_ms = 0;
	}
	gp_figures_sum(&gpu->queues, u->queues);
	gp_figures_sum(&gpu->suspended, u->suspended);
	gp_figures_sum(&gpu->waves, u->waves);
	gp_figures_sum(&gpu->evicted, u->evicted);
	gp_figures_sum(&gpu->evicted_ms, u->evicted_ms);
	busy = is_busy(f, u, of, &method);
	see(&gpu->look, busy, method);
	if (node) {
		see(&node->look, busy, method);
		node->waves_max = u->waves_max;
		gp_figures_sum(&node->waves, u->waves);
	}
	return 0;
}

/* Who has no line has no queue: it was not busy, if it ever had one. */
static void end_figure(struct gp_figures *f, struct gp_figure *gpu, uint64_t ns)
{
	bool suspended, held;

	if (gpu->look.number != f->looks) {
		if (!gpu->look.number)
			return;
		begin_look(&gpu->look, gpu->look.number);
		gpu->look.method = gpu->all.method;
		gpu->queues = gpu->suspended = gpu->waves = 0;
		gpu->evicted = 0;
	}
	end_look(&gpu->share, &gpu->look);
	end_look(&gpu->all, &gpu->look);
	suspended = gpu->suspended > 0 && gpu->suspended == gpu->queues;
	if (suspended)
		gpu->suspended_ns += ns;
	held = suspended || gpu->evicted > 0;
	gpu->holds += held && !gpu->held;
	gpu->held = held;
}

int gp_figures_look(struct gp_figures *f, uint64_t now, struct gpreempt_error *err)
{
	uint64_t ns = f->look_ns ? now - f->look_ns : 0;
	struct gpreempt_usages *list;
	struct queues of = { 0 };
	size_t i, j;
	int ret = gpreempt_usage_read(f->g, 0, &list, err);

	if (ret)
		return ret;
	f->looks++;
	f->look_ns = now;
	for (i = 0; i < f->gpus.count; i++) {
		begin_look(&f->gpus.items[i].look, f->looks);
		f->gpus.items[i].waves = 0;
	}
	for (i = 0; !ret && i < list->count; i++)
		ret = add_line(f, &list->usages[i], &of);
	gpreempt_view_free(of.view);
	gpreempt_usage_free(list);
	if (ret)
		return gp_error(err, ret, GPREEMPT_SYSTEM, 0, GP_FIGURES_STEP);
	for (i = 0; i < f->processes.count; i++)
		for (j = 0; j < f->processes.items[i].gpus.count; j++)
			end_figure(f, &f->processes.items[i].gpus.items[j], ns);
	for (i = 0; i < f->gpus.count; i++)
		end_look(&f->gpus.items[i].share, &f->gpus.items[i].look);
	return 0;
}
