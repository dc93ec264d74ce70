// SPDX-License-Identifier: GPL-2.0-only
/*
 * layout-of VMLINUX.btf AMDGPU.btf [SYMBOLS]: what gpreempt.ko would say of a
 * kernel, by its BTF and without running it. Takes the module's own parser
 * (kmod/btf.c) and its own tables (kmod/layout.h). Types that
 * are the kernel's have the size there. SYMBOLS is what "nm -S amdgpu.ko" prints.
 *
 * Prints "# " and what is missing, or of another type, for each such name; then
 *
 *	module	loads, or "refuses" and the first name that it cannot do without
 *	off	feature and name, for each feature that is off
 *	buckets	of the table of processes
 *	events	probes, or rescan
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../kmod/btf.c"

#include <gpreempt/view.h>
#define GP_LAYOUT_TABLE_ONLY
#include "../../kmod/layout.h"

#define TYPE_LEN 96

struct row {
	const char *rule;
	const char *type, *field, *of, *feature;
};

/* A hook's type is a macro, and bool may be one. */
#define OF_F(t, text)	    text
#define OF_A(t, text)	    text
#define OF_S(t, text)	    text
#define OF_P(t, text)	    text
#define OF_V(t, text)	    text
#define OF_H(t, text)	    t
#define ROW(r, s, f, t, ft) { #r, #s, #f, OF_##r(t, #t), #ft },
#define ROW_E(e, n)	    { "E", #e, #n, "", "must" },

static const struct row rows[] = { GP_FIELDS(ROW) GP_ENUMS(ROW_E) };
static const struct row node_rows[] = { GP_FIELDS_NODES(ROW) };
static const struct row no_node_rows[] = { GP_FIELDS_NO_NODES(ROW) };

/* The driver has a struct kfd_node. */
static bool has_nodes;

static const char *name_here(const char *name)
{
	return has_nodes ? name : gp_name_before(name);
}

static u32 size_of(const struct gp_btf *btf, const char *type)
{
	static const struct {
		const char *name;
		u32 size;
	} plain[] = {
		{ "bool", 1 },		{ "u16", 2 },	 { "u32", 4 },	      { "u64", 8 },
		{ "unsigned long", 8 }, { "void *", 8 }, { "atomic64_t", 8 },
	};
	size_t i;

	if (!strncmp(type, "struct ", 7))
		return gp_btf_size(btf, type + 7);
	for (i = 0; i < ARRAY_SIZE(plain); i++)
		if (!strcmp(type, plain[i].name))
			return plain[i].size;
	return 0;
}

static bool points_to(const char *text, const char *of)
{
	return *text == '*' && !strcmp(text + 1, name_here(of));
}

/* Does a row fit? If not, text has what the kernel has in its place. */
static bool row_fits(const struct row *row, const struct gp_btf *btf, char text[TYPE_LEN])
{
	struct gp_btf_field f;
	const char *bare = text;
	u32 value;
	int ret;

	if (*row->rule == 'E')
		ret = gp_btf_enum(btf, row->type, row->field, &value);
	else
		ret = gp_btf_field(btf, name_here(row->type), row->field, &f);
	snprintf(text, TYPE_LEN, "missing (%d)", ret);
	if (ret || *row->rule == 'E')
		return !ret;
	gp_btf_describe(btf, f.type, text, TYPE_LEN);
	switch (*row->rule) {
	case 'V':
		bare += strcspn(text, "]") + !!strchr(text, ']');
		return *text == '[' && points_to(bare, row->of);
	case 'P':
	case 'H':
		return points_to(text, row->of);
	case 'S':
		return !strcmp(text, row->of);
	case 'A':
		bare += strcspn(text, "]") + !!strchr(text, ']');
		value = size_of(btf, row->of);
		return gp_btf_fits(bare, row->of) && value && !(f.size % value);
	default:
		return gp_btf_fits(text, row->of) && f.size == size_of(btf, row->of);
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

/* Missing names of each feature, and of the fields that the module must have. */
#define FEATURE_NAME(name) #name,
static const char *const features[] = { GP_VIEW_FEATURES(FEATURE_NAME) "must" };
static char lacks[ARRAY_SIZE(features)][TYPE_LEN];

static void lack(const char *feature, const char *type, const char *field)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(features); i++)
		if (!strcmp(features[i], feature) && !*lacks[i])
			snprintf(lacks[i], TYPE_LEN, "%s%s%s", type, *field ? "." : "", field);
}

