// SPDX-License-Identifier: GPL-2.0-only
/* Sums, order, filter and groups of what top shows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/top/columns.h"
#include "ctl/top/model.h"

const char *const top_tree_names[TOP_TREES] = {
	[TOP_FLAT] = "none",
	[TOP_BY_CGROUP] = "cgroup",
	[TOP_BY_CONTAINER] = "container",
	[TOP_BY_POD] = "pod",
};

void top_process_clear(struct top_process *p)
{
	free(p->command);
	free(p->gpus.items);
}

void top_model_clear(struct top_model *m)
{
	size_t i;

	for (i = 0; i < m->processes.count; i++)
		top_process_clear(&m->processes.items[i]);
	free(m->processes.items);
	free(m->gpus.items);
	free(m->lines.items);
	free(m->missing);
	free(m->queues.items);
	*m = (struct top_model){ 0 };
}

void top_history_add(struct top_history *h, int64_t busy)
{
	h->percent[h->count++ % TOP_HISTORY] = busy == GPREEMPT_UNKNOWN ? TOP_NOTHING :
					       busy > 1000		? 100 :
									  (busy + 5) / 10;
}

unsigned int top_history_at(const struct top_history *h, unsigned int ago)
{
	if (ago >= h->count || ago >= TOP_HISTORY)
		return TOP_NOTHING;
	return h->percent[(h->count - 1 - ago) % TOP_HISTORY];
}

const struct top_history *top_history_of(const struct top_process *p, int64_t gpu_id)
{
	size_t i;

	for (i = 0; gpu_id && i < p->gpus.count; i++)
		if (p->gpus.items[i].gpu_id == gpu_id)
			return &p->gpus.items[i].history;
	return &p->history;
}

const struct top_process *top_find(const struct top_model *m, int64_t pid)
{
	return m->processes.count ? bsearch(&pid, m->processes.items, m->processes.count,
					    sizeof(*m->processes.items), shr_compare_first) :
				    NULL;
}

/* Of those that are known; unknown if none is. */
static void add_known(int64_t *sum, int64_t value)
{
	if (value == GPREEMPT_UNKNOWN)
		return;
	*sum = *sum == GPREEMPT_UNKNOWN ? value : *sum + value;
}

static bool is_used(const struct top_figure *f)
{
	return f->queues > 0 || f->vram > 0;
}

static void add_figure(struct top_process *p, const struct top_figure *f)
{
	add_known(&p->busy, f->busy);
	add_known(&p->queues, f->queues);
	add_known(&p->waves, f->waves);
	add_known(&p->vram, f->vram);
	add_known(&p->evicted_ms, f->evicted_ms);
	/* The queues of all GPUs are suspended together. */
	if (f->suspended_ms > p->suspended_ms)
		p->suspended_ms = f->suspended_ms;
	if (f->holds > p->holds)
		p->holds = f->holds;
	/* The least of them, as "packets" before "waves". */
	if (f->method && (!p->method || strcmp(f->method, p->method) < 0))
		p->method = f->method;
}

/* On the GPUs that are chosen. false: it is not there. */
static bool sum_up(struct top_process *p, int64_t gpu_id)
{
	size_t i, used = 0;
	int64_t last = 0;

	p->busy = p->queues = p->waves = p->vram = p->evicted_ms = p->suspended_ms = p->holds =
		GPREEMPT_UNKNOWN;
	p->method = NULL;
	for (i = 0; i < p->gpus.count; i++) {
		const struct top_figure *f = &p->gpus.items[i];

		if (gpu_id && f->gpu_id != gpu_id)
			continue;
		add_figure(p, f);
		if (!is_used(f))
			continue;
		used++;
		last = f->gpu_id;
	}
	*p->gpu = '\0';
	if (used == 1)
		snprintf(p->gpu, sizeof(p->gpu), "0x%llx", (unsigned long long)last);
	else if (used)
		snprintf(p->gpu, sizeof(p->gpu), "%zu GPUs", used);
	return !gpu_id || used;
}

/* In what its line says of it. */
static bool has_text(const struct top_process *p, const char *pattern)
{
	const char *const texts[] = {
		p->command, p->user,	p->container, p->cgroup,
		p->held_as, p->pod_uid, p->job,	      p->state,
	};
	char pid[24];
	size_t i;

	snprintf(pid, sizeof(pid), "%lld", (long long)p->pid);
	if (!*pattern || !strcmp(pid, pattern))
		return true;
	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i] && strcasestr(texts[i], pattern))
			return true;
	return false;
}

/* 1: nothing is known of the first. */
static int compare_unknown(bool a, bool b)
{
	return a - b;
}

