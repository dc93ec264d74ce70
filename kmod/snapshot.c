// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the queues of processes out of KFD's data, and adds them up.
 * Locks, from the outermost:
 *	kfd_processes_srcu	read section of table.c, for the copy of the facts. Nothing
 *				sleeps in it: the end of every GPU process waits for it
 *				(kfd_process_notifier_release())
 *	kfd_process.mutex	tried only, for the copy of the queue list: the list and its
 *				queues change under it alone (pqm_create_queue() and
 *				pqm_destroy_queue(), of ioctls). Without preemption, as the
 *				process waits for it in its next call. No allocation, no
 *				register and no other lock inside of it
 *	those of node.c		after both are dropped
 * The driver takes them in this order too, its debugfs for one (kfd_debugfs_mqds_by_process()). The
 * flags of a queue are protected by the lock of the queue manager in the driver; they are single
 * bytes and only shown.
 */

#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sort.h>

#include "layout.h"
#include "node.h"
#include "snapshot.h"

/* Contexts that are read, at most: a program can make any number of them. */
#define MAX_CONTEXTS 64

/* Tries for a busy process: 0.3 ms in all, a suspend can hold it for 9 s. */
#define LOCK_TRIES   4
#define LOCK_WAIT_US 50

/* Room beyond the expected need, and tries until the list fits. */
#define SPARE_ROOM 8
#define FIT_TRIES  4

/* Wish of a reader; of all processes, if there is no pid */
struct request {
	struct pid *pid;
	const struct gp_list *last;
	unsigned int what;
};

/*
 * A read: its memory and findings. The nodes are those of all contexts, each once; when the
 * hardware is wanted their devices are held, until drop_nodes().
 */
struct walk {
	const struct request *ask;
	struct gp_snapshot *out;
	struct gp_node *nodes;
	struct kfd_cu_occupancy *counts;
	u32 n_nodes, n_contexts, need_gpus, need_procs;
	bool further;		/* a process has several contexts */
	bool busy;		/* a context was */
	bool stranger;		/* a queue was on a node that is not of its process */
	struct gp_summary none; /* in place of one for which there is no room */
};

/* Context that a walk is at, and where its records begin */
struct context {
	void *p;
	struct pid *pid;
	struct gp_summary *proc;
	u32 proc_index;
	u32 first_gpu;
};

static bool wants(const struct walk *w, unsigned int what)
{
	return w->ask->what & what;
}

/*
 * Take over the last facts of a busy context, but not that it had no queue: that has no line.
 */
static int copy_last(void *p, struct walk *w)
{
	const struct gp_list *last = w->ask->last;
	struct gp_list *out = w->out->queues;
	ktime_t now = ktime_get();
	bool known = false;
	u32 i;

	for (i = 0; last && i < last->n; i++) {
		struct gp_queue *q = &out->q[out->n];

		if (last->q[i].ctx != (unsigned long)p)
			continue;
		known = true;
		if (out->need++ >= out->room)
			continue;
		*q = last->q[i];
		gp_queue_forget_hardware(q);
		q->age_ms = max_t(s64, ktime_ms_delta(now, q->seen), 1);
		out->n++;
	}
	return known ? 0 : -EBUSY;
}

/* Load a node, or find it among the loaded ones; NULL for an error. */
static int load_node(void *node, struct walk *w, struct gp_node **out)
{
	u32 i;
	int ret;

	for (i = 0; i < w->n_nodes && w->nodes[i].node != node; i++)
		;
	*out = &w->nodes[i];
	if (i < w->n_nodes)
		return 0;
	if (i == gp_layout.kfd_process__pdds.at.len)
		return gp_broken("the processes have no more nodes than one can");
	ret = gp_node_load(node, *out);
	if (ret)
		return ret;
	if (wants(w, GP_READ_SLOTS | GP_READ_WAVES) && !gp_node_hold(*out))
		return gp_broken("the device of a process is there");
	w->n_nodes++;
	return 0;
}

