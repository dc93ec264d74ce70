// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpreempt.ko: shows the compute queues of GPU processes and which of them the hardware holds. It
 * changes nothing. Its files are here; include/gpreempt/view.h has their format, and its version,
 * which a change of what is printed raises.
 * The files of a process outlive it when they are open. They hold a reference to the struct
 * gp_proc, so debugfs need not guard them against removal, and a read after the end of the process
 * says ESTALE in place of EIO.
 * The files show addresses of other users' processes and what these do, and debugfs may be mounted
 * where more than root reaches it, in containers too. So open() asks for a capability in the first
 * user namespace: CAP_SYS_PTRACE, which who suspends a process needs anyway, or CAP_PERFMON or
 * CAP_SYS_ADMIN for who only looks. The modes are 0400: under lockdown debugfs opens files whose
 * mode has no bit beyond 0444 and that can only be read (debugfs_locked_down()).
 * An open file keeps the module, but not as the owner of its operations: debugfs warns when it
 * meets an owner whose last reference is just gone and that is not marked as going yet
 * (open_proxy_open(), try_stop_module()). So each open file holds a second, hidden one whose owner
 * is the module. fput() puts the module later, from the kernel's own code, so it can be the last
 * thing that a release of ours does.
 */

#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/utsname.h>

#include "layout.h"
#include "node.h"
#include "proc.h"
#include "snapshot.h"

/* A column of a file, and where its value is in a record */
struct column {
	const char *name;
	enum gp_view_kind kind; /* how it is printed; a text is escaped */
	bool is_signed;		/* a negative value is not known */
	u8 size;
	u16 offset;
};

enum records { QUEUES, HQDS, GPUS, USAGE, PROCESSES, NODES };

