// SPDX-License-Identifier: GPL-2.0-only
/* Model of top, copied from the sampler. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/preempt/wire.h"
#include "shared/socket.h"
#include "shared/util.h"
#include "figures.h"
#include "top.h"

/* Tables of what is known. */

#define NO_FIELD(...)

#define AS_FIELD(member, key, title, what, columns, order, help, ...) \
	OUT_NAMED(key, struct top_process, member, title, what, .rank = order, __VA_ARGS__),

static const struct out_field process_fields[] = { TOP_COLUMNS(AS_FIELD, NO_FIELD) };

#define AS_NUMBER(member, ...) FIELD_##member,

enum { TOP_COLUMNS(AS_NUMBER, NO_FIELD) };

#define AS_COLUMN(member, key, title, kind, columns, rank, help, ...) \
	{ &process_fields[FIELD_##member], title, columns, rank },
#define AS_DRAWN(title, columns, rank, help) { NULL, title, columns, rank },

const struct top_column top_columns[] = { TOP_COLUMNS(AS_COLUMN, AS_DRAWN) };

#define COLUMN_OF(member, ...) COLUMN_##member,
#define COLUMN_OF_DRAWN(...)   COLUMN_history,

enum { TOP_COLUMNS(COLUMN_OF, COLUMN_OF_DRAWN) };

const size_t top_column_busy = COLUMN_busy;
const size_t top_column_vram = COLUMN_vram;
const size_t top_column_pid = COLUMN_pid;

const struct out_table top_processes = OUT_TABLE("processes", process_fields, struct top_process);

#define FIGURE(member, title, what) OUT_FIELD(struct top_figure, member, title, what)
#define IS(member, title, what)	    OUT_NAMED(#member, struct top_figure, is.member, title, what)

static const struct out_field figure_fields[] = {
	FIGURE(gpu, "GPU", OUT_DEC),
	OUT_NAMED("kfd_gpu_id", struct top_figure, is.gpu_id, NULL, OUT_HEX),
	OUT_NAMED("busy_percent", struct top_figure, busy, "BUSY%", OUT_SHARE),
	FIGURE(method, "METHOD", OUT_TEXT),
	FIGURE(looks, "LOOKS", OUT_DEC),
	IS(queues, "QUEUES", OUT_DEC),
	IS(suspended, "SUSPENDED", OUT_DEC),
	IS(waves, "WAVES", OUT_DEC),
	IS(vram, "VRAM", OUT_SIZE),
	IS(evicted_ms, "EVICT-MS", OUT_DEC),
	FIGURE(suspended_ms, "SUSP-MS", OUT_DEC),
	FIGURE(holds, "HOLDS", OUT_DEC),
};

const struct out_table top_figures = OUT_TABLE("gpus", figure_fields, struct top_figure);

#define QUEUE(member, title, what) OUT_NAMED(#member, struct top_queue, q.member, title, what)

static const struct out_field queue_fields[] = {
	QUEUE(qid, "QUEUE", OUT_DEC),
	OUT_FIELD(struct top_queue, gpu, "GPU", OUT_DEC),
	OUT_FIELD(struct top_queue, type, "TYPE", OUT_TEXT),
	OUT_FIELD(struct top_queue, state, "STATE", OUT_SET, .array = true),
	QUEUE(active, "ACTIVE", OUT_DEC),
	QUEUE(slots, "SLOTS", OUT_DEC),
	QUEUE(waves, "WAVES", OUT_DEC),
	QUEUE(priority, "PRIORITY", OUT_DEC),
	QUEUE(rptr, "RPTR", OUT_DEC),
	QUEUE(wptr, "WPTR", OUT_DEC),
};

const struct out_table top_queues = OUT_TABLE("queues", queue_fields, struct top_queue);

#define GPU(member, what) OUT_FIELD(struct top_gpu, member, NULL, what)
#define OF(key, member)	  OUT_NAMED(key, struct top_gpu, is.member, NULL, OUT_DEC)

/* clang-format off */
static const struct out_field gpu_fields[] = {
	GPU(gpu, OUT_DEC),
	OUT_NAMED("pci", struct top_gpu, is.node.device, NULL, OUT_TEXT, .array = true),
	OUT_NAMED("kfd_gpu_id", struct top_gpu, is.node.gpu_id, NULL, OUT_HEX),
	OUT_NAMED("busy_percent", struct top_gpu, busy, NULL, OUT_SHARE),
	GPU(method, OUT_TEXT),
	GPU(looks, OUT_DEC),
	OF("waves", waves),
	OF("waves_max", waves_max),
	OF("slots_used", node.slots_used),
	OF("slots", node.slots),
	OF("vram", vram),
	OF("vram_used", vram_used),
	OF("vram_size", vram_size),
	GPU(processes, OUT_DEC),
};
/* clang-format on */

const struct out_table top_gpus = OUT_TABLE("gpus", gpu_fields, struct top_gpu);

/* Copies of what the sampler has. */

static int64_t tenths(const struct gp_share *share)
{
	return share->looks ? (int64_t)(1000 * share->busy / share->looks) : GPREEMPT_UNKNOWN;
}

static const char *method_of(const struct gp_share *share)
{
	return share->looks ? gp_busy_by_names[share->method] : NULL;
}

static int64_t index_of(const struct gp_gpus *names, int64_t gpu_id)
{
	const struct gp_gpu *gpu = gp_gpus_get(names, gpu_id);

	return gpu ? gpu->index : GPREEMPT_UNKNOWN;
}

static void copy_figure(const struct gp_gpus *names, const struct gp_figure *from, bool looked,
			struct top_figure *to)
{
	struct top_history history = to->history;

	*to = (struct top_figure){
		.is = *from,
		.gpu = index_of(names, from->gpu_id),
		.busy = tenths(&from->share),
		.method = method_of(&from->share),
		.looks = from->share.looks,
		.suspended_ms = looked ? (int64_t)(from->suspended_ns / NSEC_PER_MSEC) :
					 GPREEMPT_UNKNOWN,
		.holds = looked ? (int64_t)from->holds : GPREEMPT_UNKNOWN,
		.history = history,
	};
	top_history_add(&to->history, to->busy);
}

/* GPUs are added, and none is taken away. */
static void copy_figures(const struct gp_gpus *names, const struct ctl_process *from, bool looked,
			 struct top_process *to)
{
	int64_t busiest = GPREEMPT_UNKNOWN;
	struct top_figure *f;
	size_t i;

	for (i = 0; i < from->gpus.count; i++) {
		f = i < to->gpus.count ? &to->gpus.items[i] : shr_must(shr_add(&to->gpus));
		/* A new one came before others: its history is another GPU's. */
		if (f->is.gpu_id != from->gpus.items[i].gpu_id)
			f->history.count = 0;
		copy_figure(names, &from->gpus.items[i], looked, f);
		if (f->busy > busiest)
			busiest = f->busy;
	}
	top_history_add(&to->history, busiest);
}

static void copy_identity(const struct ctl_process *p, struct top_process *to)
{
	memcpy(to->user, p->user, sizeof(to->user));
	memcpy(to->cgroup, p->place.cgroup, sizeof(to->cgroup));
	memcpy(to->pod_uid, p->place.pod_uid, sizeof(to->pod_uid));
	memcpy(to->job, p->place.job, sizeof(to->job));
	memcpy(to->container, p->container, sizeof(to->container));
	to->command = shr_must(strdup(p->command ? p->command : p->comm));
}

/* Are there looks? The module may have gone since the last one. */
static bool has_looked(const struct ctl_sampler *s)
{
	return s->figures.looks && !s->blind;
}

static void copy_process(struct ctl_sampler *s, const struct ctl_process *from,
			 struct top_process *to)
{
	to->pid = from->pid;
	to->start = from->start;
	if (!to->command)
		copy_identity(from, to);
	copy_figures(&s->figures.names, from, has_looked(s), to);
	to->slots_held = from->active == GPREEMPT_UNKNOWN || from->slots <= 0 ?
				 GPREEMPT_UNKNOWN :
				 1000 * from->active / from->slots;
	to->state = from->state;
	to->held_by = from->held_by;
	to->how = from->how;
	memcpy(to->held_as, from->held_as, sizeof(to->held_as));
}

/* Copy the processes. Both lists are by PID: a process that is still there keeps its history. */
static void copy_processes(struct top_model *m, struct ctl_sampler *s)
{
	size_t i, j = 0, old = m->processes.count;
	struct top_process *before = m->processes.items, *to;

	m->processes.items = NULL;
	m->processes.count = 0;
	for (i = 0; i < s->figures.processes.count; i++) {
		const struct ctl_process *p = &s->figures.processes.items[i];

		for (; j < old && before[j].pid < p->pid; j++)
			top_process_clear(&before[j]);
		to = shr_must(shr_add(&m->processes));
		if (j < old && before[j].pid == p->pid) {
			if (before[j].start == p->start)
				*to = before[j];
			else
				top_process_clear(&before[j]);
			j++;
		}
		copy_process(s, p, to);
	}
	for (; j < old; j++)
		top_process_clear(&before[j]);
	free(before);
}

/* Count the processes with queues; unknown if there was no look. */
static int64_t count_users(const struct top_model *m, int64_t gpu_id, bool looked)
{
	int64_t n = 0;
	size_t i, j;

	if (!looked)
		return GPREEMPT_UNKNOWN;
	for (i = 0; i < m->processes.count; i++)
		for (j = 0; j < m->processes.items[i].gpus.count; j++) {
			const struct top_figure *f = &m->processes.items[i].gpus.items[j];

			n += f->is.gpu_id == gpu_id && gp_figure_is_used(&f->is);
		}
	return n;
}

static void copy_gpus(struct top_model *m, const struct ctl_sampler *s)
{
	const struct gp_figures *from = &s->figures;
	bool looked = has_looked(s);
	struct top_gpu *gpu;
	size_t i;

	/* A partition has other nodes than the whole GPU. */
	if (m->gpus.count > from->gpus.count)
		m->gpus.count = from->gpus.count;
	for (i = 0; i < from->gpus.count; i++) {
		const struct gp_gpu_figures *f = &from->gpus.items[i];
		struct top_history history = { .count = 0 };

		gpu = i < m->gpus.count ? &m->gpus.items[i] : shr_must(shr_add(&m->gpus));
		if (gpu->is.node.gpu_id == f->node.gpu_id)
			history = gpu->history;
		*gpu = (struct top_gpu){
			.is = *f,
			.gpu = index_of(&from->names, f->node.gpu_id),
			.busy = tenths(&f->share),
			.method = method_of(&f->share),
			.looks = f->share.looks,
			.processes = count_users(m, f->node.gpu_id, looked),
			.history = history,
		};
		if (!looked)
			gpu->is.waves = GPREEMPT_UNKNOWN;
		top_history_add(&gpu->history, gpu->busy);
	}
}

/* Copy the reason why no look has succeeded since the last time, with its next step. */
static void copy_reason(struct top_model *m, const struct ctl_sampler *s)
{
	char why[256], next[256];

	free(m->missing);
	m->missing = NULL;
	if (s->figures.looks > m->all_looks || !s->why.code)
		return;
	gpreempt_error_text(&s->why, why, sizeof(why));
	ctl_next_step(&s->why, next, sizeof(next));
	if (asprintf(&m->missing, "BUSY%% is not known: %s; next: %s", why, next) < 0)
		shr_must(NULL);
}

void top_gather(struct top_model *m, struct ctl_sampler *s)
{
	copy_processes(m, s);
	/* Their lines are of the processes before. */
	m->lines.count = 0;
	copy_gpus(m, s);
	copy_reason(m, s);
	m->looks = s->figures.looks - m->all_looks;
	m->all_looks = s->figures.looks;
	m->simulated = ctl_simulated();
	gp_figures_begin(&s->figures);
}

void top_gather_queues(struct top_model *m, const struct gp_figures *f, int64_t pid)
{
	__cleanup_list struct gpreempt_view *view = NULL;
	size_t i;

	m->queues.count = 0;
	if (gpreempt_view_read(f->g, pid, &view, NULL))
		return;
	for (i = 0; i < view->count; i++) {
		struct top_queue *to = shr_must(shr_add(&m->queues));

		to->q = view->queues[i];
		to->gpu = index_of(&f->names, to->q.gpu_id);
		to->type = gpreempt_word(GPREEMPT_WORD_TYPE, to->q.type);
		gpreempt_state_text(to->q.state, to->state, sizeof(to->state));
	}
}

/* All its answers come in that time, or none counts. */
#ifndef TOP_GUARD_NS
#define TOP_GUARD_NS (200 * NSEC_PER_MSEC)
#endif

/* Write a tenant, which is in guard's text, to its processes. 0 or -EPROTO. */
static int take_tenant(struct top_model *m, char *text)
{
	unsigned long long us, n;
	struct top_process *p;
	char class[16], *word;
	int at = 0;

	if (sscanf(text, "%15s %llu %llu %n", class, &us, &n, &at) != 3 || !at)
		return -EPROTO;
	text += at;
	word = strchr(text, ' ');
	if (!word)
		return -EPROTO;
	*word++ = '\0';
	while ((text = strchr(text, ','))) {
		p = (struct top_process *)top_find(m, strtoll(++text, NULL, 10));
		if (p)
			snprintf(p->tenant, sizeof(p->tenant), "%s, %.1f s on GPUs, %llu %s%s: %s",
				 class, us / 1e6, n,
				 strcmp(class, "online") ? "suspend" : "request", n == 1 ? "" : "s",
				 word);
	}
	return 0;
}

int top_gather_tenants(struct top_model *m)
{
	struct guard_request request = { .verb = GUARD_GET, .line = GUARD_TENANTS };
	uint64_t deadline = shr_now_ns() + TOP_GUARD_NS;
	__cleanup_fd int fd = gp_ipc_connect(GUARD_SOCKET, deadline);
	struct guard_reply reply = { 0 };
	int ret = fd < 0 ? fd : 0;
	size_t i;

	for (i = 0; i < m->processes.count; i++)
		*m->processes.items[i].tenant = '\0';
	do {
		if (!ret)
			ret = gp_guard_ask(fd, &request, &reply, deadline);
		if (!ret)
			ret = reply.code ? reply.code : take_tenant(m, reply.text);
		request.count++;
	} while (!ret && reply.value);
	return ret;
}

/* Sums, order, filter and groups of the lines. */

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

const struct top_process *top_find(const struct top_model *m, int64_t pid)
{
	return m->processes.count ? bsearch(&pid, m->processes.items, m->processes.count,
					    sizeof(*m->processes.items), shr_compare_first) :
				    NULL;
}

/* Add a value to a sum of the known ones; the sum is unknown if none is known. */
static void add_known(int64_t *sum, int64_t value)
{
	if (value == GPREEMPT_UNKNOWN)
		return;
	*sum = *sum == GPREEMPT_UNKNOWN ? value : *sum + value;
}

static void add_figure(struct top_process *p, const struct top_figure *f)
{
	add_known(&p->busy, f->busy);
	add_known(&p->queues, f->is.queues);
	add_known(&p->waves, f->is.waves);
	add_known(&p->vram, f->is.vram);
	add_known(&p->evicted_ms, f->is.evicted_ms);
	/* The queues of all GPUs are suspended together. */
	if (f->suspended_ms > p->suspended_ms)
		p->suspended_ms = f->suspended_ms;
	if (f->holds > p->holds)
		p->holds = f->holds;
	/* Take the lesser method: "packets" before "waves". */
	if (f->method && (!p->method || strcmp(f->method, p->method) < 0))
		p->method = f->method;
}

/* Sum up the figures on the chosen GPUs. false: the process is on none of them. */
static bool sum_up(struct top_process *p, int64_t gpu_id)
{
	size_t i, used = 0;
	const struct top_figure *last = NULL;

	p->busy = p->queues = p->waves = p->vram = p->evicted_ms = p->suspended_ms = p->holds =
		GPREEMPT_UNKNOWN;
	p->method = NULL;
	for (i = 0; i < p->gpus.count; i++) {
		const struct top_figure *f = &p->gpus.items[i];

		if (gpu_id && f->is.gpu_id != gpu_id)
			continue;
		add_figure(p, f);
		if (!gp_figure_is_used(&f->is))
			continue;
		used++;
		last = f;
	}
	*p->gpu = '\0';
	if (used == 1 && last->gpu != GPREEMPT_UNKNOWN)
		snprintf(p->gpu, sizeof(p->gpu), "%lld", (long long)last->gpu);
	else if (used == 1)
		snprintf(p->gpu, sizeof(p->gpu), "0x%llx", (unsigned long long)last->is.gpu_id);
	else if (used)
		snprintf(p->gpu, sizeof(p->gpu), "%zu GPUs", used);
	return !gpu_id || used;
}

/* Does the process's line have the text? */
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

static int compare_numbers(int64_t x, int64_t y)
{
	return (x > y) - (x < y);
}

static int compare(const void *a, const void *b, void *data)
{
	const struct top_line *one = a, *other = b;
	const struct top_process *x = one->process, *y = other->process;
	const struct top_view *v = data;
	const struct out_field *field = top_columns[v->column].field;
	int sign = v->inverted ? -1 : 1, ret;

	/* Unknown values come last. */
	if (field->kind <= OUT_LIST) {
		const char *s = out_text_of(field, x), *t = out_text_of(field, y);

		ret = !s - !t;
		if (!ret && s)
			ret = sign * strcmp(s, t);
	} else {
		int64_t m = out_number_of(field, x), n = out_number_of(field, y);

		ret = (m == GPREEMPT_UNKNOWN) - (n == GPREEMPT_UNKNOWN);
		/* Large values come first, but for PIDs. */
		if (v->column != top_column_pid)
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
		[TOP_BY_TENANT] = "no tenant of guard",
	};
	const char *name = tree == TOP_BY_CGROUP    ? p->cgroup :
			   tree == TOP_BY_CONTAINER ? p->container :
			   tree == TOP_BY_TENANT    ? p->tenant :
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
 * Add headings. A group stands where its first process would. Until the end, members is the
 * place of the group, and busy the place of the process in it.
 */
static void add_headings(struct top_model *m, enum top_tree tree)
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
		heading = shr_must(shr_add(&m->lines));
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
}

static void add_up_groups(struct top_model *m)
{
	struct top_line *heading = NULL;
	size_t i;

	for (i = 0; i < m->lines.count; i++) {
		struct top_line *line = &m->lines.items[i];

		line->members = 0;
		line->busy = GPREEMPT_UNKNOWN;
		if (!line->process) {
			heading = line;
		} else if (heading) {
			heading->members++;
			add_known(&heading->busy, line->process->busy);
		}
	}
}

void top_arrange(struct top_model *m, const struct top_view *v)
{
	size_t i;

	m->lines.count = 0;
	for (i = 0; i < m->processes.count; i++) {
		struct top_process *p = &m->processes.items[i];

		if (sum_up(p, v->gpu_id) && has_text(p, v->filter))
			((struct top_line *)shr_must(shr_add(&m->lines)))->process = p;
	}
	if (!m->lines.count)
		return;
	qsort_r(m->lines.items, m->lines.count, sizeof(*m->lines.items), compare, (void *)v);
	if (v->tree != TOP_FLAT)
		add_headings(m, v->tree);
	add_up_groups(m);
}
