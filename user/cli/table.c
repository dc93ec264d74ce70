// SPDX-License-Identifier: GPL-2.0-only
/* Tables for a terminal and for a pipe, and the same rows as JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "shared/text.h"
#include "shared/util.h"
#include "table.h"

/* Rows as JSON. */

struct json_object *out_json_number(int64_t value)
{
	return value == GPREEMPT_UNKNOWN ? NULL : json_object_new_int64(value);
}

struct json_object *out_json_flag(int64_t value)
{
	return value == GPREEMPT_UNKNOWN ? NULL : json_object_new_boolean(value != 0);
}

struct json_object *out_json_double(double value)
{
	char text[32];

	if (!isfinite(value))
		return NULL;
	if (snprintf(text, sizeof(text), "%.3f", value) >= (int)sizeof(text))
		return json_object_new_double(value);
	return json_object_new_double_s(value, text);
}

struct json_object *out_json_us(int64_t ns)
{
	return ns == GPREEMPT_UNKNOWN ? NULL : out_json_double(ns / 1000.0);
}

struct json_object *out_json_text(const char *text)
{
	struct json_object *object;
	char *clean;

	if (!text)
		return NULL;
	clean = shr_clean_copy(text, true);
	object = json_object_new_string(clean ? clean : "");
	free(clean);
	return object;
}

static struct json_object *json_list(const char *text, bool numbers)
{
	struct json_object *array = json_object_new_array();
	char *copy = shr_must(strdup(text ? text : "")), *word, *rest = NULL;

	for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		json_object_array_add(array, numbers ? json_object_new_int64(atoll(word)) :
						       out_json_text(word));
	free(copy);
	return array;
}

static struct json_object *json_hex(int64_t value)
{
	char text[24];

	if (value == GPREEMPT_UNKNOWN)
		return NULL;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	return json_object_new_string(text);
}

static struct json_object *json_text(const struct out_field *field, const void *row)
{
	const char *text = out_text_of(field, row);

	if (field->kind >= OUT_SET)
		return text ? json_list(text, field->kind == OUT_NUMBERS) : NULL;
	return out_json_text(text && *text ? text : NULL);
}

static struct json_object *json_value(const struct out_field *field, const void *row)
{
	int64_t number;

	if (field->kind <= OUT_LIST)
		return json_text(field, row);
	number = out_number_of(field, row);
	switch (field->kind) {
	case OUT_HEX:
		return json_hex(number);
	case OUT_FLAG:
		return out_json_flag(number);
	case OUT_US:
		return out_json_us(number);
	case OUT_S:
		return number == GPREEMPT_UNKNOWN ? NULL : out_json_double(number / 1e9);
	case OUT_TENTHS:
		return number == GPREEMPT_UNKNOWN ? NULL : out_json_double(number / 10.0);
	default:
		return out_json_number(number);
	}
}

struct json_object *out_json_row(const struct out_table *table, const void *row)
{
	struct json_object *object = json_object_new_object();
	size_t i;

	for (i = 0; i < table->n_fields; i++)
		json_object_object_add(object, table->fields[i].name,
				       json_value(&table->fields[i], row));
	return object;
}

struct json_object *out_json_rows(const struct out_table *table, const void *rows, size_t count)
{
	struct json_object *array = json_object_new_array();
	const char *row = rows;
	size_t i;

	for (i = 0; i < count; i++, row += table->row_size)
		json_object_array_add(array, out_json_row(table, row));
	return array;
}

void out_json_print_timed(const struct out_table *table, const void *rows, size_t count)
{
	struct json_object *object = json_object_new_object();

	out_add(object, "simulated", out_json_flag(ctl_simulated()));
	out_add(object, table->name, out_json_rows(table, rows, count));
	out_json_print(object);
}

void out_json_write(FILE *f, struct json_object *object)
{
	const int flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
			  JSON_C_TO_STRING_NOSLASHESCAPE;

	fprintf(f, "%s\n", json_object_to_json_string_ext(object, flags));
	json_object_put(object);
}

void out_json_print_line(struct json_object *object)
{
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
	fflush(stdout);
}

void out_json_print(struct json_object *object)
{
	out_json_write(stdout, object);
	fflush(stdout);
}

/* Rows as columns for people, and as tab-separated lines for pipes. */

#define NARROWEST  8  /* characters that a cut cell gets at least */
#define READABLE   23 /* and that columns with a rank make room for: 20 and three points */
#define GAP	   2  /* between columns */
#define MAX_NUMBER 32 /* characters, with the end */

#define BOLD  "\033[1m"
#define PLAIN "\033[0m"

static const struct {
	const char *word;
	const char *colour;
} colours[] = {
	{ "ok", "\033[32m" },	      { "active", "\033[32m" },
	{ "suspended", "\033[33m" },  { "partly-suspended", "\033[33m" },
	{ "evicted", "\033[33m" },    { "warning", "\033[33m" },
	{ "unknown", "\033[33m" },    { "stuck", "\033[31m" },
	{ "destroying", "\033[31m" }, { "failed", "\033[31m" },
};

