/* SPDX-License-Identifier: GPL-2.0-only */
/* The pages of fake_page() and fake_event(), as tracefs.c gives them out. */
#ifndef FAKE_RING_BUFFER_H
#define FAKE_RING_BUFFER_H

#include <stdbool.h>

/* All pages so far, as a pipe: each CPU has one, of which only one is filled. */
int fake_pages_open(void);

/* The number of a function's event there: that of its entry is even. */
int fake_event_id(const char *symbol, bool leave);

#endif
