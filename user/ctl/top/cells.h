/* SPDX-License-Identifier: GPL-2.0-only */
/* A screen of cells, which no terminal has to be there for. */
#ifndef CTL_TOP_CELLS_H
#define CTL_TOP_CELLS_H

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

#include "ctl/top/model.h"

/* How a cell looks; term.c has the terminal's way for each. */
enum top_look {
	TOP_PLAIN,
	TOP_STRONG,
	TOP_FAINT,
	TOP_HEADING,
	TOP_SELECTED,
	TOP_GOOD,
	TOP_WARNING,
	TOP_LOOKS
};

struct top_cell {
	wchar_t text[4]; /* a character and what combines with it; "": see left */
	uint32_t look;	 /* enum top_look */
};

struct top_screen {
	int width;
	int height;
	bool utf8;		/* else ASCII alone */
	struct top_cell *cells; /* line by line */
};

/* Make all of it blank, in another size perhaps. 0 or -ENOMEM. */
int top_screen_resize(struct top_screen *s, int width, int height);
void top_screen_clear(struct top_screen *s);
void top_screen_free(struct top_screen *s);

/*
 * Put a harmless text in width columns: what is too long is cut, and the rest is blank.
 * Returns the column behind them, which a text never passes, nor the edge.
 */
int top_put(struct top_screen *s, int y, int x, int width, enum top_look look, const char *text);
int top_put_right(struct top_screen *s, int y, int x, int width, enum top_look look,
		  const char *text);
/* The same for others' bytes. */
int top_put_foreign(struct top_screen *s, int y, int x, int width, enum top_look look,
		    const char *text);
/* Columns that a harmless text takes. */
int top_text_width(const struct top_screen *s, const char *text);

/* Two refreshes a cell, the last one at the right. */
int top_put_history(struct top_screen *s, int y, int x, int width, enum top_look look,
		    const struct top_history *h);
/* A bar with a text at its right end; tenths of a percent, or GPREEMPT_UNKNOWN. */
int top_put_bar(struct top_screen *s, int y, int x, int width, int64_t tenths, const char *text);

#endif
