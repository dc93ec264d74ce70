// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the driver's fields by name in the BTF that the kernel shows in sysfs, or else in BTF that
 * was made from the driver's headers: kmod/headers-layout has compiled these when this module was
 * installed. That file begins with a line of HEAD_SIZE bytes, padded with blanks: its name and
 * version, and the build id of the amdgpu.ko that it is for, a hash of that very file. (A
 * srcversion would not do: distributions build without it, and another configuration does not
 * change it.)
 */

#include <linux/cache.h>
#include <linux/elf.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/magic.h>
#include <linux/path.h>
#include <linux/pid_namespace.h>
#include <linux/ratelimit.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/sizes.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>

#include "btf.h"
#include "compat.h"
#include "layout.h"
#include "node.h"

#define BTF_DIR	     "/sys/kernel/btf/"
#define BTF_MAX_SIZE SZ_128M

#define NOTE	  "/sys/module/amdgpu/notes/.note.gnu.build-id"
#define NOTE_MAX  SZ_4K
#define FILE_MAX  SZ_16M
#define HEAD	  "gpreempt-layout 1 "
#define HEAD_SIZE 64
#define ID_MAX	  20 /* bytes: a SHA-1 */
#define ID_TYPE	  3  /* NT_GNU_BUILD_ID */
#define AGAIN	  "install gpreempt again (dkms install --force), see docs/module.md\n"
#define NO_BTF \
	"no BTF of amdgpu, and no %s in its place: amdgpu was built without BTF, as amdgpu-dkms often is, or the kernel rejected it; "

#define LOCKED_DOWN \
	"%s is not signed, and this kernel is locked down: build amdgpu with BTF (pahole, and a vmlinux with BTF), see docs/module.md\n"

struct gp_layout gp_layout __ro_after_init;
const char *gp_features[GP_FEATURE_COUNT] __ro_after_init;
const char *gp_layout_source __ro_after_init = "btf";

/* Room for a type as text. */
#define TYPE_LEN 96

/*
 * A row of the tables: expected are the name .of, elements of .size, and .nodes (1 of a driver with
 * kfd_node only, 0 of one without)
 */
struct field_row {
	enum { RULE_F, RULE_A, RULE_S, RULE_P, RULE_V, RULE_H } rule;
	const char *type, *field, *name, *changed, *of;
	size_t size;
	enum gp_feature feature;
	struct gp_place *where;
	int nodes;
};

