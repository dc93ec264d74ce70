/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_BTF_H
#define GP_BTF_H

#include <linux/types.h>
#include <linux/btf.h>

/* Longest chain of typedefs, arrays and unnamed members that is followed. */
#define GP_BTF_MAX_DEPTH 16

/**
 * struct gp_btf - one BTF blob, checked and indexed
 * @base:	what it builds upon, or NULL
 * @strs:	its strings
 * @str_len:	length of @strs, which ends with a NUL
 * @str_first:	offset that the first byte of @strs has in names
 * @types:	its types, by id - @type_first
 * @type_first:	id of the first type in @types
 * @n_types:	how many there are
 *
 * Points into the blob, which has to stay for as long as this does.
 */
struct gp_btf {
	const struct gp_btf *base;
	const char *strs;
	u32 str_len;
	u32 str_first;
	const struct btf_type **types;
	u32 type_first;
	u32 n_types;
};

/**
 * struct gp_btf_field - where a field is
 * @offset:	in bytes, from the start of the outermost structure
 * @size:	in bytes
 * @of:		name of the structure that the field is, or NULL
 * @type:	id of its type, for gp_btf_describe()
 */
struct gp_btf_field {
	u32 offset;
	u32 size;
	const char *of;
	u32 type;
};

/**
 * gp_btf_parse() - check a blob and index its types
 * @btf:	to fill; release with gp_btf_release()
 * @data:	the blob, aligned to 4 bytes
 * @size:	of @data
 * @base:	the blob that @data was split from, or NULL
 *
 * Nothing in the blob is trusted. Return: 0, -EINVAL when it is not BTF that
 * this parser knows, -ENOMEM.
 */
int gp_btf_parse(struct gp_btf *btf, const void *data, size_t size,
		 const struct gp_btf *base);
void gp_btf_release(struct gp_btf *btf);

/**
 * gp_btf_field() - find a field of a structure by name
 * @btf:	searched first, then its base
 * @type:	name of the structure
 * @field:	name of the field; may be inside an unnamed struct or union
 * @out:	where it is
 *
 * Return: 0, -ENOENT when there is no such structure, -ENODATA when the
 * structure has no such field, -EDOM when it is a bit field, -ENOTUNIQ when
 * several structures have that name and differ in this, -EINVAL on garbage.
 */
int gp_btf_field(const struct gp_btf *btf, const char *type, const char *field,
		 struct gp_btf_field *out);

/**
 * gp_btf_size() - size of a structure in bytes
 * @btf:	searched first, then its base
 * @type:	name of the structure
 *
 * Return: the size, or 0 when there is no such structure.
 */
u32 gp_btf_size(const struct gp_btf *btf, const char *type);

/**
 * gp_btf_enum() - value of an enumerator
 * @btf:	searched first, then its base
 * @type:	name of the enum
 * @name:	name of the enumerator
 * @value:	its value
 *
 * Return: 0, -ENOENT when there is no such enum, -ENODATA when it lacks @name,
 * -ERANGE when its value has more than 32 bits.
 */
int gp_btf_enum(const struct gp_btf *btf, const char *type, const char *name,
		u32 *value);

/**
 * gp_btf_resolve() - strip names and qualifiers off a type
 * @btf:	that the type is in, or its base
 * @id:		of the type
 *
 * Return: its record, or NULL: it is void, or garbage.
 */
const struct btf_type *gp_btf_resolve(const struct gp_btf *btf, u32 id);

/**
 * gp_btf_name() - a string of a blob or its base
 * @btf:	that the string is in, or its base
 * @off:	out of a record
 *
 * Return: the string, empty on garbage.
 */
const char *gp_btf_name(const struct gp_btf *btf, u32 off);

/**
 * gp_btf_describe() - a type as text, by which two of them can be compared
 * @btf:	that the type is in, or its base
 * @id:		of the type
 * @out:	takes the text, cut off if need be
 * @size:	of @out, at least 1
 *
 * Without names of types and qualifiers: "u4", "s4", "e4" and "b1" for unsigned and
 * signed integers, enums and bool of so many bytes, the name of a structure or
 * union, "*" before what a pointer points to, "[n]" before the element of an
 * array, "result(parameter,...)" for a function.
 */
void gp_btf_describe(const struct gp_btf *btf, u32 id, char *out, size_t size);

/**
 * gp_btf_fits() - whether a type can be one of C
 * @text:	by gp_btf_describe()
 * @type:	"struct NAME", "atomic64_t", "void *", "bool", or an integer's, whose
 *		size and sign are not compared
 */
bool gp_btf_fits(const char *text, const char *type);

#endif /* GP_BTF_H */
