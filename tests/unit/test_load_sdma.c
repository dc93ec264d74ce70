// SPDX-License-Identifier: GPL-2.0-only
/* vgpu-load's SDMA queues: a ring played by the test. */
#include "../vgpu/load/sdma.h"
#include "unit.h"

#define BYTES 4096

static struct load_sdma sdma;
static struct load_verdict verdict;
static uint8_t packets[BYTES];
static uint64_t write_index, cell;
static uint32_t fence;

static void setup(void)
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
static void run(uint64_t index)
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

TEST(exactly_once)
{
	uint64_t i = 0;

	while (i < 1000) {
		ck_assert_uint_gt(load_sdma_fill(&sdma, &verdict), 0);
		ck_assert_uint_eq(write_index, sdma.head * LOAD_SDMA_GROUP_BYTES);
		while (i < sdma.head)
			run(i++);
		load_sdma_retire(&sdma, &verdict);
	}
	ck_assert_uint_eq(load_sdma_fill(&sdma, &verdict), LOAD_SDMA_DEPTH);
	while (i < sdma.head)
		run(i++);
	load_sdma_finish(&sdma, &verdict);
	ck_assert_uint_eq(verdict.completed, i);
	ck_assert(load_verdict_good(&verdict));
}

TEST(lost)
{
	load_sdma_fill(&sdma, &verdict);
	run(0);
	fence = 2;
	load_sdma_finish(&sdma, &verdict);
	ck_assert_uint_eq(verdict.completed, 2);
	ck_assert_uint_eq(verdict.lost, 1);
	ck_assert_uint_eq(verdict.unfinished, LOAD_SDMA_DEPTH - 2);
}

TEST(doubled)
{
	uint64_t i;

	load_sdma_fill(&sdma, &verdict);
	for (i = 0; i < LOAD_SDMA_DEPTH; i++)
		run(i);
	cell++;
	load_sdma_finish(&sdma, &verdict);
	ck_assert_uint_eq(verdict.doubled, 1);
	ck_assert(!load_verdict_good(&verdict));
}

TEST(begun_only)
{
	load_sdma_fill(&sdma, &verdict);
	run(0);
	cell++;
	load_sdma_finish(&sdma, &verdict);
	ck_assert_uint_eq(verdict.doubled, 0);
	ck_assert_uint_eq(verdict.unfinished, LOAD_SDMA_DEPTH - 1);
}

TEST(fence_goes_back)
{
	load_sdma_fill(&sdma, &verdict);
	run(0);
	run(1);
	load_sdma_retire(&sdma, &verdict);
	fence = 1;
	load_sdma_retire(&sdma, &verdict);
	ck_assert_uint_eq(verdict.disordered, 1);
	ck_assert_uint_eq(verdict.completed, 2);
}

TEST_FIXTURE(setup, NULL)
