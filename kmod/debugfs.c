// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files, whose format include/gpreempt/view.h describes.
 *
 * A change of what is printed raises the version there.
 *
 * The files of a process outlive it when they are open. They hold a reference
 * to the struct gp_proc, so debugfs need not guard them against removal, and
 * a read after the end of the process says ESTALE in place of EIO. All modes
 * are 0444: lockdown lets nobody open another.
 */

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/utsname.h>

#include <gpreempt/view.h>

#include "debugfs.h"
#include "events.h"
#include "gpus.h"
#include "proc.h"
#include "symbols.h"

static struct dentry *top;

/**
 * struct view - a file of a process that has one record a line
 * @head:	its first two lines
 * @take:	read all; *list is freed with kvfree(). How many there are
 * @first:	offset of the first record in *list
 * @size:	of a record
 * @show:	print one
 */
struct view {
	const char *head;
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
};

#define WORD_ENTRY(name, word)	[GP_VIEW_QUEUE_##name] = word,
static const char * const type_words[] = {
	GP_VIEW_QUEUE_TYPES(WORD_ENTRY)
};

/* The cells of a row; a negative number and a NULL word are not known. */
#define CELL_DEC(name)		s64 name;
#define CELL_HEX(name)		s64 name;
#define CELL_FLAG(name)		s64 name;
#define CELL_WORD(name)		const char *name;
#define CELL(name, kind)	CELL_##kind(name)
struct queues_row {
	GP_VIEW_QUEUES_COLUMNS(CELL)
};

struct gpus_row {
	GP_VIEW_GPUS_COLUMNS(CELL)
};

static void put_number(struct seq_file *m, const char *format, s64 value)
{
	if (value < 0)
		seq_puts(m, GP_VIEW_UNKNOWN);
	else
		seq_printf(m, format, value);
}

#define PUT_DEC(m, cell)	put_number(m, "%llu", cell)
#define PUT_HEX(m, cell)	put_number(m, "0x%llx", cell)
#define PUT_FLAG(m, cell)	put_number(m, "%llu", cell)
#define PUT_WORD(m, cell)	seq_puts(m, (cell) ?: GP_VIEW_UNKNOWN)
/* Print one cell of row to m, after sep. */
#define PUT(name, kind)							\
	do {								\
		seq_puts(m, sep);					\
		PUT_##kind(m, row.name);				\
		sep = " ";						\
	} while (0);

static void queues_show(struct seq_file *m, const void *record)
{
	const struct gp_queue *q = record;
	const struct queues_row row = {
		.qid = q->qid,
		.gpu_id = q->gpu_id,
		.type = q->type < 0 ? NULL : type_words[q->type],
		.priority = q->priority,
		.suspended = q->suspended,
		.evicted = q->evicted,
		.active = q->active,
		.slots = q->slots,
		.age_ms = q->age_ms,
	};
	const char *sep = "";

	GP_VIEW_QUEUES_COLUMNS(PUT)
	seq_putc(m, '\n');
}

static void gpus_show(struct seq_file *m, const void *record)
{
	const struct gp_gpu *g = record;
	const struct gpus_row row = { .gpu_id = g->gpu_id, .vm = g->vm };
	const char *sep = "";

	GP_VIEW_GPUS_COLUMNS(PUT)
	seq_putc(m, '\n');
}