static int compare_numbers(int64_t x, int64_t y)
{
	return (x > y) - (x < y);
}

static int compare(const void *a, const void *b, void *data)
{
	const struct top_line *one = a, *other = b;
	const struct top_process *x = one->process, *y = other->process;
	const struct top_order *order = data;
	const struct out_field *field = top_columns[order->column].field;
	int sign = order->inverted ? -1 : 1, ret;

	if (field->kind <= OUT_LIST) {
		const char *s = out_text_of(field, x), *t = out_text_of(field, y);

		ret = compare_unknown(!s, !t);
		if (!ret && s)
			ret = sign * strcmp(s, t);
	} else {
		int64_t m = out_number_of(field, x), n = out_number_of(field, y);

		ret = compare_unknown(m == GPREEMPT_UNKNOWN, n == GPREEMPT_UNKNOWN);
		/* What is much comes first, but for PIDs. */
		if (order->column != top_column_pid)
			sign = -sign;
		if (!ret)
			ret = sign * compare_numbers(m, n);
	}
	return ret ? ret : compare_numbers(x->pid, y->pid);
}

static const char *group_of(const struct top_process *p, enum top_tree tree)
{
	static const char *const none[TOP_TREES] = {
		[TOP_BY_CGROUP] = "no cgroup",
		[TOP_BY_CONTAINER] = "no container",
		[TOP_BY_POD] = "no pod and no job",
	};
	const char *name = tree == TOP_BY_CGROUP    ? p->cgroup :
			   tree == TOP_BY_CONTAINER ? p->container :
			   *p->pod_uid		    ? p->pod_uid :
						      p->job;

	return *name ? name : none[tree];
}

static int compare_groups(const void *a, const void *b)
{
	const struct top_line *x = a, *y = b;
	int ret = strcmp(x->group, y->group);

	/* members is their place in the order until now. */
	return ret ? ret : compare_numbers(x->members, y->members);
}

static int compare_places(const void *a, const void *b)
{
	const struct top_line *x = a, *y = b;
	int ret = compare_numbers(x->members, y->members);

	if (ret)
		return ret;
	ret = !!x->process - !!y->process;
	return ret ? ret : compare_numbers(x->busy, y->busy);
}

/*
 * Put headings in. A group stands where its first process would. Until the end,
 * members is the place of the group, and busy that of the process in it.
 */
static int add_headings(struct top_model *m, enum top_tree tree)
{
	size_t i, j, count = m->lines.count, groups = 0;
	struct top_line *line, *heading;

	for (i = 0; i < count; i++) {
		line = &m->lines.items[i];
		line->group = group_of(line->process, tree);
		line->members = i;
	}
	qsort(m->lines.items, count, sizeof(*line), compare_groups);
	for (i = 0; i < count; i = j, groups++) {
		heading = shr_add(&m->lines);
		if (!heading)
			return -ENOMEM;
		line = &m->lines.items[i];
		heading->group = line->group;
		heading->members = line->members;
		for (j = i; j < count && !strcmp(m->lines.items[j].group, heading->group); j++) {
			line = &m->lines.items[j];
			line->busy = line->members;
			line->members = heading->members;
		}
	}
	qsort(m->lines.items, m->lines.count, sizeof(*line), compare_places);
	return 0;
}

static void add_up_groups(struct top_model *m)
{
	struct top_line *heading = NULL;
	size_t i;

	for (i = 0; i < m->lines.count; i++) {
		struct top_line *line = &m->lines.items[i];

		line->members = 0;
		line->busy = line->vram = GPREEMPT_UNKNOWN;
		if (!line->process) {
			heading = line;
		} else if (heading) {
			heading->members++;
			add_known(&heading->busy, line->process->busy);
			add_known(&heading->vram, line->process->vram);
		}
	}
}

int top_arrange(struct top_model *m, const struct top_order *order)
{
	struct top_line *line;
	int ret = 0;
	size_t i;

	m->lines.count = 0;
	for (i = 0; i < m->processes.count; i++) {
		struct top_process *p = &m->processes.items[i];

		if (!sum_up(p, order->gpu_id) || !has_text(p, order->pattern))
			continue;
		line = shr_add(&m->lines);
		if (!line)
			return -ENOMEM;
		line->process = p;
	}
	if (!m->lines.count)
		return 0;
	qsort_r(m->lines.items, m->lines.count, sizeof(*line), compare, (void *)order);
	if (order->tree != TOP_FLAT)
		ret = add_headings(m, order->tree);
	add_up_groups(m);
	return ret;
}
