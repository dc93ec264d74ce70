// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files, whose format include/gpreempt/view.h describes.
 *
 * A change of what is printed raises the version there.
 *
 * The files of a process outlive it when they are open. They hold a reference
 * to the struct gp_proc, so debugfs need not guard them against removal, and
 * a read after the end of the process says ESTALE in place of EIO.
 *
 * The modes are 0400, and pin.c has who may open a file. Under lockdown debugfs
 * opens files whose mode has no bit beyond 0444 and that can only be read
 * (debugfs_locked_down()).
 */

#include <linux/debugfs.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/utsname.h>

#include <gpreempt/view.h>

#include "debugfs.h"
#include "events.h"
#include "gpus.h"
#include "layout.h"
#include "pin.h"
#include "proc.h"
#include "rows.h"
#include "stats.h"
#include "summary.h"
#include "symbols.h"
#include "topology.h"

#define MODE 0400

static struct dentry *top_dir;

/**
 * struct view - a file that has one record a line
 * @head:	its first two lines
 * @reads:	counts how often it was read
 * @take:	read all: *n records in *list, which is freed with kvfree();
 *		proc is NULL for a file of the host
 * @first:	offset of the first record in *list
 * @size:	of a record
 * @show:	print one
 */
struct view {
	const char *head;
	enum gp_stat reads;
	int (*take)(struct gp_proc *proc, void **list, u32 *n);
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

static int queues_take(struct gp_proc *proc, void **list, u32 *n)
{
	struct gp_list *queues;
	int ret = gp_proc_read(proc, &queues, NULL);

	if (ret)
		return ret;
	*list = queues;
	*n = queues->n;
	return 0;
}

static int hqds_take(struct gp_proc *proc, void **list, u32 *n)
{
	struct gp_list *queues;
	struct gp_slots *slots;
	int ret = gp_proc_read(proc, &queues, &slots);

	if (ret)
		return ret;
	kvfree(queues);
	*list = slots;
	*n = slots->n;
	return 0;
}

static int gpus_take(struct gp_proc *proc, void **list, u32 *n)
{
	struct gp_gpus *gpus;
	int ret = gp_gpus_take(proc->pid, &gpus);

	if (ret)
		return ret;
	*list = gpus;
	*n = gpus->n;
	return 0;
}

static int processes_take(struct gp_proc *proc, void **list, u32 *n)
{
	struct gp_summaries *all;
	int ret = gp_summary_take(&all);

	if (ret)
		return ret;
	*list = all;
	*n = all->n;
	return 0;
}

static int nodes_take(struct gp_proc *proc, void **list, u32 *n)
{
	struct gp_host_nodes *all;
	int ret = gp_topology_take(&all);

	if (ret)
		return ret;
	*list = all;
	*n = all->n;
	return 0;
}

/* Position 0 is the head, position i the i-th record. */
static void *view_at(struct view_file *f, loff_t pos)
{
	if (!f->list || pos > f->n)
		return NULL;
	if (!pos)
		return SEQ_START_TOKEN;
	return f->list + f->view->first + (pos - 1) * f->view->size;
}

/* Every pass from the start of the file reads all of it again. */
static void *view_start(struct seq_file *m, loff_t *pos)
{
	struct view_file *f = m->private;
	int ret;

	if (!*pos) {
		gp_proc_reader();
		kvfree(f->list);
		f->list = NULL;
		ret = f->view->take(f->proc, &f->list, &f->n);
		gp_stat_inc(f->view->reads);
		if (ret)
			return ERR_PTR(gp_stat_refused(ret));
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
	const struct view_file *f = m->private;

	if (v == SEQ_START_TOKEN)
		seq_puts(m, f->view->head);
	else
		f->view->show(m, v);
	return 0;
}

static const struct seq_operations view_ops = {
	.start = view_start,
	.next = view_next,
	.stop = view_stop,
	.show = view_show,
};

/* debugfs waits for this before it removes the file: proc is still there. */
static int view_open(struct inode *inode, struct file *file,
		     const struct view *view)
{
	struct view_file *f;
	struct file *pin;

	pin = gp_pin_open();
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	f = __seq_open_private(file, &view_ops, sizeof(*f));
	if (!f) {
		fput(pin);
		return -ENOMEM;
	}
	f->pin = pin;
	f->view = view;
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

/* The operations of the file that name##_view describes. */
#define DEFINE_VIEW(name)                                              \
	static int name##_open(struct inode *inode, struct file *file) \
	{                                                              \
		return view_open(inode, file, &name##_view);           \
	}                                                              \
	static const struct file_operations name##_fops = {            \
		.open = name##_open,                                   \
		.read = seq_read,                                      \
		.llseek = seq_lseek,                                   \
		.release = view_release,                               \
	}

/* The first two lines of a file. */
#define HEAD(name, columns)                                           \
	GP_VIEW_HEAD(GP_VIEW_##name##_NAME, GP_VIEW_##name##_VERSION) \
	"#" columns(GP_VIEW_COLUMN_NAME) "\n"

static const struct view queues_view = {
	.head = HEAD(QUEUES, GP_VIEW_QUEUES_ALL_COLUMNS),
	.reads = GP_STAT_reads_queues,
	.take = queues_take,
	.first = offsetof(struct gp_list, q),
	.size = sizeof(struct gp_queue),
	.show = gp_rows_queue,
};

DEFINE_VIEW(queues);

static const struct view hqds_view = {
	.head = HEAD(HQDS, GP_VIEW_HQDS_COLUMNS),
	.reads = GP_STAT_reads_hqds,
	.take = hqds_take,
	.first = offsetof(struct gp_slots, s),
	.size = sizeof(struct gp_slot),
	.show = gp_rows_slot,
};

DEFINE_VIEW(hqds);

static const struct view gpus_view = {
	.head = HEAD(GPUS, GP_VIEW_GPUS_COLUMNS),
	.reads = GP_STAT_reads_gpus,
	.take = gpus_take,
	.first = offsetof(struct gp_gpus, g),
	.size = sizeof(struct gp_gpu),
	.show = gp_rows_gpu,
};

DEFINE_VIEW(gpus);

static const struct view processes_view = {
	.head = HEAD(PROCESSES, GP_VIEW_PROCESSES_COLUMNS),
	.reads = GP_STAT_reads_processes,
	.take = processes_take,
	.first = offsetof(struct gp_summaries, s),
	.size = sizeof(struct gp_summary),
	.show = gp_rows_summary,
};

DEFINE_VIEW(processes);

static const struct view nodes_view = {
	.head = HEAD(NODES, GP_VIEW_NODES_COLUMNS),
	.reads = GP_STAT_reads_nodes,
	.take = nodes_take,
	.first = offsetof(struct gp_host_nodes, h),
	.size = sizeof(struct gp_host_node),
	.show = gp_rows_node,
};

DEFINE_VIEW(nodes);

#define KEY_ENUM(key) KEY_##key,
#define KEY_WORD(key) #key,
enum { GP_VIEW_VERSION_KEYS(KEY_ENUM) KEY_COUNT };
static const char *const key_words[] = { GP_VIEW_VERSION_KEYS(KEY_WORD) };
static const char *const feature_words[] = { GP_VIEW_FEATURES(KEY_WORD) };
static const char *const stat_words[] = { GP_VIEW_STATS(KEY_WORD) };

/* A file that is printed whole; what is private to it is its pin. */
static int whole_open(struct file *file,
		      int (*show)(struct seq_file *m, void *v))
{
	struct file *pin;
	int ret;

	pin = gp_pin_open();
	if (IS_ERR(pin))
		return PTR_ERR(pin);
	ret = single_open(file, show, pin);
	if (ret)
		fput(pin);
	return ret;
}

static int whole_release(struct inode *inode, struct file *file)
{
	struct file *pin = ((struct seq_file *)file->private_data)->private;
	int ret = single_release(inode, file);

	fput(pin);
	return ret;
}

/* The operations of the file that name##_show() prints. */
#define DEFINE_WHOLE(name)                                             \
	static int name##_open(struct inode *inode, struct file *file) \
	{                                                              \
		return whole_open(file, name##_show);                  \
	}                                                              \
	static const struct file_operations name##_fops = {            \
		.open = name##_open,                                   \
		.read = seq_read,                                      \
		.llseek = seq_lseek,                                   \
		.release = whole_release,                              \
	}

static int version_show(struct seq_file *m, void *v)
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
		[KEY_events] = gp_events_on() ? "probes" : "rescan",
	};
	int i;

	seq_puts(m, HEAD(VERSION, GP_VIEW_VERSION_COLUMNS));
	for (i = 0; i < KEY_COUNT; i++)
		seq_printf(m, "%s %s\n", key_words[i],
			   values[i] ?: GP_VIEW_UNKNOWN);
	for (i = 0; i < GP_FEATURE_COUNT; i++)
		seq_printf(m, "feature_%s %s%s\n", feature_words[i],
			   gp_features[i] ? "off:" : "on",
			   gp_features[i] ?: "");
	return 0;
}

DEFINE_WHOLE(version);

static int stats_show(struct seq_file *m, void *v)
{
	int i;

	seq_puts(m, HEAD(STATS, GP_VIEW_STATS_COLUMNS));
	for (i = 0; i < GP_STAT_COUNT; i++)
		seq_printf(m, "%s %llu\n", stat_words[i],
			   (u64)atomic64_read(&gp_stats[i]));
	return 0;
}

DEFINE_WHOLE(stats);

void gp_debugfs_add_proc(struct dentry *dir, struct gp_proc *proc)
{
	debugfs_create_file_unsafe(GP_VIEW_QUEUES_FILE, MODE, dir, proc,
				   &queues_fops);
	debugfs_create_file_unsafe(GP_VIEW_HQDS_FILE, MODE, dir, proc,
				   &hqds_fops);
	debugfs_create_file_unsafe(GP_VIEW_GPUS_FILE, MODE, dir, proc,
				   &gpus_fops);
}

struct dentry *gp_debugfs_start(void)
{
	top_dir = debugfs_create_dir(GP_VIEW_DIR, NULL);
	debugfs_create_file(GP_VIEW_VERSION_FILE, MODE, top_dir, NULL,
			    &version_fops);
	debugfs_create_file(GP_VIEW_STATS_FILE, MODE, top_dir, NULL,
			    &stats_fops);
	debugfs_create_file_unsafe(GP_VIEW_PROCESSES_FILE, MODE, top_dir, NULL,
				   &processes_fops);
	debugfs_create_file_unsafe(GP_VIEW_NODES_FILE, MODE, top_dir, NULL,
				   &nodes_fops);
	return debugfs_create_dir(GP_VIEW_PID_DIR, top_dir);
}

void gp_debugfs_stop(void)
{
	debugfs_remove(top_dir);
}
