// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/internal.h"
#include "lib/core/table.h"
#include "lib/core/words.h"

#define MAX_COLUMNS 64

/* A stretch of the text that is being parsed. */
struct span {
	const char *at;
	size_t len;
};

/* What the columns of this text are; NULL: one that we do not know. */
struct layout {
	const struct gp_column *columns[MAX_COLUMNS];
	size_t count;
};

static bool span_is(struct span s, const char *word)
{
	return s.len == strlen(word) && !memcmp(s.at, word, s.len);
}

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
	while (line->len && *line->at == ' ') {
		line->at++;
		line->len--;
	}
	word->at = line->at;
	while (line->len && *line->at != ' ') {
		line->at++;
		line->len--;
	}
	word->len = line->at - word->at;
	return word->len > 0;
}

static int parse_head(const struct gp_table *table, struct span line)
{
	const size_t len = strlen(table->head);

	if (line.len < len + 3 || memcmp(line.at, table->head, len))
		return -EPROTO;
	/* Another first number of the version: nothing can be relied upon. */
	if (line.at[len] != table->version[0] || line.at[len + 1] != '.' ||
	    !isdigit((unsigned char)line.at[len + 2]))
		return -EPROTO;
	return 0;
}

static const struct gp_column *find_column(const struct gp_table *table,
					   struct span word)
{
	size_t i;

	for (i = 0; i < table->n_columns; i++)
		if (span_is(word, table->columns[i].name))
			return &table->columns[i];
	return NULL;
}

static int parse_columns(const struct gp_table *table, struct span line,
			 struct layout *layout)
{
	bool first_seen = false;
	struct span word;
	size_t i;

	if (!take_word(&line, &word) || !span_is(word, "#"))
		return -EINVAL;
	while (take_word(&line, &word)) {
		const struct gp_column *column = find_column(table, word);

		if (layout->count == MAX_COLUMNS)
			return -EINVAL;
		for (i = 0; column && i < layout->count; i++)
			if (layout->columns[i] == column)
				return -EINVAL;
		first_seen |= column == table->columns;
		layout->columns[layout->count++] = column;
	}
	return first_seen ? 0 : -EINVAL;
}

static int parse_number(struct span word, unsigned int base, uint64_t max,
			int64_t *out)
{
	uint64_t value = 0;

	if (base == 16) {
		if (word.len < 3 || memcmp(word.at, "0x", 2))
			return -EINVAL;
		word.at += 2;
		word.len -= 2;
	}
	if (!word.len)
		return -EINVAL;
	for (; word.len; word.at++, word.len--) {
		int c = tolower((unsigned char)*word.at);
		unsigned int digit = isdigit(c) ? c - '0' :
				     isxdigit(c) ? c - 'a' + 10 : 16;

		if (digit >= base)
			return -EINVAL;
		if (digit > max || value > (max - digit) / base)
			return -EINVAL;
		value = value * base + digit;
	}
	*out = value;
	return 0;
}

static bool is_text(const struct gp_column *column)
{
	return column->size != sizeof(int64_t);
}

/* A text that is too long is cut: it is for people. */
static int parse_text(const struct gp_column *column, struct span word,
		      char *text)
{
	size_t len = word.len < column->size ? word.len : column->size - 1;

	if (span_is(word, GP_VIEW_UNKNOWN))
		len = 0;
	memcpy(text, word.at, len);
	text[len] = '\0';
	return 0;
}

static int parse_cell(const struct gp_table *table,
		      const struct gp_column *column, struct span word,
		      void *record)
{
	void *field = (char *)record + column->offset;
	/* What names the record is small everywhere. */
	uint64_t max = column == table->columns ? UINT32_MAX : INT64_MAX;

	if (is_text(column))
		return parse_text(column, word, field);
	if (span_is(word, GP_VIEW_UNKNOWN))
		return column == table->columns ? -EINVAL : 0;
	switch (column->kind) {
	case GP_VIEW_WORD:
		*(int64_t *)field = gp_word_number(column->name, word.at,
						   word.len);
		return 0;
	case GP_VIEW_SET:
		*(int64_t *)field = gp_word_set(column->name, word.at,
						word.len);
		return 0;
	case GP_VIEW_HEX:
		return parse_number(word, 16, max, field);
	case GP_VIEW_FLAG:
		if (!span_is(word, "0") && !span_is(word, "1"))
			return -EINVAL;
		/* fall through */
	default:
		return parse_number(word, 10, max, field);
	}
}

void gp_table_forget(const struct gp_table *table, void *record)
{
	size_t i;

	memset(record, 0, table->record_size);
	for (i = 0; i < table->n_columns; i++)
		if (!is_text(&table->columns[i]))
			*(int64_t *)((char *)record +
				     table->columns[i].offset) =
				GPREEMPT_UNKNOWN;
}

static int parse_record(const struct gp_table *table,
			const struct layout *layout, struct span line,
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
	size_t i, n = 0;

	for (i = 0; i < text.len; i++)
		n += text.at[i] == '\n';
	return n;
}

static int parse_records(const struct gp_table *table,
			 const struct layout *layout, struct span text,
			 void **out, size_t *count)
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
		if (ret)
			return ret;
		ret = parse_record(table, layout, line,
				   records + n * table->record_size);
		if (ret)
			return ret;
	}
	*out = records;
	*count = n;
	records = NULL;
	return 0;
}

int gp_table_parse(const struct gp_table *table, const char *buf, size_t len,
		   void **records, size_t *count)
{
	struct span text = { buf, len }, line;
	struct layout layout = { .count = 0 };
	int ret;

	if (take_line(&text, &line))
		return -EPROTO;
	ret = parse_head(table, line);
	if (ret)
		return ret;
	ret = take_line(&text, &line);
	if (ret)
		return ret;
	ret = parse_columns(table, line, &layout);
	if (ret)
		return ret;
	return parse_records(table, &layout, text, records, count);
}
