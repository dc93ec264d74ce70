/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A snapshot's files in memory, because 20,000 directories would take minutes. A list of
 * them is a text: a line of "@" and a path, then the file's text up to the
 * newline before the next such line.
 */
#ifndef FUZZ_FILES_H
#define FUZZ_FILES_H

#include <stddef.h>

struct gpreempt;
struct gpreempt_options;

/* These files from now on. The text is changed, and stays the caller's. */
void fuzz_files_take(char *text, size_t len);

/* Do the same as gpreempt_new() on a snapshot. */
int fuzz_files_open(const struct gpreempt_options *options, struct gpreempt **out);

#endif /* FUZZ_FILES_H */
