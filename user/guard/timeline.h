/* SPDX-License-Identifier: GPL-2.0-only */
/* Lanes of what happened when, as a picture (SVG). No files, no clock. */
#ifndef GUARD_TIMELINE_H
#define GUARD_TIMELINE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum timeline_kind {
	TIMELINE_ONLINE, /* a packet */
	TIMELINE_OFFLINE,
	TIMELINE_WORK, /* a time in which there were some */
	TIMELINE_RUNS,
	TIMELINE_HELD,
	TIMELINE_KINDS
};

struct timeline {
	FILE *out;
	const char *title;
	const char *const *lanes; /* names */
	size_t n_lanes;
	unsigned int left; /* room for the names */
	uint64_t from_ns;  /* the left edge; what is outside is cut off */
	uint64_t to_ns;	   /* no later than that: nothing is drawn */
};

void timeline_begin(const struct timeline *t);
/* Later ones are drawn above earlier ones. */
void timeline_span(const struct timeline *t, unsigned int lane,
		   enum timeline_kind kind, uint64_t from_ns, uint64_t to_ns);
void timeline_end(const struct timeline *t);

#endif