static void check_rows(const struct gp_btf *btf, const struct row *row, size_t n)
{
	char text[TYPE_LEN];

	for (; n; n--, row++) {
		if (row_fits(row, btf, text))
			continue;
		printf("# %s.%s is %s, not %s%s: %s\n", name_here(row->type), row->field, text,
		       strchr("PVH", *row->rule) ? "*" : "", name_here(row->of), row->feature);
		lack(row->feature, name_here(row->type), row->field);
	}
}

static void check_tables(const struct gp_btf *btf)
{
	has_nodes = gp_btf_size(btf, GP_NODE);
	check_rows(btf, rows, ARRAY_SIZE(rows));
	if (has_nodes)
		check_rows(btf, node_rows, ARRAY_SIZE(node_rows));
	else
		check_rows(btf, no_node_rows, ARRAY_SIZE(no_node_rows));
}

#define SYMBOL_X(id, symbol, type, feature) { #symbol, #type, #feature, false, 0, false },
#define SYMBOL_M(id, symbol, type, feature) { #symbol, #type, #feature, true, 0, false },
#define SYMBOL_F(id, symbol)		    { #symbol, NULL, NULL, false, 0, false },

/* An object has the size of that type, or a multiple; functions are probed. */
static struct symbol {
	const char *name, *type, *feature;
	bool many;
	unsigned long size;
	bool there;
} symbols[] = { GP_SYMBOLS(SYMBOL_X, SYMBOL_M, SYMBOL_F) };

static void read_symbols(const char *path)
{
	char line[512], name[256], kind;
	FILE *file = fopen(path, "r");
	unsigned long addr, size;
	size_t i;

	if (!file) {
		perror(path);
		exit(2);
	}
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx %lx %c %255s", &addr, &size, &kind, name) != 4)
			continue;
		for (i = 0; i < ARRAY_SIZE(symbols); i++) {
			if (strcmp(symbols[i].name, name) || symbols[i].there)
				continue;
			symbols[i].there = true;
			symbols[i].size = size;
		}
	}
	fclose(file);
}

static void check_symbols(const struct gp_btf *btf)
{
	bool probes = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(symbols); i++) {
		const struct symbol *s = &symbols[i];
		u32 want = s->type ? gp_btf_size(btf, s->type) : 0;
		bool fits = s->there &&
			    (!s->type ||
			     (s->size && want && (s->many ? !(s->size % want) : s->size == want)));

		if (!fits)
			printf("# %s has %lu bytes, not those of %s (%u)\n", s->name, s->size,
			       s->type ? s->type : "code", want);
		if (!fits && s->feature)
			lack(s->feature, s->name, "");
		probes &= fits || s->type;
		if (s->many && want)
			printf("buckets\t%lu\n", s->size / want);
	}
	printf("events\t%s\n", probes ? "probes" : "rescan");
}

static int report(void)
{
	const char *must = lacks[ARRAY_SIZE(features) - 1];
	size_t i;

	if (*must)
		printf("module\trefuses %s\n", must);
	else
		printf("module\tloads\n");
	for (i = 0; i < ARRAY_SIZE(features) - 1; i++)
		if (*lacks[i])
			printf("off\t%s:%s\n", features[i], lacks[i]);
	return *must != 0;
}

int main(int argc, char **argv)
{
	struct gp_btf base, driver;
	void *base_data, *data;
	int ret;

	if (argc < 3 || argc > 4)
		return 2;
	base_data = load(argv[1], &base, NULL);
	data = load(argv[2], &driver, &base);
	check_tables(&driver);
	if (argc == 4) {
		read_symbols(argv[3]);
		check_symbols(&driver);
	}
	ret = report();
	gp_btf_release(&driver);
	gp_btf_release(&base);
	free(data);
	free(base_data);
	return ret;
}
