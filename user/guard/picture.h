/* SPDX-License-Identifier: GPL-2.0-only */
/* When online had work and offline was suspended, of late: for a picture. */
#ifndef GUARD_PICTURE_H
#define GUARD_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define GUARD_LANES	16
#define GUARD_SPANS	8192
#define GUARD_WINDOW_NS 10000000000ULL

/* A target: when it was busy, if it is online, or suspended. */
struct guard_lane {
	char name[48];
	bool online;
	uint64_t since_ns; /* when it came */
	uint64_t until_ns; /* when it went; 0: it is there */
	uint64_t open_ns;  /* of the span that goes on; 0: none does */
};

struct guard_span {
	unsigned int lane;
	bool ran; /* although it was to be suspended */
	uint64_t from_ns;
	uint64_t to_ns;
};

struct guard_picture {
	struct guard_lane lane[GUARD_LANES];
	size_t n;
	size_t left_out; /* targets, ever, that got no lane */
	struct guard_span span[GUARD_SPANS]; /* the last ones */
	size_t spans;			     /* all that there were */
	uint64_t dropped_ns; /* until when some are missing; 0: never */
};

/*
 * The caller provides clock and lock for all functions from here to the
 * drawing. Returns the lane, or -1: no room, which all others take, and then do
 * nothing: @p may be NULL.
 */
int guard_picture_join(struct guard_picture *p, pid_t pid, const char *name,
		       bool online, uint64_t now);
void guard_picture_leave(struct guard_picture *p, int lane, uint64_t now);
void guard_picture_begin(struct guard_picture *p, int lane, uint64_t ns);
void guard_picture_end(struct guard_picture *p, int lane, uint64_t ns);
/* An offline one ran then, although it was to be suspended. */
void guard_picture_ran(struct guard_picture *p, int lane, uint64_t from,
		       uint64_t to);

/* The last GUARD_WINDOW_NS before now, but nothing before start. */
void guard_picture_draw(const struct guard_picture *p, uint64_t start,
			uint64_t now, bool simulated, FILE *out);

#endif
