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
 * The list is changed by the work item alone, which never runs twice at a time,
 * and by gp_proc_stop() after it has ended. They change it under procs_lock,
 * for gp_proc_collect(); to read it they need no lock. proc->lock comes before
 * the locks of snapshot.c, procs_lock is a leaf. debugfs_remove() waits for
 * open() calls, which take no lock of ours.
 */

#include <linux/debugfs.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "debugfs.h"
#include "events.h"
#include "proc.h"
#include "stats.h"
#include "table.h"

/* How often to look, in ms: when told of changes, and when not. */
#define SLOW_MS		1000
#define FAST_MS		4

/* Room for processes that are born while memory is made for them. */
#define SPARE_ROOM	16

static unsigned long refresh_at; /* jiffies; of scan() */
static LIST_HEAD(procs);
static u32 n_procs;
static DEFINE_SPINLOCK(procs_lock); /* of changes to both */
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
	WRITE_ONCE(proc->last, copy);
}

int gp_proc_read(struct gp_proc *proc, struct gp_list **list,
		 struct gp_slots **slots)
{
	int ret = mutex_lock_interruptible(&proc->lock);

	if (ret)
		return ret;
	ret = gp_snapshot_take(proc->pid, proc->last, true, list, slots);
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
	gp_stat_inc(GP_STAT_refreshes);
	if (!gp_snapshot_take(proc->pid, proc->last, false, &list, NULL)) {
		kvfree(proc->last);
		WRITE_ONCE(proc->last, list);
	}
	mutex_unlock(&proc->lock);
}

/* Take references to as many processes as there is room for; all that are. */
static u32 collect(struct gp_proc **out, u32 room)
{
	struct gp_proc *proc;
	u32 n = 0;

	spin_lock(&procs_lock);
	list_for_each_entry(proc, &procs, link) {
		if (n == room)
			break;
		gp_proc_get(proc);
		out[n++] = proc;
	}
	spin_unlock(&procs_lock);
	return n;
}

int gp_proc_collect(struct gp_proc ***out, u32 *n)
{
	u32 room;

	for (;;) {
		room = READ_ONCE(n_procs) + SPARE_ROOM;
		*out = kvmalloc_array(room, sizeof(**out), GFP_KERNEL);
		if (!*out)
			return -ENOMEM;
		*n = collect(*out, room);
		if (*n < room)
			return 0;
		gp_proc_release_all(*out, *n);
	}
}

void gp_proc_release_all(struct gp_proc **all, u32 n)
{
	while (n--)
		gp_proc_put(all[n]);
	kvfree(all);
}

/* New processes at once, all of them once in a while. */
static void refresh_all(void)
{
	bool all = time_after_eq(jiffies, refresh_at);
	struct gp_proc *proc;

	if (all)
		refresh_at = jiffies + msecs_to_jiffies(SLOW_MS);
	list_for_each_entry(proc, &procs, link)
		if (all || !READ_ONCE(proc->last))
			refresh(proc);
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
	spin_lock(&procs_lock);
	list_add_tail(&proc->link, &procs);
	n_procs++;
	spin_unlock(&procs_lock);
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
	spin_lock(&procs_lock);
	list_del(&proc->link);
	n_procs--;
	spin_unlock(&procs_lock);
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
	refresh_all();
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
	refresh_at = jiffies;
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