static int queues_take(struct gp_proc *proc, void **list, u32 *n)
{
	struct gp_list *queues;
	int ret = gp_proc_read(proc, &queues);

	if (ret)
		return ret;
	*list = queues;
	*n = queues->n;
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

/* Position 0 is the head, position i the i-th record. */
static void *view_at(struct view_file *f, loff_t pos)
{
	if (!f->list || pos > f->n)
		return NULL;
	if (!pos)
		return SEQ_START_TOKEN;
	return f->list + f->view->first + (pos - 1) * f->view->size;
}

/* Every pass from the start of the file reads anew. */
static void *view_start(struct seq_file *m, loff_t *pos)
{
	struct view_file *f = m->private;
	int ret;

	if (!*pos) {
		kvfree(f->list);
		f->list = NULL;
		ret = f->view->take(f->proc, &f->list, &f->n);
		if (ret)
			return ERR_PTR(ret);
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
	struct view_file *f = __seq_open_private(file, &view_ops, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->view = view;
	f->proc = inode->i_private;
	gp_proc_get(f->proc);
	return 0;
}

static int view_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct view_file *f = m->private;

	kvfree(f->list);
	gp_proc_put(f->proc);
	return seq_release_private(inode, file);
}

/* The operations of the file that name##_view describes. */
#define DEFINE_VIEW(name)						\
static int name##_open(struct inode *inode, struct file *file)		\
{									\
	return view_open(inode, file, &name##_view);			\
}									\
									\
static const struct file_operations name##_fops = {			\
	.owner = THIS_MODULE,						\
	.open = name##_open,						\
	.read = seq_read,						\
	.llseek = seq_lseek,						\
	.release = view_release,					\
}

static const struct view queues_view = {
	.head = GP_VIEW_HEAD(GP_VIEW_QUEUES_NAME, GP_VIEW_QUEUES_VERSION)
		"#" GP_VIEW_QUEUES_COLUMNS(GP_VIEW_COLUMN_NAME) "\n",
	.take = queues_take,
	.first = offsetof(struct gp_list, q),
	.size = sizeof(struct gp_queue),
	.show = queues_show,
};

DEFINE_VIEW(queues);

static const struct view gpus_view = {
	.head = GP_VIEW_HEAD(GP_VIEW_GPUS_NAME, GP_VIEW_GPUS_VERSION)
		"#" GP_VIEW_GPUS_COLUMNS(GP_VIEW_COLUMN_NAME) "\n",
	.take = gpus_take,
	.first = offsetof(struct gp_gpus, g),
	.size = sizeof(struct gp_gpu),
	.show = gpus_show,
};

DEFINE_VIEW(gpus);

#define KEY_ENUM(key)	KEY_##key,
#define KEY_WORD(key)	[KEY_##key] = #key,
enum { GP_VIEW_VERSION_KEYS(KEY_ENUM) KEY_COUNT };
static const char * const key_words[] = { GP_VIEW_VERSION_KEYS(KEY_WORD) };

static int version_show(struct seq_file *m, void *v)
{
	const char *values[KEY_COUNT] = {
		[KEY_module] = THIS_MODULE->version,
		[KEY_queues] = GP_VIEW_QUEUES_VERSION,
		[KEY_gpus] = GP_VIEW_GPUS_VERSION,
		[KEY_kernel] = init_utsname()->release,
		[KEY_amdgpu] = gp_symbols.amdgpu->srcversion,
		[KEY_layout] = "btf",
		[KEY_events] = gp_events_on() ? "probes" : "rescan",
	};
	int i;

	seq_puts(m, GP_VIEW_HEAD(GP_VIEW_VERSION_NAME, GP_VIEW_VERSION_VERSION)
		 "#" GP_VIEW_VERSION_COLUMNS(GP_VIEW_COLUMN_NAME) "\n");
	for (i = 0; i < KEY_COUNT; i++)
		seq_printf(m, "%s %s\n", key_words[i],
			   values[i] ?: GP_VIEW_UNKNOWN);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(version);

void gp_debugfs_add_proc(struct dentry *dir, struct gp_proc *proc)
{
	debugfs_create_file_unsafe(GP_VIEW_QUEUES_FILE, 0444, dir, proc,
				   &queues_fops);
	debugfs_create_file_unsafe(GP_VIEW_GPUS_FILE, 0444, dir, proc,
				   &gpus_fops);
}

struct dentry *gp_debugfs_start(void)
{
	top = debugfs_create_dir(GP_VIEW_DIR, NULL);
	debugfs_create_file(GP_VIEW_VERSION_FILE, 0444, top, NULL,
			    &version_fops);
	return debugfs_create_dir(GP_VIEW_PID_DIR, top);
}

void gp_debugfs_stop(void)
{
	debugfs_remove(top);
}
