/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ROCr queue with what its packets need, and the account of its dispatches:
 * each adds 1 to its own cell, so that a lost or a doubled one shows.
 */
#ifndef ROCM_QUEUE_H
#define ROCM_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "../vgpu.h"
#include "gpus.h"

struct rocm_verdict {
	uint64_t submitted;
	uint64_t completed;  /* number in the completion signal */
	uint64_t lost;	     /* completed and left no mark */
	uint64_t doubled;    /* marks too many */
	uint64_t disordered; /* left their mark after a later one had completed */
	uint64_t unfinished; /* not complete when we stopped waiting */
};

struct rocm_queue {
	hsa_queue_t *queue;
	hsa_signal_t signal;	       /* starts at ROCM_SIGNAL_START, each dispatch takes 1 */
	struct vgpu_kernarg *kernargs; /* one a slot */
	uint64_t *cells;	       /* one a slot, the GPU's marks */
	uint64_t *seen;		       /* cells as they were last accounted for */
	uint64_t head;		       /* dispatches written */
	uint64_t tail;		       /* dispatches accounted for */
	uint64_t extra;		       /* completions beyond head that were counted */
	uint64_t packet_ns;
	struct rocm_verdict verdict;
};

#define ROCM_SIGNAL_START INT64_MAX

/* @error points at a flag that ROCr sets when it reports an error of the queue. */
hsa_status_t rocm_queue_create(const struct rocm_gpus *gpus, unsigned int gpu, uint32_t size,
			       uint64_t packet_ns, bool *error, struct rocm_queue *queue);
hsa_status_t rocm_queue_destroy(struct rocm_queue *queue);

/* How many dispatches there is room for, with at most @depth in flight. */
uint32_t rocm_queue_room(const struct rocm_queue *queue, uint32_t depth);
void rocm_queue_put(struct rocm_queue *queue, uint32_t n);

/* Accounts for dispatches that are complete. Returns how many. */
uint64_t rocm_queue_retire(struct rocm_queue *queue);
/* The last look, once no packet can run any more. */
void rocm_queue_finish(struct rocm_queue *queue);

/* A kernel dispatch's packet for @queue, valid once its header is written. */
hsa_kernel_dispatch_packet_t *rocm_dispatch_at(hsa_queue_t *queue, uint64_t index, void *kernarg,
					       hsa_signal_t signal);
void rocm_packet_commit(void *packet, hsa_packet_type_t type, uint16_t second);

#endif
