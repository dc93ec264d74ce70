// SPDX-License-Identifier: GPL-2.0-only
/* Texts of other kernels and GPUs, made up from the driver's source. */
#include "unit-text.h"

static const struct {
	const char *line;
	int64_t pid, pasid;
} process_lines[] = {
	{ "Process 7 PASID 0x8001:", 7, 0x8001 }, /* 6.5 to 6.12 */
	{ "Process 94314 PASID 94314:", 94314, GPREEMPT_UNKNOWN },
	{ "Process 4294967295 PASID 0xffffffff:", UINT32_MAX, UINT32_MAX },
};

TEST_EACH(process, ARRAY_SIZE(process_lines))
{
	say("%s\n  Bad %s queue type 9 on device a\n", process_lines[_i].line,
	    _i ? "user" : "kernel");
	read_good();
	ck_assert_uint_eq(data->n_queues, 1);
	ck_assert_int_eq(data->queues[0].pid, process_lines[_i].pid);
	ck_assert_int_eq(data->queues[0].pasid, process_lines[_i].pasid);
	ck_assert_int_eq(data->queues[0].gpu_id, 10);
	ck_assert_int_eq(data->queues[0].type, GP_TEXT_OTHER);
}

TEST_EACH(process_broken, 8)
{
	static const char *const lines[] = {
		"Process 7 PASID 0x:",
		"Process -7 PASID 0x1:",
		"Process 4294967296 PASID 0x1:",
		"Process 7 PASID 0x1",
		"Process 7 PASID 0x1: x",
		"Process  PASID 0x1:",
		"Process",
		"Process 99999999999999999999999999 PASID 1:",
	};

	say("%s\n", lines[_i]);
	read_made();
	ck_assert_uint_eq(data->n_processes, 0);
	ck_assert_uint_eq(data->n_problems, 1);
	expect_problem(0, 1, "not a line that the driver prints");
}

TEST(contexts)
{
	int i;

	for (i = 0; i < 3; i++) {
		say("Process 5 PASID 5:\n  Compute queue on device 1\n");
		say_mqd(0x1000 + i, MQD_WORDS);
		say("Process 6 PASID 6:\n");
	}
	read_good();
	for (i = 0; i < 3; i++)
		ck_assert_int_eq(data->queues[i].context, i);
}

TEST_EACH(xccs, 8)
{
	int xcc, xccs = 1 + _i;

	say("Process 1 PASID 0x1:\n  Compute queue on device 2a\n");
	for (xcc = 0; xcc < xccs; xcc++)
		say_mqd(0x100000 * (xcc + 1), MQD_WORDS);
	say("  DIQ on device 2a\n");
	say_mqd(0x77000, MQD_WORDS);
	/* A partition: XCCs that do not begin with 0. */
	say("Node 3, gpu_id 2a:\n");
	for (xcc = 0; xcc < xccs; xcc++) {
		say_slot(xcc + 4, 2, 5, 0x100000 * (xcc + 1), true);
		say_slot(xcc + 4, 2, 6, 0, false);
	}
	read_good();
	ck_assert_uint_eq(data->n_queues, 2);
	ck_assert_int_eq(data->queues[0].slots_expected, xccs);
	ck_assert_int_eq(data->queues[0].slots_active, xccs);
	ck_assert_int_eq(data->queues[1].type, GP_TEXT_DIQ);
	ck_assert_int_eq(data->slots[0].xcc, 4);
	ck_assert_int_eq(data->slots[0].nth_xcc, 0);
	ck_assert_int_eq(data->slots[0].pipe, 2);
	ck_assert_int_eq(data->slots[0].queue, 5);
}

