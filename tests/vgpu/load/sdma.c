// SPDX-License-Identifier: GPL-2.0-only
/* SDMA packets in SDMA 4.4's form, and their completion. */
#include "sdma.h"

#include <string.h>

#define SDMA_NOP(dwords)  (((dwords) << 16) - (1u << 16))
#define SDMA_FENCE	  5u
#define SDMA_ATOMIC_ADD64 (10u | 0x2fu << 25)

/* Eight dwords of atomic, four of fence, four of nothing. */
static void write_group(struct load_sdma *sdma)
{
	uint32_t *p =
		(void *)(sdma->packets + (sdma->head * LOAD_SDMA_GROUP_BYTES & (sdma->bytes - 1)));
	uint64_t cell = (uintptr_t)sdma->cell, fence = (uintptr_t)sdma->fence;

	memset(p, 0, LOAD_SDMA_GROUP_BYTES);
	p[0] = SDMA_ATOMIC_ADD64;
	p[1] = (uint32_t)cell;
	p[2] = (uint32_t)(cell >> 32);
	p[3] = 1;
	p[8] = SDMA_FENCE;
	p[9] = (uint32_t)fence;
	p[10] = (uint32_t)(fence >> 32);
	p[11] = (uint32_t)(sdma->head + 1);
	p[12] = SDMA_NOP(4);
}

uint32_t load_sdma_fill(struct load_sdma *sdma, struct load_verdict *verdict)
{
	uint32_t n = 0;

	while (sdma->head - sdma->tail < LOAD_SDMA_DEPTH) {
		write_group(sdma);
		sdma->head++;
		verdict->submitted++;
		n++;
	}
	__atomic_store_n(sdma->write_index, sdma->head * LOAD_SDMA_GROUP_BYTES, __ATOMIC_RELEASE);
	return n;
}

/* The fence has the low 32 bits of the number of the last complete group. */
void load_sdma_retire(struct load_sdma *sdma, struct load_verdict *verdict)
{
	uint32_t done = __atomic_load_n(sdma->fence, __ATOMIC_ACQUIRE) - (uint32_t)sdma->tail;

	/* A fence that goes back, or past the last group, is out of order. */
	if (done > sdma->head - sdma->tail) {
		verdict->disordered++;
		return;
	}
	sdma->tail += done;
	verdict->completed += done;
}

/* A group that began but has no fence yet may have added its 1. */
void load_sdma_finish(struct load_sdma *sdma, struct load_verdict *verdict)
{
	uint64_t cell;

	load_sdma_retire(sdma, verdict);
	verdict->unfinished += sdma->head - sdma->tail;
	cell = __atomic_load_n(sdma->cell, __ATOMIC_ACQUIRE);
	if (cell < sdma->tail)
		verdict->lost += sdma->tail - cell;
	else if (cell > sdma->head || (sdma->head == sdma->tail && cell > sdma->tail))
		verdict->doubled += cell - sdma->tail;
}
