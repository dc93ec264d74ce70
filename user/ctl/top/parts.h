/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of the screen. */
#ifndef CTL_TOP_PARTS_H
#define CTL_TOP_PARTS_H

#include "ctl/top/cells.h"
#include "ctl/top/view.h"

/* GPUs as bars, from line y on. Returns the line below. */
int top_draw_gpus(struct top_screen *s, int y, const struct top_model *m, const struct top_view *v);
/* Processes, up to the last line but one. */
void top_draw_list(struct top_screen *s, int y, const struct top_model *m, struct top_view *v);
/* A process alone, and the help; in all lines from y on but the last. */
void top_draw_details(struct top_screen *s, int y, const struct top_model *m, struct top_view *v);
void top_draw_help(struct top_screen *s, int y, struct top_view *v);

#endif
