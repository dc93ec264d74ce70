// SPDX-License-Identifier: GPL-2.0-only
/* Who uses the GPUs, in what state, and how busy they are: looks, shares, memory, identity. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "lib/core/internal.h"
#include "lib/see/see.h"
#include "shared/text.h"
#include "shared/util.h"
#include "figures.h"

/* Processes and GPUs of which figures are kept. */

void gp_figures_init(struct gp_figures *f, struct gpreempt *g)
{
	*f = (struct gp_figures){ .g = g };
}

/* Close and free the members. */
static void gp_figures_clear_process(struct ctl_process *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->gpus.items);
	free(p->command);
	free(p->gpu_list);
	free(p->index_list);
}

void gp_figures_clear(struct gp_figures *f)
{
	size_t i;

	for (i = 0; i < f->processes.count; i++)
		gp_figures_clear_process(&f->processes.items[i]);
	free(f->processes.items);
	free(f->gpus.items);
	gp_gpus_free(&f->names);
	gp_figures_init(f, f->g);
}

void gp_figures_begin(struct gp_figures *f)
{
	size_t i, j;

	for (i = 0; i < f->processes.count; i++) {
		struct ctl_process *p = &f->processes.items[i];

		for (j = 0; j < p->gpus.count; j++)
			p->gpus.items[j].share = (struct gp_share){ 0 };
	}
	for (i = 0; i < f->gpus.count; i++)
		f->gpus.items[i].share = (struct gp_share){ 0 };
}

/*
 * The item of an array in the order of its first field that has that key, or a new
 * one, zeroed, in its place.
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
	shr_must(shr_array_add(array, count, size));
	memcpy(&items, array, sizeof(items));
	items += from * size;
	memmove(items + size, items, (*count - 1 - from) * size);
	memset(items, 0, size);
	memcpy(items, &key, sizeof(key));
	*added = true;
	return items;
}

static void set_unknown(struct ctl_process *p)
{
	size_t i;

	p->placed = p->partial = false;
	p->queues = p->suspended = p->evicted = p->active = p->slots = p->waves = p->paused =
		p->debugged = GPREEMPT_UNKNOWN;
	for (i = 0; i < p->gpus.count; i++) {
		struct gp_figure *gpu = &p->gpus.items[i];

		gpu->queues = gpu->suspended = gpu->waves = gpu->evicted = GPREEMPT_UNKNOWN;
	}
}

static void begin_process(const struct gp_figures *f, int64_t pid, struct ctl_process *p)
{
	const struct gpreempt *g = f->g;

	*p = (struct ctl_process){ .pid = pid, .fd = -1, .there = true };
	p->fd = g->saved ? -1 : g->ops->open_process(g->be, pid);
	p->ended = gp_has_ended(g, pid, &p->start);
	p->vram = p->held_by = p->uid = p->ns_pid = GPREEMPT_UNKNOWN;
	set_unknown(p);
}

struct ctl_process *gp_figures_process(struct gp_figures *f, int64_t pid)
{
	struct ctl_process *p;
	bool added = false;

	p = find_or_add(&f->processes.items, &f->processes.count, sizeof(*p), pid, &added);
	if (added)
		begin_process(f, pid, p);
	return p;
}

static struct gp_figure *gp_figures_gpu(struct ctl_process *p, int64_t gpu_id)
{
	struct gp_figure *gpu;
	bool added = false;

	gpu = find_or_add(&p->gpus.items, &p->gpus.count, sizeof(*gpu), gpu_id, &added);
	if (!added)
		return gpu;
	gpu->vram = gpu->evicted_ms = GPREEMPT_UNKNOWN;
	gpu->queues = gpu->suspended = gpu->waves = gpu->evicted = p->placed ? 0 : GPREEMPT_UNKNOWN;
	return gpu;
}

/* Find the figures of a GPU. NULL: there are none. */
static struct gp_gpu_figures *gp_figures_node(struct gp_figures *f, int64_t gpu_id)
{
	size_t i;

	for (i = 0; i < f->gpus.count; i++)
		if (f->gpus.items[i].node.gpu_id == gpu_id)
			return &f->gpus.items[i];
	return NULL;
}

