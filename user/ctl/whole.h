/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that are whole at any time: a reader sees the old one or the new one. */
#ifndef CTL_WHOLE_H
#define CTL_WHOLE_H

#include <stdio.h>

struct whole {
	const char *path;
	char next[4096];	/* the new one, until it is whole */
	FILE *f;
};

/*
 * Before the work begins whose outcome it is to have: can @path be written?
 * @what is it called? 0, or an exit status, with the reason told.
 */
int whole_check(const char *what, const char *path);

/* Where to print it; NULL, with a note, when it can't be. */
FILE *whole_begin(struct whole *w, const char *path);
/* A note when it can't be: the disk may be full. The old file stays then. */
void whole_end(struct whole *w);

#endif
