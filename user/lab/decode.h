/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of a text's facts; decode, diff and experiment print them. */
#ifndef LAB_DECODE_H
#define LAB_DECODE_H

#include "cli/table.h"
#include "load.h"

/* Is there such a process in the text? */
bool decode_has_pid(const struct ctl_text *text, int64_t pid);

/*
 * Print a directory of snapshots: one line for each, with the changes; only of that process, or
 * 0: of all. Returns the exit status.
 */
int decode_series(enum out_mode mode, uint64_t pid, const char *dir);
/* Are there several snapshots in the directory? */
bool decode_is_series(const char *dir);

#endif