/* Add a process-device, with its node while that cannot be freed. */
static int add_gpu(u32 i, const struct context *c, struct walk *w)
{
	struct gp_gpus *out = w->out->gpus;
	struct gp_gpu gpu = { .hardware = -1, .evicted = -1, .evicted_ms = -1 };
	void *pdd, *node, *priv;
	struct gp_node *n;
	int ret = gp_node_find(c->p, i, &pdd, &node);

	if (ret)
		return ret;
	if (gp_get(pdd, kfd_process_device, user_gpu_id, &gpu.gpu_id) ||
	    gp_get(pdd, kfd_process_device, drm_priv, &priv))
		return gp_broken("the process-device can be read");
	gpu.vm = priv;
	gpu.context = gp_queue_context(c->p);
	gpu.pid = c->proc->pid;
	gpu.need = -1;
	gpu.evictions = gp_evictions_count(pdd);
	if (node && wants(w, GP_READ_QUEUES)) {
		ret = load_node(node, w, &n);
		if (ret)
			return ret;
		c->proc->gpus++;
		gpu.node_id = n->gpu_id;
		gpu.waves_max = n->waves_max;
		gp_evictions_copy(n, pdd, &gpu);
	}
	if (w->need_gpus++ < out->room)
		out->g[out->n++] = gpu;
	return 0;
}

static void drop_nodes(struct walk *w)
{
	while (w->n_nodes) {
		w->n_nodes--;
		if (wants(w, GP_READ_SLOTS | GP_READ_WAVES))
			gp_node_drop(&w->nodes[w->n_nodes]);
	}
}

