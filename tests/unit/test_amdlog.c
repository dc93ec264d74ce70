// SPDX-License-Identifier: GPL-2.0-only
/* ROCm's log: of real runtimes and of several versions; its queues and packets. */
#include "unit-amdlog.h"

#define FIXTURE	   "tests/unit/fixtures/hip-5.7.1/amd-log-4"
#define DISPATCHES 3
#define BARRIERS   2
#define KERNELS	   3

/* Numbers counted with grep -c. */
TEST_EACH(hip_5, 3)
{
	static const size_t steps[] = { 1 << 20, 1, 97 };
	uint64_t dispatches = 0, barriers = 0;
	size_t i;

	ck_assert(read_log_file(FIXTURE, steps[_i]));
	ck_assert_uint_eq(log_data->n_problems, 0);
	ck_assert_uint_eq(log_data->lines, 150);
	ck_assert_uint_eq(log_data->records, 150);
	ck_assert_uint_eq(log_data->other_lines, 0);
	ck_assert_uint_eq(log_data->level, 4);
	ck_assert_uint_eq(log_data->n_processes, 1);
	ck_assert_int_eq(log_data->processes[0].pid, 142);
	/* Four by their software queue, three rings that had packets. */
	ck_assert_uint_eq(log_data->n_queues, 4 + 3);
	ck_assert_uint_eq(log_data->queues[0].swq, 0x7f600d592000);
	for (i = 0; i < log_data->n_queues; i++) {
		const struct gp_amdlog_queue *q = log_data->queues + i;
		bool ring = q->hwq != GPREEMPT_UNKNOWN;

		ck_assert_int_eq(q->pid, 142);
		ck_assert(ring == (q->swq == GPREEMPT_UNKNOWN));
		ck_assert_int_eq(q->created, !ring);
		ck_assert_int_eq(q->acquired, !ring);
		ck_assert_int_eq(q->size, ring ? GPREEMPT_UNKNOWN : 16384);
		/* This version does not print them. */
		ck_assert_int_eq(q->last_wptr, GPREEMPT_UNKNOWN);
		ck_assert_int_eq(q->backlog, GPREEMPT_UNKNOWN);
		ck_assert(ring || !q->dispatches);
		dispatches += q->dispatches;
		barriers += q->barriers;
	}
	ck_assert_uint_eq(dispatches, DISPATCHES);
	ck_assert_uint_eq(log_data->processes[0].dispatches, DISPATCHES);
	ck_assert_uint_eq(log_data->processes[0].kernels, KERNELS);
	ck_assert_uint_eq(barriers, BARRIERS);
	ck_assert_uint_eq(n_packets, DISPATCHES + BARRIERS);
}

TEST(captures)
{
	const char *path = unit_capture("amd_log_dispatches.log");
	size_t i;

	if (!path)
		return;
	ck_assert(read_log_file(path, 4096));
	ck_assert_uint_eq(log_data->n_problems, 0);
	ck_assert_uint_eq(log_data->n_queues, 4);
	ck_assert_str_eq(log_data->version, "7.0.51831.7c9236b16");
	for (i = 0; i < 4; i++) {
		const struct gp_amdlog_queue *q = log_data->queues + i;

		ck_assert_int_eq(q->pid, 459769);
		ck_assert_int_eq(q->id, i + 1);
		ck_assert_uint_eq(q->dispatches, 6);
		ck_assert_uint_eq(q->barriers, 6);
		ck_assert_uint_eq(q->deleted, 1);
		ck_assert_int_eq(q->first_wptr, 0);
	}
	amdlog_teardown();
	amdlog_setup();
	ck_assert(read_log_file(unit_capture("amd_log_16_streams.log"), 4096));
	ck_assert_uint_eq(log_data->n_problems, 0);
	ck_assert_uint_eq(log_data->n_queues, 4);
	ck_assert_int_eq(log_data->queues[0].pid, GPREEMPT_UNKNOWN);
	for (i = 0; i < 4; i++) {
		/* 16 streams on four. */
		ck_assert_uint_eq(log_data->queues[i].acquired, 4);
		ck_assert_uint_eq(log_data->queues[i].released, 4);
	}
	ck_assert_uint_gt(log_data->other_lines, 0);
}

