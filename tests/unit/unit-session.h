/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that the unit tests of sessions share, beside unit.h. */
#ifndef UNIT_SESSION_H
#define UNIT_SESSION_H

#include "unit.h"

extern struct gpreempt_session *s;
extern struct gpreempt_outcome out;

/* A filter for these ids. */
#define ONLY(...)                                                                      \
	(&(const struct gpreempt_filter){                                              \
		.ids = (const uint32_t[]){ __VA_ARGS__ },                              \
		.n_ids = sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), \
	})

/* Has the driver suspended this queue? */
bool suspended(uint32_t qid);

/* unit_setup(), and what a test leaves open is closed after it. */
void session_setup(void);
void session_teardown(void);
/* gpreempt_session_close() of s, which is NULL then. */
int close_session(void);

/* A thread of the process sleeps in the destruction of that queue, or seems to. */
void show_destruction(uint32_t qid);

/* s on a process with queues 0 to count - 1; forgets the calls so far. */
void open_with_queues(uint32_t count);

#endif
