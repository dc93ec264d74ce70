// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU processes that have a directory.
 * One work item compares KFD's table with the list here and makes or removes directories. It runs
 * when a return probe reports a change, and once a second in case that one was missed; without
 * probes it runs every few milliseconds while files are read. It also reads the queue lists,
 * without the hardware, so that there is one to show when the first reader comes while the driver
 * is busy: once a second while files are read, and more seldom on a host where none is.
 * A process is in KFD's table when kfd_create_process() returns, and out of it when
 * kfd_process_notifier_release() returns, a part of the exit of the process: before its parent can
 * wait for it.
 * The list belongs to the work item alone, which never runs twice at a time, and to gp_proc_stop()
 * after it has ended. proc->lock comes before that of everyone, and both before the locks of
 * snapshot.c. debugfs_remove() waits for open() calls, which take no lock of ours.
 */

#include <linux/debugfs.h>
#include <linux/hashtable.h>
#include <linux/kprobes.h>
#include <linux/slab.h>

#include "layout.h"
#include "proc.h"

/* How often to look, in ms: with events of changes, and without. */
#define SLOW_MS 1000
#define FAST_MS 4

/* Files count as being read until this long after the last read, in ms. */
#define READER_MS 10000

/* How often to read the queue lists ahead when none is read, in ms. */
#define IDLE_MS 10000

/* Processes that can be in a probed function at once without being missed */
#define MAX_ACTIVE 256

static unsigned long refresh_at; /* jiffies; of scan_work */
static unsigned long read_at;	 /* jiffies of the last read of a file */
static bool events_on;		 /* the probes are there */
static DEFINE_HASHTABLE(procs, 8);
static struct dentry *parent;
static void (*add_files)(struct dentry *dir, struct gp_proc *proc);
static struct workqueue_struct *scan_queue;

/* Cache of the last read of all processes; it has no directory. */
static struct gp_proc everyone = {
	.lock = __MUTEX_INITIALIZER(everyone.lock),
};

static void scan_table(struct work_struct *work);
static DECLARE_DELAYED_WORK(scan_work, scan_table);

static void free_proc(struct kref *ref)
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
	kref_put(&proc->ref, free_proc);
}

static bool has_readers(void)
{
	return time_before(jiffies, READ_ONCE(read_at) + msecs_to_jiffies(READER_MS));
}

/* Keep a copy of the list for a time when the driver is busy. */
static void cache_list(struct gp_proc *proc, const struct gp_list *list)
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

/* Scan now, also in the context of a probe, where nothing may sleep. */
static void scan_now(void)
{
	mod_delayed_work(scan_queue, &scan_work, 0);
}

static void refresh_soon(void)
{
	WRITE_ONCE(refresh_at, jiffies);
	scan_now();
}

int gp_proc_read(struct gp_proc *proc, unsigned int what, struct gp_snapshot *out)
{
	struct gp_proc *of = proc ?: &everyone;
	bool is_new = false; /* nothing was read ahead of its queues */
	int ret;

	if (mutex_lock_interruptible(&of->lock))
		return -ERESTARTSYS;
	ret = gp_snapshot_take(of->pid, of->last, what, out);
	if (ret == -EBUSY && proc) { /* all were read ahead */
		mutex_lock(&everyone.lock);
		ret = gp_snapshot_take(of->pid, everyone.last, what, out);
		mutex_unlock(&everyone.lock);
	}
	if (!ret) {
		is_new = proc && out->queues->n && (!of->last || !of->last->n);
		cache_list(of, out->queues);
	}
	mutex_unlock(&of->lock);
	if (is_new)
		refresh_soon();
	return ret;
}

/* Read all queue lists ahead once in a while, unless a reader does it just now. */
static void refresh_all(void)
{
	unsigned int ms = has_readers() ? SLOW_MS : IDLE_MS;
	struct gp_snapshot s;

	if (time_before(jiffies, READ_ONCE(refresh_at)) || !mutex_trylock(&everyone.lock))
		return;
	WRITE_ONCE(refresh_at, jiffies + msecs_to_jiffies(ms));
	gp_stat_inc(GP_STAT_refreshes);
	if (!gp_snapshot_take(NULL, everyone.last, GP_READ_QUEUES, &s)) {
		swap(everyone.last, s.queues);
		gp_snapshot_free(&s);
	}
	mutex_unlock(&everyone.lock);
}

