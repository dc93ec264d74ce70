// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the queues of a snapshot add up to: a line for each process, and for each node
 * that a process can use.
 */

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "summary.h"

static void add_usage(struct gp_gpu *gpu, const struct gp_queue *q)
{
	gpu->queues++;
	gpu->suspended = q->suspended < 0 ? -1 : gpu->suspended + q->suspended;
	if (gpu->hardware < 0 || gpu->hardware == GP_VIEW_HARDWARE_READ)
		gpu->hardware = q->hardware;
	if (gp_queue_is_cp(q->type)) {
		gpu->waves = q->waves < 0 || gpu->waves < 0 ? -1 : gpu->waves + q->waves;
		if (gpu->busy < 1 && q->waves)
			gpu->busy = q->waves < 0 ? -1 : 1;
	}
	gpu->age_ms = max(gpu->age_ms, q->age_ms);
}

/* Keep what is to be shown of the nodes. */
static void drop_unused(struct gp_gpus *gpus, bool all)
{
	struct gp_gpu *g;
	u32 i, n = 0;

	for (i = 0; i < gpus->n; i++) {
		g = &gpus->g[i];
		if (g->unknown) {
			g->queues = g->need;
			g->waves = -1;
			g->busy = -1;
			g->suspended = -1;
			g->hardware = -1;
		}
		if (g->vm && g->node_id && (!all || g->queues))
			gpus->g[n++] = *g;
	}
	gpus->n = n;
}

struct gp_gpus *gp_gpus_take(struct gp_proc *proc, bool usage)
{
	struct gp_snapshot s;
	struct gp_gpus *gpus;
	u32 i;
	int ret;

	/* Samples of all, and what needs no lock, do not wait for other readers. */
	if (proc && usage)
		ret = gp_proc_read(proc, GP_READ_QUEUES | GP_READ_WAVES, &s);
	else
		ret = gp_snapshot_take(proc ? proc->pid : NULL, NULL,
				       usage ? GP_READ_QUEUES | GP_READ_WAVES : 0, &s);
	if (ret)
		return ERR_PTR(ret);
	gpus = s.gpus;
	s.gpus = NULL;
	for (i = 0; i < s.queues->n; i++)
		if (s.queues->q[i].gpu < gpus->n)
			add_usage(&gpus->g[s.queues->q[i].gpu], &s.queues->q[i]);
	if (usage)
		drop_unused(gpus, !proc);
	gp_snapshot_free(&s);
	return gpus;
}

static void add_to_summary(struct gp_summary *s, const struct gp_queue *q)
{
	s->queues++;
	if (q->type >= 0)
		s->by_type[q->type]++;
	s->slots += q->slots;
	s->active = q->active < 0 || s->active < 0 ? -1 : s->active + q->active;
	s->suspended = q->suspended < 0 || s->suspended < 0 ? -1 : s->suspended + q->suspended;
	s->evicted += q->evicted;
	s->age_ms = max_t(s64, s->age_ms, q->age_ms);
}

static int by_pid(const void *a, const void *b)
{
	const struct gp_summary *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

struct gp_summaries *gp_summary_take(void)
{
	struct gp_snapshot s;
	struct gp_summaries *all;
	u32 i;
	int ret;

	ret = gp_proc_read(NULL, GP_READ_QUEUES | GP_READ_SLOTS, &s);
	if (ret)
		return ERR_PTR(ret);
	all = s.procs;
	s.procs = NULL;
	for (i = 0; i < s.queues->n; i++)
		add_to_summary(&all->s[s.queues->q[i].proc], &s.queues->q[i]);
	for (i = 0; i < all->n; i++)
		if (all->s[i].unknown)
			memset_startat(&all->s[i], 0xff, gpus);
	gp_snapshot_free(&s);
	sort(all->s, all->n, sizeof(all->s[0]), by_pid, NULL);
	return all;
}
