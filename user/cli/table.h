/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of like things: one table of fields makes the columns on a terminal, the tab-separated
 * lines in a pipe, and JSON.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <json-c/json.h>

#include "message.h"
#include "shared/util.h"

/* Types of a member of a row; each is printed in its own form. */
enum out_kind {
	OUT_TEXT,    /* const char *, or NULL: not known */
	OUT_WORD,    /* const char *, a word that may have a colour */
	OUT_SET,     /* words, commas between; in JSON an array */
	OUT_NUMBERS, /* numbers, commas between; in JSON an array of numbers */
	OUT_LIST,    /* words, commas between, without colours; in JSON an array */
	OUT_DEC,     /* int64_t, or GPREEMPT_UNKNOWN */
	OUT_HEX,     /* int64_t, in JSON a string */
	OUT_FLAG,    /* int64_t, 0 or 1; in JSON true or false */
	OUT_US,	     /* int64_t in ns, printed in microseconds */
	OUT_S,	     /* int64_t in ns, printed in seconds */
	OUT_TENTHS,  /* int64_t in tenths, printed with one digit behind the point */
	OUT_SHARE,   /* the same, of a few hundred looks: whole, and the digit in JSON alone */
	OUT_SIZE,    /* in bytes, on a terminal in KiB, MiB and so on */
};

struct out_field {
	const char *name;    /* key of JSON and column in a pipe */
	const char *heading; /* on a terminal; NULL: it is not shown there */
	enum out_kind kind;
	size_t offset;
	int width;  /* on a terminal, when lines come one by one */
	bool cut;   /* to fit the terminal, before others leave it; the last field only */
	bool wrap;  /* in place of that: between words, on lines of its own */
	bool spare; /* not on a terminal if it is "-" in all rows */
	bool array; /* a text that is in the row itself; "": not known */
	/* Order of leaving a narrow terminal: the highest rank, and of equal ones the last. */
	unsigned char rank;
	const char *many; /* "GPUs": more than two numbers are "8 GPUs" on a terminal */
};

/* A member of a row; the rest as .width = 9. */
#define OUT_NAMED(key, type, member, title, what, ...)                                         \
	{                                                                                      \
		.name = key, .heading = title, .kind = what, .offset = offsetof(type, member), \
		__VA_ARGS__                                                                    \
	}

/* A field with the member's own name. */
#define OUT_FIELD(type, member, title, what, ...) \
	OUT_NAMED(#member, type, member, title, what, __VA_ARGS__)

struct out_table {
	const char *name; /* key of the JSON array */
	const struct out_field *fields;
	size_t n_fields;
	size_t row_size;
	bool chosen; /* the user has asked for these columns: all stay on a terminal */
};

#define OUT_TABLE(key, columns, type)                                            \
	{                                                                        \
		.name = key, .fields = columns, .n_fields = ARRAY_SIZE(columns), \
		.row_size = sizeof(type),                                        \
	}

enum out_mode {
	OUT_TERMINAL,
	OUT_PIPE,
	OUT_CSV,
	OUT_JSON,
};

enum out_colour {
	OUT_COLOUR_AUTO, /* on a terminal that has them, if NO_COLOR is not set */
	OUT_COLOUR_ALWAYS,
	OUT_COLOUR_NEVER,
};

/* How a table is to look, by the options of the command. */
struct out_form {
	enum out_mode mode;
	enum out_colour colour;
	uint64_t bare;	     /* no headings */
	const char *columns; /* names, commas between; NULL: as the table has them */
	const char *sort; /* a name, "-" before it: the largest is first; NULL: as the rows are */
};

/* The cell of a field: a number is for the kinds behind OUT_LIST. */
static inline const char *out_text_of(const struct out_field *field, const void *row)
{
	const char *at = (const char *)row + field->offset;

	if (field->array)
		return *at ? at : NULL;
	return *(const char *const *)at;
}

static inline int64_t out_number_of(const struct out_field *field, const void *row)
{
	return *(const int64_t *)((const char *)row + field->offset);
}

/* Unknown when one of the values is. */
static inline void out_sum(int64_t *sum, int64_t value)
{
	bool known = *sum != GPREEMPT_UNKNOWN && value != GPREEMPT_UNKNOWN;

	*sum = known ? *sum + value : GPREEMPT_UNKNOWN;
}

/* Returns the cell's text for a terminal, escaped, for free(); NULL without memory. */
char *out_cell(const struct out_field *field, const void *row);
/* Does it stand to the right of its column? */
bool out_to_the_right(const struct out_field *field);

/* How stdout is to look without --json and --csv. */
enum out_mode out_mode(void);

/* Returns the field with that name, or that heading, in any case; NULL: there is none. */
const struct out_field *out_find(const struct out_table *table, const char *name, size_t len);

/* Print all rows at once on stdout. OUT_JSON: an object of one key, with all columns. */
void out_print(const struct out_form *form, const struct out_table *table, const void *rows,
	       size_t count);
/* The same in the table's own form. */
void out_rows(enum out_mode mode, const struct out_table *table, const void *rows, size_t count);

/* Print a table row by row, for all modes but OUT_JSON. Each line is flushed. */
void out_heading(const struct out_form *form, const struct out_table *table);
void out_row(const struct out_form *form, const struct out_table *table, const void *row);

/* Print a sentence of our own words, broken between them on a terminal. */
__attribute__((format(printf, 1, 2))) void out_sentence(const char *format, ...);

/* Returns the rows as JSON, for a command that adds keys. */
struct json_object *out_json_rows(const struct out_table *table, const void *rows, size_t count);
struct json_object *out_json_row(const struct out_table *table, const void *row);
/* A key of an object. */
static inline void out_add(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}
/* Print targets with times, and whether the GPU is the simulated one. */
void out_json_print_targets(struct json_object *targets);
/* A value of JSON; null for GPREEMPT_UNKNOWN or NULL. */
struct json_object *out_json_number(int64_t value);
struct json_object *out_json_us(int64_t ns);
/* Number of samples, median, p99 and largest, in us. NULL: there are none. */
struct json_object *out_json_stats(const struct shr_stats *s);
/* Returns a number with three digits behind the point; NULL, JSON's null, if it is not finite. */
struct json_object *out_json_double(double value);
struct json_object *out_json_text(const char *text);
struct json_object *out_json_flag(int64_t value);
/* Write an object and a newline, and free the object. */
void out_json_write(FILE *f, struct json_object *object);
/* Print an object on stdout, flushed. */
void out_json_print(struct json_object *object);

/* Print an object in one line of stdout, flushed. */
void out_json_print_line(struct json_object *object);

/* Is the output to have colours? */
bool out_want_colour(const struct out_form *form);
/* Returns the width of the terminal on stdout; 80 if unknown. */
int out_terminal_width(void);

#endif
