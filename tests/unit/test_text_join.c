// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose slot is it? Text of two moments, text that comes twice, MQDs that are
 * not of the queue that they stand below, and what one file alone does not say.
 */
#include "unit-text.h"

#define RING_A 0x7f0000100000
#define RING_B 0x7f8888800000
#define TWO_MOMENTS                                                \
	"this slot has another ring than the MQD of its address: " \
	"mqds and hqds are not of one moment"

static void expect_check(int64_t queues, int64_t expected, int64_t active, int64_t without_owner)
{
	ck_assert_int_eq(sum.queues, queues);
	ck_assert_int_eq(sum.slots_expected, expected);
	ck_assert_int_eq(sum.slots_active, active);
	ck_assert_int_eq(sum.slots_without_owner, without_owner);
}

/* A queue on a GPU of two XCCs, and its two slots. */
static void say_queue(int pid, uint64_t ring)
{
	say("Process %d PASID %d:\n  Compute queue on device 2a\n", pid, pid);
	say_ring_mqd(0x17ba000, ring);
	say_ring_mqd(0x17bb000, ring);
}

static void say_slots(uint64_t ring)
{
	int xcc;

	say("Node 1, gpu_id 2a:\n");
	for (xcc = 0; xcc < 2; xcc++) {
		say_ring_slot(xcc, 0, 2, 0x17ba000 + 0x1000 * xcc, ring);
		say_slot(xcc, 0, 3, 0, false);
	}
}

TEST(one_moment)
{
	say_queue(1, RING_A);
	say_slots(RING_A);
	read_good();
	check(GPREEMPT_UNKNOWN);
	expect_check(1, 2, 2, 0);
	ck_assert_int_eq(data->queues[0].slots_active, 2);
	ck_assert(data->mqds_seen && data->hqds_seen);
	ck_assert(!data->several_moments);
}

/* KFD gave the MQDs of a process that ended to the next one. */
TEST(address_of_the_process_before)
{
	say_queue(1, RING_A);
	say_slots(RING_B);
	read_made();
	ck_assert_uint_eq(data->n_problems, 2);
	ck_assert_str_eq(data->problems[0].what, TWO_MOMENTS);
	ck_assert_uint_eq(data->problems[0].line, data->slots[0].line);
	ck_assert_int_eq(data->slots[0].owner, -1);
	ck_assert_int_eq(data->queues[0].slots_active, 0);
	check(GPREEMPT_UNKNOWN);
	expect_check(1, 2, 2, 2);
	check(1);
	expect_check(1, 2, 0, 0);
}

/* One of two processes went on: its slots are still its own. */
TEST(one_of_two_is_of_another_moment)
{
	say_queue(1, RING_A);
	say("Process 2 PASID 2:\n  Compute queue on device 2a\n");
	say_ring_mqd(0x17ca000, RING_A);
	say_ring_mqd(0x17cb000, RING_A);
	say_slots(RING_B);
	say_ring_slot(1, 1, 2, 0x17cb000, RING_A);
	read_made();
	ck_assert_uint_eq(data->n_problems, 2);
	ck_assert_int_eq(data->queues[0].slots_active, 0);
	ck_assert_int_eq(data->queues[1].slots_active, 1);
	check(GPREEMPT_UNKNOWN);
	expect_check(2, 4, 3, 2);
}

/* With the rings of another process, the captures of a real host do not join. */
TEST(captures_of_two_moments)
{
	const char *path = unit_capture("mqds_16_streams.txt");
	size_t len, i, changed = 0;
	char *all, *at;

	if (!path)
		return;
	all = unit_load(path, &len);
	/* Words 136 and 137 of an MQD are the ring. */
	for (at = all; (at = strstr(at, "00000220: ")); at++, changed++)
		at[16] = at[16] == '0' ? '1' : '0';
	ck_assert_uint_eq(changed, 20);
	feed(all, len);
	free(all);
	end_file();
	ck_assert(feed_file(unit_capture("hqds_16_streams.txt")));
	join();
	ck_assert_uint_eq(data->n_problems, 20);
	for (i = 0; i < data->n_slots; i++)
		ck_assert_int_eq(data->slots[i].owner, -1);
	check(GPREEMPT_UNKNOWN);
	expect_check(5, 20, 20, 20);
}

/*
 * Two XCCs: the driver prints two MQDs of an SDMA queue that comes behind a
 * compute queue. The second is the next one of the pool, here of process 200.
 */
