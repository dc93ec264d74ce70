// SPDX-License-Identifier: GPL-2.0-only
/* Packets into a ring, completions out of it, each accounted for once. */
#include "ring.h"

#include <string.h>

static bool is_barrier(const struct load_ring *ring, uint64_t index)
{
	return ring->barrier_every && index % (ring->barrier_every + 1) == ring->barrier_every;
}

static uint32_t slot_of(const struct load_ring *ring, uint64_t index)
{
	return (uint32_t)(index & (ring->size - 1));
}

static uint64_t address_of(const volatile void *ptr)
{
	return (uintptr_t)ptr;
}

static void fill_dispatch(struct load_ring *ring, uint32_t slot, struct aql_dispatch *packet)
{
	struct vgpu_kernarg *arg = (void *)(ring->kernargs + slot * LOAD_KERNARG_STRIDE);
	uint32_t items = ring->workgroups ? LOAD_WORKGROUP_ITEMS : 1;
	uint32_t groups = ring->workgroups ? ring->workgroups : 1;

	*arg = (struct vgpu_kernarg){
		.magic = VGPU_KERNARG_MAGIC,
		.duration_ns = ring->packet_ns,
		.address = address_of(&ring->cells[slot]),
		.addend = 1,
	};
	*packet = (struct aql_dispatch){
		.header = AQL_TYPE_INVALID,
		.setup = 1,
		.workgroup = { (uint16_t)items, 1, 1 },
		.grid = { groups * items, 1, 1 },
		.kernarg = address_of(arg),
		.completion_signal = address_of(&ring->signals[slot]),
	};
}

/* Waits for the packet before it, which is what a barrier is there for. */
static void fill_barrier(struct load_ring *ring, uint32_t slot, struct aql_barrier *packet)
{
	uint32_t before = slot_of(ring, ring->head - 1);

	*packet = (struct aql_barrier){
		.header = AQL_TYPE_INVALID,
		.dep_signal = { address_of(&ring->signals[before]) },
		.completion_signal = address_of(&ring->signals[slot]),
	};
}

void load_ring_put(struct load_ring *ring, struct load_verdict *verdict)
{
	uint32_t slot = slot_of(ring, ring->head);
	union aql_packet *packet = &ring->packets[slot];
	uint16_t type;

	ring->signals[slot] = (struct amd_signal){ .kind = AMD_SIGNAL_USER, .value = 1 };
	if (is_barrier(ring, ring->head)) {
		type = AQL_TYPE_BARRIER_AND;
		fill_barrier(ring, slot, &packet->barrier);
	} else {
		type = AQL_TYPE_DISPATCH;
		fill_dispatch(ring, slot, &packet->dispatch);
	}
	/* The header makes the packet valid, so it goes last. */
	__atomic_store_n(&packet->header, type | AQL_BARRIER_BIT | AQL_SYSTEM_FENCES,
			 __ATOMIC_RELEASE);
	ring->head++;
	verdict->submitted++;
	__atomic_store_n(ring->write_index, ring->head, __ATOMIC_RELEASE);
}

/*
 * A slot is free when its packet is complete (kernarg, signal and cell are
 * ours again) and the GPU has moved read_dispatch_id past it.
 */
uint32_t load_ring_room(const struct load_ring *ring, uint32_t depth)
{
	uint64_t read = __atomic_load_n(ring->read_index, __ATOMIC_ACQUIRE);
	uint64_t oldest = read < ring->tail ? read : ring->tail;
	uint64_t used = ring->head - oldest;
	uint64_t in_flight = ring->head - ring->tail;

	if (used >= ring->size || in_flight >= depth)
		return 0;
	used = ring->size - used;
	in_flight = depth - in_flight;
	return (uint32_t)(used < in_flight ? used : in_flight);
}

static bool is_complete(const struct load_ring *ring, uint64_t index)
{
	const struct amd_signal *signal = &ring->signals[slot_of(ring, index)];

	return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) <= 0;
}

