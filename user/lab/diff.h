/* SPDX-License-Identifier: GPL-2.0-only */
/* Comparison of two texts; diff and experiment print it. */
#ifndef LAB_DIFF_H
#define LAB_DIFF_H

#include "load.h"

enum diff_side {
	DIFF_A,
	DIFF_B,
	DIFF_BOTH,
};

#define DIFF_KEYS 4

/* A row: something that one side has, or both. */
struct diff_row {
	int64_t key[DIFF_KEYS]; /* its identity: compared, and sorted by */
	int64_t pid_a;
	int64_t pid_b;
	const char *in; /* the side as a word */
	enum diff_side side;
};

struct diff_counts {
	uint64_t of[DIFF_BOTH + 1];
};

struct diff_rows {
	struct diff_row *rows; /* sorted */
	size_t n;
	struct diff_counts counts;
};

struct diff {
	/* Queues by process (0 when two are compared), GPU and queue id. */
	struct diff_rows queues;
	/* Slots by GPU, XCC, pipe and queue. */
	struct diff_rows slots;
	/* Rings by process and GPU: mqds alone has no ids of queues. */
	struct diff_rows rings;
	int64_t queues_a; /* number of queues in mqds; or unknown */
	int64_t queues_b;
	bool other_process; /* the two sides are different processes */
	bool ids_known;
	bool slots_known;
	bool rings_known;
};

/* Verdicts on an overlap. */
enum diff_verdict {
	DIFF_CONSISTENT, /* more than 0.8 in common */
	DIFF_PARTLY,	 /* more than 0.5 */
	DIFF_NOT,
	DIFF_UNKNOWN,
};

enum diff_verdict diff_judge(double overlap);
const char *diff_verdict_name(enum diff_verdict verdict);

/* Compare these processes; 0: all processes. */
void diff_make(const struct ctl_text *a, int64_t pid_a, const struct ctl_text *b, int64_t pid_b,
	       struct diff *diff);
void diff_free(struct diff *diff);

/* Queues of several moments, and how far the pointers of their slots moved. */
struct seen {
	struct seen_queue *items; /* for free() */
	size_t count;
};

/* Add the queues of a moment, of a process (0: of all); without mqds, the slots. */
void seen_add(struct seen *seen, const struct ctl_text *text, int64_t pid, const char *moment);
struct json_object *seen_json(const struct seen *seen);
/* Print the queues, and which of them wait and do not move. */
void seen_print(enum out_mode mode, const struct seen *seen);

/* Common ones, out of the larger of both sides; -1 when there are none at all. */
double diff_overlap(const struct diff_counts *counts);

#endif