static void say_sdma_of_two(bool compute_first)
{
	say("Process 100 PASID 100:\n");
	if (compute_first) {
		say("  Compute queue on device 2a\n");
		say_ring_mqd(0x17ba000, RING_A);
		say_ring_mqd(0x17bb000, RING_A);
	}
	say("  SDMA queue on device 2a\n");
	say_sdma_mqd(0, 0, RING_A);
	if (compute_first)
		say_sdma_mqd(0, 1, RING_B);
	say("Process 200 PASID 200:\n  SDMA queue on device 2a\n");
	say_sdma_mqd(0, 1, RING_B);
	say_slots(RING_A);
	say_rlc(0, 0, RING_A);
	say_rlc(0, 1, RING_B);
	say_rlc(0, 2, 0);
}

TEST_EACH(sdma_behind_compute, 2)
{
	size_t first = _i; /* index of the first SDMA queue */

	say_sdma_of_two(_i);
	read_good();
	ck_assert_uint_eq(data->n_queues, first + 2);
	ck_assert_int_eq(data->queues[first].n_mqds, 1);
	ck_assert_int_eq(data->queues[first].slots_expected, 1);
	ck_assert_int_eq(data->queues[first].slots_active, 1);
	ck_assert_int_eq(data->queues[first + 1].pid, 200);
	ck_assert_int_eq(data->queues[first + 1].slots_expected, 1);
	ck_assert_int_eq(data->queues[first + 1].slots_active, 1);
	ck_assert_uint_eq(data->n_slots, 7);
	ck_assert_int_eq(data->slots[4].owner, first);
	ck_assert_int_eq(data->slots[5].owner, first + 1);
	ck_assert_int_eq(data->slots[6].owner, -1);
}

/* So it is with the debugger's queue; what its further dumps are is not said. */
TEST(diq_behind_compute)
{
	say_queue(1, RING_A);
	say("  DIQ on device 2a\n");
	say_ring_mqd(0x5000, RING_A);
	say("    00000000: 00000000 00000000\n");
	say_slots(RING_A);
	read_good();
	ck_assert_int_eq(data->queues[1].n_mqds, 1);
	ck_assert_int_eq(data->queues[1].slots_expected, 0);
}

static void say_list(uint64_t mqd)
{
	const uint32_t words[] = {
		0xc00ea100,    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc005a200, 0, 0,
		(uint32_t)mqd, 0, 0, 0,
	};

	say("Node 1, gpu_id 2a:\n");
	say_words(0, words, ARRAY_SIZE(words));
}

static const struct {
	int mqds, hqds, lists;
	const char *what;
} twice[] = {
	{ 2, 1, 0,
	  "this queue is in the text twice: text of more than one "
	  "moment, which is not joined" },
	{ 1, 2, 0,
	  "this slot is in the text twice: text of more than one "
	  "moment, which is not joined" },
	{ 1, 1, 2,
	  "this queue is in the run list twice: text of more than one "
	  "moment, which is not joined" },
	{ 0, 130, 0,
	  "this slot is in the text twice: text of more than one "
	  "moment, which is not joined" },
};

TEST_EACH(given_twice, ARRAY_SIZE(twice))
{
	int i;

	for (i = 0; i < twice[_i].mqds; i++)
		say_queue(i, RING_A);
	for (i = 0; i < twice[_i].hqds; i++)
		say_slots(RING_A);
	for (i = 0; i < twice[_i].lists; i++)
		say_list(0x17ba000);
	read_made();
	ck_assert(data->several_moments);
	ck_assert_uint_eq(data->n_problems, 1);
	ck_assert_str_eq(data->problems[0].what, twice[_i].what);
	for (i = 0; i < (int)data->n_slots; i++)
		ck_assert_int_eq(data->slots[i].owner, -1);
	for (i = 0; i < (int)data->n_packets; i++)
		ck_assert_int_eq(data->packets[i].queue, -1);
	for (i = 0; i < twice[_i].mqds; i++)
		ck_assert_int_eq(data->queues[i].slots_active, GPREEMPT_UNKNOWN);
	for (i = -1; i < 2; i += 2) {
		check(i);
		expect_check(GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN,
			     GPREEMPT_UNKNOWN);
	}
}

/* In two files it is found as well, and the second one is named. */
TEST(given_twice_in_two_files)
{
	say_slots(RING_A);
	feed(made, made_len);
	end_file();
	say_slots(RING_A);
	read_made();
	ck_assert(data->several_moments);
	ck_assert_uint_eq(data->problems[0].file, 1);
	ck_assert_uint_eq(data->problems[0].line, 2);
}

/* SDMA queues have no address in their text: process, place and ring. */
TEST_EACH(sdma_twice, 2)
{
	int i;

	for (i = 0; i < 2; i++) {
		say("Process %d PASID 9:\n  SDMA queue on device 2a\n", _i ? 9 : 8 + i);
		say_sdma_mqd(1, 2, RING_A);
	}
	read_made();
	ck_assert_int_eq(data->several_moments, _i);
}

