/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines out of pieces of a text. A carriage return ends one, too: a progress bar
 * has many of them in what an editor shows as one line, whose number they share.
 */
#ifndef GP_TEXT_LINES_H
#define GP_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is behind it in a line is left out. */
#define GP_LINE_MAX 65536

struct gp_line {
	const char *at;
	size_t len;    /* without its end */
	bool cut;      /* longer than GP_LINE_MAX, or without an end */
	bool too_long; /* the former */
};

struct gp_lines {
	/* Gets each line, whose number is @number. 0 or -errno to stop. */
	int (*take)(void *data, struct gp_line line);
	void *data;
	uint64_t number;
	uint64_t count; /* of all files */
	char *carry;	/* start of a line whose end has not come */
	size_t carried;
	bool too_long;
	bool within; /* a carriage return came, and no end of line */
};

int gp_lines_feed(struct gp_lines *lines, const char *data, size_t len);
/* The text ends: what is left is a line. The next one has number 1. */
int gp_lines_end(struct gp_lines *lines);
void gp_lines_free(struct gp_lines *lines);

/* The number at *@at, which moves behind it. False: there is none up to @max. */
bool gp_line_number(const char **at, const char *end, unsigned int base, uint64_t max,
		    uint64_t *out);

#endif
