/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal, by ncurses; nothing else here knows of it. */
#ifndef CTL_TOP_TERM_H
#define CTL_TOP_TERM_H

#include "ctl/top/cells.h"

/*
 * Take the terminal. 0, or the exit status after an error message. A process that ends
 * by top_term_close() or by a crash leaves the terminal as it was.
 */
int top_term_open(void);
void top_term_close(void);

/* Does it show UTF-8? */
bool top_term_utf8(void);
/* Its size now. */
void top_term_size(int *width, int *height);
/* After a change of its size. */
void top_term_resize(int width, int height);
/* Show the cells; before is what it shows, or has another size: all is drawn. */
void top_term_draw(const struct top_screen *s, const struct top_screen *before);
/* The next key that was pressed, or TOP_KEY_NONE; does not wait. */
int top_term_key(void);

#endif
