// SPDX-License-Identifier: GPL-2.0-only
/*
 * btf-doctor hide|resize|retype MODULE.ko [STEP]: loads the module with BTF of
 * amdgpu's in which one name that the module looks up is missing, or a field has
 * another size, or a pointer points to something else, for one name after the
 * other. Each load must be refused with a line in
 * the kernel log that names what is wrong; a name that is optional must turn
 * its feature off instead. With STEP, one of so many names. What the module looks
 * up is in layout-rows.h, which is made from kmod/layout.h.
 *
 * btf-doctor graft MODULE.ko STRUCT FIELD NAME TYPE: loads the module, for good, with
 * FIELD of STRUCT under another name and with another type, so that it finds a
 * field that this driver does not have.
 *
 * btf-doctor elsewhere MODULE.ko: loads the module with BTF out of /tmp/kernel/btf/.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "btf-blob.h"

/*
 * Where the module looks for BTF in the doctor's copy of it: what stands in sysfs must be
 * the kernel's own, and this path, of the same length, is not of sysfs.
 */
#define OTHER_DIR   "/tmp/kernel/btf/"
#define LAYOUT	    "/lib/modules/%s/updates/gpreempt-amdgpu.btf"
#define LAYOUT_HEAD 64
#define VERSION	    "/sys/kernel/debug/gpreempt/version"
#define MAX_PATCHES 64
#define OTHER_SIZE  12 /* size of no field that is looked up, and no multiple of 8 */

static const struct row {
	/*
	 * Rows as in layout.h; E: an enumerator. of: type with which the field is declared. With
	 * a feature, it is optional. nodes: 'y' for a driver with struct kfd_node, 'n' for one
	 * without.
	 */
	char rule;
	const char *type, *name, *of, *feature;
	char nodes;
} rows[] = {
#include "layout-rows.h"
};

static struct {
	off_t at;
	uint32_t was, now;
} patches[MAX_PATCHES];
static int n_patches;

/*
 * The file to change, amdgpu's BTF or the layout of one without, and the copy that the module
 * reads: a layout's copy is mounted over it.
 */
static char doctored[128] = BTF_DIR "amdgpu";
static const char *copy = OTHER_DIR "amdgpu";

/* Has this driver a struct kfd_node? */
static bool has_nodes;

/* Returns the driver's name for a structure of the table: without kfd_node that is kfd_dev. */
static const char *type_here(const struct row *row)
{
	return has_nodes || strcmp(row->type, "kfd_node") ? row->type : "kfd_dev";
}

static void patch(uint32_t *where, uint32_t value)
{
	if (n_patches == MAX_PATCHES)
		btf_die("too many structures of one name");
	patches[n_patches].at = driver.head + ((uint8_t *)where - driver.data);
	patches[n_patches].was = *where;
	patches[n_patches++].now = value;
}

enum ill { HIDE, RESIZE, RETYPE };

/* Find a structure of the size of a row's type: a structure, or a plain type; or 0. */
static uint32_t other_of(const struct row *row)
{
	if (!strncmp(row->of, "struct ", 7))
		return other_struct(struct_size(row->of + 7), row->of + 7);
	return other_struct(!strcmp(row->of, "bool") ? 1 :
			    !strcmp(row->of, "u16")  ? 2 :
			    !strcmp(row->of, "u32")  ? 4 :
						       8,
			    row->of);
}

/* Let a field of the same size be, or point to, something else. */
static void retype(const struct row *row, struct btf_member *m)
{
	switch (row->rule) {
	case 'V':
		patch(&array_of(m->type)->type, other_pointer());
		break;
	case 'P':
	case 'H':
		patch(&m->type, row->rule == 'H' ? other_hook() : other_pointer());
		break;
	default:
		if (other_of(row))
			patch(&m->type, other_of(row));
	}
}

static bool can_have(const struct row *row, enum ill ill)
{
	if (row->nodes == (has_nodes ? 'n' : 'y'))
		return false;
	return ill == HIDE || (ill == RESIZE && row->rule != 'E') ||
	       (ill == RETYPE && strchr("PVHFA", row->rule));
}

static void patch_type(const struct row *row, struct btf_type *t, enum ill ill)
{
	struct btf_member *m = (void *)(t + 1);
	struct btf_enum *e = (void *)(t + 1);
	uint32_t i;

	for (i = 0; i < BTF_INFO_VLEN(t->info); i++) {
		uint32_t *name = row->rule == 'E' ? &e[i].name_off : &m[i].name_off;

		if (strcmp(name_at(*name), row->name))
			continue;
		if (ill == RESIZE)
			patch(&m[i].type, other_type(OTHER_SIZE));
		else if (ill == RETYPE)
			retype(row, &m[i]);
		else /* the same without its first letter */
			patch(name, *name + 1);
	}
}