/* Add the queues of a view, all or those of sysfs. One on an unknown GPU counts in the sums. */
static void add_view(struct ctl_process *p, const struct gpreempt_view *view)
{
	size_t i;

	set_unknown(p);
	p->placed = true;
	p->partial = view->source == GPREEMPT_SOURCE_SYSFS;
	for (i = 0; i < p->gpus.count; i++)
		p->gpus.items[i].queues = p->gpus.items[i].suspended = p->gpus.items[i].waves =
			p->gpus.items[i].evicted = 0;
	p->queues = p->suspended = p->evicted = p->active = p->slots = p->waves = 0;
	if (!p->partial)
		p->paused = gp_view_paused(view);
	for (i = 0; i < view->count; i++) {
		const struct gpreempt_queue *q = &view->queues[i];
		bool known = q->gpu_id != GPREEMPT_UNKNOWN;
		struct gp_figure none = { 0 }, *gpu = known ? gp_figures_gpu(p, q->gpu_id) : &none;

		gpu->queues++;
		out_sum(&gpu->suspended, q->suspended);
		gpu->evicted |= q->evicted == 1;
		p->queues++;
		out_sum(&p->suspended, q->suspended);
		p->evicted += q->evicted == 1;
		out_sum(&p->active, q->active);
		out_sum(&p->slots, q->slots);
		if (!gp_is_compute(q))
			continue;
		out_sum(&gpu->waves, q->waves);
		out_sum(&p->waves, q->waves);
	}
}

/* Read the queues, where no look has them: of a process that has ended, sysfs alone has them. */
static void read_queues(struct gp_figures *f, struct ctl_process *p)
{
	const struct gpreempt_view none = { .source = GPREEMPT_SOURCE_SYSFS };
	struct gpreempt_error err = { 0 };
	__cleanup_list struct gpreempt_view *view = NULL;
	int ret = p->ended ? gp_view_sysfs(f->g, p->pid, &view) :
			     gpreempt_view_read(f->g, p->pid, &view, &err);

	/* KFD does not list it any more: it uses nothing. */
	if (ret == -ENOENT || gpreempt_error_class(&err) == GPREEMPT_CLASS_NO_TARGET)
		add_view(p, &none);
	else if (ret)
		set_unknown(p);
	else
		add_view(p, view);
}

/* A look: which processes execute something now, and on which GPUs. */

const char *const gp_busy_by_names[GP_BUSY_BYS] = {
	[GP_BUSY_BY_NONE] = GP_VIEW_UNKNOWN,
	[GP_BUSY_BY_PACKETS] = "packets",
	[GP_BUSY_BY_WAVES] = "waves",
};

double gp_share_percent(const struct gp_share *share)
{
	return share->looks ? 100.0 * share->busy / share->looks : -1;
}

/* Queues of the process whose lines stand together, where they had to be read. */
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
		gpreempt_list_free(of->view);
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

/* Does the process execute there? -1: unknown. */
static int is_busy(struct gp_figures *f, const struct gpreempt_usage *u, struct queues *of,
		   enum gp_busy_by *method)
{
	*method = GP_BUSY_BY_WAVES;
	switch (u->hardware) {
	case GP_VIEW_HARDWARE_UNUSED:
	case GP_VIEW_HARDWARE_ASLEEP:
		return 0;
	case GP_VIEW_HARDWARE_READ:
		if (u->busy != GPREEMPT_UNKNOWN)
			return u->busy;
		*method = GP_BUSY_BY_PACKETS;
		return has_packets(f->g, u, of);
	default:
		return -1;
	}
}

/* Begin a look at something; its facts are added up. */
static void begin_look(struct gp_look *look, uint64_t number)
{
	*look = (struct gp_look){ .number = number, .method = GP_BUSY_BY_WAVES };
}

static void see(struct gp_look *look, int busy, enum gp_busy_by method)
{
	look->busy |= busy > 0;
	look->unknown |= busy < 0;
	if (method < look->method)
		look->method = method;
}

/* Count the look: busy if one part was busy, even if other parts are not known. */
static void end_look(struct gp_share *share, const struct gp_look *look)
{
	if (!look->busy && look->unknown)
		return;
	if (!share->looks || look->method < share->method)
		share->method = look->method;
	share->looks++;
	share->busy += look->busy;
}

/* Add a line. A process with several contexts has several lines. */
static void add_line(struct gp_figures *f, const struct gpreempt_usage *u, struct queues *of)
{
	struct gp_gpu_figures *node = gp_figures_node(f, u->gpu_id);
	struct gp_figure *gpu = gp_figures_gpu(gp_figures_process(f, u->pid), u->gpu_id);
	enum gp_busy_by method;
	int busy;

	if (gpu->look.number != f->looks) {
		begin_look(&gpu->look, f->looks);
		gpu->queues = gpu->suspended = gpu->waves = gpu->evicted = 0;
		gpu->evicted_ms = 0;
	}
	out_sum(&gpu->queues, u->queues);
	out_sum(&gpu->suspended, u->suspended);
	out_sum(&gpu->waves, u->waves);
	out_sum(&gpu->evicted, u->evicted);
	out_sum(&gpu->evicted_ms, u->evicted_ms);
	busy = is_busy(f, u, of, &method);
	see(&gpu->look, busy, method);
	if (node) {
		see(&node->look, busy, method);
		node->waves_max = u->waves_max;
		out_sum(&node->waves, u->waves);
	}
}