enum out_mode out_mode(void)
{
	return isatty(STDOUT_FILENO) ? OUT_TERMINAL : OUT_PIPE;
}

bool out_want_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb");
}

int out_terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
		return 80;
	return size.ws_col;
}

/* Returns the columns of a text, if each character takes one. */
static int text_width(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

/* Returns the cell's text, in buf or in the row. It is not escaped. */
static const char *raw_cell(const struct out_field *field, const void *row, char buf[MAX_NUMBER])
{
	const char *text;
	int64_t number;

	if (field->kind <= OUT_LIST) {
		text = out_text_of(field, row);
		return text && *text ? text : "-";
	}
	number = out_number_of(field, row);
	if (number == GPREEMPT_UNKNOWN)
		return "-";
	if (field->kind == OUT_HEX)
		snprintf(buf, MAX_NUMBER, "0x%llx", (unsigned long long)number);
	else if (field->kind == OUT_US)
		snprintf(buf, MAX_NUMBER, "%.1f", number / 1000.0);
	else if (field->kind == OUT_S)
		snprintf(buf, MAX_NUMBER, "%.1f", number / 1e9);
	else if (field->kind == OUT_TENTHS)
		snprintf(buf, MAX_NUMBER, "%.1f", number / 10.0);
	else
		shr_put_decimal(buf, number);
	return buf;
}

static const char *size_cell(int64_t bytes, char buf[MAX_NUMBER])
{
	static const char units[] = "KMGTPE";
	double size = bytes / 1024.0;
	size_t i = 0;

	for (; size >= 1023.95; size /= 1024)
		i++;
	snprintf(buf, MAX_NUMBER, "%.1f %ciB", size, units[i]);
	return buf;
}

static size_t count_numbers(const char *list)
{
	size_t n = 1;

	for (; *list; list++)
		n += *list == ',';
	return n;
}

char *out_cell(const struct out_field *field, const void *row)
{
	char buf[MAX_NUMBER];
	const char *cell = raw_cell(field, row, buf);

	/* Programs get bytes. */
	if (field->kind == OUT_SIZE && out_number_of(field, row) > 0)
		cell = size_cell(out_number_of(field, row), buf);
	if (field->many && count_numbers(cell) > 2) {
		snprintf(buf, MAX_NUMBER, "%zu %s", count_numbers(cell), field->many);
		cell = buf;
	}
	return shr_clean_copy(cell, false);
}

bool out_to_the_right(const struct out_field *field)
{
	return field->kind == OUT_DEC || field->kind >= OUT_US;
}

/* Cut it so that it takes that many columns, three of them points. */
static void cut_cell(char *cell, int width)
{
	int keep = width - 3;

	if (text_width(cell) <= width)
		return;
	for (; *cell; cell++)
		if ((*cell & 0xc0) != 0x80 && !keep--)
			break;
	strcpy(cell, "...");
}

static const char *colour_of(const struct out_field *field, const char *cell)
{
	size_t i, len = strcspn(cell, ",");

	if (field->kind != OUT_WORD && field->kind != OUT_SET)
		return "";
	for (i = 0; i < ARRAY_SIZE(colours); i++)
		if (strlen(colours[i].word) == len && !strncmp(colours[i].word, cell, len))
			return colours[i].colour;
	return "";
}

/* Print one line. widths has one for each field, 0: left out. The last column is not filled up. */
static void print_line(const struct out_table *table, char **cells, const int *widths, bool colour,
		       bool heading)
{
	size_t i, last = 0;

	for (i = 0; i < table->n_fields; i++)
		if (widths[i])
			last = i;
	for (i = 0; i <= last; i++) {
		const struct out_field *field = &table->fields[i];
		int space = widths[i] - text_width(cells[i]);
		const char *on = "";

		if (!widths[i])
			continue;
		if (colour)
			on = heading ? BOLD : colour_of(field, cells[i]);
		if (space < 0)
			space = 0;
		printf("%*s%s%s%s%*s", out_to_the_right(field) ? space : 0, "", on, cells[i],
		       *on ? PLAIN : "",
		       i == last	       ? 0 :
		       out_to_the_right(field) ? GAP :
						 space + GAP,
		       "");
	}
	putchar('\n');
}

static void fill_row(const struct out_table *table, const void *row, char **cells)
{
	size_t i;

	for (i = 0; i < table->n_fields; i++)
		cells[i] =
			shr_must(row ? out_cell(&table->fields[i], row) :
				       strdup(table->fields[i].heading ? table->fields[i].heading :
									 ""));
}

static void free_row(const struct out_table *table, char **cells)
{
	size_t i;

	for (i = 0; i < table->n_fields; i++)
		free(cells[i]);
}

/* Are all cells of a column that may be left out unknown? The first line is the heading. */
static bool all_unknown(const struct out_table *table, char **cells, size_t lines, size_t column)
{
	size_t i;

	if (!table->fields[column].spare)
		return false;
	for (i = 1; i < lines; i++)
		if (strcmp(cells[i * table->n_fields + column], "-"))
			return false;
	return true;
}

/*
 * Leave out columns by their rank, until the column that is cut can be read: it has @left columns
 * too few now. Returns how many are too few then.
 */
static int make_room(const struct out_table *table, int *widths, int cut, int left)
{
	size_t i, first;

	for (;;) {
		if (left >= 0 || cut + left >= READABLE)
			return left;
		for (i = 0, first = table->n_fields; i < table->n_fields; i++)
			if (widths[i] && table->fields[i].rank &&
			    (first == table->n_fields ||
			     table->fields[i].rank > table->fields[first].rank))
				first = i;
		if (first == table->n_fields)
			return left;
		left += widths[first] + GAP;
		widths[first] = 0;
	}
}

/* Find the widths; 0 for a column that is left out. */
static void find_widths(const struct out_table *table, char **cells, size_t lines, int *widths)
{
	int left = out_terminal_width(), *cut = NULL;
	size_t i, j;

	for (i = 0; i < table->n_fields; i++) {
		const struct out_field *field = &table->fields[i];

		widths[i] = 0;
		if (!field->heading || all_unknown(table, cells, lines, i))
			continue;
		for (j = 0; j < lines; j++) {
			int width = text_width(cells[j * table->n_fields + i]);

			if (width > widths[i])
				widths[i] = width;
		}
		if (field->cut)
			cut = &widths[i];
		left -= widths[i] + GAP;
	}
	left += GAP;
	if (cut)
		left = make_room(table, widths, *cut, left);
	if (cut && left < 0)
		*cut = *cut + left > NARROWEST ? *cut + left : NARROWEST;
}

static void print_columns(const struct out_table *table, const void *rows, size_t count)
{
	size_t n = table->n_fields, i, j;
	char **cells = shr_must(calloc((count + 1) * n, sizeof(*cells)));
	int *widths = shr_must(calloc(n, sizeof(*widths)));
	bool colour = out_want_colour();

	fill_row(table, NULL, cells);
	for (i = 0; i < count; i++)
		fill_row(table, (const char *)rows + i * table->row_size, cells + (i + 1) * n);
	find_widths(table, cells, count + 1, widths);
	for (i = 0; i <= count; i++) {
		for (j = 0; j < n; j++)
			if (table->fields[j].cut)
				cut_cell(cells[i * n + j], widths[j]);
		print_line(table, cells + i * n, widths, colour, !i);
		free_row(table, cells + i * n);
	}
	free(cells);
	free(widths);
}

/* A cell with commas is one cell all the same. */
static void print_csv(const char *cell)
{
	if (!strpbrk(cell, ",\"")) {
		fputs(cell, stdout);
		return;
	}
	putchar('"');
	for (; *cell; cell++) {
		if (*cell == '"')
			putchar('"');
		putchar(*cell);
	}
	putchar('"');
}

static void print_pipe(enum out_mode mode, const struct out_table *table, const void *row)
{
	bool csv = mode == OUT_CSV;
	size_t i;

	if (!row && !csv)
		fputs("# ", stdout);
	for (i = 0; i < table->n_fields; i++) {
		const struct out_field *field = &table->fields[i];
		char buf[MAX_NUMBER], *clean = NULL;
		const char *cell = row ? raw_cell(field, row, buf) : field->name;

		if (!shr_is_plain(cell))
			cell = clean = shr_clean_copy(cell, false);
		if (i)
			putchar_unlocked(csv ? ',' : '\t');
		if (csv)
			print_csv(cell ? cell : "");
		else
			fputs_unlocked(cell ? cell : "", stdout);
		free(clean);
	}
	putchar('\n');
}

void out_rows(enum out_mode mode, const struct out_table *table, const void *rows, size_t count)
{
	struct json_object *object;
	size_t i;

	switch (mode) {
	case OUT_JSON:
		object = json_object_new_object();
		out_add(object, table->name, out_json_rows(table, rows, count));
		out_json_print(object);
		break;
	case OUT_PIPE:
	case OUT_CSV:
		print_pipe(mode, table, NULL);
		for (i = 0; i < count; i++)
			print_pipe(mode, table, (const char *)rows + i * table->row_size);
		break;
	case OUT_TERMINAL:
		print_columns(table, rows, count);
		break;
	}
}

/* Widths are the table's own here: later rows are unknown. */
static void print_one(const struct out_table *table, const void *row)
{
	size_t n = table->n_fields, i;
	char **cells = shr_must(calloc(n, sizeof(*cells)));
	int *widths = shr_must(calloc(n, sizeof(*widths)));

	fill_row(table, row, cells);
	for (i = 0; i < n; i++) {
		int width = table->fields[i].width;

		widths[i] = !table->fields[i].heading ? 0 : width ? width : 1;
	}
	print_line(table, cells, widths, out_want_colour(), !row);
	free_row(table, cells);
	free(cells);
	free(widths);
}

void out_heading(enum out_mode mode, const struct out_table *table)
{
	out_row(mode, table, NULL);
}

void out_row(enum out_mode mode, const struct out_table *table, const void *row)
{
	if (mode == OUT_TERMINAL)
		print_one(table, row);
	else if (mode != OUT_JSON)
		print_pipe(mode, table, row);
	fflush(stdout);
}
