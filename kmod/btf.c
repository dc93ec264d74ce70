// SPDX-License-Identifier: GPL-2.0-only
/*
 * BTF (Documentation/bpf/btf.rst), for looking up fields by name. A module's is split from the
 * kernel's: its type ids and string offsets go on where those end. gp_btf_parse() checks that each
 * record lies within its section; from then on a type pointer out of the index is good together
 * with the members behind it. Ids and string offsets inside of the records are checked where they
 * are used.
 */

#include <linux/align.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "btf.h"

/* Limit of the members looked at for a field: garbage could nest for ever. */
#define MAX_MEMBERS (1 << 16)

/* First version of the header; struct btf_header grows (7.2), and tools write the old length. */
#define HDR_MIN offsetofend(struct btf_header, str_len)

/* A layout section of newer blobs has one for each kind: the length behind struct btf_type. */
struct kind_layout {
	u8 once; /* bytes */
	u8 each; /* bytes for each of BTF_INFO_VLEN() */
	u16 flags;
};

struct layout_place {
	u32 off;
	u32 len;
};

struct kinds {
	const struct kind_layout *kind;
	u32 n;
};

static const struct btf_type *type_by_id(const struct gp_btf *btf, u32 id)
{
	while (btf && id < btf->type_first)
		btf = btf->base;
	if (!btf || !id || id - btf->type_first >= btf->n_types)
		return NULL;
	return btf->types[id - btf->type_first];
}

/* A string of a blob or its base, empty on garbage. */
static const char *name_at(const struct gp_btf *btf, u32 off)
{
	while (btf && off < btf->str_first)
		btf = btf->base;
	if (!btf || off - btf->str_first >= btf->str_len)
		return "";
	return btf->strs + (off - btf->str_first);
}

