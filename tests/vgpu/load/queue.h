/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOAD_QUEUE_H
#define LOAD_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "args.h"
#include "kfd.h"
#include "requests.h"
#include "ring.h"
#include "sdma.h"

enum load_queue_type {
	LOAD_COMPUTE,
	LOAD_SDMA,
};

/* A KFD user queue and all memory that belongs to it. */
struct load_queue {
	enum load_queue_type type;
	struct load_gpu *gpu;
	uint32_t id; /* KFD's queue id */
	bool exists;
	volatile uint64_t *doorbell;
	void *rptr, *wptr; /* in indices */
	struct load_buffer indices, ring_mem, eop, cwsr, work;
	struct load_ring ring; /* compute */
	struct load_sdma sdma; /* SDMA */
	struct load_verdict verdict;
	uint64_t next_due_ns; /* when a rate is kept: time of the next packet */
	struct load_requests requests;
};

/* Return 0 or -errno; *what names the step that failed. */
int load_queue_create(int kfd, struct load_gpu *gpu, enum load_queue_type type,
		      const struct load_args *args, struct load_queue *queue, const char **what);
/* The two parts of that: its memory and its ring, and then the queue itself. */
int load_queue_prepare(int kfd, struct load_gpu *gpu, enum load_queue_type type,
		       const struct load_args *args, struct load_queue *queue);
int load_queue_start(int kfd, const struct load_args *args, struct load_queue *queue,
		     const char **what);
int load_queue_destroy(int kfd, struct load_queue *queue);
/* Gives the memory back; the queue must be gone. */
void load_queue_free(int kfd, struct load_queue *queue);

/* Functions for both types of queues; idle SDMA queues have nothing in flight. */
void load_queue_retire(struct load_queue *queue);
void load_queue_finish(struct load_queue *queue);
bool load_queue_drained(const struct load_queue *queue);

const char *load_queue_type_name(enum load_queue_type type);

#endif
