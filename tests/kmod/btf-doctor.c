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
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BTF_DIR	    "/sys/kernel/btf/"
#define DOCTORED    "/tmp/amdgpu.btf"
#define VERSION	    "/sys/kernel/debug/gpreempt/version"
#define MAX_PATCHES 64
#define OTHER_SIZE  12 /* of no field that is looked up, nor a multiple of 8 */

static const struct row {
	/* As in layout.h; E: an enumerator. With a feature, it is optional. */
	char rule;
	const char *type, *name, *feature;
} rows[] = {
#include "layout-rows.h"
};

struct blob {
	uint8_t *data;
	size_t size;
	uint8_t *types;
	uint32_t types_len;
	const char *strs;
	uint32_t strs_len;
};

static struct blob base, driver;
static struct {
	off_t at;
	uint32_t was, now;
} patches[MAX_PATCHES];
static int n_patches;

static void die(const char *what)
{
	printf("btf-doctor: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void load(const char *path, struct blob *b)
{
	int fd = open(path, O_RDONLY);
	const struct btf_header *h;
	struct stat st;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	b->data = malloc(st.st_size);
	while (n > 0 && b->size < (size_t)st.st_size) {
		n = read(fd, b->data + b->size, st.st_size - b->size);
		b->size += n > 0 ? n : 0;
	}
	close(fd);
	h = (const void *)b->data;
	if (b->size < sizeof(*h) || h->magic != 0xeb9f)
		die("no BTF");
	b->types = b->data + h->hdr_len + h->type_off;
	b->types_len = h->type_len;
	b->strs = (const char *)b->data + h->hdr_len + h->str_off;
	b->strs_len = h->str_len;
}

static const char *name_at(uint32_t off)
{
	if (off < base.strs_len)
		return base.strs + off;
	return off - base.strs_len < driver.strs_len ?
		       driver.strs + off - base.strs_len :
		       "";
}

static size_t tail_size(const struct btf_type *t)
{
	size_t vlen = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return BTF_INFO_KIND(t->info) == BTF_KIND_ARRAY ? 12 :
								  12 * vlen;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return 8 * vlen;
	default:
		return 0;
	}
}

/* How many types a blob has. */
static uint32_t count(const struct blob *b)
{
	uint32_t pos = 0, n = 0;

	for (; pos < b->types_len; n++) {
		const struct btf_type *t = (const void *)(b->types + pos);

		pos += sizeof(*t) + tail_size(t);
	}
	return n;
}

/* Id of a structure of the size that no field has. */
static uint32_t other_type(void)
{
	static uint32_t found;
	uint32_t pos = 0, id = count(&base) + 1;

	for (; !found && pos < driver.types_len; id++) {
		const struct btf_type *t = (const void *)(driver.types + pos);

		if (BTF_INFO_KIND(t->info) == BTF_KIND_STRUCT &&
		    t->size == OTHER_SIZE)
			found = id;
		pos += sizeof(*t) + tail_size(t);
	}
	if (!found)
		die("no structure of another size");
	return found;
}

/* Id of the next type of a kind from *pos on, 0: none; *t is its record. */
static uint32_t next_type(uint32_t kind, uint32_t *pos, uint32_t *id,
			  struct btf_type **t)
{
	while (*pos < driver.types_len) {
		struct btf_type *at = (void *)(driver.types + *pos);

		*pos += sizeof(*at) + tail_size(at);
		++*id;
		if (BTF_INFO_KIND(at->info) != kind)
			continue;
		*t = at;
		return *id;
	}
	return 0;
}

/* Id of a pointer to a structure that no row's field points to. */
static uint32_t other_pointer(void)
{
	uint32_t pos = 0, id = count(&base), to = 0;
	struct btf_type *t;

	while (!to && next_type(BTF_KIND_STRUCT, &pos, &id, &t))
		if (!strcmp(name_at(t->name_off), "amdgpu_ring"))
			to = id;
	pos = 0;
	id = count(&base);
	while (to && next_type(BTF_KIND_PTR, &pos, &id, &t))
		if (t->type == to)
			return id;
	die("no pointer to an amdgpu_ring");
	return 0;
}

/* Type of a hook that has a prototype of its own. */
static uint32_t other_hook(void)
{
	uint32_t pos = 0, id = count(&base), i;
	struct btf_type *t;

	while (next_type(BTF_KIND_STRUCT, &pos, &id, &t)) {
		struct btf_member *m = (void *)(t + 1);

		for (i = 0; i < BTF_INFO_VLEN(t->info); i++)
			if (!strcmp(name_at(m[i].name_off), "hqd_destroy"))
				return m[i].type;
	}
	die("no hook hqd_destroy");
	return 0;
}

static struct btf_array *array_of(uint32_t want)
{
	uint32_t pos = 0, id = count(&base);
	struct btf_type *t;

	while (next_type(BTF_KIND_ARRAY, &pos, &id, &t))
		if (id == want)
			return (void *)(t + 1);
	die("not an array");
	return NULL;
}

static void patch(uint32_t *where, uint32_t value)
{
	if (n_patches == MAX_PATCHES)
		die("too many structures of one name");
	patches[n_patches].at = (uint8_t *)where - driver.data;
	patches[n_patches].was = *where;
	patches[n_patches++].now = value;
}

enum ill { HIDE, RESIZE, RETYPE };

/* Let a field of the same size point to something else. */
static void retype(const struct row *row, struct btf_member *m)
{
	if (row->rule == 'V')
		patch(&array_of(m->type)->type, other_pointer());
	else
		patch(&m->type,
		      row->rule == 'H' ? other_hook() : other_pointer());
}

static bool can_have(const struct row *row, enum ill ill)
{
	return ill == HIDE || (ill == RESIZE && row->rule != 'E') ||
	       (ill == RETYPE && strchr("PVH", row->rule));
}

static void patch_type(const struct row *row, struct btf_type *t, enum ill ill)
{
	struct btf_member *m = (void *)(t + 1);
	struct btf_enum *e = (void *)(t + 1);
	uint32_t i;

	for (i = 0; i < BTF_INFO_VLEN(t->info); i++) {
		uint32_t *name = row->rule == 'E' ? &e[i].name_off :
						    &m[i].name_off;

		if (strcmp(name_at(*name), row->name))
			continue;
		if (ill == RESIZE)
			patch(&m[i].type, other_type());
		else if (ill == RETYPE)
			retype(row, &m[i]);
		else /* the same without its first letter */
			patch(name, *name + 1);
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

		if (BTF_INFO_KIND(t->info) == kind &&
		    !strcmp(name_at(t->name_off), row->type))
			patch_type(row, t, ill);
		pos += sizeof(*t) + tail_size(t);
	}
}

static void apply(int fd, bool undo)
{
	int i;

	for (i = 0; i < n_patches; i++) {
		uint32_t value = undo ? patches[i].was : patches[i].now;

		if (pwrite(fd, &value, sizeof(value), patches[i].at) !=
		    sizeof(value))
			die(DOCTORED);
	}
}

/* What the module has said since the last call, joined. */
static void read_log(int kmsg, char *out, size_t size)
{
	char line[1024];
	size_t len = 0;
	ssize_t n;

	*out = '\0';
	while ((n = read(kmsg, line, sizeof(line) - 1)) > 0) {
		line[n] = '\0';
		if (strstr(line, "gpreempt: ") && len + n < size)
			len += sprintf(out + len, "%s",
				       strstr(line, "gpreempt: "));
	}
}

static bool feature_off(const struct row *row)
{
	char text[8192], want[256];
	int fd = open(VERSION, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		die(VERSION);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	snprintf(want, sizeof(want), "\nfeature_%s off:%s.%s\n", row->feature,
		 row->type, row->name);
	return strstr(text, want);
}

/* Whether a load went as it must with this row's name doctored. */
static bool load_fails_well(const struct row *row, const char *module, int kmsg)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC), err = 0;
	char log[4096];
	bool good;

	if (fd < 0)
		die(module);
	if (syscall(SYS_finit_module, fd, "", 0))
		err = errno;
	close(fd);
	read_log(kmsg, log, sizeof(log));
	if (*row->feature)
		good = !err && feature_off(row);
	else
		good = err == EOPNOTSUPP && strstr(log, row->type) &&
		       strstr(log, row->name);
	if (!err && syscall(SYS_delete_module, "gpreempt", O_NONBLOCK))
		die("cannot unload the module");
	if (!good)
		printf("%s.%s: %s; %s\n", row->type, row->name, strerror(err),
		       log);
	return good;
}

