// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "lib/core/table.h"
#include "shared/util.h"

#define WORD(name, word) word,

static const char *const types[] = { GP_VIEW_QUEUE_TYPES(WORD) };
static const char *const hardware[] = { GP_VIEW_HARDWARE(WORD) };
static const char *const schedulers[] = { GP_VIEW_SCHEDULERS(WORD) };
static const char *const units[] = { GP_VIEW_UNITS(WORD) };
static const char *const states[] = { GP_VIEW_QUEUE_STATES(WORD) };

/* Words of a set, by bit; the bit of a code is one less than the code. */
/* clang-format off */
#define CODE(name, code, word) \
	[(code) - 1] = (word),
/* clang-format on */
static const char *const exceptions[] = { GP_VIEW_EXCEPTIONS(CODE) };

static const struct list {
	const char *column;
	const char *const *words;
	size_t count;
} lists[] = {
	{ "type", types, ARRAY_SIZE(types) },
	{ "hardware", hardware, ARRAY_SIZE(hardware) },
	{ "scheduler", schedulers, ARRAY_SIZE(schedulers) },
	{ "unit", units, ARRAY_SIZE(units) },
	{ "state", states, ARRAY_SIZE(states) },
	{ "exception", exceptions, ARRAY_SIZE(exceptions) },
};

/* Names that version 1 used for a column or a word. */
static const struct old_name {
	const char *column; /* NULL: it is a column */
	const char *name;
	const char *now;
} old_names[] = {
	{ NULL, "percent", "wants" },
	{ "hardware", "idle", "unused" },
	{ "state", "percent=0", "wants=0" },
};

static const struct list *find_list(const char *column)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		if (*lists[i].column == *column && !strcmp(lists[i].column, column))
			return &lists[i];
	return NULL;
}

/* A stretch of the text that is being parsed. */
struct span {
	const char *at;
	size_t len;
};

static bool span_is(struct span s, const char *word)
{
	return s.len && *s.at == *word && s.len == strlen(word) && !memcmp(s.at, word, s.len);
}

/* Returns today's name of the same text; column: as in old_names. */
static struct span name_now(const char *column, struct span name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(old_names); i++) {
		const struct old_name *old = &old_names[i];

		if (span_is(name, old->name) &&
		    (column ? old->column && !strcmp(old->column, column) : !old->column))
			return (struct span){ old->now, strlen(old->now) };
	}
	return name;
}

static int64_t find_in(const struct list *list, struct span word)
{
	size_t i;

	for (i = 0; list && i < list->count; i++)
		if (list->words[i] && span_is(word, list->words[i]))
			return i;
	return GPREEMPT_UNKNOWN;
}

static int64_t find_word(const char *column, const char *at, size_t len)
{
	const struct list *list = find_list(column);
	struct span word = { at, len };
	int64_t found = find_in(list, word);

	return found >= 0 ? found : find_in(list, name_now(column, word));
}

static int64_t word_set(const char *column, const char *at, size_t len)
{
	const char *end = at + len;
	int64_t set = 0;

	while (at < end) {
		const char *comma = memchr(at, ',', end - at);
		size_t part = (comma ? comma : end) - at;
		int64_t bit = find_word(column, at, part);

		if (bit < 0 && part > 3 && !memcmp(at, GP_VIEW_CODE, 3))
			bit = strtol(at + 3, NULL, 10) - 1;
		if (bit >= 0 && bit < 63)
			set |= 1LL << bit;
		at += part + 1;
	}
	return set;
}

const char *gpreempt_word(enum gpreempt_word kind, int64_t value)
{
	static const char *const columns[] = { "type", "hardware", "scheduler", "unit" };
	const struct list *list;

	if (kind >= ARRAY_SIZE(columns))
		return GP_VIEW_UNKNOWN;
	/* The view has no word for it: sysfs shows no more. */
	if (kind == GPREEMPT_WORD_TYPE && value == GPREEMPT_QUEUE_COMPUTE)
		return "compute";
	list = find_list(columns[kind]);
	return value < 0 || value >= (int64_t)list->count ? GP_VIEW_UNKNOWN : list->words[value];
}

