// SPDX-License-Identifier: GPL-2.0-only
/*
 * layout-of VMLINUX.btf AMDGPU.btf: what gpreempt.ko would say of a kernel, by its
 * BTF and without running it. Takes the module's own parser (kmod/btf.c) and its
 * own table (kmod/layout.h). Types that are the kernel's have the size there.
 * Prints each name that is missing, or is of another type, with the feature
 * that is off then; fails when the module would refuse.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../kmod/btf.c"
#include "../../kmod/btf-text.c"

#define GP_LAYOUT_TABLE_ONLY
#include "../../kmod/layout.h"

#define TYPE_LEN 96

struct row {
	char rule;
	const char *type, *field, *of, *feature;
};

#define ROW_F(s, f, t)		{ 'F', #s, #f, #t, "must" },
#define ROW_O(s, f, t, ft)	{ 'F', #s, #f, #t, #ft },
#define ROW_A(s, f, t)		{ 'A', #s, #f, #t, "must" },
#define ROW_S(s, f, t)		{ 'S', #s, #f, #t, "must" },
#define ROW_P(s, f, t, ft)	{ 'P', #s, #f, "*" #t, #ft },
#define ROW_V(s, f, t)		{ 'V', #s, #f, "*" #t, "must" },
#define ROW_H(s, f, ft)		{ 'P', #s, #f, "*" GP_PROTO_##f, #ft },
#define ROW_E(e, n)		{ 'E', #e, #n, "", "must" },

static const struct row rows[] = {
	GP_FIELDS(ROW_F, ROW_O, ROW_A, ROW_S, ROW_P, ROW_V, ROW_H)
	GP_ENUMS(ROW_E)
};

static u32 size_of(const struct gp_btf *btf, const char *type)
{
	static const struct { const char *name; u32 size; } plain[] = {
		{ "bool", 1 }, { "u16", 2 }, { "u32", 4 }, { "u64", 8 },
		{ "unsigned long", 8 }, { "void *", 8 },
	};
	size_t i;

	if (!strncmp(type, "struct ", 7))
		return gp_btf_size(btf, type + 7);
	for (i = 0; i < ARRAY_SIZE(plain); i++)
		if (!strcmp(type, plain[i].name))
			return plain[i].size;
	return 0;
}

/* Whether a row fits; what the kernel has in place of it is in text. */
static bool row_fits(const struct row *row, const struct gp_btf *btf,
		     char text[TYPE_LEN])
{
	struct gp_btf_field f;
	const char *bare = text;
	u32 value;
	int ret;

	if (row->rule == 'E')
		ret = gp_btf_enum(btf, row->type, row->field, &value);
	else
		ret = gp_btf_field(btf, row->type, row->field, &f);
	snprintf(text, TYPE_LEN, "missing (%d)", ret);
	if (ret || row->rule == 'E')
		return !ret;
	gp_btf_describe(btf, f.type, text, TYPE_LEN);
	switch (row->rule) {
	case 'V':
		bare += strcspn(text, "]") + !!strchr(text, ']');
		return *text == '[' && !strcmp(bare, row->of);
	case 'P':
		return !strcmp(text, row->of);
	case 'S':
		return f.of && !strcmp(f.of, row->of);
	default:
		value = size_of(btf, row->of);
		return value && (row->rule == 'A' ? !(f.size % value) : f.size == value);
	}
}

/* Returns the blob, which has to stay for as long as btf does. */
static void *load(const char *path, struct gp_btf *btf, const struct gp_btf *base)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	size_t n = 0;
	char *data;

	if (fd < 0 || fstat(fd, &st)) {
		perror(path);
		exit(2);
	}
	data = malloc(st.st_size);
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, data + n, st.st_size - n);

		if (got <= 0)
			break;
		n += got;
	}
	close(fd);
	if (gp_btf_parse(btf, data, n, base)) {
		printf("%s is not BTF that the module can read\n", path);
		exit(1);
	}
	return data;
}

int main(int argc, char **argv)
{
	struct gp_btf base, driver;
	void *base_data, *data;
	char text[TYPE_LEN];
	int refused = 0;
	size_t i;

	if (argc != 3)
		return 2;
	base_data = load(argv[1], &base, NULL);
	data = load(argv[2], &driver, &base);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		bool must = !strcmp(row->feature, "must");

		if (row_fits(row, &driver, text))
			continue;
		printf("%s.%s is %s, not %s: %s%s\n", row->type, row->field, text,
		       row->of, must ? "refused" : "without ", must ? "" : row->feature);
		refused += must;
	}
	gp_btf_release(&driver);
	gp_btf_release(&base);
	free(data);
	free(base_data);
	printf("%zu names, %d refused\n", ARRAY_SIZE(rows), refused);
	return refused ? 1 : 0;
}
