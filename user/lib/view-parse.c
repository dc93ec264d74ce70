// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text of gpreempt.ko's queues file. Its format is in view.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <gpreempt/view.h>

#include "lib/internal.h"

#define MAX_COLUMNS 64

/* A stretch of the text that is being parsed. */
struct span {
	const char *at;
	size_t len;
};

static const struct column {
	const char *name;
	enum gp_view_kind kind;
	size_t offset;		/* of an int64_t in struct gpreempt_queue */
} columns[] = {
#define COLUMN(name, kind) \
	{ #name, GP_VIEW_##kind, offsetof(struct gpreempt_queue, name) },
	GP_VIEW_QUEUES_COLUMNS(COLUMN)
#undef COLUMN
};

static const char *const type_words[] = {
	GP_VIEW_QUEUE_TYPES(GP_VIEW_QUEUE_TYPE_WORD)
};

_Static_assert((int)GPREEMPT_QUEUE_COMPUTE_AQL ==
	       (int)GP_VIEW_QUEUE_COMPUTE_AQL &&
	       (int)GPREEMPT_QUEUE_COMPUTE_PM4 ==
	       (int)GP_VIEW_QUEUE_COMPUTE_PM4 &&
	       (int)GPREEMPT_QUEUE_SDMA == (int)GP_VIEW_QUEUE_SDMA &&
	       (int)GPREEMPT_QUEUE_SDMA_XGMI == (int)GP_VIEW_QUEUE_SDMA_XGMI,
	       "the types of the view and of the library have one numbering");

/* What the columns of this text are; NULL: one that we do not know. */
struct layout {
	const struct column *columns[MAX_COLUMNS];
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

static int parse_head(struct span line)
{
	static const char head[] = GP_VIEW_QUEUES_NAME " - version: ";
	const size_t len = sizeof(head) - 1;

	if (line.len < len || memcmp(line.at, head, len))
		return -EPROTO;
	/* Another first number of the version: nothing can be relied upon. */
	if (line.len < len + 3 || line.at[len + 1] != '.' ||
	    line.at[len] != GP_VIEW_QUEUES_VERSION[0] ||
	    !isdigit((unsigned char)line.at[len + 2]))
		return -EPROTO;
	return 0;
}

static const struct column *find_column(struct span word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (span_is(word, columns[i].name))
			return &columns[i];
	return NULL;
}

static int parse_columns(struct span line, struct layout *layout)
{
	bool qid_seen = false;
	struct span word;
	size_t i;

	if (!take_word(&line, &word) || !span_is(word, "#"))
		return -EINVAL;
	while (take_word(&line, &word)) {
		const struct column *column = find_column(word);

		if (layout->count == MAX_COLUMNS)
			return -EINVAL;
		for (i = 0; column && i < layout->count; i++)
			if (layout->columns[i] == column)
				return -EINVAL;
		if (column == &columns[0])
			qid_seen = true;
		layout->columns[layout->count++] = column;
	}
	return qid_seen ? 0 : -EINVAL;
}

static int parse_number(struct span word, unsigned int base, int64_t *out)
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
		value = value * base + digit;
		if (value > UINT32_MAX)
			return -EINVAL;
	}
	*out = value;
	return 0;
}

static int64_t parse_type(struct span word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(type_words); i++)
		if (span_is(word, type_words[i]))
			return i;
	/* A newer module may know more types. */
	return GPREEMPT_UNKNOWN;
}

static int parse_cell(const struct column *column, struct span word,
		      struct gpreempt_queue *queue)
{
	int64_t *field = (int64_t *)((char *)queue + column->offset);

	if (span_is(word, GP_VIEW_UNKNOWN))
		return column == &columns[0] ? -EINVAL : 0;
	switch (column->kind) {
	case GP_VIEW_WORD:
		*field = parse_type(word);
		return 0;
	case GP_VIEW_HEX:
		return parse_number(word, 16, field);
	case GP_VIEW_FLAG:
		if (!span_is(word, "0") && !span_is(word, "1"))
			return -EINVAL;
		/* fall through */
	default:
		return parse_number(word, 10, field);
	}
}

static int parse_record(const struct layout *layout, struct span line,
			struct gpreempt_queue *queue)
{
	struct span word;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		*(int64_t *)((char *)queue + columns[i].offset) =
			GPREEMPT_UNKNOWN;
	for (i = 0; i < layout->count; i++) {
		int ret;

		if (!take_word(&line, &word))
			return -EINVAL;
		if (!layout->columns[i])
			continue;
		ret = parse_cell(layout->columns[i], word, queue);
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

static int compare_queues(const void *a, const void *b)
{
	const struct gpreempt_queue *x = a, *y = b;

	return (x->qid > y->qid) - (x->qid < y->qid);
}

static int parse_records(const struct layout *layout, struct span text,
			 struct gpreempt_view *view)
{
	struct span line;
	int ret;

	view->queues = calloc(count_lines(text) + 1, sizeof(*view->queues));
	if (!view->queues)
		return -ENOMEM;
	while (text.len) {
		ret = take_line(&text, &line);
		if (ret)
			return ret;
		ret = parse_record(layout, line, &view->queues[view->count]);
		if (ret)
			return ret;
		view->count++;
	}
	qsort(view->queues, view->count, sizeof(*view->queues),
	      compare_queues);
	return 0;
}

int gpreempt_view_parse(const char *buf, size_t len,
			struct gpreempt_view **out)
{
	struct span text = { buf, len }, line;
	struct layout layout = { .count = 0 };
	struct gpreempt_view *view;
	int ret;

	ret = take_line(&text, &line);
	if (ret)
		return -EPROTO;
	ret = parse_head(line);
	if (ret)
		return ret;
	ret = take_line(&text, &line);
	if (ret)
		return ret;
	ret = parse_columns(line, &layout);
	if (ret)
		return ret;
	view = calloc(1, sizeof(*view));
	if (!view)
		return -ENOMEM;
	view->source = GPREEMPT_SOURCE_MODULE;
	ret = parse_records(&layout, text, view);
	if (ret) {
		gpreempt_view_free(view);
		return ret;
	}
	*out = view;
	return 0;
}

const char *gpreempt_queue_type_name(int64_t type)
{
	if (type == GPREEMPT_QUEUE_COMPUTE)
		return "compute";
	if (type < 0 || type >= (int64_t)ARRAY_SIZE(type_words))
		return GP_VIEW_UNKNOWN;
	return type_words[type];
}
