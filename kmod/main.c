// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpreempt.ko: shows the compute queues of GPU processes and which of them the
 * hardware holds. It changes nothing.
 *
 * Here are its files, whose format include/gpreempt/view.h describes. A change of
 * what is printed raises the version there.
 *
 * The files of a process outlive it when they are open. They hold a reference
 * to the struct gp_proc, so debugfs need not guard them against removal, and
 * a read after the end of the process says ESTALE in place of EIO.
 *
 * The files show addresses of other users' processes and what these do, and
 * debugfs may be mounted where more than root reaches it, in containers too. So
 * open() asks for a capability in the first user namespace: CAP_SYS_PTRACE,
 * which who suspends a process needs anyway, or CAP_PERFMON or CAP_SYS_ADMIN for
 * who only looks. The modes are 0400: under lockdown debugfs opens files whose mode
 * has no bit beyond 0444 and that can only be read (debugfs_locked_down()).
 *
 * An open file keeps the module, but not as the owner of its operations:
 * debugfs warns when it meets an owner whose last reference is just gone and
 * that is not marked as going yet (open_proxy_open(), try_stop_module()). So each
 * open file holds a second, hidden one whose owner is the module. fput() puts the
 * module later, from the kernel's own code, so it can be the last thing that a
 * release of ours does.
 */

#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/utsname.h>

#include <gpreempt/view.h>

#include "layout.h"
#include "proc.h"
#include "rows.h"
#include "stats.h"
#include "summary.h"
#include "symbols.h"
#include "topology.h"

#define MODE 0400

enum records { QUEUES, HQDS, GPUS, USAGE, PROCESSES, NODES };

/**
 * struct view - a file
 * @fops:	its operations, by which an open file finds it
 * @file:	its name
 * @of_process:	in the directory of each process, and not in that of the host
 * @head:	its first line
 * @records:	what it has behind the head, if @size
 * @first:	offset of the first record in what take() returns
 * @size:	of a record, 0: the file has none
 * @show:	prints a record; NULL: the names of the columns, and all records
 *		where @size is 0
 */
struct view {
	const struct file_operations fops;
	const char *file;
	bool of_process;
	bool of_host;
	const char *head;
	enum records records;
	size_t first;
	size_t size;
	void (*show)(struct seq_file *m, const void *record);
};

/* An open file: the records of one pass from the start of it. */
struct view_file {
	const struct view *view;
	struct gp_proc *proc;
	void *list;
	u32 n;
	struct file *pin;
};

static struct dentry *top_dir;

static_assert(!offsetof(struct gp_list, n) && !offsetof(struct gp_slots, n) &&
	      !offsetof(struct gp_gpus, n) &&
	      !offsetof(struct gp_summaries, n) &&
	      !offsetof(struct gp_host_nodes, n));

/*
 * Read all records of a file. The result begins with their number and is freed
 * with kvfree(); an error is a pointer.
 */
static void *take(enum records records, struct gp_proc *proc)
{
	struct gp_list *queues;
	struct gp_slots *slots;
	int ret;

	switch (records) {
	case QUEUES:
		ret = gp_proc_read(proc, &queues, NULL);
		return ret ? ERR_PTR(ret) : queues;
	case HQDS:
		ret = gp_proc_read(proc, &queues, &slots);
		if (ret)
			return ERR_PTR(ret);
		kvfree(queues);
		return slots;
	case GPUS:
		return gp_gpus_take(proc->pid, false);
	case USAGE:
		return gp_usage_take(proc);
	case PROCESSES:
		return gp_summary_take();
	default:
		return gp_topology_take();
	}
}

/* Position 0 is the head, position i the i-th record. */
static void *view_at(struct view_file *f, loff_t pos)
{
	if (!pos)
		return SEQ_START_TOKEN;
	if (pos > f->n)
		return NULL;
	return f->list + f->view->first + (pos - 1) * f->view->size;
}

