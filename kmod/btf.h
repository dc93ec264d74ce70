/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_BTF_H
#define GP_BTF_H

#include <linux/types.h>
#include <linux/btf.h>

/* Longest chain of typedefs, arrays and unnamed members that is followed. */
#define GP_BTF_MAX_DEPTH 16

/* A BTF blob, which has to stay for as long as this does. Functions search its base after it. */
struct gp_btf {
	const struct gp_btf *base; /* BTF that this BTF builds upon, or NULL */
	const char *strs;	   /* ends with a NUL */
	u32 str_len;
	u32 str_first;		       /* offset that the first byte of strs has in names */
	const struct btf_type **types; /* by id - type_first */
	u32 type_first;
	u32 n_types;
};

/* Place of a field, in bytes from the start of the outermost structure. */
struct gp_btf_field {
	u32 offset;
	u32 size;
	u32 type; /* its id, for gp_btf_describe() */
};

/*
 * Check a blob, aligned to 4 bytes, and index its types. 0, -EINVAL: not BTF that is known,
 * -ENOMEM.
 */
int gp_btf_parse(struct gp_btf *btf, const void *data, size_t size, const struct gp_btf *base);
void gp_btf_release(struct gp_btf *btf);

/*
 * Find a field, also inside of unnamed ones. 0, -ENOENT without such a structure, -ENODATA without
 * such a field, -EDOM when that is a bit field, -ENOTUNIQ when several structures have the name and
 * differ in this, -EINVAL on garbage.
 */
int gp_btf_field(const struct gp_btf *btf, const char *type, const char *field,
		 struct gp_btf_field *out);

/* Size of a structure in bytes, 0 when there is none of that name. */
u32 gp_btf_size(const struct gp_btf *btf, const char *type);

/* Value of an enumerator: 0, -ENOENT without such an enum, -ENODATA, -ERANGE above 32 bits. */
int gp_btf_enum(const struct gp_btf *btf, const char *type, const char *name, u32 *value);

/*
 * A type as text, by which two of them can be compared; cut off if need be. Without names of
 * types and qualifiers: "u4", "s4", "e4" and "b1" for unsigned and signed integers, enums and
 * bool of so many bytes, the name of a structure or union, "*" before what a pointer points to,
 * "[n]" before the element of an array, "result(parameter,...)" for a function.
 */
void gp_btf_describe(const struct gp_btf *btf, u32 id, char *out, size_t size);

/* Can such a text be this type of C? Size and sign of integers are not compared. */
bool gp_btf_fits(const char *text, const char *type);

#endif /* GP_BTF_H */
