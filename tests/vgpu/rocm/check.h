/* SPDX-License-Identifier: GPL-2.0-only */
/* hsa-check: one function of ROCr after the other. */
#ifndef ROCM_CHECK_H
#define ROCM_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../vgpu.h"
#include "gpus.h"

#define MS 1000000ULL

struct check {
	struct rocm_gpus gpus;
	hsa_queue_t *queue;	       /* on the first GPU */
	uint64_t index;		       /* index of the next packet */
	bool error;		       /* ROCr reported an error of a queue */
	struct vgpu_kernarg *kernargs; /* one a packet of the queue */
	uint64_t *cell;		       /* dispatches add to it */
};

/* Checks. All return 0, or -1 after a line about the error. */
int check_barrier_and(struct check *c);
int check_barrier_or(struct check *c);
int check_barrier_value(struct check *c);
int check_dispatch(struct check *c);
int check_wait_interrupt(struct check *c);
int check_wait_polling(struct check *c);
int check_handler(struct check *c);
int check_profiling(struct check *c);
int check_queues(struct check *c);

int check_copy(struct check *c);
int check_copy_rect(struct check *c);
int check_copy_peer(struct check *c);
int check_copy_after(struct check *c);
int check_fill(struct check *c);
int check_lock(struct check *c);

int check_unserved(struct check *c);
int check_refused_ioctls(struct check *c);

/* check_help.c */
int check_new_signal(int64_t value, hsa_signal_t *signal);
void check_put_dispatch(struct check *c, uint64_t duration_ns, uint64_t addend,
			hsa_signal_t signal);
void check_put_barrier(struct check *c, hsa_packet_type_t type, const hsa_signal_t *deps,
		       unsigned int n, hsa_signal_t signal);
void check_ring(struct check *c);
/* Is it 0 within so many ms? */
bool check_zero_within(hsa_signal_t signal, unsigned int ms);

#define MUST(condition)                                       \
	do {                                                  \
		if (!(condition)) {                           \
			printf("  not so: %s\n", #condition); \
			return -1;                            \
		}                                             \
	} while (0)

#endif
