// SPDX-License-Identifier: GPL-2.0-only
/* Tables for a terminal and for a pipe, and the same rows as JSON. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "shared/text.h"
#include "shared/util.h"
#include "table.h"

/* Parts of a unit in which a number with a fraction is kept. */
static const double parts[] = {
	[OUT_US] = 1e3, [OUT_S] = 1e9, [OUT_TENTHS] = 10, [OUT_SHARE] = 10, [OUT_SIZE] = 0
};

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

struct json_object *out_json_stats(const struct shr_stats *s)
{
	struct json_object *o;

	if (!s->n)
		return NULL;
	o = json_object_new_object();
	out_add(o, "n", out_json_number(s->n));
	out_add(o, "p50", out_json_us(s->p50));
	out_add(o, "p99", out_json_us(s->p99));
	out_add(o, "max", out_json_us(s->max));
	return o;
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
	if (number == GPREEMPT_UNKNOWN)
		return NULL;
	if (field->kind == OUT_HEX)
		return json_hex(number);
	if (field->kind == OUT_FLAG)
		return out_json_flag(number);
	return parts[field->kind] ? out_json_double(number / parts[field->kind]) :
				    out_json_number(number);
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

void out_json_print_targets(struct json_object *targets)
{
	struct json_object *object = json_object_new_object();

	out_add(object, "simulated", out_json_flag(ctl_simulated()));
	out_add(object, "targets", targets);
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
#define READABLE   23 /* and that other columns make room for: 20 and three points */
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

bool out_want_colour(const struct out_form *form)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (form->colour != OUT_COLOUR_AUTO)
		return form->colour == OUT_COLOUR_ALWAYS;
	return form->mode == OUT_TERMINAL && !(no && *no) && term && strcmp(term, "dumb");
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
	else if (parts[field->kind])
		snprintf(buf, MAX_NUMBER, "%.*f", field->kind != OUT_SHARE,
			 number / parts[field->kind]);
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

#define POINTS "..."

/*
 * Cut it so that it takes that many columns: first a long directory before the name of a program,
 * as the end of a path tells more, then the end.
 */
static void cut_cell(char *cell, int width)
{
	char *name = *cell == '/' ? memrchr(cell, '/', strcspn(cell, " ")) : NULL;
	int keep = width - (int)strlen(POINTS);

	if (text_width(cell) <= width)
		return;
	if (name && name - cell > NARROWEST) {
		memmove(cell + strlen(POINTS), name, strlen(name) + 1);
		memcpy(cell, POINTS, strlen(POINTS));
	}
	if (text_width(cell) <= width)
		return;
	for (; *cell; cell++)
		if ((*cell & 0xc0) != 0x80 && !keep--)
			break;
	strcpy(cell, POINTS);
}

/* Print it from a column of the line on, and break it between words, never in a word. */
static void print_wrapped(char *text, int at, int width)
{
	char *word, *rest = NULL;
	int indent = at;

	for (word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		if (at > indent && at + 1 + text_width(word) <= width)
			at += printf(" ");
		else if (at > indent)
			at = printf("\n%*s", indent, "") - 1;
		fputs(word, stdout);
		at += text_width(word);
	}
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

void out_sentence(const char *format, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text && out_mode() == OUT_TERMINAL)
		print_wrapped(text, 0, out_terminal_width());
	else if (text)
		fputs(text, stdout);
	putchar('\n');
	free(text);
}

/* How a table looks on this terminal. */
struct layout {
	int width;   /* columns of the terminal */
	int *widths; /* one for each column; 0: it is left out */
	bool colour;
};

static size_t last_column(const struct out_table *table, const int *widths)
{
	size_t i = table->n_fields;

	while (i > 1 && !widths[i - 1])
		i--;
	return i - 1;
}

/* Print one line. The last column is not filled up. */
static void print_line(const struct out_table *table, char **cells, const struct layout *l,
		       bool heading)
{
	size_t i, last = last_column(table, l->widths);
	int at = 0;

	for (i = 0; i <= last; i++) {
		const struct out_field *field = &table->fields[i];
		bool right = out_to_the_right(field);
		const char *on = "";
		int space;

		if (!l->widths[i])
			continue;
		if (i == last && !field->wrap)
			cut_cell(cells[i], l->widths[i]);
		if (l->colour)
			on = heading ? BOLD : colour_of(field, cells[i]);
		space = l->widths[i] - text_width(cells[i]);
		if (space < 0)
			space = 0;
		printf("%*s%s", right ? space : 0, "", on);
		if (i == last && field->wrap)
			print_wrapped(cells[i], at, l->width);
		else
			fputs(cells[i], stdout);
		printf("%s%*s", *on ? PLAIN : "", i == last ? 0 : right ? GAP : space + GAP, "");
		at += text_width(cells[i]) + space + GAP;
	}
	putchar('\n');
}

static void fill_row(const struct out_table *table, const void *row, char **cells)
{
	size_t i;

	for (i = 0; i < table->n_fields; i++) {
		const char *heading = table->fields[i].heading;
		char *at;

		cells[i] = shr_must(row ? out_cell(&table->fields[i], row) :
					  strdup(heading ? heading : ""));
		for (at = cells[i]; !row && *at; at++)
			*at = toupper(*at);
	}
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
 * Leave out a column by its rank, but not the first one, nor the last one without a rank. Returns
 * the room that it had; 0: there is none.
 */
static int leave_out(const struct out_table *table, int *widths)
{
	size_t i, n = table->n_fields, first = n, pick = n, last = last_column(table, widths);
	int room;

	for (i = 0; i < last + !!table->fields[last].rank; i++) {
		if (!widths[i])
			continue;
		if (first == n)
			first = i;
		else if (pick == n || table->fields[i].rank >= table->fields[pick].rank)
			pick = i;
	}
	if (pick == n)
		return 0;
	room = widths[pick] + GAP;
	widths[pick] = 0;
	return room;
}

/* Make the columns fit: some are left out before the last one cannot be read. */
static void fit(const struct out_table *table, struct layout *l)
{
	int *end, least, room, left = l->width + GAP;
	size_t i, last = last_column(table, l->widths);

	for (i = 0; i <= last; i++)
		if (l->widths[i])
			left -= l->widths[i] + GAP;
	end = &l->widths[last];
	least = l->width * 3 / 10 < READABLE ? l->width * 3 / 10 : READABLE;
	least = least > NARROWEST ? least : NARROWEST;
	if (!table->fields[last].cut && !table->fields[last].wrap)
		least = *end;
	while (!table->chosen && left < 0 && *end + left < least &&
	       (room = leave_out(table, l->widths)))
		left += room;
	end = &l->widths[last_column(table, l->widths)];
	if (left < 0)
		*end = *end + left > NARROWEST ? *end + left : NARROWEST;
}

static struct layout new_layout(const struct out_form *form, const struct out_table *table)
{
	return (struct layout){
		.width = out_terminal_width(),
		.widths = shr_must(calloc(table->n_fields, sizeof(int))),
		.colour = out_want_colour(form),
	};
}

static void print_columns(const struct out_form *form, const struct out_table *table,
			  const void *const *rows, size_t count)
{
	size_t n = table->n_fields, i, j, first = form->bare;
	char **cells = shr_must(calloc((count + 1) * n, sizeof(*cells)));
	struct layout l = new_layout(form, table);

	fill_row(table, NULL, cells);
	for (i = 0; i < count; i++)
		fill_row(table, rows[i], cells + (i + 1) * n);
	for (j = 0; j < n; j++) {
		if (!table->fields[j].heading || all_unknown(table, cells, count + 1, j))
			continue;
		for (i = first; i <= count; i++) {
			int width = text_width(cells[i * n + j]);

			if (width > l.widths[j])
				l.widths[j] = width;
		}
	}
	fit(table, &l);
	for (i = 0; i <= count; i++) {
		if (i >= first)
			print_line(table, cells + i * n, &l, !i);
		free_row(table, cells + i * n);
	}
	free(cells);
	free(l.widths);
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

static void print_pipe(const struct out_form *form, const struct out_table *table, const void *row)
{
	bool csv = form->mode == OUT_CSV, colour = row && !csv && out_want_colour(form);
	size_t i;

	if (!row && form->bare)
		return;
	if (!row && !csv)
		fputs("# ", stdout);
	for (i = 0; i < table->n_fields; i++) {
		const struct out_field *field = &table->fields[i];
		char buf[MAX_NUMBER], *clean = NULL;
		const char *on, *cell = row ? raw_cell(field, row, buf) : field->name;

		if (!shr_is_plain(cell))
			cell = clean = shr_must(shr_clean_copy(cell, false));
		if (i)
			putchar_unlocked(csv ? ',' : '\t');
		on = colour ? colour_of(field, cell) : "";
		if (csv)
			print_csv(cell);
		else if (*on)
			printf("%s%s" PLAIN, on, cell);
		else
			fputs_unlocked(cell, stdout);
		free(clean);
	}
	putchar('\n');
}

/* The columns and the order that the user has asked for. */

/* A key may be another column's heading in small letters: the word as it is comes first. */
const struct out_field *out_find(const struct out_table *table, const char *name, size_t len)
{
	static int (*const compare[])(const char *, const char *, size_t) = { strncmp,
									      strncasecmp };
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(compare); k++)
		for (i = 0; i < 2 * table->n_fields; i++) {
			const struct out_field *field = &table->fields[i / 2];
			const char *word = i % 2 ? field->heading : field->name;

			if (word && strlen(word) == len && !compare[k](word, name, len))
				return field;
		}
	return NULL;
}

/* Returns a table of the columns that the form names, for free(). */
static struct out_table *choose(const struct out_form *form, const struct out_table *table)
{
	size_t most = strlen(form->columns), len;
	struct out_table *chosen =
		shr_must(malloc(sizeof(*chosen) + most * sizeof(*table->fields)));
	struct out_field *field = (void *)(chosen + 1);
	const char *at = form->columns;

	*chosen =
		(struct out_table){ .fields = field, .row_size = table->row_size, .chosen = true };
	for (;; at += len + 1, field++) {
		len = strcspn(at, ",");
		*field = *out_find(table, at, len);
		field->spare = false;
		if (!field->heading)
			field->heading = field->name;
		chosen->n_fields++;
		if (!at[len])
			return chosen;
	}
}

struct sorting {
	const struct out_field *field;
	bool largest; /* is first */
};

/* Compare cells; unknown ones are last in both directions, and equal ones stay as they are. */
static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct sorting *by = arg;
	const void *x = *(const void *const *)a, *y = *(const void *const *)b;
	char room[2][MAX_NUMBER];
	const char *s = raw_cell(by->field, x, room[0]), *t = raw_cell(by->field, y, room[1]);
	bool no_s = !strcmp(s, "-"), no_t = !strcmp(t, "-");
	int order;

	if (no_s != no_t)
		return no_s - no_t;
	if (by->field->kind <= OUT_LIST)
		order = strverscmp(s, t);
	else
		order = shr_compare_first((const char *)x + by->field->offset,
					  (const char *)y + by->field->offset);
	if (order)
		return by->largest ? -order : order;
	return x < y ? -1 : x > y;
}

/* Returns the rows in the order of the form, for free(). */
static const void **sort_rows(const struct out_form *form, const struct out_table *table,
			      const void *rows, size_t count)
{
	const void **sorted = shr_must(malloc((count + 1) * sizeof(*sorted)));
	struct sorting by = { .largest = form->sort && *form->sort == '-' };
	const char *name = form->sort ? form->sort + by.largest : "";
	size_t i;

	for (i = 0; i < count; i++)
		sorted[i] = (const char *)rows + i * table->row_size;
	by.field = out_find(table, name, strlen(name));
	if (by.field)
		qsort_r(sorted, count, sizeof(*sorted), compare_rows, &by);
	return sorted;
}

void out_print(const struct out_form *form, const struct out_table *table, const void *rows,
	       size_t count)
{
	struct out_table *chosen = NULL;
	struct json_object *object;
	const void **sorted;
	size_t i;

	if (form->mode == OUT_JSON) {
		object = json_object_new_object();
		out_add(object, table->name, out_json_rows(table, rows, count));
		out_json_print(object);
		return;
	}
	sorted = sort_rows(form, table, rows, count);
	if (form->columns)
		table = chosen = choose(form, table);
	if (form->mode == OUT_TERMINAL)
		print_columns(form, table, sorted, count);
	else
		print_pipe(form, table, NULL);
	for (i = 0; form->mode != OUT_TERMINAL && i < count; i++)
		print_pipe(form, table, sorted[i]);
	free(sorted);
	free(chosen);
}

void out_rows(enum out_mode mode, const struct out_table *table, const void *rows, size_t count)
{
	out_print(&(const struct out_form){ .mode = mode }, table, rows, count);
}

/* Widths are the table's own here: later rows are unknown. The last column gets what is left. */
static void print_one(const struct out_form *form, const struct out_table *table, const void *row)
{
	char **cells = shr_must(calloc(table->n_fields, sizeof(*cells)));
	struct layout l = new_layout(form, table);
	size_t i;

	fill_row(table, row, cells);
	for (i = 0; i < table->n_fields; i++)
		if (table->fields[i].heading)
			l.widths[i] = table->fields[i].width ? table->fields[i].width : l.width;
	fit(table, &l);
	print_line(table, cells, &l, !row);
	free_row(table, cells);
	free(cells);
	free(l.widths);
}

void out_heading(const struct out_form *form, const struct out_table *table)
{
	if (!form->bare)
		out_row(form, table, NULL);
}

void out_row(const struct out_form *form, const struct out_table *table, const void *row)
{
	struct out_table *chosen = form->columns ? choose(form, table) : NULL;

	if (form->mode == OUT_TERMINAL)
		print_one(form, chosen ? chosen : table, row);
	else if (form->mode != OUT_JSON)
		print_pipe(form, chosen ? chosen : table, row);
	fflush(stdout);
	free(chosen);
}
