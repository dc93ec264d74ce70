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

/* Spans of a lane are drawn in their order, later ones above earlier ones. */
struct timeline_span {
	unsigned int lane;
	enum timeline_kind kind;
	uint64_t from_ns;
	uint64_t to_ns;
};

struct timeline {
	const char *title;
	const char *const *lanes; /* names */
	unsigned int left;	  /* room for them; 0: for short ones */
	size_t n_lanes;
	const struct timeline_span *spans;
	size_t n_spans;
	uint64_t from_ns; /* the left edge; what is outside is cut off */
	uint64_t to_ns;
};

void timeline_write(const struct timeline *t, FILE *out);

#endif