/* How many times did the slot's dispatch run since we last looked? */
static uint64_t take_marks(struct load_ring *ring, uint32_t slot)
{
	uint64_t cell = __atomic_load_n(&ring->cells[slot], __ATOMIC_ACQUIRE);
	uint64_t marks = cell - ring->seen[slot];

	ring->seen[slot] = cell;
	return marks;
}

/* Each packet has the barrier bit: it may not start before the last one ended. */
static bool in_order(struct load_ring *ring, const struct amd_signal *signal)
{
	bool ok = signal->start_ts >= ring->last_end && signal->end_ts >= signal->start_ts;

	ring->last_end = signal->end_ts;
	return ok;
}

static void account(struct load_ring *ring, struct load_verdict *verdict)
{
	uint32_t slot = slot_of(ring, ring->tail);
	const struct amd_signal *signal = &ring->signals[slot];
	uint64_t expected = is_barrier(ring, ring->tail) ? 0 : 1;
	uint64_t marks = take_marks(ring, slot);

	verdict->completed++;
	if (marks < expected)
		verdict->lost++;
	if (marks > expected)
		verdict->doubled += marks - expected;
	/* A signal that goes below zero was decremented twice. */
	if (signal->value < 0)
		verdict->doubled++;
	if (expected && !in_order(ring, signal))
		verdict->disordered++;
	ring->tail++;
}

uint32_t load_ring_retire(struct load_ring *ring, struct load_verdict *verdict)
{
	uint32_t done = 0;
	bool next;

	while (ring->tail < ring->head) {
		/* The later one is read first: seen complete alone, it overtook. */
		next = ring->tail + 1 < ring->head && is_complete(ring, ring->tail + 1);
		if (!is_complete(ring, ring->tail)) {
			if (next && ring->overtaken <= ring->tail) {
				verdict->disordered++;
				ring->overtaken = ring->tail + 1;
			}
			break;
		}
		account(ring, verdict);
		done++;
	}
	return done;
}

/* Nothing completes any more. A packet that a later one left behind is lost. */
static void abandon(struct load_ring *ring, struct load_verdict *verdict)
{
	uint64_t index, last = ring->tail;

	for (index = ring->tail; index < ring->head; index++)
		if (is_complete(ring, index))
			last = index + 1;
	while (ring->tail < last) {
		if (is_complete(ring, ring->tail)) {
			account(ring, verdict);
			continue;
		}
		verdict->lost++;
		take_marks(ring, slot_of(ring, ring->tail));
		ring->tail++;
	}
	verdict->unfinished += ring->head - ring->tail;
}

void load_ring_finish(struct load_ring *ring, struct load_verdict *verdict)
{
	uint64_t index, marks;
	uint32_t slot, used;

	load_ring_retire(ring, verdict);
	abandon(ring, verdict);
	/* One mark of an unfinished dispatch is none too many. */
	for (index = ring->tail; index < ring->head; index++) {
		marks = take_marks(ring, slot_of(ring, index));
		if (marks > 1)
			verdict->doubled += marks - 1;
	}
	/* Marks that came after a packet was accounted for. */
	used = ring->head < ring->size ? (uint32_t)ring->head : ring->size;
	for (slot = 0; slot < used; slot++)
		verdict->doubled += take_marks(ring, slot);
}

void load_verdict_add(struct load_verdict *sum, const struct load_verdict *one)
{
	sum->submitted += one->submitted;
	sum->completed += one->completed;
	sum->lost += one->lost;
	sum->doubled += one->doubled;
	sum->disordered += one->disordered;
	sum->unfinished += one->unfinished;
}

bool load_verdict_good(const struct load_verdict *verdict)
{
	return verdict->completed == verdict->submitted && !verdict->lost && !verdict->doubled &&
	       !verdict->disordered && !verdict->unfinished;
}
