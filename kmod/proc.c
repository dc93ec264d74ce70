// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU processes that have a directory.
 *
 * One work item compares KFD's table with the list here and makes or removes
 * directories. It runs when events.c tells of a change, and once a second in
 * case that one was missed; without events it runs every few milliseconds. It
 * also reads the queue lists, without the hardware, so that there is one to
 * show when the first reader comes while the driver is busy.
 *
 * The list belongs to the work item, which never runs twice at a time, and to
 * gp_proc_stop() after it has ended: there is no lock for it. proc->lock comes
 * before the locks of snapshot.c. debugfs_remove() waits for open() calls, which
 * take no lock of ours.
 */

#include <linux/debugfs.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "debugfs.h"
#include "events.h"
#include "proc.h"
#include "table.h"

/* How often to look, in ms: when told of changes, and when not. */
#define SLOW_MS		1000
#define FAST_MS		4

static LIST_HEAD(procs);
static struct dentry *parent;
static struct workqueue_struct *queue;

static void scan(struct work_struct *work);
static DECLARE_DELAYED_WORK(scan_work, scan);

static void release(struct kref *ref)
{
	struct gp_proc *proc = container_of(ref, struct gp_proc, ref);

	put_pid(proc->pid);
	kvfree(proc->last);
	mutex_destroy(&proc->lock);
	kfree(proc);
}

void gp_proc_get(struct gp_proc *proc)
{
	kref_get(&proc->ref);
}

void gp_proc_put(struct gp_proc *proc)
{
	kref_put(&proc->ref, release);
}

/* Keep a copy of what was read for when the driver is busy. */
static void remember(struct gp_proc *proc, const struct gp_list *list)
{
	size_t size = struct_size(list, q, list->n);
	struct gp_list *copy = kvmalloc(size, GFP_KERNEL);

	if (!copy)
		return;
	memcpy(copy, list, size);
	copy->room = list->n;
	kvfree(proc->last);
	proc->last = copy;
}

int gp_proc_read(struct gp_proc *proc, struct gp_list **list)
{
	int ret = mutex_lock_interruptible(&proc->lock);

	if (ret)
		return ret;
	ret = gp_snapshot_take(proc->pid, proc->last, true, list);
	if (!ret)
		remember(proc, *list);
	mutex_unlock(&proc->lock);
	return ret;
}

/* Read the queue list ahead, unless a reader does it just now. */
static void refresh(struct gp_proc *proc)
{
	struct gp_list *list;

	if (!mutex_trylock(&proc->lock))
		return;
	if (!gp_snapshot_take(proc->pid, proc->last, false, &list)) {
		kvfree(proc->last);
		proc->last = list;
	}
	mutex_unlock(&proc->lock);
}

static struct gp_proc *find(struct pid *pid)
{
	struct gp_proc *proc;

	list_for_each_entry(proc, &procs, link)
		if (proc->pid == pid)
			return proc;
	return NULL;
}

/* Called under SRCU with each process; takes new ones into the list. */
static int see(void *p, void *data)
{
	struct pid *pid = gp_table_pid(p);
	struct gp_proc *proc;
	bool *again = data;

	if (!pid)
		return 0;
	proc = find(pid);
	if (proc) {
		proc->alive = true;
		put_pid(pid);
		return 0;
	}
	proc = kzalloc(sizeof(*proc), GFP_NOWAIT | __GFP_NOWARN);
	if (!proc) {
		put_pid(pid);
		*again = true;
		return 0;
	}
	kref_init(&proc->ref);
	mutex_init(&proc->lock);
	proc->pid = pid;
	proc->alive = true;
	list_add_tail(&proc->link, &procs);
	return 0;
}

static void make_dir(struct gp_proc *proc)
{
	char name[12];

	snprintf(name, sizeof(name), "%d", pid_nr(proc->pid));
	proc->dir = debugfs_create_dir(name, parent);
	gp_debugfs_add_proc(proc->dir, proc);
}

static void drop(struct gp_proc *proc)
{
	list_del(&proc->link);
	debugfs_remove(proc->dir);
	gp_proc_put(proc);
}

static void scan(struct work_struct *work)
{
	struct gp_proc *proc, *next;
	bool again = false;

	list_for_each_entry(proc, &procs, link)
		proc->alive = false;
	gp_table_walk(see, &again);
	/* A number can be back at once: the old directory goes first. */
	list_for_each_entry_safe(proc, next, &procs, link)
		if (!proc->alive)
			drop(proc);
	list_for_each_entry(proc, &procs, link)
		if (!proc->dir)
			make_dir(proc);
	list_for_each_entry(proc, &procs, link)
		refresh(proc);
	queue_delayed_work(queue, &scan_work,
			   msecs_to_jiffies(again || !gp_events_on() ?
					    FAST_MS : SLOW_MS));
}

static void scan_now(void)
{
	mod_delayed_work(queue, &scan_work, 0);
}

int gp_proc_start(struct dentry *dir)
{
	/* Bound: it runs on the CPU of the event as soon as that returns. */
	queue = alloc_workqueue("gpreempt", WQ_HIGHPRI | WQ_FREEZABLE, 1);
	if (!queue)
		return -ENOMEM;
	parent = dir;
	gp_events_start(scan_now);
	scan_now();
	return 0;
}

void gp_proc_stop(void)
{
	struct gp_proc *proc, *next;

	gp_events_stop();
	cancel_delayed_work_sync(&scan_work);
	list_for_each_entry_safe(proc, next, &procs, link)
		drop(proc);
	destroy_workqueue(queue);
}
