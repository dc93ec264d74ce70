/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work for an SDMA queue: groups of packets that add 1 to a cell and then write
 * the group's number to a fence. Plain memory, as ring.h.
 */
#ifndef LOAD_SDMA_H
#define LOAD_SDMA_H

#include <stdint.h>

#include "ring.h"

#define LOAD_SDMA_GROUP_BYTES 64 /* divides each ring */
#define LOAD_SDMA_DEPTH	      8	 /* groups in flight */

struct load_sdma {
	uint8_t *packets;
	uint32_t bytes;			/* bytes in the ring, a power of two */
	volatile uint64_t *write_index; /* in bytes, counted on */
	uint64_t *cell;
	volatile uint32_t *fence;
	uint64_t head; /* groups written */
	uint64_t tail; /* groups found complete */
};

/* Writes groups until enough are in flight. Returns how many. */
uint32_t load_sdma_fill(struct load_sdma *sdma, struct load_verdict *verdict);

/* Accounts for groups that are complete. */
void load_sdma_retire(struct load_sdma *sdma, struct load_verdict *verdict);

/* The last look, once nothing can run any more. */
void load_sdma_finish(struct load_sdma *sdma, struct load_verdict *verdict);

#endif
