/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several processes at once, each over a made-up driver of its own: what a
 * thread does to its process touches only that driver.
 */
#ifndef UNIT_GANG_H
#define UNIT_GANG_H

#include "unit.h"

#define COUNT 3
#define FIRST 5000 /* their PIDs begin there */

/* Process n has its queues 0 and 1 on GPU n + 1, of 3. */
extern struct gp_loop loops[COUNT];
extern struct gpreempt_gang *gang;
extern struct gpreempt_error gang_err; /* error of the last process that was added */

void gang_setup(void);
void gang_teardown(void);
/* A file of process @i, the @n-th that a test adds: 5 to 7. @format takes its PID. */
void gang_file(int i, int n, const char *format, const char *text);
void gang_add_all(void);
bool gang_held(int i, uint32_t qid);

#endif