static void look_for_nodes(void)
{
	uint32_t pos = 0;

	while (pos < driver.types_len) {
		struct btf_type *t = (void *)(driver.types + pos);

		has_nodes |= BTF_INFO_KIND(t->info) == BTF_KIND_STRUCT &&
			     !strcmp(name_at(t->name_off), "kfd_node");
		pos += sizeof(*t) + btf_tail_size(t);
	}
}

/* All structures or enums of that name: a kernel can have several. */
static void find_patches(const struct row *row, enum ill ill)
{
	uint32_t kind = row->rule == 'E' ? BTF_KIND_ENUM : BTF_KIND_STRUCT;
	uint32_t pos = 0;

	n_patches = 0;
	while (pos < driver.types_len) {
		struct btf_type *t = (void *)(driver.types + pos);

		if (BTF_INFO_KIND(t->info) == kind && !strcmp(name_at(t->name_off), type_here(row)))
			patch_type(row, t, ill);
		pos += sizeof(*t) + btf_tail_size(t);
	}
}

static void apply(int fd, bool undo)
{
	int i;

	for (i = 0; i < n_patches; i++) {
		uint32_t value = undo ? patches[i].was : patches[i].now;

		if (pwrite(fd, &value, sizeof(value), patches[i].at) != sizeof(value))
			btf_die(copy);
	}
}

/* Read the module's messages since the last call, joined. */
static void read_log(int kmsg, char *out, size_t size)
{
	char line[1024];
	size_t len = 0;
	ssize_t n;

	*out = '\0';
	while ((n = read(kmsg, line, sizeof(line) - 1)) > 0) {
		line[n] = '\0';
		if (strstr(line, "gpreempt: ") && len + n < size)
			len += sprintf(out + len, "%s", strstr(line, "gpreempt: "));
	}
}

static void read_version(char *text, size_t size)
{
	int fd = open(VERSION, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		btf_die(VERSION);
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
}

static bool feature_off(const struct row *row, enum ill ill)
{
	char text[8192], want[256];

	read_version(text, sizeof(text));
	snprintf(want, sizeof(want), "\nfeature_%s off:%s.%s%s\n", row->feature, row->type,
		 row->name, ill == HIDE ? "" : ":type");
	return strstr(text, want);
}

/* Load a copy of the module that looks for BTF in OTHER_DIR. 0 or an errno. */
static int load(const char *module)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC), err;
	char *data, *at;
	struct stat st;

	_Static_assert(sizeof(OTHER_DIR) == sizeof(BTF_DIR), "in its place");
	if (fd < 0 || fstat(fd, &st))
		btf_die(module);
	data = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		btf_die(module);
	for (at = data; (at = memmem(at, data + st.st_size - at, BTF_DIR, strlen(BTF_DIR)));)
		memcpy(at, OTHER_DIR, strlen(OTHER_DIR));
	err = syscall(SYS_init_module, data, st.st_size, "") ? errno : 0;
	munmap(data, st.st_size);
	close(fd);
	return err;
}

static void unload(void)
{
	if (syscall(SYS_delete_module, "gpreempt", O_NONBLOCK))
		btf_die("cannot unload the module");
}

/* Features that this driver has: one that lacks a name of its own asks for no other. */
static char features[8192];

static void find_features(const char *module)
{
	if (load(module))
		btf_die("the module does not load");
	read_version(features, sizeof(features));
	unload();
}

static bool has_feature(const char *name)
{
	char want[256];

	snprintf(want, sizeof(want), "\nfeature_%s off", name);
	return !strstr(features, want);
}

/* Did a load go as it must with this row's name doctored? */
static bool load_fails_well(const struct row *row, enum ill ill, const char *module, int kmsg)
{
	int err = load(module);
	char log[4096];
	bool good;

	read_log(kmsg, log, sizeof(log));
	if (*row->feature)
		good = !err && feature_off(row, ill);
	else
		good = err == EOPNOTSUPP && strstr(log, type_here(row)) && strstr(log, row->name);
	if (!err)
		unload();
	if (!good)
		printf("%s.%s: %s; %s\n", row->type, row->name, strerror(err), log);
	return good;
}

/* Put a name that is not among the strings behind them, where the blob ends. */
static uint32_t append_name(int blob, const char *name)
{
	uint32_t len = strlen(name) + 1, sum = driver.strs_len + len;

	if ((const uint8_t *)driver.strs + driver.strs_len != driver.data + driver.size ||
	    pwrite(blob, name, len, driver.head + driver.size) != len ||
	    pwrite(blob, &sum, sizeof(sum), driver.head + offsetof(struct btf_header, str_len)) !=
		    sizeof(sum))
		btf_die(name);
	return base.strs_len + driver.strs_len;
}

