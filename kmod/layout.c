// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds the driver's fields by name in the BTF that the kernel shows in sysfs,
 * or else in BTF that was made from the driver's headers.
 *
 * An amdgpu without BTF: kmod/headers-layout has compiled its private headers
 * when this module was installed, and left the BTF of that in a file.
 *
 * The file begins with a line of HEAD_SIZE bytes, padded with blanks: its name
 * and version, and the build id of the amdgpu.ko that it is for. The build id
 * is a hash of that very file. (A srcversion would not do: distributions build
 * without it, and another configuration does not change it.)
 */

#include <linux/cache.h>
#include <linux/elf.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/security.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>

#include "btf.h"
#include "compat.h"
#include "file.h"
#include "layout.h"
#include "node.h"
#include "stats.h"

#define BTF_DIR	     "/sys/kernel/btf/"
#define BTF_MAX_SIZE SZ_128M

#define NOTE	  "/sys/module/amdgpu/notes/.note.gnu.build-id"
#define NOTE_MAX  SZ_4K
#define FILE_MAX  SZ_16M
#define HEAD	  "gpreempt-layout 1 "
#define HEAD_SIZE 64
#define ID_MAX	  20 /* bytes: a SHA-1 */
#define ID_TYPE	  3  /* NT_GNU_BUILD_ID */
#define AGAIN \
	"install gpreempt again (dkms install --force), see docs/module.md\n"
#define NO_BTF \
	"no BTF of amdgpu, and no %s in its place: amdgpu was built without BTF, as amdgpu-dkms often is, or the kernel rejected it; "

#define LOCKED_DOWN \
	"%s is not signed, and this kernel is locked down: build amdgpu with BTF (pahole, and a vmlinux with BTF), see docs/module.md\n"

struct gp_layout gp_layout __ro_after_init;
const char *gp_features[GP_FEATURE_COUNT] __ro_after_init;
const char *gp_layout_source __ro_after_init = "btf";

/* Room for a type as text. */
#define TYPE_LEN 96

enum rule { RULE_F, RULE_A, RULE_S, RULE_P, RULE_V, RULE_H };

/*
 * One row of the tables, with the place that it goes to. Without an optional one a
 * feature is off, and @name or @changed is printed as the reason. @of is the name that is
 * expected, @size that of an element.
 */
struct field_row {
	enum rule rule;
	const char *type;
	const char *field;
	const char *name;
	const char *changed;
	const char *of;
	size_t size;
	enum gp_feature feature;
	struct gp_place *where;
};

#define WANT_F(t) .of = #t, .size = sizeof(t)
#define WANT_A(t) .of = #t, .size = sizeof(t)
#define WANT_S(t) .of = #t
#define WANT_P(t) .of = #t, .size = sizeof(void *)
#define WANT_V(t) .of = #t, .size = sizeof(void *)
#define WANT_H(t) .of = t, .size = sizeof(void *)
#define ROW(r, s, f, t, ft)             \
	{ .rule = RULE_##r,             \
	  .type = #s,                   \
	  .field = #f,                  \
	  .name = #s "." #f,            \
	  .changed = #s "." #f ":type", \
	  WANT_##r(t),                  \
	  .feature = GP_FEATURE_##ft,   \
	  .where = &gp_layout.s##__##f.at },

static const struct field_row field_rows[] = { GP_FIELDS(ROW) };
static const struct field_row node_rows[] = { GP_FIELDS_NODES(ROW) };
static const struct field_row no_node_rows[] = { GP_FIELDS_NO_NODES(ROW) };

struct enum_row {
	const char *type;
	const char *name;
	u32 *where;
};

#define ROW_E(e, n) { .type = #e, .name = #n, .where = &gp_layout.n },

static const struct enum_row enum_rows[] = { GP_ENUMS(ROW_E) };

/* What this driver calls a structure of the tables. */
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
	return f->size ==
	       (row->rule == RULE_S ? gp_btf_size(btf, row->of) : row->size);
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

static void refuse_field(const struct field_row *row, int err)
{
	const char *type = name_here(row->type);

	if (err == -ENOENT)
		pr_err("amdgpu has no struct %s\n", type);
	else if (err == -ENODATA)
		pr_err("amdgpu's struct %s has no field %s\n", type,
		       row->field);
	else
		pr_err("amdgpu's struct %s: field %s cannot be used (%d)\n",
		       type, row->field, err);
}

static void refuse_type(const struct field_row *row, u32 size, const char *text)
{
	const char *type = name_here(row->type);
	const char *array = is_array(row) ? "an array of " : "";

	if (!type_fits(row, text))
		pr_err("amdgpu's struct %s: field %s is %s, expected %s%s%s\n",
		       type, row->field, *text ? text : "without a name", array,
		       row->rule >= RULE_P ? "*" : "", name_here(row->of));
	else
		pr_err("amdgpu's struct %s: field %s has %u bytes, expected %s%zu\n",
		       type, row->field, size,
		       is_array(row) ? "a multiple of " : "", row->size);
}

/* What a feature is off for: the first that it lacks or that has changed. */
static void turn_off(const struct field_row *row, bool there)
{
	if (!gp_features[row->feature])
		gp_features[row->feature] = there ? row->changed : row->name;
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
		turn_off(row, ret != -ENOENT && ret != -ENODATA);
		return 0;
	}
	if (ret)
		refuse_field(row, ret);
	else
		refuse_type(row, f.size, text);
	return -EOPNOTSUPP;
}

