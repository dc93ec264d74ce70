// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/top/cells.h"
#include "shared/clean.h"

int top_screen_resize(struct top_screen *s, int width, int height)
{
	struct top_cell *cells = reallocarray(s->cells, (size_t)width * height + 1, sizeof(*cells));

	if (!cells)
		return -ENOMEM;
	s->cells = cells;
	s->width = width;
	s->height = height;
	top_screen_clear(s);
	return 0;
}

void top_screen_clear(struct top_screen *s)
{
	int i;

	for (i = 0; i < s->width * s->height; i++)
		s->cells[i] = (struct top_cell){ .text = L" " };
}

void top_screen_free(struct top_screen *s)
{
	free(s->cells);
	*s = (struct top_screen){ 0 };
}

/* The next character, and its columns: 0 combines with the one before. */
static size_t take(const struct top_screen *s, const char *text, wchar_t *c, int *columns)
{
	uint32_t code;
	size_t len = shr_take_utf8(text, &code);

	*c = code;
	*columns = len == 1 ? 1 : wcwidth(code);
	if (!len || *columns < 0 || (!s->utf8 && len > 1)) {
		*c = '?';
		*columns = 1;
	}
	return len ? len : 1;
}

int top_text_width(const struct top_screen *s, const char *text)
{
	int width = 0, columns;
	wchar_t c;

	while (*text) {
		text += take(s, text, &c, &columns);
		width += columns;
	}
	return width;
}

static struct top_cell *cell_at(struct top_screen *s, int y, int x)
{
	return &s->cells[y * s->width + x];
}

static void combine(struct top_cell *cell, wchar_t c)
{
	size_t len = wcslen(cell->text);

	if (len && len + 1 < ARRAY_SIZE(cell->text)) {
		cell->text[len] = c;
		cell->text[len + 1] = 0;
	}
}

static void put_character(struct top_screen *s, int y, int x, int columns, enum top_look look,
			  wchar_t c)
{
	*cell_at(s, y, x) = (struct top_cell){ { c }, look };
	/* Its right half. */
	if (columns == 2)
		*cell_at(s, y, x + 1) = (struct top_cell){ { 0 }, look };
}

int top_put(struct top_screen *s, int y, int x, int width, enum top_look look, const char *text)
{
	int end = width > s->width - x ? s->width : x + width, at = x, columns;
	wchar_t c;

	if (y < 0 || y >= s->height || x >= s->width || width <= 0)
		return x;
	while (*text) {
		text += take(s, text, &c, &columns);
		if (at + columns > end)
			break;
		if (columns)
			put_character(s, y, at, columns, look, c);
		else if (at > x && *cell_at(s, y, at - 1)->text)
			combine(cell_at(s, y, at - 1), c);
		at += columns;
	}
	while (at < end)
		put_character(s, y, at++, 1, look, ' ');
	return end;
}

int top_put_right(struct top_screen *s, int y, int x, int width, enum top_look look,
		  const char *text)
{
	int space = width - top_text_width(s, text);

	if (space > 0)
		x = top_put(s, y, x, space, look, "");
	return top_put(s, y, x, space > 0 ? width - space : width, look, text);
}

int top_put_foreign(struct top_screen *s, int y, int x, int width, enum top_look look,
		    const char *text)
{
	__cleanup_free char *clean = shr_clean_copy(text, false);

	return top_put(s, y, x, width, look, clean ? clean : "");
}

/* How high a point of the history is: 0 (none) to 4. */
static unsigned int height_of(const struct top_history *h, unsigned int ago)
{
	unsigned int percent = top_history_at(h, ago);

	return percent == TOP_NOTHING || !percent ? 0 : 1 + (percent - 1) / 25;
}

int top_put_history(struct top_screen *s, int y, int x, int width, enum top_look look,
		    const struct top_history *h)
{
	/* Dots of Unicode's braille, from below: left column, and right one. */
	static const unsigned int left[] = { 0, 0x40, 0x44, 0x46, 0x47 };
	static const unsigned int right[] = { 0, 0x80, 0xa0, 0xb0, 0xb8 };
	static const char levels[] = " .:|#";
	int i;

	if (y < 0 || y >= s->height)
		return x;
	for (i = 0; i < width && x + i < s->width; i++) {
		unsigned int ago = 2 * (width - 1 - i);
		unsigned int new = height_of(h, ago);
		unsigned int old = height_of(h, ago + 1);
		wchar_t c = new || old ? 0x2800 + left[old] + right[new] : ' ';

		if (!s->utf8)
			c = levels[new > old ? new : old];
		put_character(s, y, x + i, 1, look, c);
	}
	return x + i;
}

int top_put_bar(struct top_screen *s, int y, int x, int width, int64_t tenths, const char *text)
{
	int room = width - 2, i, len = top_text_width(s, text);
	int full = tenths <= 0 ? 0 : tenths >= 1000 ? room : (int)((tenths * room + 999) / 1000);

	if (room < len || x + width > s->width || y >= s->height)
		return x;
	top_put(s, y, x, 1, TOP_STRONG, "[");
	for (i = 0; i < room - len; i++)
		put_character(s, y, x + 1 + i, 1, i < full ? TOP_GOOD : TOP_PLAIN,
			      i < full ? '|' : ' ');
	top_put(s, y, x + 1 + room - len, len, TOP_PLAIN, text);
	return top_put(s, y, x + width - 1, 1, TOP_STRONG, "]");
}
