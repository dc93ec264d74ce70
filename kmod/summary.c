// SPDX-License-Identifier: GPL-2.0-only
/*
 * All GPU processes, a line each, and the nodes that they can use.
 *
 * One process after the other is read as a reader of its own file would: no lock is
 * held from one to the next. Of its nodes only the process-devices are read, which
 * need no lock (see node.c), and not what is behind them: a node without an address
 * space of the process may be freed meanwhile.
 */

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "layout.h"
#include "node.h"
#include "proc.h"
#include "summary.h"
#include "symbols.h"

/* Tries until the memory fits. */
#define FIT_TRIES 4

struct gpu_walk {
	struct pid *pid; /* NULL: of all, where they have queues */
	bool usage;
	int nr;
	struct gp_gpus *out;
	u32 need;
	bool found;
};

struct evictions {
	u64 counter;
	u64 since;
	u32 evicted;
};

static bool copy_evictions(void *pdd, struct evictions *e)
{
	void *qpd = gp_ptr(pdd, kfd_process_device, qpd);

	smp_rmb(); /* what was read before comes before this */
	return !gp_get(pdd, kfd_process_device, evict_duration_counter,
		       &e->counter) &&
	       !gp_get(pdd, kfd_process_device, last_evict_timestamp,
		       &e->since) &&
	       !gp_get(qpd, qcm_process_device, evicted, &e->evicted);
}

/*
 * How long the process was evicted from a node. The driver raises `evicted` first and
 * notes the time last (evict_process_queues_cpsch()), and adds to the counter before it
 * clears `evicted` (restore_process_queues_cpsch()), both under the lock of the queue
 * manager. So what was read counts if that was free, and nothing has changed: else it is
 * not known now. A process that was evicted before it had an address space there has no
 * time noted, and in the end the driver adds its own time since the boot, and more.
 */
static void take_evictions(const struct gp_node *n, void *pdd,
			   struct gp_gpu *gpu)
{
	struct mutex *lock = gp_ptr(n->dqm, device_queue_manager, lock_hidden);
	const u64 uptime = get_jiffies_64() - INITIAL_JIFFIES;
	struct evictions e = {}, again = {};

	if (!gp_has(evictions) || !copy_evictions(pdd, &e))
		return;
	gpu->evicted = e.evicted != 0;
	if (mutex_is_locked(lock) || !copy_evictions(pdd, &again) ||
	    mutex_is_locked(lock) || memcmp(&e, &again, sizeof(e)))
		return;
	if (e.evicted && e.since)
		e.counter += get_jiffies_64() - e.since;
	if (e.counter <= uptime + 1)
		gpu->evicted_ms = jiffies64_to_msecs(e.counter);
}

/* What the node has room for; its identity is not that of a restored process's. */
static int take_node(void *p, u32 i, void *pdd, struct gp_gpu *gpu)
{
	struct gp_node n;
	int ret = gp_node_load(p, i, &n);

	if (ret == -ENOENT)
		gpu->vm = false;
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	gpu->node_id = n.gpu_id;
	gpu->waves_max = n.waves_max;
	take_evictions(&n, pdd, gpu);
	return 0;
}

/* How many queues the process has there, -1: not known. */
static int take_count(void *pdd)
{
	void *qpd = gp_ptr(pdd, kfd_process_device, qpd);
	u32 count;

	return gp_get(qpd, qcm_process_device, queue_count, &count) ? -1 :
								      count;
}

static int take_gpu(void *p, u32 i, struct gpu_walk *w)
{
	struct gp_gpu gpu = { .hardware = -1, .evicted = -1, .evicted_ms = -1 };
	void *pdd, *process, *priv;
	int ret = 0;

	if (gp_get_at(p, kfd_process, pdds, i, &pdd) ||
	    gp_get(pdd, kfd_process_device, process, &process) || process != p)
		return gp_broken("kfd_process_device.process is its process");
	if (gp_get(pdd, kfd_process_device, user_gpu_id, &gpu.gpu_id) ||
	    gp_get(pdd, kfd_process_device, drm_priv, &priv))
		return gp_broken("the process-device can be read");
	gpu.vm = priv;
	gpu.pid = w->nr;
	gpu.ctx = (unsigned long)p;
	gpu.context = gp_queue_context(p);
	if (w->usage && gpu.vm) {
		ret = take_node(p, i, pdd, &gpu);
		gpu.need = gp_has(evictions) ? take_count(pdd) : -1;
	}
	if (ret || (w->usage && !gpu.vm) || (!w->pid && !gpu.need))
		return ret;
	if (w->need++ < w->out->room)
		w->out->g[w->out->n++] = gpu;
	return 0;
}

static int take_process(void *p, void *data)
{
	struct pid *pid = gp_table_pid(p);
	struct gpu_walk *w = data;
	u32 i, count = gp_node_count(p);
	int ret = 0;

	w->nr = pid_nr(pid);
	put_pid(pid);
	if (!pid || (w->pid && pid != w->pid))
		return 0;
	w->found = true;
	for (i = 0; i < count && !ret; i++)
		ret = take_gpu(p, i, w);
	return ret;
}

