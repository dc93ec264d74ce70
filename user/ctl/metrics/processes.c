// SPDX-License-Identifier: GPL-2.0-only
/* Metrics of processes, and which of them are left out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/metrics/metrics.h"
#include "shared/clock.h"

struct ranked {
	const struct gp_process_figures *p;
	const struct ctl_person *person; /* NULL: not known */
	double busy;			 /* percent, on the GPU where it is highest */
	int64_t vram;
	char by[64]; /* who holds it, or "" */
};

/* The busiest first, then those with most memory. */
static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->busy != y->busy)
		return x->busy < y->busy ? 1 : -1;
	if (x->vram != y->vram)
		return x->vram < y->vram ? 1 : -1;
	return (x->p->pid > y->p->pid) - (x->p->pid < y->p->pid);
}

static bool is_suspended(const struct gp_process_figures *p)
{
	size_t i;

	for (i = 0; i < p->gpus.count; i++)
		if (p->gpus.items[i].suspended > 0)
			return true;
	return false;
}

static void find_holder(struct ctl_sampler *s, struct ranked *r)
{
	const struct gp_process_figures *p = r->p;
	bool held = p->paused > 0 || p->debugged > 0 || is_suspended(p);
	struct ctl_holder holder;

	/* Without the module all may be. */
	if (!held && p->paused != GPREEMPT_UNKNOWN)
		return;
	ctl_sampler_holder(s, p->pid, &holder);
	if (holder.pid != GPREEMPT_UNKNOWN)
		memcpy(r->by, holder.as, sizeof(r->by));
	else if (held)
		strcpy(r->by, "unknown");
}

static void rank(struct ctl_sampler *s, const struct gp_process_figures *p,
		 const struct ctl_person *person, struct ranked *out)
{
	size_t i;

	*out = (struct ranked){ .p = p, .person = person, .busy = -1 };
	find_holder(s, out);
	for (i = 0; i < p->gpus.count; i++) {
		const struct gp_figure *gpu = &p->gpus.items[i];
		double busy = gp_share_percent(&gpu->share);

		if (busy > out->busy)
			out->busy = busy;
		if (gpu->vram > 0)
			out->vram += gpu->vram;
	}
}

/* A process may have all GPUs open and use one. */
static bool is_used(const struct gp_figure *gpu)
{
	return gpu->queues > 0 || gpu->vram > 0 || gpu->share.busy || gpu->suspended_ns;
}

static void add_on_gpu(struct out_metrics *m, struct out_labels *labels,
		       const struct gp_figure *gpu, bool looked)
{
	metrics_add_share(m, OUT_PROCESS_BUSY, labels, &gpu->share);
	out_metric_known(m, OUT_PROCESS_WAVES, labels, gpu->waves);
	out_metric_known(m, OUT_PROCESS_QUEUES, labels, gpu->queues);
	out_metric_known(m, OUT_PROCESS_VRAM, labels, gpu->vram);
	if (gpu->evicted_ms != GPREEMPT_UNKNOWN)
		out_metric(m, OUT_PROCESS_EVICTED, labels, gpu->evicted_ms / 1e3);
	if (looked && gpu->suspended != GPREEMPT_UNKNOWN)
		out_metric(m, OUT_PROCESS_SUSPENDED, labels,
			   (double)gpu->suspended_ns / NSEC_PER_SEC);
}

static void set_person(const struct ctl_person *person, struct out_labels *labels)
{
	if (!person)
		return;
	labels->value[OUT_COMM] = person->comm;
	labels->value[OUT_USER] = person->user;
	labels->value[OUT_POD_UUID] = person->place.pod_uid;
	labels->value[OUT_POD] = person->place.in.pod;
	labels->value[OUT_NAMESPACE] = person->place.in.pod_namespace;
	labels->value[OUT_CONTAINER] = person->place.in.name;
	labels->value[OUT_CONTAINER_ID] = person->place.in.id;
	labels->value[OUT_JOB_ID] = person->place.job;
	if (*person->place.job)
		labels->value[OUT_JOB_USER] = person->user;
	labels->value[OUT_CGROUP] = person->place.cgroup;
}

static void add_process(struct out_metrics *m, const struct ranked *r,
			const struct metrics_gpus *gpus, bool looked)
{
	const struct gp_process_figures *p = r->p;
	struct out_labels labels = { { [OUT_BY] = r->by } };
	char pid[24];
	size_t i;

	snprintf(pid, sizeof(pid), "%lld", (long long)p->pid);
	labels.value[OUT_PROCESS_ID] = pid;
	set_person(r->person, &labels);
	out_metric(m, OUT_PROCESS, &labels, 1);
	if (p->slots_taken)
		out_metric(m, OUT_PROCESS_SLOTS, &labels, (double)p->slots_held / p->slots_taken);
	if (*r->by)
		out_metric(m, OUT_PROCESS_HELD, &labels, 1);
	for (i = 0; i < p->gpus.count; i++) {
		if (!is_used(&p->gpus.items[i]))
			continue;
		metrics_set_gpu(gpus, p->gpus.items[i].gpu_id, &labels);
		add_on_gpu(m, &labels, &p->gpus.items[i], looked);
	}
}

/* As many as there is room for; returns how many series the others would have had. */
static size_t add_ranked(struct out_metrics *m, const struct ranked *ranked, size_t n,
			 const struct metrics_gpus *gpus, bool looked, size_t room)
{
	size_t i, count, dropped = 0, begin = m->series;

	for (i = 0; i < n; i++) {
		size_t before = m->series;

		m->counting = true;
		add_process(m, &ranked[i], gpus, looked);
		m->counting = false;
		count = m->series - before;
		m->series = before;
		/* After one that does not fit, no lesser one is taken. */
		if (dropped || before - begin + count > room)
			dropped += count;
		else
			add_process(m, &ranked[i], gpus, looked);
	}
	return dropped;
}

int metrics_add_processes(struct out_metrics *m, struct ctl_sampler *s,
			  const struct metrics_gpus *gpus, size_t room, size_t *dropped)
{
	const struct gp_figures *f = &s->figures;
	struct ranked *ranked = calloc(f->processes.count + 1, sizeof(*ranked));
	size_t i, n = 0;

	if (!ranked)
		return -ENOMEM;
	for (i = 0; i < f->processes.count; i++) {
		const struct gp_process_figures *p = &f->processes.items[i];
		const struct ctl_person *person = ctl_sampler_person(s, p->pid);

		if (!person || !person->holder)
			rank(s, p, person, &ranked[n++]);
	}
	qsort(ranked, n, sizeof(*ranked), compare_ranked);
	*dropped = add_ranked(m, ranked, n, gpus, f->looks, room);
	free(ranked);
	return 0;
}
