/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests: packets that come together, at random times that a seed decides, or such a burst and
 * steps after it; and what became of each burst and step. Plain memory, no KFD.
 */
#ifndef LOAD_REQUESTS_H
#define LOAD_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "args.h"
#include "ring.h"

/* A burst, or a step. Times are ns of CLOCK_MONOTONIC, which the simulated GPU's signals have. */
struct load_request {
	uint64_t arrival_ns; /* when it was due; late is our fault, and counts */
	uint64_t submit_ns;
	uint64_t start_ns; /* start of its first packet */
	uint64_t end_ns;   /* end of its last packet; 0: not done */
	uint64_t first;	   /* its first packet in the ring */
	uint64_t last;
};

struct load_requests {
	uint64_t random;  /* state; 0: not begun */
	uint64_t next_ns; /* arrival of the next one */
	struct load_request *list;
	size_t n, room;
	size_t done; /* number of requests that are done: the first ones */
};

/*
 * How many of the @room packets are to be put now: whole requests that are due.
 * Without a mean gap all are due. Sets the length of the packets in the ring.
 */
uint64_t load_requests_due(struct load_requests *r, const struct load_args *args,
			   struct load_ring *ring, uint64_t now_ns, uint64_t room);
/* Is a request due, or under way? */
bool load_requests_open(const struct load_requests *r, const struct load_args *args,
			uint64_t now_ns);
/* Before a slot is reused: record when its packet began and ended. */
void load_requests_collect(struct load_requests *r, const struct load_ring *ring);
void load_requests_write(const struct load_requests *r, const struct load_args *args, FILE *out);

#endif
