// SPDX-License-Identifier: GPL-2.0-only
/*
 * check-btf TYPES.btf: does the module's parser (kmod/btf.c) put the types of
 * btf-types.c into the texts that kmod/layout.h compares, and find enumerators?
 * It is built once with the header of BTF that libc has and once with one that
 * has grown, as that of Linux 7.2: blobs have the old length.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../kmod/btf.c"

static const struct {
	const char *field, *text;
} texts[] = {
	{ "dump", "*s4(*device,u4,**[2]u4,*u4)" },
	{ "test", "*b1(*device,u8,u4)" },
	{ "none", "*void()" },
	{ "opaque", "*void" },
	{ "next", "*hooks" },
	{ "table", "[4]*device" },
	{ "small", "e4" },
};

static const struct {
	const char *type, *name;
	int ret;
	u32 value;
} values[] = {
	{ "small", "SMALL_SEVEN", 0, 7 },   { "small", "SMALL_EIGHT", -ENODATA, 0 },
	{ "wide", "WIDE_ONE", 0, 1 },	    { "wide", "WIDE_HUGE", -ERANGE, 0 },
	{ "none", "WIDE_ONE", -ENOENT, 0 },
};

static u32 data[1 << 14];
static int bad;

static void expect(bool good, const char *what)
{
	if (!good)
		printf("check-btf: %s\n", what);
	bad += !good;
}

static void check_texts(const struct gp_btf *btf)
{
	struct gp_btf_field f;
	char text[64], cut[8];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		if (gp_btf_field(btf, "hooks", texts[i].field, &f)) {
			expect(false, texts[i].field);
			continue;
		}
		gp_btf_describe(btf, f.type, text, sizeof(text));
		if (strcmp(text, texts[i].text))
			printf("%s is %s\n", texts[i].field, text);
		expect(!strcmp(text, texts[i].text), texts[i].text);
		gp_btf_describe(btf, f.type, cut, sizeof(cut));
		expect(!strncmp(cut, texts[i].text, sizeof(cut) - 1) && strlen(cut) < sizeof(cut),
		       "a text is not cut off");
	}
}

static void check_fits(void)
{
	static const struct {
		const char *text, *type;
		bool fits;
	} pairs[] = {
		{ "mutex", "struct mutex", true },
		{ "work_struct", "struct mutex", false },
		{ "*mutex", "struct mutex", false },
		{ "", "atomic64_t", true },
		{ "u8", "atomic64_t", false },
		{ "*void", "void *", true },
		{ "u8", "void *", false },
		{ "b1", "bool", true },
		{ "u1", "bool", false },
		{ "u4", "u32", true },
		{ "s4", "u32", true },
		{ "e4", "u32", true },
		{ "b1", "u32", false },
		{ "xarray", "u64", false },
		{ "use", "u32", false },
		{ "", "u64", false },
		{ "*u8", "unsigned long", false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++)
		expect(gp_btf_fits(pairs[i].text, pairs[i].type) == pairs[i].fits, pairs[i].text);
}

#define NEW_KIND 31 /* in the five bits that all headers have for it */

/* A blob with a kind that does not exist yet, before a structure. */
struct newer {
	struct btf_header head; /* may be of either length */
	u32 layout_off, layout_len;
	struct btf_type unknown;
	u32 once, each[2];
	struct btf_type s;
	struct btf_member m;
	struct btf_type i;
	u32 bits;
	struct {
		u8 once, each;
		uint16_t flags;
	} layout[NEW_KIND + 1];
	char strs[8];
};

static void check_newer(void)
{
	static struct newer b = {
		.unknown.info = NEW_KIND << 24 | 2,
		.s = { .name_off = 1, .info = BTF_KIND_STRUCT << 24 | 1, .size = 4 },
		.m = { .name_off = 3, .type = 3 },
		.i = { .info = BTF_KIND_INT << 24, .size = 4 },
		.bits = 32,
		.layout[NEW_KIND] = { .once = 4, .each = 4 },
		.strs = "\0s\0m",
	};
	/* The header has 24 bytes, and two lengths that newer ones add. */
	char *blob = (char *)&b.unknown - 32;
	const u32 lens[] = { 32, 0,
			     offsetof(struct newer, layout) - offsetof(struct newer, unknown) };
	const u32 places[] = {
		lens[1],	lens[2], lens[2] + sizeof(b.layout),
		sizeof(b.strs), lens[2], sizeof(b.layout),
	};
	size_t size = 32 + lens[2] + sizeof(b.layout) + sizeof(b.strs);
	struct gp_btf_field f;
	struct gp_btf btf;

	*(uint16_t *)blob = BTF_MAGIC;
	blob[2] = BTF_VERSION;
	memcpy(blob + 4, lens, sizeof(*lens));
	memcpy(blob + 8, places, sizeof(places));
	if (gp_btf_parse(&btf, blob, size, NULL)) {
		expect(false, "a kind that the layout section knows is refused");
		return;
	}
	expect(btf.n_types == 3 && !gp_btf_field(&btf, "s", "m", &f) && f.size == 4,
	       "what stands behind a new kind is not found");
	gp_btf_release(&btf);
	b.layout[NEW_KIND].each = 3;
	expect(gp_btf_parse(&btf, blob, size, NULL) == -EINVAL,
	       "a new kind that breaks the alignment is taken");
	memset(blob + 28, 0, 4);
	expect(gp_btf_parse(&btf, blob, size, NULL) == -EINVAL,
	       "a new kind without a layout is taken");
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	ssize_t n = read(fd, data, sizeof(data));
	struct gp_btf btf;
	u32 value;
	size_t i;

	if (n <= 0 || gp_btf_parse(&btf, data, n, NULL)) {
		printf("check-btf: %s is not BTF that the module can read\n", argv[1]);
		return 1;
	}
	check_texts(&btf);
	check_fits();
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		value = 0;
		expect(gp_btf_enum(&btf, values[i].type, values[i].name, &value) == values[i].ret &&
			       (values[i].ret || value == values[i].value),
		       values[i].name);
	}
	gp_btf_release(&btf);
	check_newer();
	return bad != 0;
}
