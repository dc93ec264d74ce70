// SPDX-License-Identifier: GPL-2.0-only
/*
 * vgpu-load's verdict: a GPU and an SDMA engine that are played by the test lose, double and
 * reorder.
 */
#include "../vgpu/load/ring.h"
#include "../vgpu/load/sdma.h"
#include "unit.h"

#define SLOTS 64

static struct load_ring ring;
static struct load_verdict verdict;
static uint64_t read_index, write_index, clock_ticks;

static void setup(void)
{
	memset(&ring, 0, sizeof(ring));
	memset(&verdict, 0, sizeof(verdict));
	read_index = write_index = 0;
	clock_ticks = 1000;
	ring.size = SLOTS;
	ring.packet_ns = 1000;
	ring.packets = calloc(SLOTS, sizeof(*ring.packets));
	ring.signals = calloc(SLOTS, sizeof(*ring.signals));
	ring.kernargs = calloc(SLOTS, LOAD_KERNARG_STRIDE);
	ring.cells = calloc(SLOTS, sizeof(*ring.cells));
	ring.seen = calloc(SLOTS, sizeof(*ring.seen));
	ring.read_index = &read_index;
	ring.write_index = &write_index;
}

static void teardown(void)
{
	free(ring.packets);
	free(ring.signals);
	free(ring.kernargs);
	free(ring.cells);
	free(ring.seen);
}

static void put(unsigned int n)
{
	while (n--)
		load_ring_put(&ring, &verdict);
}

static struct amd_signal *signal_of(const union aql_packet *packet)
{
	return (void *)(uintptr_t)packet->dispatch.completion_signal;
}

/* Runs a packet's effect so many times, without completing it. */
static void run_effect(uint64_t index, unsigned int times)
{
	const union aql_packet *packet = &ring.packets[index % SLOTS];
	const struct vgpu_kernarg *arg = (void *)(uintptr_t)packet->dispatch.kernarg;

	ck_assert_uint_eq(packet->header & 0xff, AQL_TYPE_DISPATCH);
	ck_assert_uint_eq(arg->magic, VGPU_KERNARG_MAGIC);
	ck_assert_uint_eq(arg->duration_ns, 1000);
	while (times--)
		*(uint64_t *)(uintptr_t)arg->address += arg->addend;
}

static void complete(uint64_t index)
{
	struct amd_signal *signal = signal_of(&ring.packets[index % SLOTS]);

	signal->start_ts = clock_ticks;
	clock_ticks += 100;
	signal->end_ts = clock_ticks;
	signal->value--;
}

static void run(uint64_t index)
{
	run_effect(index, 1);
	complete(index);
	read_index = index + 1;
}

TEST(exactly_once)
{
	uint64_t i;

	for (i = 0; i < 10 * SLOTS; i++) {
		put(1);
		ck_assert_uint_eq(write_index, i + 1);
		run(i);
		ck_assert_uint_eq(load_ring_retire(&ring, &verdict), 1);
	}
	load_ring_finish(&ring, &verdict);
	ck_assert_uint_eq(verdict.completed, 10 * SLOTS);
	ck_assert(load_verdict_good(&verdict));
}

TEST(lost)
{
	put(3);
	run(0);
	complete(1);
	run(2);
	ck_assert_uint_eq(load_ring_retire(&ring, &verdict), 3);
	load_ring_finish(&ring, &verdict);
	ck_assert_uint_eq(verdict.lost, 1);
	ck_assert_uint_eq(verdict.doubled, 0);
	ck_assert(!load_verdict_good(&verdict));
}

TEST(doubled_before_completion)
{
	put(2);
	run_effect(0, 1);
	run(0);
	run(1);
	load_ring_retire(&ring, &verdict);
	ck_assert_uint_eq(verdict.doubled, 1);
	ck_assert_uint_eq(verdict.lost, 0);
}

TEST(doubled_after_completion)
{
	put(1);
	run(0);
	load_ring_retire(&ring, &verdict);
	ck_assert_uint_eq(verdict.doubled, 0);
	run_effect(0, 1);
	load_ring_finish(&ring, &verdict);
	ck_assert_uint_eq(verdict.doubled, 1);
}

TEST(signal_twice)
{
	put(1);
	run(0);
	signal_of(&ring.packets[0])->value--;
	load_ring_retire(&ring, &verdict);
	ck_assert_uint_eq(verdict.doubled, 1);
}

TEST(overtaken)
{
	put(2);
	run(1);
	ck_assert_uint_eq(load_ring_retire(&ring, &verdict), 0);
	ck_assert_uint_eq(verdict.disordered, 1);
	/* The packet is the same when it is looked at again. */
	load_ring_retire(&ring, &verdict);
	ck_assert_uint_eq(verdict.disordered, 1);
}

TEST(left_behind)
{
	put(5);
	run(0);
	run(2);
	load_ring_finish(&ring, &verdict);
	ck_assert_uint_eq(verdict.completed, 2);
	ck_assert_uint_eq(verdict.lost, 1);
	ck_assert_uint_eq(verdict.unfinished, 2);
	ck_assert(!load_verdict_good(&verdict));
}

TEST(timestamps_overlap)
{
	put(2);
	run(0);
	run(1);
	signal_of(&ring.packets[1])->start_ts = signal_of(&ring.packets[0])->end_ts - 1;
	ck_assert_uint_eq(load_ring_retire(&ring, &verdict), 2);
	ck_assert_uint_eq(verdict.disordered, 1);
}

