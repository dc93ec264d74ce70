/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texts of gpreempt.ko, all of one shape; see view.h. */
#ifndef LIB_CORE_TABLE_H
#define LIB_CORE_TABLE_H

#include <stddef.h>

#include <gpreempt/view.h>

#include "internal.h"

struct gp_column {
	const char *name;
	enum gp_view_kind kind;
	size_t offset; /* in the record */
	size_t size;   /* an int64_t, or else a text */
};

/* A column of a list in view.h, as a field of the same name. */
#define GP_COLUMN(record, name, kind) \
	{ #name, GP_VIEW_##kind, offsetof(record, name), sizeof(((record *)0)->name) },

struct gp_table {
	const char *head;    /* start of the first line, up to the version */
	const char *version; /* ours; no first number above it */
	const struct gp_column *columns;
	size_t n_columns;
	size_t record_size;
	size_t key; /* the column that must be there: it names the record */
};

#define GP_COLUMN_COUNT(name, kind) 1 +

/* A table of the list that view.h has under this name; for column() see GP_COLUMN(). */
#define GP_TABLE(format, type, column, ...)                                                  \
	{                                                                                    \
		.head = GP_VIEW_##format##_NAME " - version: ",                              \
		.version = GP_VIEW_##format##_VERSION,                                       \
		.columns = (const struct gp_column[]){ GP_VIEW_##format##_COLUMNS(column) }, \
		.n_columns = GP_VIEW_##format##_COLUMNS(GP_COLUMN_COUNT) 0,                  \
		.record_size = sizeof(type), __VA_ARGS__                                     \
	}

/*
 * Parse a text into an array of records, for free(). A column that the text lacks is
 * GPREEMPT_UNKNOWN, or "". 0, -EPROTO for another format, -EINVAL for a line that contradicts
 * it, -ENOMEM.
 */
int gp_table_parse(const struct gp_table *table, const char *text, size_t len, void **records,
		   size_t *count);

/* Fill in a record from the entry @name of @dir; false: the entry is of another kind. */
typedef bool (*gp_fill_fn)(const struct gpreempt *g, const char *dir, const char *name,
			   void *record);
/*
 * *(type **)records becomes an array of the table's records, one for each name in a
 * directory of sysfs, for free(). 0 or -errno.
 */
int gp_table_list(const struct gpreempt *g, const char *dir, const struct gp_table *table,
		  gp_fill_fn fill, void *records, size_t *count);

/* Give out a list: *(type **)out becomes the list, or the list is freed. Returns ret. */
int gp_list_give(int ret, void *list, void *out);

/* The members with which each list begins, for gpreempt_list_free(). */
struct gp_list {
	size_t count;
	void *records;
};
#define GP_LIST(type, member)                                                               \
	_Static_assert(offsetof(type, count) == offsetof(struct gp_list, count) &&          \
			       offsetof(type, member) == offsetof(struct gp_list, records), \
		       "gpreempt_list_free() frees it")

#endif
