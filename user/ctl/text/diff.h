/* SPDX-License-Identifier: GPL-2.0-only */
/* Two texts against each other; diff and experiment print it. */
#ifndef CTL_TEXT_DIFF_H
#define CTL_TEXT_DIFF_H

#include "ctl/text/decode.h"

enum diff_side {
	DIFF_A,
	DIFF_B,
	DIFF_BOTH,
};

/* The members with a heading are the keys of JSON. */
struct diff_queue {
	int64_t gpu_id;
	int64_t queue_id;
	int64_t pid_a;
	int64_t pid_b;
	const char *in;
	int64_t key; /* process, when all are compared */
	enum diff_side side;
};

struct diff_slot {
	int64_t gpu_id;
	int64_t xcc;
	int64_t pipe;
	int64_t queue;
	int64_t pid_a;
	int64_t pid_b;
	const char *in;
	enum diff_side side;
};

struct diff_counts {
	uint64_t of[DIFF_BOTH + 1];
};

struct diff {
	struct diff_queue *queues;
	size_t n_queues;
	struct diff_slot *slots;
	size_t n_slots;
	struct diff_counts queue_counts, slot_counts;
	/* By process, GPU and ring: what mqds alone has of queues. */
	struct diff_counts ring_counts;
	int64_t queues_a; /* of mqds; or unknown */
	int64_t queues_b;
	bool other_process; /* not the same one in both */
	bool ids_known;
	bool slots_known;
	bool rings_known;
};

/* What an overlap means. */
enum diff_verdict {
	DIFF_CONSISTENT, /* more than 0.8 in common */
	DIFF_PARTLY,	 /* more than 0.5 */
	DIFF_NOT,
	DIFF_UNKNOWN,
};

enum diff_verdict diff_judge(double overlap);
const char *diff_verdict_name(enum diff_verdict verdict);

/* Of these processes, 0: of all. */
void diff_make(const struct ctl_text *a, int64_t pid_a,
	       const struct ctl_text *b, int64_t pid_b, struct diff *diff);
void diff_free(struct diff *diff);

/* Common ones, out of the larger of both sides; -1 when there are none at all. */
double diff_overlap(const struct diff_counts *counts);

#endif