static int find_enum(const struct enum_row *row, const struct gp_btf *btf)
{
	if (!gp_btf_enum(btf, row->type, row->name, row->where))
		return 0;
	pr_err("amdgpu's enum %s has no %s\n", row->type, row->name);
	return -EOPNOTSUPP;
}

static int find_fields(const struct field_row *rows, size_t n,
		       const struct gp_btf *btf)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < n && !ret; i++)
		ret = find_field(&rows[i], btf);
	return ret;
}

/* The driver fills an array of them: ours has to have elements of its size. */
static void check_counts(const struct gp_btf *btf)
{
	const struct gp_layout *l = &gp_layout;

	if (gp_has(waves) &&
	    (gp_btf_size(btf, "kfd_cu_occupancy") !=
		     sizeof(struct kfd_cu_occupancy) ||
	     l->kfd_cu_occupancy__wave_cnt.at.offset !=
		     offsetof(struct kfd_cu_occupancy, wave_cnt) ||
	     l->kfd_cu_occupancy__doorbell_off.at.offset !=
		     offsetof(struct kfd_cu_occupancy, doorbell_off)))
		gp_features[GP_FEATURE_waves] = "kfd_cu_occupancy:type";
}

static int find_all(const struct gp_btf *btf)
{
	size_t i;
	int ret;

	gp_layout.has_nodes = gp_btf_size(btf, GP_NODE);
	ret = find_fields(field_rows, ARRAY_SIZE(field_rows), btf);
	if (!ret && gp_layout.has_nodes)
		ret = find_fields(node_rows, ARRAY_SIZE(node_rows), btf);
	else if (!ret)
		ret = find_fields(no_node_rows, ARRAY_SIZE(no_node_rows), btf);
	for (i = 0; i < ARRAY_SIZE(enum_rows) && !ret; i++)
		ret = find_enum(&enum_rows[i], btf);
	check_counts(btf);
	return ret;
}

/* What is wrong is always EOPNOTSUPP: modprobe takes others for something else. */
static int parse(const char *name, struct gp_btf *btf, void *data, size_t size,
		 const struct gp_btf *base)
{
	int ret = gp_btf_parse(btf, data, size, base);

	if (!ret || ret == -ENOMEM)
		return ret;
	pr_err("%s is not BTF that can be read (%d)\n", name, ret);
	return -EOPNOTSUPP;
}

/* One blob out of sysfs; release with close_blob(). */
static int open_blob(const char *path, struct gp_btf *btf, void **data,
		     const struct gp_btf *base)
{
	size_t size;
	int ret = gp_file_read(path, BTF_MAX_SIZE, data, &size);

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

int gp_broken(const char *what)
{
	static DEFINE_RATELIMIT_STATE(limit, 60 * HZ, 3);

	gp_stat_inc(GP_STAT_broken);
	if (__ratelimit(&limit))
		pr_err("amdgpu's data contradicts itself: not so that %s\n",
		       what);
	return -EUCLEAN;
}

/* From the BTF of the kernel and the driver. */
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

	if (size < sizeof(*note) || note->n_type != ID_TYPE ||
	    !note->n_descsz || note->n_descsz > ID_MAX || note->n_namesz > size)
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

	ret = gp_file_read(NOTE, NOTE_MAX, &data, &size);
	if (ret)
		return ret;
	ret = note_to_id(data, size, id);
	vfree(data);
	return ret;
}

/* Whether the file is a layout, and that of the driver that is loaded. */
static int check_head(const char *path, char *head, size_t size)
{
	size_t len = strlen(HEAD);
	char id[2 * ID_MAX + 1];

	if (loaded_id(id)) {
		pr_err("cannot tell which amdgpu is loaded: no build id in " NOTE
		       "\n");
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
 * From the BTF that was made of the driver's headers, which needs no other. Its file is
 * not signed: under lockdown, root could have the module read and write kernel memory.
 */
static int load_headers(void)
{
	char path[__NEW_UTS_LEN + 64];
	struct gp_btf driver;
	void *data = NULL;
	size_t size;
	int ret;

	snprintf(path, sizeof(path),
		 "/lib/modules/%s/updates/gpreempt-amdgpu.btf",
		 init_utsname()->release);
	ret = gp_file_read(path, FILE_MAX, &data, &size);
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
		ret = parse("the layout made from headers", &driver,
			    data + HEAD_SIZE, size - HEAD_SIZE, NULL);
	if (!ret) {
		ret = find_all(&driver);
		gp_btf_release(&driver);
	}
	vfree(data);
	return ret;
}

int gp_layout_load(void)
{
	if (gp_file_there(BTF_DIR "amdgpu"))
		return load_btf();
	gp_layout_source = "headers";
	return load_headers();
}
