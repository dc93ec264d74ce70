/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Output that never waits for its reader: a process that holds targets must
 * beat in time, also when its terminal is stopped (Ctrl-S) or the reader of its
 * pipe sleeps. What the reader does not take is dropped and counted.
 */
#ifndef AGENT_LOSSY_OUTPUT_H
#define AGENT_LOSSY_OUTPUT_H

#include <stdio.h>

/*
 * Have *stream write to its descriptor without waiting.
 * What is written up to an fflush() is written whole or dropped whole, but for what a terminal
 * takes in parts. notice is a line with one %zu: how many lines were dropped; it comes before
 * the next line that the reader takes, or at the end. 0, or -errno: *stream is as it was.
 */
int lossy_output_start(FILE **stream, const char *notice);

/* stdout and stderr. -EOPNOTSUPP: this C library has no way, and they may wait. */
int lossy_output_start_both(const char *out_notice, const char *err_notice);

#endif