static struct gp_proc *find_proc(struct pid *pid)
{
	struct gp_proc *proc;

	hash_for_each_possible(procs, proc, link, (unsigned long)pid)
		if (proc->pid == pid)
			return proc;
	return NULL;
}

/* Take a new process into the list; called under SRCU with each process. */
static int track_process(void *p, void *data)
{
	struct pid *pid = gp_table_pid(p);
	struct gp_proc *proc;
	bool *again = data;

	if (!pid)
		return 0;
	proc = find_proc(pid);
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
	hash_add(procs, &proc->link, (unsigned long)pid);
	return 0;
}

static void make_dir(struct gp_proc *proc)
{
	char name[12];

	snprintf(name, sizeof(name), "%d", pid_nr(proc->pid));
	proc->dir = debugfs_create_dir(name, parent);
	add_files(proc->dir, proc);
}

static void remove_proc(struct gp_proc *proc)
{
	hash_del(&proc->link);
	debugfs_remove(proc->dir);
	gp_proc_put(proc);
}

static void scan_table(struct work_struct *work)
{
	struct hlist_node *next;
	struct gp_proc *proc;
	bool again = false;
	bool fast;
	int i;

	hash_for_each(procs, i, proc, link)
		proc->alive = false;
	gp_table_walk(track_process, &again);
	/* A number can be back at once: the old directory goes first. */
	hash_for_each_safe(procs, i, next, proc, link)
		if (!proc->alive)
			remove_proc(proc);
	hash_for_each(procs, i, proc, link)
		if (!proc->dir)
			make_dir(proc);
	refresh_all();
	fast = again || (!gp_proc_has_events() && has_readers());
	queue_delayed_work(scan_queue, &scan_work, msecs_to_jiffies(fast ? FAST_MS : SLOW_MS));
}

static int on_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	scan_now();
	return 0;
}

NOKPROBE_SYMBOL(on_return);

static struct kretprobe created = {
	.handler = on_return,
	.maxactive = MAX_ACTIVE,
};

static struct kretprobe released = {
	.handler = on_return,
	.maxactive = MAX_ACTIVE,
};

static struct kretprobe *probes[] = { &created, &released };

static void start_events(void)
{
	int ret = -ENOENT;

	if (!IS_ENABLED(CONFIG_KRETPROBES)) {
		pr_warn("a kernel without KRETPROBES: looking for processes all the time instead\n");
		return;
	}
	created.kp.addr = gp_symbols.created;
	released.kp.addr = gp_symbols.released;
	if (gp_symbols.created && gp_symbols.released)
		ret = register_kretprobes(probes, ARRAY_SIZE(probes));
	if (ret)
		pr_warn("cannot probe amdgpu (%d): looking for processes all the time instead\n",
			ret);
	events_on = !ret;
}

static void stop_events(void)
{
	if (events_on)
		unregister_kretprobes(probes, ARRAY_SIZE(probes));
	events_on = false;
}

bool gp_proc_has_events(void)
{
	return events_on;
}

void gp_proc_reader(void)
{
	bool woken = !has_readers();

	WRITE_ONCE(read_at, jiffies);
	if (woken)
		refresh_soon();
}

int gp_proc_start(struct dentry *dir, void (*fill)(struct dentry *dir, struct gp_proc *proc))
{
	/*
	 * The work goes before others, as a directory has to be there in time, and on any CPU:
	 * one may be kept free.
	 */
	scan_queue = alloc_workqueue("gpreempt", WQ_UNBOUND | WQ_HIGHPRI | WQ_FREEZABLE, 1);
	if (!scan_queue)
		return -ENOMEM;
	add_files = fill;
	refresh_at = jiffies;
	read_at = jiffies;
	parent = debugfs_create_dir(GP_VIEW_PID_DIR, dir);
	/* A process that opens a file pins the module: nothing can fail from here on. */
	add_files(dir, NULL);
	start_events();
	scan_now();
	return 0;
}

void gp_proc_stop(void)
{
	struct hlist_node *next;
	struct gp_proc *proc;
	int i;

	stop_events();
	cancel_delayed_work_sync(&scan_work);
	hash_for_each_safe(procs, i, next, proc, link)
		remove_proc(proc);
	kvfree(everyone.last);
	destroy_workqueue(scan_queue);
}