/* Find a name among the strings; it may be the end of a longer one. */
static uint32_t name_offset(int blob, const char *name)
{
	const char *at = memmem(driver.strs, driver.strs_len, name, strlen(name) + 1);

	if (at)
		return base.strs_len + (at - driver.strs);
	at = memmem(base.strs, base.strs_len, name, strlen(name) + 1);
	return at ? at - base.strs : append_name(blob, name);
}

static void graft_member(int blob, struct btf_type *t, char **what)
{
	struct btf_member *m = (void *)(t + 1);
	uint32_t i;

	for (i = 0; i < BTF_INFO_VLEN(t->info); i++)
		if (!strcmp(name_at(m[i].name_off), what[1])) {
			patch(&m[i].name_off, name_offset(blob, what[2]));
			patch(&m[i].type, typedef_id(what[3]));
		}
}

/* Words in @what: structure, field, name, type */
static int graft(int blob, const char *module, char **what)
{
	uint32_t pos = 0;
	int err;

	while (pos < driver.types_len) {
		struct btf_type *t = (void *)(driver.types + pos);

		if (BTF_INFO_KIND(t->info) == BTF_KIND_STRUCT &&
		    !strcmp(name_at(t->name_off), what[0]))
			graft_member(blob, t, what);
		pos += sizeof(*t) + btf_tail_size(t);
	}
	if (!n_patches)
		btf_die(what[1]);
	apply(blob, false);
	err = load(module);
	if (err)
		printf("btf-doctor: %s: %s\n", module, strerror(err));
	return !!err;
}

/* The line that is before a layout. */
static void copy_head(int to)
{
	char head[LAYOUT_HEAD];
	int fd = open(doctored, O_RDONLY);

	if (fd < 0 || read(fd, head, driver.head) != (ssize_t)driver.head ||
	    write(to, head, driver.head) != (ssize_t)driver.head)
		btf_die(doctored);
	close(fd);
}

/* The driver's BTF, as a file that can be written and stands in its place. */
static int open_doctored(void)
{
	bool in_sysfs = !access(doctored, F_OK);
	struct utsname name;
	int fd;

	mkdir("/tmp/kernel", 0700);
	mkdir(OTHER_DIR, 0700);
	if (in_sysfs) {
		if (symlink(BTF_DIR "vmlinux", OTHER_DIR "vmlinux") && errno != EEXIST)
			btf_die(OTHER_DIR);
		blob_load(BTF_DIR "vmlinux", 0, &base);
		blob_load(doctored, 0, &driver);
	} else {
		copy = "/tmp/amdgpu.btf";
		uname(&name);
		snprintf(doctored, sizeof(doctored), LAYOUT, name.release);
		blob_load(doctored, LAYOUT_HEAD, &driver);
	}
	fd = open(copy, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		btf_die(copy);
	copy_head(fd);
	if (write(fd, driver.data, driver.size) != (ssize_t)driver.size)
		btf_die(copy);
	if (!in_sysfs && mount(copy, doctored, NULL, MS_BIND, NULL))
		btf_die("mount");
	return fd;
}

int main(int argc, char **argv)
{
	enum ill ill = argc < 2			  ? HIDE :
		       !strcmp(argv[1], "resize") ? RESIZE :
		       !strcmp(argv[1], "retype") ? RETYPE :
						    HIDE;
	size_t i, step = argc > 3 ? atoi(argv[3]) : 1;
	int fd, kmsg, bad = 0, done = 0;

	if (argc == 3 && !strcmp(argv[1], "elsewhere"))
		return load(argv[2]);
	if (argc == 7 && !strcmp(argv[1], "graft")) {
		bad = graft(open_doctored(), argv[2], argv + 3);
		umount2(doctored, MNT_DETACH);
		return bad;
	}
	if (argc < 3 || !step)
		return 2;
	fd = open_doctored();
	look_for_nodes();
	find_features(argv[2]);
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	lseek(kmsg, 0, SEEK_END);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i += step) {
		if (!can_have(&rows[i], ill) || (*rows[i].feature && !has_feature(rows[i].feature)))
			continue;
		find_patches(&rows[i], ill);
		/* An optional name that this kernel does not have anyway. */
		if (!n_patches && *rows[i].feature)
			continue;
		if (!n_patches && ill == RETYPE) {
			printf("%s.%s: nothing else has its size\n", rows[i].type, rows[i].name);
			continue;
		}
		if (!n_patches)
			btf_die(rows[i].name);
		apply(fd, false);
		bad += !load_fails_well(&rows[i], ill, argv[2], kmsg);
		apply(fd, true);
		done++;
	}
	umount2(doctored, MNT_DETACH);
	printf("%d names, %d of them not as it must be\n", done, bad);
	return bad || !done;
}