/* A queue that was never mapped has no address yet, and many queues have none. */
TEST(never_mapped)
{
	say("Process 1 PASID 1:\n");
	say("  Compute queue on device 2a\n");
	say_ring_mqd(0, RING_A);
	say("  Compute queue on device 2a\n");
	say_ring_mqd(0, RING_B);
	say_slots(RING_A);
	read_made();
	ck_assert(!data->several_moments);
	ck_assert_int_eq(data->slots[0].owner, -1);
}

TEST_EACH(run_list_of_another_process, 2)
{
	say("Process 1 PASID 0x%x:\n  Compute queue on device 2a\n", _i ? 1 : 7);
	say_ring_mqd(0x17ba000, RING_A);
	say_list(0x17ba000);
	read_made();
	ck_assert_uint_eq(data->n_packets, 2);
	ck_assert_int_eq(data->packets[1].queue, _i ? 0 : -1);
}

TEST(hqds_alone)
{
	say_slots(RING_A);
	read_made();
	ck_assert(!data->mqds_seen);
	check(GPREEMPT_UNKNOWN);
	expect_check(GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN, 2, GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(n_xccs, 2);
	ck_assert_int_eq(by_xcc[1].slots_active, 1);
	ck_assert_int_eq(by_xcc[1].slots_expected, GPREEMPT_UNKNOWN);
	check(1);
	ck_assert_int_eq(sum.slots_active, GPREEMPT_UNKNOWN);
}

/* An idle driver's mqds is empty, at most with what the seeds' script adds. */
TEST_EACH(idle_mqds, 2)
{
	if (_i)
		say("=== MQD Snapshot ===\n\n");
	feed(made, made_len);
	end_file();
	say_slots(RING_A);
	read_made();
	ck_assert(data->mqds_seen);
	check(GPREEMPT_UNKNOWN);
	expect_check(0, 0, 2, 2);
}

TEST(mqds_alone)
{
	say_queue(1, RING_A);
	read_made();
	ck_assert(!data->hqds_seen);
	check(GPREEMPT_UNKNOWN);
	expect_check(1, 2, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(data->queues[0].slots_active, GPREEMPT_UNKNOWN);
}

/* Nothing is known of the slots of a GPU that is stopped, or is not there. */
TEST_EACH(no_slots_of_that_gpu, 2)
{
	say_queue(1, RING_A);
	say("Process 2 PASID 2:\n  Compute queue on device 2b\n");
	say_ring_mqd(0x17ba000, RING_B);
	say_slots(RING_A);
	if (_i)
		say("Node 2, gpu_id 2b:\n Device is stopped\n");
	read_made();
	ck_assert(data->hqds_seen);
	ck_assert_int_eq(data->queues[0].slots_active, 2);
	ck_assert_int_eq(data->queues[1].slots_active, GPREEMPT_UNKNOWN);
	check(GPREEMPT_UNKNOWN);
	expect_check(2, 3, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(n_xccs, 3);
	ck_assert_int_eq(by_xcc[0].slots_active, 1);
	ck_assert_int_eq(by_xcc[2].gpu_id, 0x2b);
	ck_assert_int_eq(by_xcc[2].slots_active, GPREEMPT_UNKNOWN);
}

/* Slots without registers, as of a text that was wrapped: not 0, but unknown. */
TEST(registers_missing)
{
	say_queue(1, RING_A);
	say("Node 1, gpu_id 2a:\n");
	say_ring_slot(0, 0, 2, 0x17ba000, RING_A);
	say(" Inst 1,  CP Pipe 0, Queue 2\n");
	read_made();
	ck_assert_uint_eq(data->n_problems, 1);
	ck_assert_int_eq(data->queues[0].slots_active, GPREEMPT_UNKNOWN);
	check(GPREEMPT_UNKNOWN);
	expect_check(1, 2, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(by_xcc[0].slots_active, 1);
	ck_assert_int_eq(by_xcc[1].slots_active, GPREEMPT_UNKNOWN);
}

/* Mark that Windows' editors put before a text. */
TEST(byte_order_mark)
{
	say("\xef\xbb\xbf");
	say_queue(1, RING_A);
	feed(made, made_len);
	end_file();
	say("\xef\xbb\xbf");
	say_slots(RING_A);
	read_good();
	ck_assert_int_eq(data->queues[0].pid, 1);
	check(GPREEMPT_UNKNOWN);
	expect_check(1, 2, 2, 0);
}

TEST_FIXTURE(text_setup, text_teardown)