/* A file */
struct view {
	const struct file_operations fops; /* by which an open file finds it */
	const char *file;		   /* its name */
	bool of_process, of_host;	   /* in the directory of each process, and of the host */
	const char *head;		   /* its first line */
	void (*show)(struct seq_file *m);  /* prints the rest of a file without records */
	enum records records;		   /* kind of its records */
	size_t first;			   /* offset of the first record in the data of take() */
	size_t size;			   /* size of a record */
	const struct column *columns;	   /* columns of a record */
	u32 n_columns;
	/* fills in the members of a queue that depend on the others */
	void (*finish)(struct gp_queue *q);
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

static_assert(!offsetof(struct gp_list, n) && !offsetof(struct gp_gpus, n) &&
	      !offsetof(struct gp_summaries, n) && !offsetof(struct gp_host_nodes, n));

/* All records of a file: their number first, to be freed with kvfree(); or an error. */
static void *take(enum records records, struct gp_proc *proc)
{
	static const unsigned int what[] = {
		[QUEUES] = GP_READ_QUEUES | GP_READ_SLOTS | GP_READ_WAVES,
		[HQDS] = GP_READ_QUEUES | GP_READ_SLOTS | GP_READ_WAVES,
		[GPUS] = 0,
		[USAGE] = GP_READ_QUEUES | GP_READ_WAVES,
		[PROCESSES] = GP_READ_QUEUES | GP_READ_SLOTS,
	};
	struct gp_snapshot s;
	void *list, **from;
	int ret;

	if (records == NODES)
		return gp_topology_take();
	/* Readers of all processes, and of files without a lock, do not wait for others. */
	if (records == GPUS || (records == USAGE && !proc))
		ret = gp_snapshot_take(proc ? proc->pid : NULL, NULL, what[records], &s);
	else
		ret = gp_proc_read(proc, what[records], &s);
	if (ret)
		return ERR_PTR(ret);
	if (records == USAGE)
		gp_snapshot_sum_gpus(&s, !proc);
	if (records == PROCESSES)
		gp_snapshot_sum_procs(&s);
	from = records == QUEUES    ? (void **)&s.queues :
	       records == HQDS	    ? (void **)&s.slots :
	       records == PROCESSES ? (void **)&s.procs :
				      (void **)&s.gpus;
	list = *from;
	*from = NULL;
	gp_snapshot_free(&s);
	return list;
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

#define WORD_OF(name, word) word,
static const char *const type_words[] = { GP_VIEW_QUEUE_TYPES(WORD_OF) };
static const char *const hardware_words[] = { GP_VIEW_HARDWARE(WORD_OF) };
static const char *const scheduler_words[] = { GP_VIEW_SCHEDULERS(WORD_OF) };
static const char *const unit_words[] = { GP_VIEW_UNITS(WORD_OF) };
static const char *const state_words[] = { GP_VIEW_QUEUE_STATES(WORD_OF) };

/* Words of a set, by bit; the bit of a code is one less than the code. */
/* clang-format off */
#define CODE_OF(name, code, word) \
	[(code) - 1] = (word),
/* clang-format on */
static const char *const exception_words[] = { GP_VIEW_EXCEPTIONS(CODE_OF) };

static const struct {
	const char *column;
	const char *const *words;
} word_lists[] = {
	{ "type", type_words },
	{ "hardware", hardware_words },
	{ "scheduler", scheduler_words },
	{ "unit", unit_words },
};

static const char *word_of(const char *column, s64 i)
{
	u32 list;

	for (list = 0; list < ARRAY_SIZE(word_lists); list++)
		if (!strcmp(word_lists[list].column, column))
			return word_lists[list].words[i];
	return GP_VIEW_UNKNOWN;
}

/* Width of a cell, so that columns stand below their names: a larger value is rare. */
static const int widths[] = {
	[GP_VIEW_DEC] = 5,  [GP_VIEW_BIG] = 10,	 [GP_VIEW_HEX] = 6,  [GP_VIEW_ADDR] = 14,
	[GP_VIEW_FLAG] = 1, [GP_VIEW_WORD] = 11, [GP_VIEW_SET] = 17, [GP_VIEW_CODES] = 11,
};

static void print_set(struct seq_file *m, const char *const *words, u32 n, unsigned long set)
{
	const char *sep = "";
	u32 i;

	for_each_set_bit(i, &set, BITS_PER_LONG) {
		if (i < n && words[i])
			seq_printf(m, "%s%s", sep, words[i]);
		else
			seq_printf(m, "%s" GP_VIEW_CODE "%u", sep, i + 1);
		sep = ",";
	}
	if (!set)
		seq_puts(m, GP_VIEW_NONE);
}

#define PRINT_SET(m, words, set) print_set(m, words, ARRAY_SIZE(words), set)

/* A name as one cell. A lone "-" is not "not known". */
static void print_text(struct seq_file *m, const char *text)
{
	bool lone = !strcmp(text, GP_VIEW_UNKNOWN);

	if (!*text)
		seq_puts(m, GP_VIEW_UNKNOWN);
	for (; *text; text++)
		if (isascii(*text) && !lone && (isalnum(*text) || strchr("._:/+@-", *text)))
			seq_putc(m, *text);
		else
			seq_printf(m, "\\%03o", (unsigned char)*text);
}

static s64 value_of(const struct column *c, const void *at)
{
	if (c->size == sizeof(u8))
		return *(const u8 *)at;
	if (c->size == sizeof(u64))
		return *(const s64 *)at;
	if (c->is_signed)
		return *(const s32 *)at;
	return *(const u32 *)at;
}

static void print_cell(struct seq_file *m, const struct column *c, const void *at)
{
	s64 value;

	if (c->size > sizeof(u64)) {
		print_text(m, at);
		return;
	}
	value = value_of(c, at);
	if (c->is_signed && value < 0)
		seq_puts(m, GP_VIEW_UNKNOWN);
	else if (c->kind == GP_VIEW_WORD)
		seq_puts(m, word_of(c->name, value));
	else if (c->kind == GP_VIEW_SET)
		PRINT_SET(m, state_words, value);
	else if (c->kind == GP_VIEW_CODES)
		PRINT_SET(m, exception_words, value);
	else
		seq_printf(m, c->kind == GP_VIEW_HEX || c->kind == GP_VIEW_ADDR ? "0x%llx" : "%llu",
			   value);
}

/* The names of the columns, when record is NULL. */
static void print_row(struct seq_file *m, const struct view *view, const void *record)
{
	u32 i;

	for (i = 0; i < view->n_columns; i++) {
		const struct column *c = &view->columns[i];
		bool last = i + 1 == view->n_columns;

		seq_setwidth(m, last ? 0 : max_t(int, strlen(c->name), widths[c->kind]));
		if (record)
			print_cell(m, c, record + c->offset);
		else
			seq_printf(m, "%s%s", i ? "" : "# ", c->name);
		seq_pad(m, last ? '\n' : ' ');
	}
}

static int view_show(struct seq_file *m, void *v)
{
	const struct view *view = ((struct view_file *)m->private)->view;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, view->head);
		v = NULL;
	}
	if (v && view->finish)
		view->finish(v);
	if (view->show)
		view->show(m);
	else
		print_row(m, view, v);
	return 0;
}

/* Returns the reasons why a queue is off, as far as the driver's facts show. */
static unsigned long reasons(const struct gp_queue *q)
{
	unsigned long set = 0;

	if (q->suspended > 0)
		set |= BIT(GP_VIEW_STATE_SUSPENDED);
	if (q->evicted)
		set |= BIT(GP_VIEW_STATE_EVICTED);
	if (q->reset > 0)
		set |= BIT(GP_VIEW_STATE_RESET);
	if (q->evicted && q->paused > 0)
		set |= BIT(GP_VIEW_STATE_PAUSED);
	if (!q->wants)
		set |= BIT(GP_VIEW_STATE_WANTS);
	if (!q->ring || !q->ring_size)
		set |= BIT(GP_VIEW_STATE_NO_RING);
	return set;
}