/* Every pass from the start of the file reads all of it again. */
static void *view_start(struct seq_file *m, loff_t *pos)
{
	struct view_file *f = m->private;
	void *list;

	if (!*pos && f->view->size) {
		gp_proc_reader();
		kvfree(f->list);
		f->list = NULL;
		f->n = 0;
		list = take(f->view->records, f->proc);
		if (IS_ERR(list))
			return list;
		f->list = list;
		f->n = *(u32 *)list;
	}
	return view_at(f, *pos);
}

static void *view_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return view_at(m->private, *pos);
}

static void view_stop(struct seq_file *m, void *v)
{
}

static int view_show(struct seq_file *m, void *v)
{
	const struct view *view = ((struct view_file *)m->private)->view;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, view->head);
		v = NULL;
	}
	view->show(m, v);
	return 0;
}

static const struct seq_operations view_ops = {
	.start = view_start,
	.next = view_next,
	.stop = view_stop,
	.show = view_show,
};

static const struct file_operations pin_fops = {
	.owner = THIS_MODULE,
};

/* May this process read our files? Keep the module then, until fput(). */
static struct file *pin_module(void)
{
	struct file *pin;

	if (!capable(CAP_SYS_PTRACE) && !perfmon_capable())
		return ERR_PTR(-EPERM);
	pin = anon_inode_getfile("[gpreempt]", &pin_fops, NULL, O_RDONLY);
	return pin == ERR_PTR(-ENOENT) ? ERR_PTR(-ENXIO) : pin;
}

/*
 * debugfs waits for this before it removes the file: proc is still there. It has put
 * our operations into the file already.
 */
static int view_open(struct inode *inode, struct file *file)
{
	struct view_file *f;
	struct file *pin;

	pin = pin_module();
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	f = __seq_open_private(file, &view_ops, sizeof(*f));
	if (!f) {
		fput(pin);
		return -ENOMEM;
	}
	f->pin = pin;
	f->view = container_of(file->f_op, struct view, fops);
	f->proc = inode->i_private;
	if (f->proc)
		gp_proc_get(f->proc);
	return 0;
}

static int view_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct view_file *f = m->private;
	struct file *pin = f->pin;
	int ret;

	kvfree(f->list);
	if (f->proc)
		gp_proc_put(f->proc);
	ret = seq_release_private(inode, file);
	fput(pin);
	return ret;
}

#define KEY_ENUM(key) KEY_##key,
#define KEY_WORD(key) #key,
enum { GP_VIEW_VERSION_KEYS(KEY_ENUM) KEY_COUNT };
static const char *const key_words[] = { GP_VIEW_VERSION_KEYS(KEY_WORD) };
static const char *const feature_words[] = { GP_VIEW_FEATURES(KEY_WORD) };
static const char *const stat_words[] = { GP_VIEW_STATS(KEY_WORD) };

static void show_version(struct seq_file *m, const void *record)
{
	const char *values[KEY_COUNT] = {
		[KEY_module] = THIS_MODULE->version,
		[KEY_queues] = GP_VIEW_QUEUES_VERSION,
		[KEY_gpus] = GP_VIEW_GPUS_VERSION,
		[KEY_hqds] = GP_VIEW_HQDS_VERSION,
		[KEY_processes] = GP_VIEW_PROCESSES_VERSION,
		[KEY_nodes] = GP_VIEW_NODES_VERSION,
		[KEY_stats] = GP_VIEW_STATS_VERSION,
		[KEY_kernel] = init_utsname()->release,
		[KEY_amdgpu] = gp_symbols.amdgpu->srcversion,
		[KEY_layout] = gp_layout_source,
		[KEY_events] = gp_proc_has_events() ? "probes" : "rescan",
		[KEY_usage] = GP_VIEW_USAGE_VERSION,
	};
	int i;

	seq_puts(m, "#" GP_VIEW_VERSION_COLUMNS(GP_VIEW_COLUMN_NAME) "\n");
	for (i = 0; i < KEY_COUNT; i++)
		seq_printf(m, "%s %s\n", key_words[i],
			   values[i] ?: GP_VIEW_UNKNOWN);
	for (i = 0; i < GP_FEATURE_COUNT; i++)
		seq_printf(m, "feature_%s %s%s\n", feature_words[i],
			   gp_features[i] ? "off:" : "on",
			   gp_features[i] ?: "");
}