static int set_text(const char *column, uint64_t set, char *buf, size_t size)
{
	const struct list *list = find_list(column);
	size_t i, used = 0;

	for (i = 0; i < 63; i++) {
		size_t room = used < size ? size - used : 0;
		char *at = room ? buf + used : NULL;
		const char *comma = used ? "," : "";

		if (!(set & 1ull << i))
			continue;
		if (i < list->count && list->words[i])
			used += snprintf(at, room, "%s%s", comma, list->words[i]);
		else
			used += snprintf(at, room, "%s" GP_VIEW_CODE "%zu", comma, i + 1);
	}
	return used;
}

int gpreempt_state_text(int64_t state, char *buf, size_t size)
{
	if (state <= 0)
		return snprintf(buf, size, GP_VIEW_UNKNOWN);
	return set_text("state", state & ((1 << GP_VIEW_STATE_COUNT) - 1), buf, size);
}

int gpreempt_exception_text(int64_t exception, char *buf, size_t size)
{
	if (exception <= 0)
		return snprintf(buf, size, exception ? GP_VIEW_UNKNOWN : GP_VIEW_NONE);
	return set_text("exception", exception, buf, size);
}

#define MAX_COLUMNS 64

/* Columns of this text, in its order; NULL: a column that we do not know. */
struct layout {
	const struct gp_column *columns[MAX_COLUMNS];
	size_t count;
};

/* The next line without its end; a line without an end is -EINVAL. */
static int take_line(struct span *text, struct span *line)
{
	const char *end = memchr(text->at, '\n', text->len);

	if (!end)
		return -EINVAL;
	line->at = text->at;
	line->len = end - text->at;
	text->len -= line->len + 1;
	text->at = end + 1;
	return 0;
}

/* The next word of a line; false at its end. */
static bool take_word(struct span *line, struct span *word)
{
	const char *at = line->at, *end = at + line->len;

	while (at < end && *at == ' ')
		at++;
	word->at = at;
	while (at < end && *at != ' ')
		at++;
	word->len = at - word->at;
	line->at = at;
	line->len = end - at;
	return word->len > 0;
}

static int parse_head(const struct gp_table *table, struct span line)
{
	const size_t len = strlen(table->head);

	if (line.len < len + 3 || memcmp(line.at, table->head, len))
		return -EPROTO;
	/*
	 * A higher first number than ours may change anything. A lower one is of an older
	 * module, whose columns are found by their names.
	 */
	if (line.at[len] < '1' || line.at[len] > table->version[0] || line.at[len + 1] != '.' ||
	    !isdigit((unsigned char)line.at[len + 2]))
		return -EPROTO;
	return 0;
}

/*
 * first: where to begin, which is where the column is when the text has our order.
 * n_columns: there is none of that name.
 */
static size_t find_column(const struct gp_table *table, struct span word, size_t first)
{
	size_t i, at;

	for (i = 0; i < table->n_columns; i++) {
		at = first + i < table->n_columns ? first + i : first + i - table->n_columns;
		if (span_is(word, table->columns[at].name))
			return at;
	}
	return table->n_columns;
}

static int parse_columns(const struct gp_table *table, struct span line, struct layout *layout)
{
	struct span word;
	uint64_t seen = 0;
	size_t at, next = 0;

	if (!take_word(&line, &word) || !span_is(word, "#"))
		return -EINVAL;
	while (take_word(&line, &word)) {
		at = find_column(table, word, next);
		if (at == table->n_columns)
			at = find_column(table, name_now(NULL, word), next);
		if (layout->count == MAX_COLUMNS)
			return -EINVAL;
		if (at == table->n_columns) {
			layout->columns[layout->count++] = NULL;
			continue;
		}
		if (seen & 1ull << at)
			return -EINVAL;
		seen |= 1ull << at;
		next = at + 1;
		layout->columns[layout->count++] = &table->columns[at];
	}
	return seen >> table->key & 1 ? 0 : -EINVAL;
}

