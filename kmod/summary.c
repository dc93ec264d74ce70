// SPDX-License-Identifier: GPL-2.0-only
/*
 * All GPU processes, a line each. One after the other is read as a reader of its
 * own file would: no lock is held from one to the next.
 */

#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "gpus.h"
#include "proc.h"
#include "summary.h"

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

static void take_gpus(struct pid *pid, struct gp_summary *s)
{
	struct gp_gpus *gpus;
	u32 i;

	s->gpus = -1;
	if (gp_gpus_take(pid, &gpus))
		return;
	s->gpus = 0;
	for (i = 0; i < gpus->n; i++)
		s->gpus += gpus->g[i].vm;
	kvfree(gpus);
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
	if (q->suspended < 0)
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

	s->queues = -1;
	s->debugged = -1;
	s->paused = -1;
	s->age_ms = -1;
	ret = gp_proc_read(proc, &list, NULL);
	if (ret)
		return ret;
	s->queues = list->n;
	s->debugged = list->debugged;
	s->paused = list->paused;
	s->age_ms = 0;
	for (i = 0; i < list->n; i++)
		add_queue(s, &list->q[i]);
	kvfree(list);
	return 0;
}

int gp_summary_take(struct gp_summaries **out)
{
	struct gp_summaries *all;
	struct gp_proc **procs;
	u32 i, n;
	int ret;

	ret = gp_proc_collect(&procs, &n);
	if (ret)
		return ret;
	ret = -ENOMEM;
	all = kvzalloc(struct_size(all, s, n), GFP_KERNEL);
	if (!all)
		goto out;
	for (i = 0; i < n; i++) {
		struct gp_summary *s = &all->s[all->n];

		take_identity(procs[i]->pid, s);
		take_gpus(procs[i]->pid, s);
		ret = take_queues(procs[i], s);
		if (ret == -EINTR || fatal_signal_pending(current))
			goto err;
		/* The line of one that has ended is used for the next. */
		if (ret == -ESTALE)
			memset(s, 0, sizeof(*s));
		else
			all->n++;
	}
	ret = 0;
	*out = all;
	goto out;

err:
	ret = -EINTR;
	kvfree(all);
out:
	gp_proc_release_all(procs, n);
	return ret;
}
