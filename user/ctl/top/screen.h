/* SPDX-License-Identifier: GPL-2.0-only */
/* The screen as a function of what there is, what the user chose, and its size. */
#ifndef CTL_TOP_SCREEN_H
#define CTL_TOP_SCREEN_H

#include "ctl/top/cells.h"
#include "ctl/top/view.h"

/*
 * Draw all of it. The lines of m are those of top_view_settle(). v learns how long a page
 * of the list is, and how far a long page can be moved.
 */
void top_draw(struct top_screen *s, const struct top_model *m, struct top_view *v);

#endif