/* How versions begin a line. */
static const struct {
	const char *line;
	int64_t pid;
	int64_t us;
} heads[] = {
	{ AT "20162701614 us: [pid:459769 tid: 0x7f8edc1c4400] " PACKET, 459769, 20162701614 },
	{ AT "0021413791 us: [pid:142   tid:0x7f600d620ac0] " PACKET, 142, 21413791 },
	{ AT "0123 us: 2539 : [tid:0x7fff] " PACKET, 2539, 123 },
	{ AT "266505753655 us: [7fb360ad23c0] " PACKET, GPREEMPT_UNKNOWN, 266505753655 },
	{ AT "7 us:  " PACKET, GPREEMPT_UNKNOWN, 7 },
	{ "\x1b[32m" AT "7 us:\x1b[0m  SWq=0x1, \x1b[1;31m" PACKET, GPREEMPT_UNKNOWN, 7 },
	{ "step 3 loss 0.4" AT "7 us:  " PACKET, GPREEMPT_UNKNOWN, 7 },
	/* 6.3.2 has a letter behind the time. */
	{ AT "7270505900d us: [pid:21983 tid: 0x7f31] " PACKET, 21983, 7270505900 },
	/* A progress bar on the same line. */
	{ " 10%|#\r 20%|##\r" AT "7 us:  " PACKET, GPREEMPT_UNKNOWN, 7 },
	{ AT "7 us:  " PACKET "\r 30%|###", GPREEMPT_UNKNOWN, 7 },
	{ "\xef\xbb\xbf" AT "7 us:  " PACKET, GPREEMPT_UNKNOWN, 7 },
	/* ROCr's own, without a level. */
	{ ":amd_blit_kernel.cpp      :1301: 0000000012 us: [pid:31    "
	  "tid:0x7f31] [***rocr***] " PACKET,
	  31, 12 },
};

TEST_EACH(head, ARRAY_SIZE(heads))
{
	feed_text(heads[_i].line);
	feed_text("\n");
	end_log();
	ck_assert_uint_eq(log_data->n_problems, 0);
	ck_assert_uint_eq(n_packets, 1);
	ck_assert_int_eq(packets[0].pid, heads[_i].pid);
	ck_assert_int_eq(packets[0].us, heads[_i].us);
	ck_assert_uint_eq(packets[0].hwq, 0xa0);
	ck_assert_int_eq(packets[0].rptr, 5);
	ck_assert_int_eq(packets[0].wptr, 9);
	ck_assert(packets[0].dispatch);
	ck_assert_int_eq(log_data->queues[0].backlog, 4);
}

/* No record of the log: left alone. */
TEST_EACH(other, 8)
{
	static const char *const lines[] = {
		"HWq=0xa0, Dispatch Header",
		"",
		":4:",
		":4:a.cpp",
		"12:30:4: x",
		":x:rocdevice.cpp :1: 7 us: HWq=0x1, Dispatch Header",
		":3:rocdevice :1: 7 us: acquireQueue refCount: 0x1 (1)",
		"make: :main.cpp:12: 7 us: HWq=0xa0, Dispatch Header = 1",
	};

	feed_text(lines[_i]);
	feed_text("\n");
	end_log();
	ck_assert_uint_eq(log_data->records, 0);
	ck_assert_uint_eq(log_data->other_lines, 1);
	ck_assert_uint_eq(log_data->n_queues, 0);
	ck_assert_uint_eq(log_data->n_problems, 0);
}

