/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Archives to send to others: the result of a trial, perhaps with a snapshot, without names of the
 * host, its users, containers and processes.
 */
#ifndef LAB_ARCHIVE_H
#define LAB_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Run a program, with that stdin, or -1: an empty one. Returns what it printed, for free(), at most
 * @max bytes, and its exit status; NULL: it was not run, printed more, or has not ended within 30 s
 * (-ETIMEDOUT).
 */
char *lab_run(char *const *argv, int in, size_t max, size_t *len, int *status);

/*
 * Put the result in place of the archive, if the bytes are one: the text of a file of that name. 0,
 * or the exit status after a message.
 */
int lab_archive_open(const char *name, char **text, size_t *len);

/* An archive that is to be made. */
struct lab_archive {
	const char *path;
	const char *snapshot; /* directory; NULL: none */
	bool full;	      /* with all names */
};

/* Make it of the text of a result. 0, or the exit status after a message; no file is left then. */
int lab_archive_make(const struct lab_archive *archive, const char *text, size_t len);

#endif