/* Returns the value of a digit. isxdigit() would ask for the locale for each digit. */
static unsigned int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

static int parse_number(struct span word, unsigned int base, uint64_t max, int64_t *out)
{
	const uint64_t most = max / base; /* largest value that another digit may follow */
	uint64_t value = 0;
	const char *end;

	if (base == 16) {
		if (word.len < 3 || memcmp(word.at, "0x", 2))
			return -EINVAL;
		word.at += 2;
		word.len -= 2;
	}
	if (!word.len)
		return -EINVAL;
	for (end = word.at + word.len; word.at < end; word.at++) {
		unsigned int digit = digit_of(*word.at);

		if (digit >= base || value > most)
			return -EINVAL;
		value = value * base + digit;
	}
	if (value > max)
		return -EINVAL;
	*out = value;
	return 0;
}

static bool is_text(const struct gp_column *column)
{
	return column->size != sizeof(int64_t);
}

/* A text that is too long is cut: it is for people. */
static int parse_text(const struct gp_column *column, struct span word, char *text)
{
	size_t len = word.len < column->size ? word.len : column->size - 1;

	if (span_is(word, GP_VIEW_UNKNOWN))
		len = 0;
	memcpy(text, word.at, len);
	text[len] = '\0';
	return 0;
}

/* Parse exceptions: words, "none", or the number of version 1, with EC_QUEUE_NEW. */
static int parse_codes(const char *column, struct span word, int64_t *set)
{
	int ret = 0;

	if (word.len < 2 || memcmp(word.at, "0x", 2))
		*set = word_set(column, word.at, word.len);
	else
		ret = parse_number(word, 16, INT64_MAX, set);
	if (!ret)
		*set &= ~(int64_t)GP_VIEW_EXCEPTION_BIT(GP_VIEW_EXCEPTION_NEW);
	return ret;
}

static int parse_cell(const struct gp_table *table, const struct gp_column *column,
		      struct span word, void *record)
{
	void *field = (char *)record + column->offset;
	/* The number that names the record is 32 bits in all tables. */
	bool key = column == &table->columns[table->key];
	uint64_t max = key ? UINT32_MAX : INT64_MAX;

	if (is_text(column))
		return parse_text(column, word, field);
	if (span_is(word, GP_VIEW_UNKNOWN))
		return key ? -EINVAL : 0;
	switch (column->kind) {
	case GP_VIEW_WORD:
		*(int64_t *)field = find_word(column->name, word.at, word.len);
		return 0;
	case GP_VIEW_CODES:
		return parse_codes(column->name, word, field);
	case GP_VIEW_SET:
		*(int64_t *)field = word_set(column->name, word.at, word.len);
		return 0;
	case GP_VIEW_HEX:
	case GP_VIEW_ADDR:
		return parse_number(word, 16, max, field);
	case GP_VIEW_FLAG:
		if (!span_is(word, "0") && !span_is(word, "1"))
			return -EINVAL;
		/* fall through */
	default:
		return parse_number(word, 10, max, field);
	}
}

/* A record of which nothing is known. */
static void gp_table_forget(const struct gp_table *table, void *record)
{
	size_t i;

	memset(record, 0, table->record_size);
	for (i = 0; i < table->n_columns; i++)
		if (!is_text(&table->columns[i]))
			*(int64_t *)((char *)record + table->columns[i].offset) = GPREEMPT_UNKNOWN;
}

static int parse_record(const struct gp_table *table, const struct layout *layout, struct span line,
			void *record)
{
	struct span word;
	size_t i;

	gp_table_forget(table, record);
	for (i = 0; i < layout->count; i++) {
		int ret;

		if (!take_word(&line, &word))
			return -EINVAL;
		if (!layout->columns[i])
			continue;
		ret = parse_cell(table, layout->columns[i], word, record);
		if (ret)
			return ret;
	}
	return take_word(&line, &word) ? -EINVAL : 0;
}