/* Put a name that is not among the strings behind them, where the blob ends. */
static uint32_t append_name(int blob, const char *name)
{
	uint32_t len = strlen(name) + 1, sum = driver.strs_len + len;

	if ((const uint8_t *)driver.strs + driver.strs_len !=
		    driver.data + driver.size ||
	    pwrite(blob, name, len, driver.size) != len ||
	    pwrite(blob, &sum, sizeof(sum),
		   offsetof(struct btf_header, str_len)) != sizeof(sum))
		die(name);
	return base.strs_len + driver.strs_len;
}

/* Where a name stands among the strings; it may be the end of a longer one. */
static uint32_t name_offset(int blob, const char *name)
{
	const char *at =
		memmem(driver.strs, driver.strs_len, name, strlen(name) + 1);

	if (at)
		return base.strs_len + (at - driver.strs);
	at = memmem(base.strs, base.strs_len, name, strlen(name) + 1);
	return at ? at - base.strs : append_name(blob, name);
}

/* Id of a type definition of the kernel's. */
static uint32_t typedef_id(const char *name)
{
	uint32_t pos = 0, id = 1;

	for (; pos < base.types_len; id++) {
		const struct btf_type *t = (const void *)(base.types + pos);

		if (BTF_INFO_KIND(t->info) == BTF_KIND_TYPEDEF &&
		    !strcmp(name_at(t->name_off), name))
			return id;
		pos += sizeof(*t) + tail_size(t);
	}
	die(name);
	return 0;
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

/* what: structure, field, name, type */
static int graft(int blob, const char *module, char **what)
{
	uint32_t pos = 0;
	int fd, ret;

	while (pos < driver.types_len) {
		struct btf_type *t = (void *)(driver.types + pos);

		if (BTF_INFO_KIND(t->info) == BTF_KIND_STRUCT &&
		    !strcmp(name_at(t->name_off), what[0]))
			graft_member(blob, t, what);
		pos += sizeof(*t) + tail_size(t);
	}
	if (!n_patches)
		die(what[1]);
	apply(blob, false);
	fd = open(module, O_RDONLY | O_CLOEXEC);
	ret = fd < 0 || syscall(SYS_finit_module, fd, "", 0);
	if (ret)
		printf("btf-doctor: %s: %s\n", module, strerror(errno));
	return ret;
}

/* The driver's BTF, as a file that can be written and stands in its place. */
static int open_doctored(void)
{
	int fd;

	load(BTF_DIR "vmlinux", &base);
	load(BTF_DIR "amdgpu", &driver);
	fd = open(DOCTORED, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 ||
	    write(fd, driver.data, driver.size) != (ssize_t)driver.size)
		die(DOCTORED);
	if (mount(DOCTORED, BTF_DIR "amdgpu", NULL, MS_BIND, NULL))
		die("mount");
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

	if (argc == 7 && !strcmp(argv[1], "graft")) {
		bad = graft(open_doctored(), argv[2], argv + 3);
		umount2(BTF_DIR "amdgpu", MNT_DETACH);
		return bad;
	}
	if (argc < 3 || !step)
		return 2;
	fd = open_doctored();
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	lseek(kmsg, 0, SEEK_END);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i += step) {
		if (!can_have(&rows[i], ill))
			continue;
		find_patches(&rows[i], ill);
		/* An optional name that this kernel does not have anyway. */
		if (!n_patches && *rows[i].feature)
			continue;
		if (!n_patches)
			die(rows[i].name);
		apply(fd, false);
		bad += !load_fails_well(&rows[i], argv[2], kmsg);
		apply(fd, true);
		done++;
	}
	umount2(BTF_DIR "amdgpu", MNT_DETACH);
	printf("%d names, %d of them not as it must be\n", done, bad);
	return bad || !done;
}