TEST(unfinished)
{
	put(5);
	run(0);
	run_effect(1, 1);
	load_ring_finish(&ring, &verdict);
	ck_assert_uint_eq(verdict.completed, 1);
	ck_assert_uint_eq(verdict.unfinished, 4);
	ck_assert_uint_eq(verdict.lost, 0);
	ck_assert_uint_eq(verdict.doubled, 0);
	ck_assert(!load_verdict_good(&verdict));
}

TEST(room)
{
	ck_assert_uint_eq(load_ring_room(&ring, SLOTS), SLOTS);
	ck_assert_uint_eq(load_ring_room(&ring, 10), 10);
	put(SLOTS);
	ck_assert_uint_eq(load_ring_room(&ring, SLOTS), 0);
	/* Complete, but the GPU has not moved its read index: not free yet. */
	run_effect(0, 1);
	complete(0);
	load_ring_retire(&ring, &verdict);
	ck_assert_uint_eq(load_ring_room(&ring, SLOTS), 0);
	read_index = 1;
	ck_assert_uint_eq(load_ring_room(&ring, SLOTS), 1);
	/* Read, but not complete: its kernarg is still in use. */
	read_index = 2;
	ck_assert_uint_eq(load_ring_room(&ring, SLOTS), 1);
}

TEST(barriers)
{
	const struct aql_barrier *barrier;
	uint64_t i;

	ring.barrier_every = 2;
	put(6);
	for (i = 0; i < 6; i++) {
		if (i % 3 != 2) {
			run(i);
			continue;
		}
		barrier = &ring.packets[i].barrier;
		ck_assert_uint_eq(barrier->header & 0xff, AQL_TYPE_BARRIER_AND);
		ck_assert_uint_eq(barrier->dep_signal[0], (uintptr_t)&ring.signals[i - 1]);
		complete(i);
		read_index = i + 1;
	}
	load_ring_retire(&ring, &verdict);
	load_ring_finish(&ring, &verdict);
	ck_assert_uint_eq(verdict.completed, 6);
	ck_assert(load_verdict_good(&verdict));
}

TEST_FIXTURE(setup, teardown)

#define BYTES 4096

static struct load_sdma sdma;
static uint8_t packets[BYTES];
static uint64_t cell;
static uint32_t fence;

static void sdma_setup(void)
{
	memset(&verdict, 0, sizeof(verdict));
	write_index = cell = fence = 0;
	sdma = (struct load_sdma){
		.packets = packets,
		.bytes = BYTES,
		.write_index = &write_index,
		.cell = &cell,
		.fence = &fence,
	};
}

/* Run a group as the engine would, by its packets. */
static void run_group(uint64_t index)
{
	const uint32_t *p = (void *)(packets + index * LOAD_SDMA_GROUP_BYTES % BYTES);

	ck_assert_uint_eq(p[0] & 0xff, 10);
	*(uint64_t *)(uintptr_t)(p[1] | (uint64_t)p[2] << 32) += p[3] | (uint64_t)p[4] << 32;
	ck_assert_uint_eq(p[8], 5);
	*(uint32_t *)(uintptr_t)(p[9] | (uint64_t)p[10] << 32) = p[11];
	/* A NOP that skips to the end of the group. */
	ck_assert_uint_eq(p[12] & 0xffff, 0);
	ck_assert_uint_eq(12 + 1 + (p[12] >> 16), LOAD_SDMA_GROUP_BYTES / 4);
}

TEST(sdma_exactly_once)
{
	uint64_t i = 0;

	while (i < 1000) {
		ck_assert_uint_gt(load_sdma_fill(&sdma, &verdict), 0);
		ck_assert_uint_eq(write_index, sdma.head * LOAD_SDMA_GROUP_BYTES);
		while (i < sdma.head)
			run_group(i++);
		load_sdma_retire(&sdma, &verdict);
	}
	ck_assert_uint_eq(load_sdma_fill(&sdma, &verdict), LOAD_SDMA_DEPTH);
	while (i < sdma.head)
		run_group(i++);
	load_sdma_finish(&sdma, &verdict);
	ck_assert_uint_eq(verdict.completed, i);
	ck_assert(load_verdict_good(&verdict));
}

TEST(sdma_lost)
{
	load_sdma_fill(&sdma, &verdict);
	run_group(0);
	fence = 2;
	load_sdma_finish(&sdma, &verdict);
	ck_assert_uint_eq(verdict.completed, 2);
	ck_assert_uint_eq(verdict.lost, 1);
	ck_assert_uint_eq(verdict.unfinished, LOAD_SDMA_DEPTH - 2);
}

TEST(sdma_doubled)
{
	uint64_t i;

	load_sdma_fill(&sdma, &verdict);
	for (i = 0; i < LOAD_SDMA_DEPTH; i++)
		run_group(i);
	cell++;
	load_sdma_finish(&sdma, &verdict);
	ck_assert_uint_eq(verdict.doubled, 1);
	ck_assert(!load_verdict_good(&verdict));
}

TEST(sdma_begun_only)
{
	load_sdma_fill(&sdma, &verdict);
	run_group(0);
	cell++;
	load_sdma_finish(&sdma, &verdict);
	ck_assert_uint_eq(verdict.doubled, 0);
	ck_assert_uint_eq(verdict.unfinished, LOAD_SDMA_DEPTH - 1);
}

TEST(sdma_fence_goes_back)
{
	load_sdma_fill(&sdma, &verdict);
	run_group(0);
	run_group(1);
	load_sdma_retire(&sdma, &verdict);
	fence = 1;
	load_sdma_retire(&sdma, &verdict);
	ck_assert_uint_eq(verdict.disordered, 1);
	ck_assert_uint_eq(verdict.completed, 2);
}

TEST_FIXTURE(sdma_setup, NULL)