static size_t count_lines(struct span text)
{
	const char *at = text.at, *end = at + text.len;
	size_t n = 0;

	while ((at = memchr(at, '\n', end - at))) {
		at++;
		n++;
	}
	return n;
}

static int parse_records(const struct gp_table *table, const struct layout *layout,
			 struct span text, void **out, size_t *count)
{
	__cleanup_free char *records = NULL;
	struct span line;
	size_t n = 0;
	int ret;

	records = calloc(count_lines(text) + 1, table->record_size);
	if (!records)
		return -ENOMEM;
	for (; text.len; n++) {
		ret = take_line(&text, &line);
		if (!ret)
			ret = parse_record(table, layout, line, records + n * table->record_size);
		if (ret)
			return ret;
	}
	*out = records;
	*count = n;
	records = NULL;
	return 0;
}

/*
 * Layouts of each thread, one a table: a look at 20 processes reads 20 files with the same line
 * of columns, and to take that apart costs more than a line of figures.
 */
struct known {
	const struct gp_table *table;
	char line[768];
	size_t len;
	struct layout layout;
};

static const struct layout *find_layout(const struct gp_table *table, struct span line, int *ret)
{
	static _Thread_local struct known known[4];
	static _Thread_local unsigned int next;
	struct known *k = known;

	while (k < known + ARRAY_SIZE(known) && k->table != table)
		k++;
	if (k == known + ARRAY_SIZE(known))
		k = &known[next++ % ARRAY_SIZE(known)];
	else if (k->len == line.len && !memcmp(k->line, line.at, line.len))
		return &k->layout;
	k->layout.count = 0;
	*ret = parse_columns(table, line, &k->layout);
	k->table = *ret || line.len > sizeof(k->line) ? NULL : table;
	k->len = line.len;
	if (k->table)
		memcpy(k->line, line.at, line.len);
	return &k->layout;
}

int gp_table_parse(const struct gp_table *table, const char *buf, size_t len, void **records,
		   size_t *count)
{
	struct span text = { buf, len }, line;
	const struct layout *layout;
	int ret;

	if (take_line(&text, &line))
		return -EPROTO;
	ret = parse_head(table, line);
	if (!ret)
		ret = take_line(&text, &line);
	if (ret)
		return ret;
	layout = find_layout(table, line, &ret);
	if (ret)
		return ret;
	return parse_records(table, layout, text, records, count);
}

struct listing {
	const struct gpreempt *g;
	const char *dir;
	const struct gp_table *table;
	gp_fill_fn fill;
	void *records;
	size_t count;
};

static int add_record(void *arg, const char *name)
{
	struct listing *l = arg;
	void *record = shr_array_add(&l->records, &l->count, l->table->record_size);

	if (!record)
		return -ENOMEM;
	gp_table_forget(l->table, record);
	l->count -= !l->fill(l->g, l->dir, name, record);
	return 0;
}

int gp_table_list(const struct gpreempt *g, const char *dir, const struct gp_table *table,
		  gp_fill_fn fill, void *records, size_t *count)
{
	struct listing l = { g, dir, table, fill, NULL, 0 };
	int ret = g->ops->list_dir(g->be, dir, add_record, &l);

	if (ret) {
		free(l.records);
		return ret;
	}
	memcpy(records, &l.records, sizeof(l.records));
	*count = l.count;
	return 0;
}

int gp_list_give(int ret, void *list, void *out)
{
	if (ret)
		free(list);
	else
		memcpy(out, &list, sizeof(list));
	return ret;
}

void gpreempt_list_free(void *list)
{
	struct gp_list begin;

	if (!list)
		return;
	memcpy(&begin, list, sizeof(begin));
	free(begin.records);
	free(list);
}