static void show_stats(struct seq_file *m, const void *record)
{
	int i;

	seq_puts(m, "#" GP_VIEW_STATS_COLUMNS(GP_VIEW_COLUMN_NAME) "\n");
	for (i = 0; i < GP_STAT_COUNT; i++)
		seq_printf(m, "%s %llu\n", stat_words[i],
			   (u64)atomic64_read(&gp_stats[i]));
}

/* What all views have; NAME as in view.h. */
#define VIEW(NAME) \
	.fops = {                                                       \
		.open = view_open,                                      \
		.read = seq_read,                                       \
		.llseek = seq_lseek,                                    \
		.release = view_release,                                \
	},                                                              \
	.file = GP_VIEW_##NAME##_FILE,                                  \
	.head = GP_VIEW_HEAD(GP_VIEW_##NAME##_NAME, GP_VIEW_##NAME##_VERSION)

static const struct view views[] = {
	{
		VIEW(VERSION),
		.of_host = true,
		.show = show_version,
	},
	{
		VIEW(STATS),
		.of_host = true,
		.show = show_stats,
	},
	{
		VIEW(PROCESSES),
		.of_host = true,
		.records = PROCESSES,
		.first = offsetof(struct gp_summaries, s),
		.size = sizeof(struct gp_summary),
		.show = gp_rows_summary,
	},
	{
		VIEW(NODES),
		.of_host = true,
		.records = NODES,
		.first = offsetof(struct gp_host_nodes, h),
		.size = sizeof(struct gp_host_node),
		.show = gp_rows_node,
	},
	{
		VIEW(QUEUES),
		.of_process = true,
		.records = QUEUES,
		.first = offsetof(struct gp_list, q),
		.size = sizeof(struct gp_queue),
		.show = gp_rows_queue,
	},
	{
		VIEW(HQDS),
		.of_process = true,
		.records = HQDS,
		.first = offsetof(struct gp_slots, s),
		.size = sizeof(struct gp_slot),
		.show = gp_rows_slot,
	},
	{
		VIEW(GPUS),
		.of_process = true,
		.records = GPUS,
		.first = offsetof(struct gp_gpus, g),
		.size = sizeof(struct gp_gpu),
		.show = gp_rows_gpu,
	},
	{
		VIEW(USAGE),
		.of_process = true,
		.of_host = true,
		.records = USAGE,
		.first = offsetof(struct gp_gpus, g),
		.size = sizeof(struct gp_gpu),
		.show = gp_rows_usage,
	},
};

/* The files of a process, whose reference lasts longer than dir, or the host's. */
static void add_files(struct dentry *dir, struct gp_proc *proc)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(views); i++)
		if (proc ? views[i].of_process : views[i].of_host)
			debugfs_create_file_unsafe(views[i].file, MODE, dir,
						   proc, &views[i].fops);
}

static int __init gp_init(void)
{
	int ret;

	ret = gp_symbols_load();
	if (ret)
		return ret;
	ret = gp_layout_load();
	if (ret)
		goto err_layout;
	top_dir = debugfs_create_dir(GP_VIEW_DIR, NULL);
	ret = PTR_ERR_OR_ZERO(top_dir);
	if (ret) {
		pr_err("cannot make files in debugfs (%d): is it off (debugfs=off, or no CONFIG_DEBUG_FS)?\n",
		       ret);
		goto err_layout;
	}
	ret = gp_proc_start(top_dir, add_files);
	if (ret)
		goto err_proc;
	return 0;

err_proc:
	debugfs_remove(top_dir);
err_layout:
	gp_symbols_release();
	return ret;
}

static void __exit gp_exit(void)
{
	gp_proc_stop();
	debugfs_remove(top_dir);
	gp_symbols_release();
}

module_init(gp_init);
module_exit(gp_exit);

MODULE_DESCRIPTION("Shows the queues of GPU processes and the hardware that holds them");
MODULE_AUTHOR("The gpreempt authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(GP_VERSION);
MODULE_SOFTDEP("pre: amdgpu");