struct gp_gpus *gp_gpus_take(struct pid *pid, bool usage)
{
	struct gpu_walk w = { .pid = pid, .usage = usage };
	u32 room = gp_layout.kfd_process__pdds.at.len;
	int i, ret = -EAGAIN;

	for (i = 0; i < FIT_TRIES && ret == -EAGAIN; i++, room = w.need + 8) {
		w.out = kvzalloc(struct_size(w.out, g, room), GFP_KERNEL);
		if (!w.out)
			return ERR_PTR(-ENOMEM);
		w.out->room = room;
		w.need = 0;
		w.found = false;
		ret = gp_table_walk(take_process, &w);
		if (!ret && !w.found && pid)
			ret = -ESTALE;
		if (!ret && w.need > room)
			ret = -EAGAIN;
		if (ret)
			kvfree(w.out);
	}
	return ret ? ERR_PTR(ret) : w.out;
}

static void add_usage(struct gp_gpu *gpu, const struct gp_queue *q)
{
	if (gpu->node_id != q->gpu_id)
		return;
	gpu->queues++;
	gpu->suspended = q->suspended < 0 ? -1 : gpu->suspended + q->suspended;
	if (gpu->hardware < 0 || gpu->hardware == GP_VIEW_HARDWARE_READ)
		gpu->hardware = q->hardware;
	if (gp_queue_is_cp(q->type)) {
		gpu->waves = q->waves < 0 || gpu->waves < 0 ?
				     -1 :
				     gpu->waves + q->waves;
		if (gpu->busy < 1 && q->waves)
			gpu->busy = q->waves < 0 ? -1 : 1;
	}
	gpu->age_ms = max(gpu->age_ms, q->age_ms);
}

/*
 * Add up the queues of a node's line. Those of all processes are in the order of their
 * contexts, as the lines are: they begin at *from as a rule.
 */
static void add_queues(struct gp_gpu *gpu, const struct gp_list *list,
		       bool ordered, u32 *from)
{
	u32 i, at, first = *from, found = 0;

	for (i = 0; i < list->n; i++) {
		at = ordered ? (first + i) % list->n : i;
		if (list->q[at].ctx != gpu->ctx) {
			if (found && ordered)
				break;
			continue;
		}
		if (!found++)
			*from = at;
		add_usage(gpu, &list->q[at]);
	}
	/* The process was busy, or has changed. */
	if (gpu->need >= 0 && gpu->need != gpu->queues && ordered) {
		gpu->queues = gpu->need;
		gpu->waves = -1;
		gpu->busy = -1;
		gpu->suspended = -1;
		gpu->hardware = -1;
	}
}

struct gp_gpus *gp_usage_take(struct gp_proc *proc)
{
	struct gp_gpus *gpus;
	struct gp_list *list;
	u32 i, from = 0;
	int ret;

	ret = proc ? gp_proc_read(proc, &list, NULL) :
		     gp_snapshot_take(NULL, NULL, true, &list, NULL);
	if (ret)
		return ERR_PTR(ret);
	gpus = gp_gpus_take(proc ? proc->pid : NULL, true);
	for (i = 0; !IS_ERR(gpus) && i < gpus->n; i++)
		add_queues(&gpus->g[i], list, !proc, &from);
	kvfree(list);
	return gpus;
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

static void add_queue(struct gp_summary *s, const struct gp_queue *q)
{
	if (q->type >= 0)
		s->by_type[q->type]++;
	s->slots += q->slots;
	if (q->active < 0 || s->active < 0)
		s->active = -1;
	else
		s->active += q->active;
	if (q->suspended < 0 || s->suspended < 0)
		s->suspended = -1;
	else
		s->suspended += q->suspended;
	s->evicted += q->evicted;
	s->age_ms = max_t(s64, s->age_ms, q->age_ms);
}

static int take_queues(struct gp_proc *proc, struct gp_summary *s)
{
	struct gp_list *list;
	u32 i;
	int ret;

	ret = gp_proc_read(proc, &list, NULL);
	if (ret) { /* nothing is known */
		memset_startat(s, 0xff, gpus);
		return ret;
	}
	s->gpus = list->gpus;
	s->queues = list->n;
	s->debugged = list->debugged;
	s->paused = list->paused;
	s->age_ms = 0;
	for (i = 0; i < list->n; i++)
		add_queue(s, &list->q[i]);
	kvfree(list);
	return 0;
}

struct gp_summaries *gp_summary_take(void)
{
	struct gp_summaries *all;
	struct gp_proc **procs;
	u32 i, n;
	int ret;

	ret = gp_proc_collect(&procs, &n);
	if (ret)
		return ERR_PTR(ret);
	all = kvzalloc(struct_size(all, s, n), GFP_KERNEL);
	for (i = 0; all && i < n; i++) {
		struct gp_summary *s = &all->s[all->n];

		take_identity(procs[i]->pid, s);
		ret = take_queues(procs[i], s);
		if (ret == -EINTR || fatal_signal_pending(current)) {
			kvfree(all);
			all = ERR_PTR(-EINTR);
			break;
		}
		/* The line of one that has ended is used for the next. */
		if (ret == -ESTALE)
			memset(s, 0, sizeof(*s));
		else
			all->n++;
	}
	gp_proc_release_all(procs, n);
	return all ?: ERR_PTR(-ENOMEM);
}
