// SPDX-License-Identifier: GPL-2.0-only
/* Types of BTF as text, by which they are compared. */

#include <linux/kernel.h>
#include <linux/string.h>

#include "btf.h"

/* A text under construction: what does not fit is cut off. */
struct text {
	char *at;
	size_t left; /* with the final NUL, at least 1 */
};

static void put(struct text *text, const char *s)
{
	while (*s && text->left > 1) {
		*text->at++ = *s++;
		text->left--;
	}
	*text->at = '\0';
}

static void put_number(struct text *text, char before, u32 n)
{
	char number[16];

	snprintf(number, sizeof(number), "%c%u", before, n);
	put(text, number);
}

static void put_int(struct text *text, const struct btf_type *t)
{
	u32 encoding = BTF_INT_ENCODING(*(const u32 *)(t + 1));

	put_number(text,
		   encoding & BTF_INT_BOOL   ? 'b' :
		   encoding & BTF_INT_SIGNED ? 's' :
					       'u',
		   t->size);
}

static void put_type(const struct gp_btf *btf, u32 id, int depth,
		     struct text *text);

static void put_proto(const struct gp_btf *btf, const struct btf_type *t,
		      int depth, struct text *text)
{
	const struct btf_param *p = (const void *)(t + 1);
	u32 i;

	put_type(btf, t->type, depth, text);
	for (i = 0; i < BTF_INFO_VLEN(t->info) && text->left > 1; i++, p++) {
		put(text, i ? "," : "(");
		put_type(btf, p->type, depth, text);
	}
	put(text, i ? ")" : "()");
}

static void put_type(const struct gp_btf *btf, u32 id, int depth,
		     struct text *text)
{
	const struct btf_type *t = gp_btf_resolve(btf, id);
	const struct btf_array *array;

	if (!t || ++depth > GP_BTF_MAX_DEPTH || text->left == 1) {
		put(text, depth > GP_BTF_MAX_DEPTH ? "?" : "void");
		return;
	}
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_PTR:
		put(text, "*");
		put_type(btf, t->type, depth, text);
		break;
	case BTF_KIND_ARRAY:
		array = (const void *)(t + 1);
		put_number(text, '[', array->nelems);
		put(text, "]");
		put_type(btf, array->type, depth, text);
		break;
	case BTF_KIND_INT:
		put_int(text, t);
		break;
	case BTF_KIND_FUNC_PROTO:
		put_proto(btf, t, depth, text);
		break;
	case BTF_KIND_ENUM:
		put_number(text, 'e', t->size);
		break;
	default:
		put(text, gp_btf_name(btf, t->name_off));
	}
}

void gp_btf_describe(const struct gp_btf *btf, u32 id, char *out, size_t size)
{
	struct text text = { .at = out, .left = size };

	put(&text, "");
	put_type(btf, id, 0, &text);
}

bool gp_btf_fits(const char *text, const char *type)
{
	static const char structure[] = "struct ";

	if (!strncmp(type, structure, sizeof(structure) - 1))
		return !strcmp(text, type + sizeof(structure) - 1);
	if (!strcmp(type, "atomic64_t")) /* a structure without a name */
		return !*text;
	if (!strcmp(type, "void *"))
		return *text == '*';
	if (!strcmp(type, "bool"))
		return !strcmp(text, "b1");
	return *text && strchr("use", *text) && text[1] >= '1' &&
	       text[1] <= '9';
}
