/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of what a text says; decode, diff and experiment print them. */
#ifndef CTL_TEXT_DECODE_H
#define CTL_TEXT_DECODE_H

#include "output/table.h"
#include "ctl/text/load.h"

/* The queues as rows, of a process (0: of all). */
void decode_print_queues(enum out_mode mode, const struct ctl_text *text, int64_t pid);

/* Is there such a process in the text? */
bool decode_has_pid(const struct ctl_text *text, int64_t pid);

/* The whole text as one object of JSON. */
struct json_object *decode_json(const struct ctl_text *text, int64_t pid);

/* The run lists, as an array. */
struct json_object *decode_json_packets(const struct ctl_text *text, int64_t pid);
/* And as rows, if there are any. */
void decode_print_packets(enum out_mode mode, const struct ctl_text *text, int64_t pid);

/* The first problems as rows, and a note of how many more there are. */
void decode_print_problems(enum out_mode mode, const struct ctl_text *text, size_t most);

/* Is each queue in all its slots, and each slot a queue's? Or unknown. */
int64_t decode_adds_up(const struct gp_text_check *sum);

/*
 * A directory that has snapshots in it: one line for each, with what changed;
 * only of that process, or 0: of all.
 * Returns the exit status.
 */
int decode_series(enum out_mode mode, uint64_t pid, const char *dir);
/* Are there snapshots in it? */
bool decode_is_series(const char *dir);

#endif