/* Fill in the active slots of all queues; the slots of one process are kept. */
static int find_slots(struct walk *w)
{
	struct gp_list *slots;
	u32 i, j, room = 0;

	for (i = 0; i < w->out->queues->n && w->ask->pid; i++)
		room += w->out->queues->q[i].slots ?: 1;
	slots = kvzalloc(struct_size(slots, q, room), GFP_KERNEL_ACCOUNT);
	if (!slots)
		return -ENOMEM;
	slots->room = room;
	w->out->slots = slots;
	for (i = 0; i < w->out->queues->n; i++) {
		struct gp_queue *q = &w->out->queues->q[i];

		for (j = 0; j < w->n_nodes; j++)
			if (w->nodes[j].gpu_id == q->gpu_id)
				break;
		if (j == w->n_nodes)
			continue;
		gp_hqd_read(&w->nodes[j], q, slots);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/* Count the waves of all queues, which a slot or a doorbell leads to. */
static int count_waves(struct walk *w)
{
	u32 j;

	for (j = 0; j < w->n_nodes; j++) {
		gp_waves_count(&w->nodes[j], w->out->queues, w->out->slots, w->counts);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int too_many_contexts(void)
{
	pr_warn_ratelimited("a process has more than %d contexts: it is not shown\n", MAX_CONTEXTS);
	return -E2BIG;
}

static void take_identity(struct pid *pid, struct gp_summary *s)
{
	struct task_struct *leader = get_pid_task(pid, PIDTYPE_PID);

	s->pid = pid_nr(pid);
	s->ns_pid = pid_nr_ns(pid, ns_of_pid(pid));
	if (!leader)
		return;
	get_task_comm(s->comm, leader);
	put_task_struct(leader);
}

/*
 * Find the record of a process, or of nothing without room. Only newer drivers give a pid more than
 * one kfd_process, with a number: only then it is looked for.
 */
static void find_proc(struct context *c, struct walk *w)
{
	struct gp_summaries *procs = w->out->procs;
	int debugged, paused;
	u32 i = procs->n;

	w->further |= gp_queue_context(c->p) >= 0;
	if (w->ask->pid || w->further)
		for (i = 0; i < procs->n && procs->s[i].of != c->pid; i++)
			;
	c->proc_index = i;
	c->proc = i < procs->room ? &procs->s[i] : &w->none;
	if (i == procs->n) {
		w->need_procs++;
		if (i >= procs->room)
			return;
		procs->n++;
		memset(c->proc, 0, sizeof(*c->proc));
		c->proc->of = c->pid;
		c->proc->debugged = -1;
		c->proc->paused = -1;
		take_identity(c->pid, c->proc);
	}
	debugged = gp_get_flag(c->p, kfd_process, debug_trap_enabled, debug);
	paused = gp_get_flag(c->p, kfd_process, queues_paused, pause);
	c->proc->debugged = max(c->proc->debugged, debugged);
	c->proc->paused = max(c->proc->paused, paused);
}

/* Join the queues from the first on with the records of their context. */
static void join_queues(const struct context *c, u32 first, struct walk *w)
{
	struct gp_gpus *gpus = w->out->gpus;
	struct gp_queue *q;
	u32 i, j;

	for (i = first; i < w->out->queues->n; i++) {
		q = &w->out->queues->q[i];
		q->proc = c->proc_index;
		for (j = c->first_gpu; j < gpus->n && gpus->g[j].node_id != q->gpu_id; j++)
			;
		q->gpu = j;
	}
}

/* Mark the facts of a context as unknown, when another process asks. */
static void forget_context(const struct context *c, struct walk *w)
{
	u32 i;

	c->proc->unknown = true;
	for (i = c->first_gpu; i < w->out->gpus->n; i++)
		w->out->gpus->g[i].unknown = true;
}

static int take_context(const struct context *c, struct walk *w)
{
	struct gp_list *out = w->out->queues;
	u32 n = out->n, need = out->need, i, count = gp_node_count(c->p);
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = add_gpu(i, c, w);
	if (!ret && wants(w, GP_READ_QUEUES))
		ret = gp_queues_copy(c->p, w->nodes, w->n_nodes, out);
	w->stranger |= ret == -EAGAIN;
	/* A process whose queues move counts as busy when all processes are read. */
	if (ret == -EBUSY || (ret == -EAGAIN && !w->ask->pid)) {
		w->busy = true;
		out->n = n;
		out->need = need;
		ret = copy_last(c->p, w);
	}
	if (ret && !w->ask->pid) {
		out->n = n;
		out->need = need;
		forget_context(c, w);
		ret = 0;
	}
	join_queues(c, n, w);
	return ret;
}

static int take_process(void *p, void *data)
{
	struct walk *w = data;
	struct context c = { .p = p, .pid = gp_table_pid(p) };
	int ret = 0;

	if (c.pid && (!w->ask->pid || c.pid == w->ask->pid)) {
		c.first_gpu = w->out->gpus->n;
		find_proc(&c, w);
		ret = w->n_contexts++ == MAX_CONTEXTS && w->ask->pid ? too_many_contexts() :
								       take_context(&c, w);
	}
	put_pid(c.pid);
	/* Let others run, as SRCU allows: of them only ends of GPU processes wait for the walk. */
	cond_resched();
	return ret;
}

static int by_id(const void *a, const void *b)
{
	const struct gp_queue *x = a, *y = b;

	if (x->qid != y->qid)
		return x->qid < y->qid ? -1 : 1;
	if (x->gpu_id != y->gpu_id)
		return x->gpu_id < y->gpu_id ? -1 : 1;
	return 0;
}

/* Order of the queues of all processes: one process after the other */
static int by_context(const void *a, const void *b)
{
	const struct gp_queue *x = a, *y = b;

	if (x->ctx != y->ctx)
		return x->ctx < y->ctx ? -1 : 1;
	return by_id(a, b);
}

void gp_snapshot_free(struct gp_snapshot *s)
{
	kvfree(s->queues);
	kvfree(s->slots);
	kvfree(s->gpus);
	kvfree(s->procs);
	memset(s, 0, sizeof(*s));
}

/* Room for so much. */
struct rooms {
	u32 queues, gpus, procs;
};

static void free_lists(struct walk *w)
{
	gp_snapshot_free(w->out);
	kvfree(w->nodes);
	kvfree(w->counts);
}

static int alloc_lists(struct walk *w, const struct rooms *room)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT;
	struct gp_snapshot *s = w->out;

	s->queues = kvzalloc(struct_size(s->queues, q, room->queues), gfp);
	s->gpus = kvzalloc(struct_size(s->gpus, g, room->gpus), gfp);
	s->procs = kvzalloc(struct_size(s->procs, s, room->procs), gfp);
	w->nodes = kvmalloc_array(gp_layout.kfd_process__pdds.at.len, sizeof(*w->nodes), gfp);
	w->counts = kvmalloc_array(GP_CP_SLOTS_MAX, sizeof(*w->counts), gfp);
	if (!s->queues || !s->gpus || !s->procs || !w->nodes || !w->counts) {
		free_lists(w);
		return -ENOMEM;
	}
	s->queues->room = room->queues;
	s->gpus->room = room->gpus;
	s->procs->room = room->procs;
	return 0;
}

/* Copy the facts once. */
static int walk_once(struct walk *w)
{
	w->out->queues->n = 0;
	w->out->queues->need = 0;
	w->out->gpus->n = 0;
	w->out->procs->n = 0;
	w->need_gpus = 0;
	w->need_procs = 0;
	w->n_nodes = 0;
	w->n_contexts = 0;
	w->further = false;
	w->busy = false;
	return gp_table_walk(take_process, w);
}

/* Copy the facts until no context is busy, or with the last facts of busy ones. */
static int copy_facts(struct walk *w)
{
	int i, ret;

	for (i = 1;; i++) {
		ret = walk_once(w);
		if (!w->busy)
			return ret;
		if (i == LOCK_TRIES)
			break;
		drop_nodes(w);
		usleep_range(LOCK_WAIT_US, 2 * LOCK_WAIT_US);
	}
	gp_stat_inc(GP_STAT_process_busy);
	return ret;
}

/* Find the slot in which each queue was last seen; both lists are in order. */
static void find_last_slots(struct walk *w, int (*order)(const void *a, const void *b))
{
	const struct gp_list *last = w->ask->last;
	const struct gp_queue *old;
	struct gp_queue *q;
	u32 i, j = 0, k;

	for (i = 0; last && i < w->out->queues->n; i++) {
		q = &w->out->queues->q[i];
		while (j < last->n && order(&last->q[j], q) < 0)
			j++;
		for (k = j; k < last->n && !order(&last->q[k], q); k++) {
			old = &last->q[k];
			if (old->ctx == q->ctx && old->mqd == q->mqd)
				q->slot = old->slot;
		}
	}
}

/* A queue is there twice: it was made again where an earlier one had been. */
static bool is_doubled(const struct gp_list *list)
{
	u32 i, j;

	for (i = 0; i < list->n; i++)
		for (j = i + 1; j < list->n && !by_id(&list->q[i], &list->q[j]); j++)
			if (list->q[i].ctx == list->q[j].ctx)
				return true;
	return false;
}

/* Drop a queue that is there twice, of all processes: some make queues all the time. */
static void drop_doubled(struct gp_list *list)
{
	u32 i, n = 0;

	for (i = 0; i < list->n; i++)
		if (!n || by_context(&list->q[n - 1], &list->q[i]))
			list->q[n++] = list->q[i];
	list->n = n;
}

/* Put the facts into order, if there was room for all: else -EAGAIN. */
static int order_facts(struct walk *w)
{
	struct gp_list *list = w->out->queues;
	int (*order)(const void *a, const void *b) = w->ask->pid ? by_id : by_context;

	if (list->need > list->room || w->need_gpus > w->out->gpus->room ||
	    w->need_procs > w->out->procs->room)
		return -EAGAIN;
	sort(list->q, list->n, sizeof(list->q[0]), order, NULL);
	if (w->ask->pid && is_doubled(list))
		return -EAGAIN;
	drop_doubled(list);
	find_last_slots(w, order);
	return 0;
}

static int take_once(struct walk *w)
{
	int ret = copy_facts(w);
	u32 i;

	if (ret)
		return ret;
	if (!w->n_contexts && w->ask->pid)
		return -ESTALE;
	ret = order_facts(w);
	if (!ret && wants(w, GP_READ_SLOTS))
		ret = find_slots(w);
	if (ret || !wants(w, GP_READ_WAVES))
		return ret;
	for (i = 0; i < w->out->queues->n && !wants(w, GP_READ_SLOTS); i++)
		w->out->queues->q[i].hardware = GP_VIEW_HARDWARE_READ;
	return count_waves(w);
}

int gp_snapshot_take(struct pid *pid, const struct gp_list *last, unsigned int what,
		     struct gp_snapshot *out)
{
	struct request ask = { .pid = pid, .last = last, .what = what };
	static struct rooms all; /* largest need so far, of all processes */
	struct rooms room = { .gpus = gp_layout.kfd_process__pdds.at.len };
	struct walk w = { .ask = &ask, .out = out };
	int i, ret = -EAGAIN;

	if (!pid)
		room = all;
	room.queues = max(last ? last->n : 0, room.queues) + SPARE_ROOM;
	room.gpus += SPARE_ROOM;
	room.procs += SPARE_ROOM;
	for (i = 0; i < FIT_TRIES && ret == -EAGAIN; i++) {
		w.stranger = false;
		ret = alloc_lists(&w, &room);
		if (ret)
			return ret;
		ret = take_once(&w);
		drop_nodes(&w);
		/* A walk that ended early has not seen all of them. */
		room.queues = max(room.queues, out->queues->need + SPARE_ROOM);
		room.gpus = max(room.gpus, w.need_gpus + SPARE_ROOM);
		room.procs = max(room.procs, w.need_procs + SPARE_ROOM);
		if (ret)
			free_lists(&w);
	}
	if (ret == -EAGAIN && w.stranger && pid)
		return gp_broken("queue.device is a node of its process");
	if (ret)
		return ret == -EAGAIN ? -EBUSY : ret;
	if (!pid)
		all = (struct rooms){ out->queues->n, out->gpus->n, out->procs->n };
	kvfree(w.nodes);
	kvfree(w.counts);
	return 0;
}

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

void gp_snapshot_sum_gpus(struct gp_snapshot *s, bool all)
{
	struct gp_gpus *gpus = s->gpus;
	struct gp_gpu *g;
	u32 i, n = 0;

	for (i = 0; i < s->queues->n; i++)
		if (s->queues->q[i].gpu < gpus->n)
			add_usage(&gpus->g[s->queues->q[i].gpu], &s->queues->q[i]);
	for (i = 0; i < gpus->n; i++) {
		g = &gpus->g[i];
		if (g->unknown) {
			g->queues = g->need;
			g->waves = -1;
			g->busy = -1;
			g->suspended = -1;
			g->hardware = -1;
		}
		/* A process that was restored has another gpu_id than the node. */
		g->gpu_id = g->node_id;
		g->waves_max = g->waves_max ?: -1;
		if (g->vm && g->node_id && (!all || g->queues))
			gpus->g[n++] = *g;
	}
	gpus->n = n;
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

void gp_snapshot_sum_procs(struct gp_snapshot *s)
{
	struct gp_summaries *all = s->procs;
	u32 i;

	for (i = 0; i < s->queues->n; i++)
		add_to_summary(&all->s[s->queues->q[i].proc], &s->queues->q[i]);
	for (i = 0; i < all->n; i++)
		if (all->s[i].unknown)
			memset_startat(&all->s[i], 0xff, gpus);
	sort(all->s, all->n, sizeof(all->s[0]), by_pid, NULL);
}
