/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring's arithmetic and the verdict on its packets: plain memory, no KFD,
 * so that unit tests can play the GPU.
 */
#ifndef LOAD_RING_H
#define LOAD_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "../vgpu.h"
#include "aql.h"

#define LOAD_KERNARG_STRIDE  64
#define LOAD_WORKGROUP_ITEMS 256

/* Memory that the GPU reads and writes: one entry of each array a ring slot. */
struct load_ring {
	union aql_packet *packets;
	struct amd_signal *signals;
	uint8_t *kernargs;		/* LOAD_KERNARG_STRIDE bytes a slot */
	uint64_t *cells;		/* a dispatch adds 1 to its slot's cell */
	volatile uint64_t *read_index;	/* read_dispatch_id, GPU writes */
	volatile uint64_t *write_index; /* write_dispatch_id, we write */

	uint64_t *seen;		/* cells as they were last accounted for */
	uint32_t size;		/* slots, a power of two */
	uint32_t barrier_every; /* 0: dispatches only */
	uint32_t workgroups;	/* workgroups of a dispatch; 0: one of a single work-item */
	uint64_t packet_ns;

	uint64_t head;	    /* packets written */
	uint64_t tail;	    /* packets found complete */
	uint64_t overtaken; /* packets below this index were counted as overtaken */
	uint64_t last_end;  /* end_ts of the last dispatch found complete */
};

struct load_verdict {
	uint64_t submitted;
	uint64_t completed;
	uint64_t lost;	     /* left no mark, or never completed while later ones did */
	uint64_t doubled;    /* left more than one mark */
	uint64_t disordered; /* completed before an earlier one */
	uint64_t unfinished; /* not complete when we stopped waiting */
};

/* Writes one packet; the doorbell is the caller's. The slot must be free. */
void load_ring_put(struct load_ring *ring, struct load_verdict *verdict);

/* How many packets may be put now, with at most @depth in flight. */
uint32_t load_ring_room(const struct load_ring *ring, uint32_t depth);

/* Accounts for packets that are complete. Returns how many. */
uint32_t load_ring_retire(struct load_ring *ring, struct load_verdict *verdict);

/* The last look, once no packet can run any more. */
void load_ring_finish(struct load_ring *ring, struct load_verdict *verdict);

void load_verdict_add(struct load_verdict *sum, const struct load_verdict *one);
bool load_verdict_good(const struct load_verdict *verdict);

#endif