#define WANT_F(t) .of = #t, .size = sizeof(t)
#define WANT_A(t) WANT_F(t)
#define WANT_S(t) .of = #t
#define WANT_P(t) .of = #t, .size = sizeof(void *)
#define WANT_V(t) WANT_P(t)
#define WANT_H(t) .of = t, .size = sizeof(void *)
/* clang-format off */
#define ROW_OF(r, s, f, t, ft, only)						\
	{ .rule = RULE_##r, .type = #s, .field = #f, .name = #s "." #f,		\
	  .changed = #s "." #f ":type", WANT_##r(t), .feature = GP_FEATURE_##ft,	\
	  .where = &gp_layout.s##__##f.at, .nodes = only },
/* clang-format on */
#define ROW(r, s, f, t, ft)	     ROW_OF(r, s, f, t, ft, -1)
#define ROW_NODES(r, s, f, t, ft)    ROW_OF(r, s, f, t, ft, 1)
#define ROW_NO_NODES(r, s, f, t, ft) ROW_OF(r, s, f, t, ft, 0)

static const struct field_row field_rows[] = { GP_FIELDS(ROW) GP_FIELDS_NODES(ROW_NODES)
						       GP_FIELDS_NO_NODES(ROW_NO_NODES) };

struct enum_row {
	const char *type, *name;
	u32 *where;
};

#define ROW_E(e, n) { .type = #e, .name = #n, .where = &gp_layout.n },

static const struct enum_row enum_rows[] = { GP_ENUMS(ROW_E) };

/* Name of a structure of the tables in this driver */
static const char *name_here(const char *name)
{
	return gp_layout.has_nodes ? name : gp_name_before(name);
}

static bool is_array(const struct field_row *row)
{
	return row->rule == RULE_A || row->rule == RULE_V;
}

static bool size_fits(const struct field_row *row, const struct gp_btf *btf,
		      const struct gp_btf_field *f)
{
	if (is_array(row))
		return f->size && f->size % row->size == 0;
	return f->size == (row->rule == RULE_S ? gp_btf_size(btf, row->of) : row->size);
}

static bool type_fits(const struct field_row *row, const char *text)
{
	if (is_array(row) && *text != '[')
		return false;
	if (is_array(row))
		text += strcspn(text, "]") + 1;
	switch (row->rule) {
	case RULE_F:
	case RULE_A:
		return gp_btf_fits(text, row->of);
	case RULE_S:
		return !strcmp(text, row->of);
	default:
		return *text == '*' && !strcmp(text + 1, name_here(row->of));
	}
}

/* Log a row that the module must have, with what the driver has in its place. */
static int refuse(const struct field_row *row, int err, u32 size, const char *text)
{
	const char *type = name_here(row->type);

	if (err)
		pr_err("amdgpu has no struct %s, or no field %s in it (%d)\n", type, row->field,
		       err);
	else
		pr_err("amdgpu's struct %s: field %s is %s of %u bytes, expected %s%s%s of %zu\n",
		       type, row->field, *text ? text : "without a name", size,
		       is_array(row) ? "an array of " : "", row->rule >= RULE_P ? "*" : "",
		       name_here(row->of), row->size);
	return -EOPNOTSUPP;
}

static int find_field(const struct field_row *row, const struct gp_btf *btf)
{
	char text[TYPE_LEN] = "";
	struct gp_btf_field f;
	int ret = gp_btf_field(btf, name_here(row->type), row->field, &f);

	if (!ret)
		gp_btf_describe(btf, f.type, text, sizeof(text));
	if (!ret && size_fits(row, btf, &f) && type_fits(row, text)) {
		row->where->offset = f.offset;
		if (is_array(row))
			row->where->len = f.size / row->size;
		return 0;
	}
	if (row->feature != GP_FEATURE_must) {
		if (!gp_features[row->feature])
			gp_features[row->feature] =
				ret == -ENOENT || ret == -ENODATA ? row->name : row->changed;
		return 0;
	}
	return refuse(row, ret, f.size, text);
}

/* The driver fills an array of them: ours has to have elements of its size. */
static void check_counts(const struct gp_btf *btf)
{
	const struct gp_layout *l = &gp_layout;

	if (gp_has(waves) &&
	    (gp_btf_size(btf, "kfd_cu_occupancy") != sizeof(struct kfd_cu_occupancy) ||
	     l->kfd_cu_occupancy__wave_cnt.at.offset !=
		     offsetof(struct kfd_cu_occupancy, wave_cnt) ||
	     l->kfd_cu_occupancy__doorbell_off.at.offset !=
		     offsetof(struct kfd_cu_occupancy, doorbell_off)))
		gp_features[GP_FEATURE_waves] = "kfd_cu_occupancy:type";
}

static int find_all(const struct gp_btf *btf)
{
	size_t i;
	int ret = 0;

	gp_layout.has_nodes = gp_btf_size(btf, GP_NODE);
	for (i = 0; i < ARRAY_SIZE(field_rows) && !ret; i++)
		if (field_rows[i].nodes != !gp_layout.has_nodes)
			ret = find_field(&field_rows[i], btf);
	for (i = 0; i < ARRAY_SIZE(enum_rows) && !ret; i++) {
		const struct enum_row *row = &enum_rows[i];

		ret = gp_btf_enum(btf, row->type, row->name, row->where);
		if (ret)
			pr_err("amdgpu's enum %s has no %s (%d)\n", row->type, row->name, ret);
	}
	check_counts(btf);
	return ret ? -EOPNOTSUPP : 0;
}

/*
 * Files are read without kernel_read_file(): that is for what the kernel is going to trust, and IPE
 * (Linux 6.12) warns of this purpose. They are below the root of PID 1: not that of this process,
 * as modprobe may run in another one, nor of init_task, an empty file system on newer kernels.
 */
static int root_of_init(struct path *root)
{
	struct task_struct *init;
	int ret = -ESRCH;

	rcu_read_lock();
	init = pid_task(find_pid_ns(1, &init_pid_ns), PIDTYPE_PID);
	if (init)
		get_task_struct(init);
	rcu_read_unlock();
	if (!init)
		return ret;
	task_lock(init);
	if (init->fs) {
		get_fs_root(init->fs, root);
		ret = 0;
	}
	task_unlock(init);
	put_task_struct(init);
	return ret;
}

static struct file *open_for_init(const char *name)
{
	struct file *file;
	struct path root;
	int ret = root_of_init(&root);

	if (ret)
		return ERR_PTR(ret);
	file = file_open_root(&root, name, O_RDONLY, 0);
	path_put(&root);
	return file;
}

/* Is a file of sysfs the kernel's own? Root can mount over it, and it decides what we read. */
static bool is_own(const struct file *file, const char *name)
{
	char buf[64];
	const char *path;

	if (strncmp(name, "/sys/", 5))
		return true;
	path = dentry_path_raw(file->f_path.dentry, buf, sizeof(buf));
	return file_inode(file)->i_sb->s_magic == SYSFS_MAGIC && !IS_ERR(path) &&
	       !strcmp(path, name + 4);
}

static int read_file(const char *name, size_t max, void **data, size_t *size)
{
	struct file *file = open_for_init(name);
	ssize_t len = -EFBIG;
	loff_t pos = 0;
	loff_t end;

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (!is_own(file, name)) {
		fput(file);
		return -EXDEV;
	}
	end = i_size_read(file_inode(file));
	*data = end > 0 && end <= max ? vmalloc(end) : NULL;
	if (!*data && end > 0 && end <= max)
		len = -ENOMEM;
	while (*data && pos < end) {
		len = kernel_read(file, *data + pos, end - pos, &pos);
		if (len <= 0)
			break;
	}
	fput(file);
	if (*data && pos == end) {
		*size = end;
		return 0;
	}
	vfree(*data);
	*data = NULL;
	return len < 0 ? len : -EIO;
}

static bool is_there(const char *name)
{
	struct file *file = open_for_init(name);

	if (IS_ERR(file))
		return PTR_ERR(file) != -ENOENT;
	fput(file);
	return true;
}

/* EOPNOTSUPP for all that is wrong: modprobe takes others for something else. */
static int parse(const char *name, struct gp_btf *btf, void *data, size_t size,
		 const struct gp_btf *base)
{
	int ret = gp_btf_parse(btf, data, size, base);

	if (!ret || ret == -ENOMEM)
		return ret;
	pr_err("%s is not BTF that can be read (%d)\n", name, ret);
	return -EOPNOTSUPP;
}

/* Open a blob of sysfs; release it with close_blob(). */
static int open_blob(const char *path, struct gp_btf *btf, void **data, const struct gp_btf *base)
{
	size_t size;
	int ret = read_file(path, BTF_MAX_SIZE, data, &size);

	if (ret) {
		pr_err("cannot read %s (%d)%s\n", path, ret,
		       ret == -EXDEV ? ": another file is mounted there" : "");
		return ret == -ENOMEM ? ret : -EOPNOTSUPP;
	}
	ret = parse(path, btf, *data, size, base);
	if (ret)
		vfree(*data);
	return ret;
}

static void close_blob(struct gp_btf *btf, void *data)
{
	gp_btf_release(btf);
	vfree(data);
}

/* Counters of a lock, from GP_STAT_LOCK() on. */
enum { TAKEN, TOTAL_NS, MAX_NS };

atomic64_t gp_stats[GP_STAT_COUNT];

void gp_stat_locked(enum gp_stat lock, ktime_t since)
{
	s64 ns = ktime_to_ns(ktime_sub(ktime_get(), since));
	s64 max = atomic64_read(&gp_stats[lock + MAX_NS]);

	BUILD_BUG_ON(GP_STAT_process_max_ns != GP_STAT_LOCK(process) + MAX_NS);
	gp_stat_inc(lock + TAKEN);
	gp_stat_add(lock + TOTAL_NS, ns);
	while (ns > max && !atomic64_try_cmpxchg(&gp_stats[lock + MAX_NS], &max, ns))
		;
}

void gp_stat_unread(enum gp_view_hardware why)
{
	if (why == GP_VIEW_HARDWARE_LOST)
		gp_stat_inc(GP_STAT_unread_lost);
}

int gp_broken(const char *what)
{
	static DEFINE_RATELIMIT_STATE(limit, 60 * HZ, 3);

	gp_stat_inc(GP_STAT_broken);
	if (__ratelimit(&limit))
		pr_err("amdgpu's data contradicts itself: not so that %s\n", what);
	return -EUCLEAN;
}

/* Load the layout from the BTF of the kernel and the driver. */
static int load_btf(void)
{
	struct gp_btf kernel, driver;
	void *kernel_data, *driver_data;
	int ret;

	ret = open_blob(BTF_DIR "vmlinux", &kernel, &kernel_data, NULL);
	if (ret)
		return ret;
	ret = open_blob(BTF_DIR "amdgpu", &driver, &driver_data, &kernel);
	if (ret)
		goto err_driver;
	ret = find_all(&driver);
	close_blob(&driver, driver_data);
err_driver:
	close_blob(&kernel, kernel_data);
	return ret;
}

/* The build id in a note, in hexadecimal digits. */
static int note_to_id(const void *data, size_t size, char id[2 * ID_MAX + 1])
{
	const struct elf64_note *note = data;
	size_t skip;

	if (size < sizeof(*note) || note->n_type != ID_TYPE || !note->n_descsz ||
	    note->n_descsz > ID_MAX || note->n_namesz > size)
		return -EINVAL;
	skip = sizeof(*note) + ALIGN(note->n_namesz, 4);
	if (size < skip + note->n_descsz)
		return -EINVAL;
	*bin2hex(id, data + skip, note->n_descsz) = '\0';
	return 0;
}

static int loaded_id(char id[2 * ID_MAX + 1])
{
	size_t size;
	void *data;
	int ret;

	ret = read_file(NOTE, NOTE_MAX, &data, &size);
	if (ret)
		return ret;
	ret = note_to_id(data, size, id);
	vfree(data);
	return ret;
}

/* Check that the file is a layout, made for the driver that is loaded. */
static int check_head(const char *path, char *head, size_t size)
{
	size_t len = strlen(HEAD);
	char id[2 * ID_MAX + 1];

	if (loaded_id(id)) {
		pr_err("cannot tell which amdgpu is loaded: no build id in " NOTE "\n");
		return -EOPNOTSUPP;
	}
	if (size < HEAD_SIZE || strncmp(head, HEAD, len)) {
		pr_err("%s is not a layout of this version's: " AGAIN, path);
		return -EOPNOTSUPP;
	}
	head[HEAD_SIZE - 1] = '\0';
	strim(head);
	if (strcmp(head + len, id)) {
		pr_err("%s was made for another amdgpu (build id %.40s, loaded is %s): " AGAIN,
		       path, head + len, id);
		return -EOPNOTSUPP;
	}
	return 0;
}

/*
 * Load the layout from the BTF made of the driver's headers, which needs no other. It is not
 * signed: under lockdown root could have the module read and write kernel memory.
 */
static int load_headers(void)
{
	char path[__NEW_UTS_LEN + 64];
	struct gp_btf driver;
	void *data = NULL;
	size_t size;
	int ret;

	snprintf(path, sizeof(path), "/lib/modules/%s/updates/gpreempt-amdgpu.btf",
		 init_utsname()->release);
	ret = read_file(path, FILE_MAX, &data, &size);
	if (ret == -ENOENT) {
		pr_err(NO_BTF AGAIN, path);
	} else if (security_locked_down(LOCKDOWN_MODULE_SIGNATURE)) {
		pr_err(LOCKED_DOWN, path);
		ret = ret ?: -EPERM;
	} else if (ret) {
		pr_err("cannot read %s (%d)\n", path, ret);
	}
	if (ret) {
		vfree(data);
		return ret == -ENOMEM ? ret : -EOPNOTSUPP;
	}
	ret = check_head(path, data, size);
	if (!ret)
		ret = parse("the layout made from headers", &driver, data + HEAD_SIZE,
			    size - HEAD_SIZE, NULL);
	if (!ret) {
		ret = find_all(&driver);
		gp_btf_release(&driver);
	}
	vfree(data);
	return ret;
}

int gp_layout_load(void)
{
	if (is_there(BTF_DIR "amdgpu"))
		return load_btf();
	gp_layout_source = "headers";
	return load_headers();
}
