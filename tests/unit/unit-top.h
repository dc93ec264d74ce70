/* SPDX-License-Identifier: GPL-2.0-only */
/* A made-up model of top, and its screen as text. */
#ifndef UNIT_TOP_H
#define UNIT_TOP_H

#include "ctl/top.h"
#include "unit.h"

extern struct top_model model;
extern struct top_view view;
extern struct top_screen screen;

/* Two GPUs, no process; the view of root. */
void top_setup(void);
void top_teardown(void);

/* A process with a queue on that GPU, for how long that takes tenths of a percent. */
struct top_process *add_process(int64_t pid, const char *command, int64_t gpu_id, int64_t busy,
				int64_t vram);
struct top_figure *add_figure(struct top_process *p, int64_t gpu_id, int64_t busy, int64_t vram);

/* Keys, and what is drawn then: the lines without blanks at their ends. */
void press(int key);
const char *drawn(int width, int height);
/* One line of what was drawn last. */
const char *line_at(int y);
/* How that cell looks. */
enum top_look look_at(int y, int x);
/* The PIDs of the lines, blanks between; a heading is its group in (). */
const char *order(void);

#endif