TEST(same_address_elsewhere)
{
	/* Addresses are a GPU's own. */
	say("Process 1 PASID 0x1:\n  Compute queue on device 2a\n");
	say_mqd(0x1000, MQD_WORDS);
	say("Node 3, gpu_id 2b:\n");
	say_slot(0, 0, 2, 0x1000, true);
	read_made();
	ck_assert_int_eq(data->queues[0].slots_active, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(data->slots[0].owner, -1);
	check(GPREEMPT_UNKNOWN);
	/* hqds does not have the first GPU. */
	ck_assert_int_eq(sum.slots_without_owner, GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(n_xccs, 2);
	ck_assert_int_eq(by_xcc[0].gpu_id, 0x2a);
	ck_assert_uint_eq(by_xcc[0].slots_expected, 1);
	ck_assert_uint_eq(by_xcc[1].slots_without_owner, 1);
}

TEST(wrong_xcc)
{
	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_mqd(0x1000, MQD_WORDS);
	say_mqd(0x2000, MQD_WORDS);
	say("Node 1, gpu_id 1:\n");
	say_slot(0, 0, 2, 0x2000, true);
	say_slot(1, 0, 2, 0x2000, true);
	read_made();
	ck_assert_uint_eq(data->n_problems, 2);
	ck_assert_str_eq(data->problems[0].what, "this MQD is one for another XCC");
	ck_assert_str_eq(data->problems[1].what, "this MQD is in another slot, too");
}

TEST(one_xcc_of_old)
{
	uint32_t regs[SLOT_WORDS] = { 0 };

	say("Node 1, gpu_id 9:\n  HIQ on MEC 2 Pipe 0 Queue 0\n");
	say_words(0xc914, regs, SLOT_WORDS);
	say("  CP Pipe 1, Queue 3\n");
	say_words(0xc914, regs, SLOT_WORDS);
	read_good();
	ck_assert_int_eq(data->slots[0].type, GP_TEXT_HIQ);
	ck_assert_int_eq(data->slots[1].pipe, 1);
	ck_assert_int_eq(data->slots[1].nth_xcc, 0);
}

TEST(notes)
{
	read_string("Node 1, gpu_id 9:\n Device is stopped\n"
		    "Node 2, gpu_id ffff:\n  No active runlist\n");
	ck_assert_uint_eq(data->n_problems, 0);
	ck_assert_int_eq(data->nodes[0].note, GP_TEXT_STOPPED);
	ck_assert_int_eq(data->nodes[1].note, GP_TEXT_NO_LIST);
	ck_assert_int_eq(data->nodes[1].gpu_id, 0xffff);
}

/*
 * The registers that hqds prints, by generation: the address of the first one of
 * a CP slot, which is GC's base and the register's offset, and the ranges of an
 * SDMA slot, between which the addresses jump (amdgpu_amdkfd_gfx_*.c,
 * kgd_hqd_sdma_dump, and the offsets of its headers).
 */
static const struct {
	const char *of;
	unsigned int cp, sdma[4][2];
} windows[] = {
	{ "gfx9",
	  0xc914,
	  { { 0x130, 0x142 }, { 0x158, 0x15d }, { 0x15f, 0x165 }, { 0x170, 0x179 } } },
	{ "gfx9.4.3",
	  0xc914,
	  { { 0x130, 0x142 }, { 0x158, 0x15d }, { 0x15f, 0x165 }, { 0x170, 0x17b } } },
	{ "gfx10.1",
	  0xc824,
	  { { 0x140, 0x152 }, { 0x168, 0x16d }, { 0x16f, 0x175 }, { 0x180, 0x189 } } },
	{ "gfx10.3",
	  0xc824,
	  { { 0x130, 0x142 }, { 0x158, 0x15d }, { 0x15f, 0x165 }, { 0x170, 0x17b } } },
	{ "gfx11", 0xc824, { { 0x80, 0x86 }, { 0x88, 0x92 }, { 0xa9, 0xa9 }, { 0xab, 0xb6 } } },
	{ "gfx12", 0xc824, { { 0x80, 0xb0 } } },
};

/* Print as the driver does: a new line after 8, and where the address jumps. */
static void say_sdma_slot(const unsigned int (*ranges)[2], int engine, int rlc, uint64_t ring)
{
	uint32_t words[64] = { 11 << 1 | 1, ring >> 8, ring >> 40, 0x40, 0, 0x80, 0 };
	size_t i, len, n = 0;

	say("  SDMA Engine %d, RLC %d\n", engine, rlc);
	for (i = 0; i < 4 && ranges[i][0]; i++, n += len) {
		len = ranges[i][1] - ranges[i][0] + 1;
		say_words(4 * (0x1260 + ranges[i][0]), words + n, len);
	}
}

TEST_EACH(register_windows, ARRAY_SIZE(windows))
{
	uint32_t regs[SLOT_WORDS] = { 0x1000, 0, 1 };

	regs[10] = 7;
	regs[54] = 9;
	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_mqd(0x1000, MQD_WORDS);
	say("Node 1, gpu_id 1:\n Inst 0,  CP Pipe 0, Queue 2\n");
	say_words(windows[_i].cp, regs, SLOT_WORDS);
	say_sdma_slot(windows[_i].sdma, 1, 2, 0x7f0012345600);
	read_good();
	ck_assert_int_eq(data->queues[0].slots_active, 1);
	ck_assert_uint_eq(data->n_slots, 2);
	ck_assert_int_eq(data->slots[0].regs.rptr, 7);
	ck_assert_int_eq(data->slots[0].regs.wptr, 9);
	ck_assert_int_eq(data->slots[1].regs.active, 1);
	ck_assert_int_eq(data->slots[1].regs.ring, 0x7f0012345600);
	ck_assert_int_eq(data->slots[1].regs.ring_size, 4 << 11);
	ck_assert_int_eq(data->slots[1].regs.rptr, 0x40);
	ck_assert_int_eq(data->slots[1].regs.wptr, 0x80);
}

/*
 * XGMI's SDMA queues are printed as the others. Their engines come behind those
 * of PCIe; a partition's do not begin with 0, while the MQD's number does.
 */
TEST_EACH(sdma_owners, 2)
{
	const int first = _i ? 8 : 0;
	uint32_t words[128] = { 11 << 1 | 1 };
	int engine, i;

	say("Process 1 PASID 0x1:\n");
	for (i = 0; i < 2; i++) {
		words[1] = 0x12345 + i;
		words[126] = i ? 5 : 0;
		words[127] = 3;
		say("  SDMA queue on device 1\n");
		say_words(0, words, 128);
	}
	say("Node 1, gpu_id 1:\n");
	for (engine = 0; engine < 8; engine++)
		say_sdma_slot(windows[1].sdma, first + engine, 3,
			      engine == 5 ? 0x1234600 : 0x1234500);
	read_good();
	for (engine = 0; engine < 8; engine++)
		ck_assert_int_eq(data->slots[engine].owner, engine == 0 ? 0 : engine == 5 ? 1 : -1);
	ck_assert_int_eq(data->queues[1].slots_active, 1);
}

/* MAP_PROCESS has 16 words on gfx9 and 10, 21 on gfx 9.4.2 and 9.4.3. */
TEST_EACH(run_lists, 2)
{
	uint32_t words[64] = { 0 };
	size_t n = 0, len = _i ? 21 : 16;

	words[n] = 3u << 30 | (uint32_t)(len - 2) << 16 | 0xa1 << 8;
	words[n + 1] = 0x8005;
	n += len;
	words[n] = 0xc005a200;
	words[n + 2] = 0x402 << 2;
	words[n + 3] = 0x1000;
	n += 7;
	/* The chain to the next part, when there are too many queues. */
	words[n] = 0xc002a500;
	n += 4;
	say("Process 1 PASID 0x8005:\n  Compute queue on device 1\n");
	say_mqd(0x1000, MQD_WORDS);
	say("Node 1, gpu_id 1:\n");
	say_words(0, words, n);
	read_good();
	ck_assert_uint_eq(data->n_packets, 3);
	ck_assert_int_eq(data->packets[0].pasid, 0x8005);
	ck_assert_uint_eq(data->packets[1].op, GP_TEXT_MAP_QUEUES);
	ck_assert_int_eq(data->packets[1].doorbell, 0x402);
	ck_assert_int_eq(data->packets[1].queue, 0);
	ck_assert_uint_eq(data->packets[2].op, GP_TEXT_RUN_LIST);
}

/* struct v10_sdma_mqd is longer, and has its doorbell where it is known. */
TEST_EACH(sdma_layouts, 5)
{
	static const struct {
		size_t words;
		size_t engine_at;
		int64_t known, engine, doorbell;
		uint64_t problems;
	} layouts[] = {
		{ 128, 126, 1, 3, GPREEMPT_UNKNOWN, 0 },
		{ 130, 128, 1, 3, 0x600, 0 },
		{ 127, 125, 1, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN, 1 },
		{ 3, 0, 1, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN, 1 },
		{ 200, 0, 0, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN, 1 },
	};
	uint32_t words[200] = { [1] = 0x12345, [2] = 0x6 };

	words[layouts[_i].engine_at] = 3;
	words[22] = 0x600 << 2;
	words[0] = 11 << 1 | 1;
	say("Process 1 PASID 0x1:\n  SDMA queue on device 1\n");
	say_words(0, words, layouts[_i].words);
	read_made();
	ck_assert_uint_eq(data->n_problems, layouts[_i].problems);
	ck_assert_int_eq(data->mqds[0].regs.known, layouts[_i].known);
	ck_assert_int_eq(data->mqds[0].regs.engine, layouts[_i].engine);
	ck_assert_int_eq(data->mqds[0].regs.doorbell, layouts[_i].doorbell);
	if (!layouts[_i].known)
		return;
	ck_assert_int_eq(data->mqds[0].regs.ring, 0x60001234500);
	ck_assert_int_eq(data->mqds[0].regs.ring_size, 4 << 11);
}

TEST(unknown_layout)
{
	uint32_t words[MQD_WORDS] = { 0xc0310801, 0xabcd };

	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_words(0, words, MQD_WORDS);
	read_made();
	ck_assert_int_eq(data->mqds[0].regs.known, 0);
	ck_assert_int_eq(data->mqds[0].regs.mqd, GPREEMPT_UNKNOWN);
	expect_problem(0, 3, "the layout of this MQD is not known");
}

/* Bits 5:0 of CP_HQD_PQ_CONTROL are the size's power of two, in words, less one. */
TEST_EACH(largest_ring, 3)
{
	static const struct {
		uint32_t control;
		int64_t size;
	} rings[] = {
		{ 39, 4ll << 40 },
		{ 40, GPREEMPT_UNKNOWN },
		{ 0xffffffff, GPREEMPT_UNKNOWN },
	};
	uint32_t words[MQD_WORDS] = { 0xc0310800 };

	memset(words + 1, 0xff, sizeof(words) - 4);
	words[145] = rings[_i].control;
	say("Process 1 PASID 0x1:\n  Compute queue on device 1\n");
	say_words(0, words, MQD_WORDS);
	read_made();
	ck_assert_int_eq(data->mqds[0].regs.ring_size, rings[_i].size);
	ck_assert_int_eq(data->mqds[0].regs.vmid, 15);
}

TEST(older)
{
	read_string("=== MQD Snapshot ===\n"
		    "Compute queue on device f7bc\n"
		    "    Queue ID: 5 (0x5)\n"
		    "    Process: pid 1234 pasid 0x8001\n"
		    "    is active: yes\n"
		    "    priority: 11\n"
		    "Compute queue on device 0001:0a:00.0\n"
		    "    Queue ID: 6\n"
		    "    is active: no\n");
	ck_assert_uint_eq(data->n_queues, 2);
	ck_assert(data->queues[0].older);
	ck_assert_int_eq(data->queues[0].qid, 5);
	ck_assert_int_eq(data->queues[0].pid, 1234);
	ck_assert_int_eq(data->queues[0].pasid, 0x8001);
	ck_assert_int_eq(data->queues[0].is_active, 1);
	ck_assert_int_eq(data->queues[0].priority, 11);
	ck_assert_int_eq(data->queues[0].gpu_id, 0xf7bc);
	ck_assert_int_eq(data->queues[1].gpu_id, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(data->queues[1].is_active, 0);
	ck_assert_int_eq(data->queues[1].pid, GPREEMPT_UNKNOWN);
	/* Only that the second one's device is no number. */
	ck_assert_uint_eq(data->n_problems, 1);
	expect_problem(0, 7, "the GPU of this queue has no id that is known");
}

/* Rest of that text after the seeds' grep. */
TEST(older_summary)
{
	read_string("Queue ID: 0\nProcess: pid 9 pasid 0x1\nis active: yes\n"
		    "priority: 7\nQueue ID: 1\nProcess: pid 9 pasid 0x1\n");
	ck_assert_uint_eq(data->n_queues, 2);
	ck_assert_int_eq(data->queues[0].priority, 7);
	ck_assert_int_eq(data->queues[1].qid, 1);
	ck_assert_int_eq(data->queues[1].pid, 9);
	ck_assert_uint_eq(data->n_problems, 0);
}

TEST_FIXTURE(text_setup, text_teardown)