static bool is_struct(const struct btf_type *t)
{
	u32 kind = BTF_INFO_KIND(t->info);

	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

/* Layouts of the known kinds; one without a name here has nothing behind its struct btf_type. */
static const struct kind_layout known[BTF_KIND_ENUM64 + 1] = {
	[BTF_KIND_INT] = { .once = sizeof(u32) },
	[BTF_KIND_ARRAY] = { .once = sizeof(struct btf_array) },
	[BTF_KIND_STRUCT] = { .each = sizeof(struct btf_member) },
	[BTF_KIND_UNION] = { .each = sizeof(struct btf_member) },
	[BTF_KIND_ENUM] = { .each = sizeof(struct btf_enum) },
	[BTF_KIND_FUNC_PROTO] = { .each = sizeof(struct btf_param) },
	[BTF_KIND_VAR] = { .once = sizeof(struct btf_var) },
	[BTF_KIND_DATASEC] = { .each = sizeof(struct btf_var_secinfo) },
	[BTF_KIND_DECL_TAG] = { .once = sizeof(struct btf_decl_tag) },
	[BTF_KIND_ENUM64] = { .each = sizeof(struct btf_enum64) },
};

/* Bytes of a record after its struct btf_type, or -EINVAL; a kind that is newer is skipped. */
static ssize_t tail_size(const struct btf_type *t, const struct kinds *kinds)
{
	u32 kind = BTF_INFO_KIND(t->info);
	bool is_known = kind && kind < ARRAY_SIZE(known);
	const struct kind_layout *l = is_known ? &known[kind] : &kinds->kind[kind];
	size_t size;

	if (!is_known && kind >= kinds->n)
		return -EINVAL;
	size = l->once + (size_t)BTF_INFO_VLEN(t->info) * l->each;
	return IS_ALIGNED(size, sizeof(u32)) ? size : -EINVAL;
}

/* Count the records of the type section, and note them when types is there. */
static int walk_types(const u8 *data, size_t size, const struct kinds *kinds,
		      const struct btf_type **types)
{
	size_t pos = 0;
	int n = 0;

	while (pos < size) {
		const struct btf_type *t = (const void *)(data + pos);
		ssize_t tail;

		if (size - pos < sizeof(*t))
			return -EINVAL;
		tail = tail_size(t, kinds);
		if (tail < 0 || size - pos - sizeof(*t) < (size_t)tail)
			return -EINVAL;
		if (types)
			types[n] = t;
		n++;
		pos += sizeof(*t) + tail;
	}
	return n;
}

static bool header_ok(const struct btf_header *hdr, size_t size)
{
	size_t room;

	if (size < HDR_MIN || hdr->magic != BTF_MAGIC || hdr->version != BTF_VERSION)
		return false;
	if (hdr->hdr_len < HDR_MIN || hdr->hdr_len > size)
		return false;
	room = size - hdr->hdr_len;
	if (hdr->type_off > room || hdr->type_len > room - hdr->type_off)
		return false;
	if (hdr->str_off > room || hdr->str_len > room - hdr->str_off)
		return false;
	return IS_ALIGNED(hdr->hdr_len + hdr->type_off, sizeof(u32)) && hdr->str_len;
}

/* The layout section; without one, or with a bad one, no kind is known by it. */
static void find_kinds(const struct btf_header *hdr, size_t size, struct kinds *kinds)
{
	const struct layout_place *at = (const void *)((const u8 *)hdr + HDR_MIN);
	size_t room = size - hdr->hdr_len;

	memset(kinds, 0, sizeof(*kinds));
	if (hdr->hdr_len < HDR_MIN + sizeof(*at) || at->off > room || at->len > room - at->off ||
	    !IS_ALIGNED(hdr->hdr_len + at->off, sizeof(u32)))
		return;
	kinds->kind = (const void *)((const u8 *)hdr + hdr->hdr_len + at->off);
	kinds->n = at->len / sizeof(*kinds->kind);
}

int gp_btf_parse(struct gp_btf *btf, const void *data, size_t size, const struct gp_btf *base)
{
	const struct btf_header *hdr = data;
	struct kinds kinds;
	const u8 *types;
	int n;

	memset(btf, 0, sizeof(*btf));
	if (!header_ok(hdr, size))
		return -EINVAL;
	btf->base = base;
	btf->strs = data + hdr->hdr_len + hdr->str_off;
	btf->str_len = hdr->str_len;
	btf->str_first = base ? base->str_first + base->str_len : 0;
	btf->type_first = base ? base->type_first + base->n_types : 1;
	if (btf->strs[btf->str_len - 1])
		return -EINVAL;

	types = data + hdr->hdr_len + hdr->type_off;
	find_kinds(hdr, size, &kinds);
	n = walk_types(types, hdr->type_len, &kinds, NULL);
	if (n <= 0)
		return -EINVAL;
	btf->types = kvmalloc_array(n, sizeof(*btf->types), GFP_KERNEL);
	if (!btf->types)
		return -ENOMEM;
	btf->n_types = walk_types(types, hdr->type_len, &kinds, btf->types);
	return 0;
}

void gp_btf_release(struct gp_btf *btf)
{
	kvfree(btf->types);
	memset(btf, 0, sizeof(*btf));
}

/* Resolve a type to one without names and qualifiers. NULL: it is void, or garbage. */
static const struct btf_type *resolve(const struct gp_btf *btf, u32 id)
{
	const struct btf_type *t = type_by_id(btf, id);
	int depth;

	for (depth = 0; t && depth < GP_BTF_MAX_DEPTH; depth++) {
		switch (BTF_INFO_KIND(t->info)) {
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_TYPE_TAG:
			t = type_by_id(btf, t->type);
			break;
		default:
			return t;
		}
	}
	return NULL;
}

/* Size of a type in bytes, 0 on garbage. */
static u32 type_size(const struct gp_btf *btf, u32 id, int depth)
{
	const struct btf_type *t = resolve(btf, id);
	const struct btf_array *array;
	u64 size = 0;

	switch (t && depth < GP_BTF_MAX_DEPTH ? BTF_INFO_KIND(t->info) : 0) {
	case BTF_KIND_PTR:
		return sizeof(void *);
	case BTF_KIND_INT:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FLOAT:
		return t->size;
	case BTF_KIND_ARRAY:
		array = (const void *)(t + 1);
		size = array->nelems;
		size *= type_size(btf, array->type, depth + 1);
		break;
	}
	return size > U32_MAX ? 0 : size;
}

static int member_where(const struct gp_btf *btf, const struct btf_type *t,
			const struct btf_member *m, struct gp_btf_field *out)
{
	const struct btf_type *mt = resolve(btf, m->type);
	u32 bits = m->offset;

	if (BTF_INFO_KFLAG(t->info)) {
		if (BTF_MEMBER_BITFIELD_SIZE(m->offset))
			return -EDOM;
		bits = BTF_MEMBER_BIT_OFFSET(m->offset);
	}
	if (bits % 8)
		return -EDOM;
	out->offset = bits / 8;
	out->size = type_size(btf, m->type, 0);
	out->type = m->type;
	if (!mt || !out->size || out->offset > t->size || out->size > t->size - out->offset)
		return -EINVAL;
	return 0;
}

static int find_member(const struct gp_btf *btf, const struct btf_type *t, const char *field,
		       int depth, u32 *seen, struct gp_btf_field *out)
{
	const struct btf_member *m = (const void *)(t + 1);
	u32 i;

	for (i = 0; i < BTF_INFO_VLEN(t->info); i++, m++) {
		const char *name = name_at(btf, m->name_off);
		struct gp_btf_field outer;
		const struct btf_type *mt;
		int ret;

		if (++*seen > MAX_MEMBERS)
			return -EINVAL;
		if (!strcmp(name, field))
			return member_where(btf, t, m, out);
		mt = resolve(btf, m->type);
		if (*name || !mt || !is_struct(mt) || depth >= GP_BTF_MAX_DEPTH)
			continue;
		ret = find_member(btf, mt, field, depth + 1, seen, out);
		if (ret == -ENODATA)
			continue;
		if (!ret)
			ret = member_where(btf, t, m, &outer);
		if (!ret)
			out->offset += outer.offset;
		return ret;
	}
	return -ENODATA;
}

/* Next type of that kind and name from *pos on: names are not unique in a kernel. */
static const struct btf_type *next_named(const struct gp_btf *btf, u32 *pos, u32 kind,
					 const char *name)
{
	while (*pos < btf->n_types) {
		const struct btf_type *t = btf->types[(*pos)++];

		if (BTF_INFO_KIND(t->info) == kind && !strcmp(name_at(btf, t->name_off), name))
			return t;
	}
	return NULL;
}

int gp_btf_field(const struct gp_btf *btf, const char *type, const char *field,
		 struct gp_btf_field *out)
{
	int ret = -ENOENT;

	for (; btf && ret == -ENOENT; btf = btf->base) {
		const struct btf_type *t;
		struct gp_btf_field f;
		u32 pos = 0, seen;
		int err;

		while ((t = next_named(btf, &pos, BTF_KIND_STRUCT, type))) {
			seen = 0;
			err = find_member(btf, t, field, 0, &seen, &f);
			if (ret == -ENOENT) {
				ret = err;
				*out = f;
			} else if (err != ret ||
				   (!err && (f.offset != out->offset || f.size != out->size))) {
				return -ENOTUNIQ;
			}
		}
	}
	return ret;
}

u32 gp_btf_size(const struct gp_btf *btf, const char *type)
{
	for (; btf; btf = btf->base) {
		u32 pos = 0;
		const struct btf_type *t = next_named(btf, &pos, BTF_KIND_STRUCT, type);

		if (t)
			return t->size;
	}
	return 0;
}

/* Value of an enumerator, -ERANGE when it has more than 32 bits, -ENODATA without one. */
static int enum_value(const struct gp_btf *btf, const struct btf_type *t, const char *name,
		      u32 *value)
{
	bool wide = BTF_INFO_KIND(t->info) == BTF_KIND_ENUM64;
	const struct btf_enum64 *e64 = (const void *)(t + 1);
	const struct btf_enum *e = (const void *)(t + 1);
	u32 i;

	for (i = 0; i < BTF_INFO_VLEN(t->info); i++) {
		u32 name_off = wide ? e64[i].name_off : e[i].name_off;

		if (strcmp(name_at(btf, name_off), name))
			continue;
		*value = wide ? e64[i].val_lo32 : (u32)e[i].val;
		return wide && e64[i].val_hi32 ? -ERANGE : 0;
	}
	return -ENODATA;
}

int gp_btf_enum(const struct gp_btf *btf, const char *type, const char *name, u32 *value)
{
	for (; btf; btf = btf->base) {
		const struct btf_type *t;
		u32 pos = 0;

		t = next_named(btf, &pos, BTF_KIND_ENUM, type);
		pos = 0;
		if (!t)
			t = next_named(btf, &pos, BTF_KIND_ENUM64, type);
		if (t)
			return enum_value(btf, t, name, value);
	}
	return -ENOENT;
}

/* A text under construction: the part that does not fit is cut off. */
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

static void put_type(const struct gp_btf *btf, u32 id, int depth, struct text *text);

static void put_proto(const struct gp_btf *btf, const struct btf_type *t, int depth,
		      struct text *text)
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

static void put_type(const struct gp_btf *btf, u32 id, int depth, struct text *text)
{
	const struct btf_type *t = resolve(btf, id);
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
		put(text, name_at(btf, t->name_off));
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
	return *text && strchr("use", *text) && text[1] >= '1' && text[1] <= '9';
}