/* End the look. A process without a line has no queue there, so it was not busy. */
static void end_figure(struct gp_figures *f, struct gp_figure *gpu, uint64_t ns)
{
	bool suspended, held;

	if (gpu->look.number != f->looks) {
		gpu->queues = gpu->suspended = gpu->waves = gpu->evicted = 0;
		if (!gpu->look.number)
			return;
		begin_look(&gpu->look, gpu->look.number);
		gpu->look.method = gpu->all.method;
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

/* Add up the look. What a process that has ended executes has no line: its GPUs may be busy. */
static void end_process(struct gp_figures *f, struct ctl_process *p, uint64_t ns)
{
	size_t i;

	if (!p->ended) {
		p->queues = p->suspended = p->evicted = p->waves = 0;
		p->placed = true;
	}
	for (i = 0; i < p->gpus.count; i++) {
		struct gp_figure *gpu = &p->gpus.items[i];
		struct gp_gpu_figures *node = gp_figures_node(f, gpu->gpu_id);

		if (p->ended) {
			if (node && gpu->queues) {
				see(&node->look, -1, GP_BUSY_BY_WAVES);
				node->waves = GPREEMPT_UNKNOWN;
			}
			continue;
		}
		end_figure(f, gpu, ns);
		out_sum(&p->queues, gpu->queues);
		out_sum(&p->suspended, gpu->suspended);
		p->evicted += gpu->evicted == 1 ? gpu->queues : 0;
		if (gpu->queues)
			out_sum(&p->waves, gpu->waves);
	}
}

int gp_figures_look(struct gp_figures *f, uint64_t now, struct gpreempt_error *err)
{
	uint64_t ns = f->look_ns ? now - f->look_ns : 0;
	__cleanup_list struct gpreempt_usages *list = NULL;
	struct queues of = { 0 };
	size_t i;
	int ret = gpreempt_usage_read(f->g, 0, &list, err);

	f->failed = ret;
	/* Numbers of an earlier look are not known any more. */
	for (i = 0; ret && i < f->processes.count; i++)
		set_unknown(&f->processes.items[i]);
	if (ret)
		return ret;
	f->looks++;
	f->look_ns = now;
	for (i = 0; i < f->gpus.count; i++) {
		begin_look(&f->gpus.items[i].look, f->looks);
		f->gpus.items[i].waves = 0;
	}
	for (i = 0; i < list->count; i++)
		add_line(f, &list->usages[i], &of);
	gpreempt_list_free(of.view);
	for (i = 0; i < f->processes.count; i++)
		end_process(f, &f->processes.items[i], ns);
	for (i = 0; i < f->gpus.count; i++)
		end_look(&f->gpus.items[i].share, &f->gpus.items[i].look);
	return 0;
}

/* Refresh: the processes that are there, the memory of each, and the slots of its queues. */

/* Part of a CPU's time that slots may take, and memory too: one in so many. */
#define SLOW_PART 250

#define BANKS 4 /* banks of memory in a node of the topology that are looked for */

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
	__cleanup_list struct gpreempt_nodes *nodes = NULL;
	struct gp_gpu_figures *gpu;
	size_t i;
	int ret = gpreempt_nodes_read(f->g, &nodes, err);

	if (ret)
		return ret;
	for (i = 0; i < nodes->count; i++) {
		gpu = gp_figures_node(f, nodes->nodes[i].gpu_id);
		if (!gpu) {
			gpu = shr_must(shr_add(&f->gpus));
			gpu->waves = gpu->waves_max = GPREEMPT_UNKNOWN;
			gpu->vram_size = vram_size(f->g, nodes->nodes[i].node);
		}
		gpu->node = nodes->nodes[i];
	}
	gp_gpus_free(&f->names);
	ret = gp_gpus_name(f->g, nodes, &f->names);
	return ret;
}

/* Add the figures of all processes from the module, or from sysfs; with register reads. */
static int add_slots(struct gp_figures *f, struct gpreempt_error *err)
{
	__cleanup_list struct gpreempt_process_list *list = NULL;
	struct ctl_process *p;
	size_t i;
	int ret = gpreempt_processes_read(f->g, &list, err);

	if (ret)
		return ret;
	f->source = list->source;
	for (i = 0; i < list->count; i++) {
		const struct gpreempt_process *from = &list->processes[i];

		p = gp_figures_process(f, from->pid);
		p->queues = from->queues;
		p->suspended = from->suspended;
		p->evicted = from->evicted;
		p->active = from->active;
		p->slots = from->slots;
		p->paused = from->paused;
		p->debugged = from->debugged;
		if (p->active == GPREEMPT_UNKNOWN || p->slots <= 0)
			continue;
		p->slots_held += p->active;
		p->slots_taken += p->slots;
	}
	return 0;
}

static int see_process(void *arg, const char *name)
{
	uint64_t pid;

	if (!shr_parse_u64(name, INT32_MAX, &pid))
		gp_figures_process(arg, pid)->there = true;
	return 0;
}

/* Is that the process that it was? Another one may have its number. */
static bool is_same(struct gp_figures *f, struct ctl_process *p)
{
	uint64_t start = 0;

	/* The files of a snapshot stay as they are. */
	if (f->g->saved)
		return true;
	if (p->fd >= 0 && !p->ended)
		return !shr_readable(p->fd, 0);
	gpreempt_start_time(f->g, p->pid, &start);
	return start == p->start;
}

int gp_figures_list(struct gp_figures *f, struct gpreempt_error *err)
{
	const struct gpreempt *g = f->g;
	size_t i, kept = 0;
	int ret;

	for (i = 0; i < f->processes.count; i++)
		f->processes.items[i].there = false;
	ret = g->ops->list_dir(g->be, GP_SYSFS_PROC, see_process, f);
	if (ret < 0)
		return gp_error(err, ret, ret == -ENOENT ? GPREEMPT_NO_KFD : GPREEMPT_SYSTEM, 0,
				GP_FIGURES_STEP);
	for (i = 0; i < f->processes.count; i++) {
		struct ctl_process *p = &f->processes.items[i];

		if (p->there && is_same(f, p)) {
			f->processes.items[kept++] = *p;
			continue;
		}
		gp_figures_clear_process(p);
		if (p->there)
			begin_process(f, p->pid, &f->processes.items[kept++]);
	}
	f->processes.count = kept;
	return 0;
}

static void take_memory(const struct gp_figures *f, struct ctl_process *p,
			const struct gpreempt_process_gpu *from)
{
	struct gp_figure *gpu = gp_figures_gpu(p, from->gpu_id);

	gpu->vram = from->vram;
	out_sum(&p->vram, from->vram);
	if (!f->looks)
		gpu->evicted_ms = from->evicted_ms;
}

/* The GPUs that a process may use are listed once: they are fixed when it opens /dev/kfd. */
static void read_memory(struct gp_figures *f, struct ctl_process *p)
{
	/* The module has the rest. */
	unsigned int what = GPREEMPT_FIGURE_VRAM | (f->looks ? 0 : GPREEMPT_FIGURE_EVICTED);
	__cleanup_list struct gpreempt_process_gpus *list = NULL;
	struct gpreempt_process_gpu gpu;
	size_t i;

	p->vram = 0;
	for (i = 0; p->listed && i < p->gpus.count; i++) {
		gpu.gpu_id = p->gpus.items[i].gpu_id;
		gp_process_gpu_read(f->g, p->pid, what, &gpu);
		take_memory(f, p, &gpu);
	}
	if (p->listed)
		return;
	if (gp_process_gpus_read(f->g, p->pid, what, &list, NULL)) {
		p->vram = GPREEMPT_UNKNOWN;
		return;
	}
	for (i = 0; i < list->count; i++)
		take_memory(f, p, &list->gpus[i]);
	p->listed = list->count;
}

/*
 * Read the memory of all new processes; of the others, in turn, for as many as there is time:
 * each of them costs a file for each of its GPUs.
 */
static void read_memories(struct gp_figures *f, uint64_t now)
{
	uint64_t until = shr_thread_cpu_ns() + (now - f->refresh_ns) / SLOW_PART;
	size_t i, count = f->processes.count;
	bool late = !f->refresh_ns; /* all are new */

	for (i = 0; i < count; i++)
		if (!f->processes.items[i].listed)
			read_memory(f, &f->processes.items[i]);
	for (i = 0; !late && i < count; i++) {
		f->memory_at = (f->memory_at + 1) % count;
		read_memory(f, &f->processes.items[f->memory_at]);
		late = shr_thread_cpu_ns() > until;
	}
	f->refresh_ns = now;
}

static void add_up_memory(struct gp_figures *f)
{
	size_t i, j;

	for (i = 0; i < f->gpus.count; i++) {
		struct gp_gpu_figures *gpu = &f->gpus.items[i];
		const struct gp_gpu *name = gp_gpus_get(&f->names, gpu->node.gpu_id);

		gpu->vram = 0;
		gpu->vram_used = name && !name->partition ? gp_device_vram_used(f->g, name) :
							    GPREEMPT_UNKNOWN;
	}
	for (i = 0; i < f->processes.count; i++) {
		struct ctl_process *p = &f->processes.items[i];

		for (j = 0; j < p->gpus.count; j++) {
			struct gp_gpu_figures *gpu = gp_figures_node(f, p->gpus.items[j].gpu_id);

			if (gpu)
				out_sum(&gpu->vram, p->gpus.items[j].vram);
		}
	}
}

int gp_figures_refresh(struct gp_figures *f, uint64_t now, struct gpreempt_error *err)
{
	uint64_t cpu = shr_thread_cpu_ns();
	int ret = gp_figures_list(f, err);
	bool slow = now >= f->slow_ns;
	size_t i;

	if (ret)
		return ret;
	if (slow)
		ret = add_nodes(f, err);
	if (slow && !ret)
		ret = add_slots(f, err);
	for (i = 0; !ret && i < f->processes.count; i++) {
		struct ctl_process *p = &f->processes.items[i];

		/* No look has it, or it is newer than that. Without a figure it does not wait. */
		if (slow ? f->failed || p->ended || (f->looks && !p->placed) :
			   f->failed && !p->placed)
			read_queues(f, p);
	}
	if (slow)
		f->slow_ns = now + SLOW_PART * (shr_thread_cpu_ns() - cpu);
	if (!ret)
		read_memories(f, now);
	add_up_memory(f);
	return ret;
}

/* Times of the looks. */

/* Part of a CPU that looks take at most, and the shortest time between two of them. */
#define LOOK_PART  100
#define LEAST_NS   (20 * NSEC_PER_MSEC)
#define LONGEST_MS 10000 /* longest call of poll() */

void ctl_sampler_init(struct ctl_sampler *s, struct gpreempt *g, uint64_t period_ns)
{
	*s = (struct ctl_sampler){
		.g = g,
		.period_ns = period_ns,
		.live = true,
		.cgroups = -ENOENT,
	};
	gp_figures_init(&s->figures, g);
}

void ctl_sampler_clear(struct ctl_sampler *s)
{
	if (s->cgroups >= 0)
		close(s->cgroups);
	hold_owners_free(&s->owners);
	gp_figures_clear(&s->figures);
}

/* Set the next look: a random moment of the next period. */
static void set_next(struct ctl_sampler *s, uint64_t now, uint64_t cost_ns)
{
	uint64_t period = s->period_ns;

	if (!period)
		period = LOOK_PART * cost_ns;
	if (!s->period_ns && period < LEAST_NS)
		period = LEAST_NS;
	s->slot_ns += period;
	if (s->slot_ns < now)
		s->slot_ns = now;
	s->next_ns = s->slot_ns + random() % period;
}

/* Can a later look succeed? The module is there, but did not answer this time. */
static bool may_succeed(const struct gpreempt_error *err)
{
	return err->reason != GPREEMPT_NO_MODULE && err->reason != GPREEMPT_OLD_MODULE;
}

void ctl_sampler_look(struct ctl_sampler *s)
{
	uint64_t now = shr_now_ns(), cpu = shr_thread_cpu_ns();

	if (gp_figures_look(&s->figures, now, &s->why) && !may_succeed(&s->why)) {
		s->blind = true;
		s->next_ns = UINT64_MAX;
		return;
	}
	set_next(s, now, shr_thread_cpu_ns() - cpu);
}

bool ctl_sampler_wait(struct ctl_sampler *s, uint64_t until_ns, int stop)
{
	uint64_t now, next, ms;
	bool looked = false;

	/* Each period has a look that was due in it, on a busy host, too. */
	while ((now = shr_now_ns()) < until_ns || (now >= s->next_ns && !looked)) {
		if (now >= s->next_ns) {
			ctl_sampler_look(s);
			looked = true;
			continue;
		}
		next = s->next_ns < until_ns ? s->next_ns : until_ns;
		ms = (next - now) / NSEC_PER_MSEC + 1;
		if (shr_readable(stop, ms > LONGEST_MS ? LONGEST_MS : ms))
			return true;
	}
	return false;
}