static unsigned long state_of(const struct gp_queue *q)
{
	unsigned long set = reasons(q);

	if (!set && !q->wanted)
		set = BIT(GP_VIEW_STATE_INACTIVE);
	if (!set)
		set = q->active < 0 ? BIT(GP_VIEW_STATE_WANTED) :
		      q->active	    ? BIT(GP_VIEW_STATE_ACTIVE) :
				      BIT(GP_VIEW_STATE_UNMAPPED);
	if (q->suspended > 0 && q->active > 0)
		set |= BIT(GP_VIEW_STATE_STUCK);
	if (q->destroying > 0)
		set |= BIT(GP_VIEW_STATE_DESTROYING);
	return set;
}

static int unit_of(int type)
{
	if (type < 0)
		return -1;
	return gp_queue_is_cp(type) ? GP_VIEW_UNIT_DWORDS : GP_VIEW_UNIT_BYTES;
}

static void finish_queue(struct gp_queue *q)
{
	q->state = state_of(q);
	q->unit = unit_of(q->type);
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

/* debugfs removes the file only after this has returned, so proc stays until then. */
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

static void show_version(struct seq_file *m)
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
		seq_printf(m, "%s %s\n", key_words[i], values[i] ?: GP_VIEW_UNKNOWN);
	for (i = 0; i < GP_FEATURE_COUNT; i++)
		seq_printf(m, "feature_%s %s%s\n", feature_words[i], gp_features[i] ? "off:" : "on",
			   gp_features[i] ?: "");
}

static void show_stats(struct seq_file *m)
{
	int i;

	seq_puts(m, "#" GP_VIEW_STATS_COLUMNS(GP_VIEW_COLUMN_NAME) "\n");
	for (i = 0; i < GP_STAT_COUNT; i++)
		seq_printf(m, "%s %llu\n", stat_words[i], (u64)atomic64_read(&gp_stats[i]));
}

/* clang-format off */
#define COUNT_COLUMN(name, kind) 1 +
#define COLUMN(record, member, k)						\
	{									\
		.name = #member,						\
		.kind = GP_VIEW_##k,						\
		.is_signed = __same_type(((struct record *)NULL)->member, 0) ||	\
			     __same_type(((struct record *)NULL)->member, 0LL),	\
		.size = sizeof_field(struct record, member),			\
		.offset = offsetof(struct record, member),			\
	},
#define COLUMN_gp_queue(name, kind)	COLUMN(gp_queue, name, kind)
#define COLUMN_gp_gpu(name, kind)	COLUMN(gp_gpu, name, kind)
#define COLUMN_gp_summary(name, kind)	COLUMN(gp_summary, name, kind)
#define COLUMN_gp_host_node(name, kind) COLUMN(gp_host_node, name, kind)

/* Members of all views; NAME as in view.h */
#define VIEW(NAME) \
	.fops = {                                                       \
		.open = view_open,                                      \
		.read = seq_read,                                       \
		.llseek = seq_lseek,                                    \
		.release = view_release,                                \
	},                                                              \
	.file = GP_VIEW_##NAME##_FILE,                                  \
	.head = GP_VIEW_HEAD(GP_VIEW_##NAME##_NAME, GP_VIEW_##NAME##_VERSION)

/* Members of a file with records: NAME is also the records' kind, and record is their type. */
#define VIEW_OF(NAME, list, member, record)					\
	VIEW(NAME),								\
	.records = NAME,							\
	.first = offsetof(struct list, member),					\
	.size = sizeof(struct record),						\
	.columns = (const struct column[]){					\
		GP_VIEW_##NAME##_COLUMNS(COLUMN_##record)			\
	},									\
	.n_columns = GP_VIEW_##NAME##_COLUMNS(COUNT_COLUMN) 0

static const struct view views[] = {
	{ VIEW(VERSION), .of_host = true, .show = show_version },
	{ VIEW(STATS), .of_host = true, .show = show_stats },
	{ VIEW_OF(PROCESSES, gp_summaries, s, gp_summary), .of_host = true },
	{ VIEW_OF(NODES, gp_host_nodes, h, gp_host_node), .of_host = true },
	{ VIEW_OF(QUEUES, gp_list, q, gp_queue), .of_process = true, .finish = finish_queue },
	{ VIEW_OF(HQDS, gp_list, q, gp_queue), .of_process = true, .finish = finish_queue },
	{ VIEW_OF(GPUS, gp_gpus, g, gp_gpu), .of_process = true },
	{ VIEW_OF(USAGE, gp_gpus, g, gp_gpu), .of_process = true, .of_host = true },
};

/* clang-format on */
/* Add the files of a process, whose reference lasts longer than dir, or of the host. */
static void add_files(struct dentry *dir, struct gp_proc *proc)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(views); i++)
		if (proc ? views[i].of_process : views[i].of_host)
			debugfs_create_file_unsafe(views[i].file, 0400, dir, proc, &views[i].fops);
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