TEST(life)
{
	read_log(R "Created SWq=0x5 to map on HWq=0xa0 with size 16384 "
		   "with priority 2, cooperative: 0\n" R "acquireQueue refCount: 0xa0 (1)\n" R
		   "Selected queue refCount: 0xa0 (2)\n" R "releaseQueue refCount:0xa0 (1)\n" R
		   "Deleting hardware queue 0xa0 with refCount 0\n" R
		   "created hardware queue 0xa0 with size 4096 "
		   "with priority 0, cooperative: 0\n" OTHER "acquireQueue refCount: 0xa0 (1)\n");
	ck_assert_uint_eq(log_data->n_problems, 0);
	/* The same address in another process is another queue. */
	ck_assert_uint_eq(log_data->n_queues, 2);
	ck_assert_uint_eq(log_data->queues[0].created, 2);
	ck_assert_uint_eq(log_data->queues[0].acquired, 2);
	ck_assert_uint_eq(log_data->queues[0].released, 1);
	ck_assert_uint_eq(log_data->queues[0].deleted, 1);
	ck_assert_str_eq(log_data->queues[0].priority, "low");
	ck_assert_int_eq(log_data->queues[0].size, 4096);
	ck_assert_uint_eq(log_data->queues[0].swq, 5);
	ck_assert_uint_eq(log_data->queues[0].hwq, 0xa0);
	ck_assert_int_eq(log_data->queues[1].pid, 8);
	ck_assert_int_eq(log_data->queues[1].last_us, 99);
	ck_assert_uint_eq(log_data->n_processes, 2);
}

TEST(filter)
{
	amdlog_teardown();
	amdlog_start(8);
	read_log(R "acquireQueue refCount: 0xa0 (1)\n" OTHER "acquireQueue refCount: 0xb0 (1)\n");
	ck_assert_uint_eq(log_data->records, 2);
	ck_assert_uint_eq(log_data->n_queues, 1);
	ck_assert_uint_eq(log_data->queues[0].hwq, 0xb0);
}

/* Messages of several versions that one more stream shares a queue. */
static const char *const sharing[] = {
	"Selected queue refCount: 0xa0 (2)",
	"Selected queue (mode=1): 0xa0 refCount: 2, depth: 5",
	"Reusing preferred queue: 0xa0 refCount: 2",
	"selected queue with least refCount: 0xa0 (1)",
};

TEST_EACH(shared, ARRAY_SIZE(sharing))
{
	feed_text(R "acquireQueue refCount: 0xa0 (1)\n");
	feed_text(R);
	feed_text(sharing[_i]);
	feed_text("\n");
	end_log();
	ck_assert_uint_eq(log_data->n_problems, 0);
	ck_assert_uint_eq(log_data->n_queues, 1);
	ck_assert_uint_eq(log_data->queues[0].hwq, 0xa0);
	ck_assert_uint_eq(log_data->queues[0].acquired, 2);
}

TEST(deleted_with_its_mask)
{
	read_log(R "Deleting CG enabled hardware queue 0xa0 with refCount 0\n");
	ck_assert_uint_eq(log_data->queues[0].deleted, 1);
	ck_assert_uint_eq(log_data->n_problems, 0);
}

TEST(rocr_among_hip)
{
	read_log(R "acquireQueue refCount: 0xa0 (1)\n"
		   ":amd_blit_kernel.cpp      :1301: 0000000012 us: [pid:7     "
		   "tid:0x7f31] [***rocr***] HWq=0xc0, id=0, Dispatch Header = "
		   "0x1402 (type=2), rptr=6, wptr=6\n");
	ck_assert_uint_eq(log_data->records, 2);
	ck_assert_uint_eq(log_data->n_queues, 2);
	ck_assert_uint_eq(log_data->queues[1].hwq, 0xc0);
	ck_assert_int_eq(log_data->queues[1].id, 0);
	ck_assert_uint_eq(log_data->queues[1].dispatches, 1);
	ck_assert_uint_eq(log_data->level, 4);
}

TEST_FIXTURE(amdlog_setup, amdlog_teardown)
