// SPDX-License-Identifier: GPL-2.0-only
/*
 * ROCm's log: of real runtimes and of several versions, interleaved, cut, wrapped, hostile,
 * with colours; its queues and packets.
 */
#include "lab/amdlog.h"
#include "unit.h"

#define AMDLOG_PACKETS 64

/* A record of a packet, and the beginning of its head. */
#define AT     ":4:rocvirtual.cpp           :1083: "
#define PACKET "HWq=0xa0, Dispatch Header = 0xb02 (type=2), rptr=5, wptr=9"
/* Heads of records, of two processes. */
#define R     ":3:rocdevice.cpp :1: 10 us: [pid:7 tid: 0x1] "
#define OTHER ":3:rocdevice.cpp :1: 99 us: [pid:8 tid: 0x1] "

static struct gp_amdlog *amdlog;
/* Data of the log, after end_log(). */
static const struct gp_amdlog_data *log_data;
/* The first packets, and how many there were. */
static struct gp_amdlog_packet packets[AMDLOG_PACKETS];
static size_t n_packets;

static void take_packet(void *unused, const struct gp_amdlog_packet *p)
{
	(void)unused;
	if (n_packets < ARRAY_SIZE(packets))
		packets[n_packets] = *p;
	n_packets++;
}

/* Makes a parser for one process, in place of that for all. */
static void amdlog_start(int64_t pid)
{
	n_packets = 0;
	amdlog = gp_amdlog_new(pid, take_packet, NULL);
}

/* A parser for all processes. */
static void amdlog_setup(void)
{
	amdlog_start(GPREEMPT_UNKNOWN);
}

static void amdlog_teardown(void)
{
	gp_amdlog_free(amdlog);
	amdlog = NULL;
}

static void feed_log(const char *at, size_t len)
{
	/* A copy of its own, so that a read behind its end is caught. */
	char *copy = malloc(len ? len : 1);

	memcpy(copy, at, len);
	gp_amdlog_feed(amdlog, copy, len);
	free(copy);
}

static void feed_text(const char *text)
{
	feed_log(text, strlen(text));
}

static void end_log(void)
{
	gp_amdlog_end(amdlog);
	log_data = gp_amdlog_get(amdlog);
}

static void read_log(const char *text)
{
	feed_text(text);
	end_log();
}

/* A file, in steps of so many bytes; false: it is not there. */
static bool read_log_file(const char *path, size_t step)
{
	size_t len, at;
	char *all = unit_load(path, &len);

	if (!all)
		return false;
	for (at = 0; at < len; at += step)
		feed_log(all + at, len - at < step ? len - at : step);
	free(all);
	end_log();
	return true;
}

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
	read_log(unit_text("%s\n", heads[_i].line));
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

	read_log(unit_text("%s\n", lines[_i]));
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
	read_log(unit_text("%s\n", sharing[_i]));
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

TEST(two_records_in_a_line)
{
	read_log(R "acquireQueue refCount: 0xa0 (1)" R "acquireQueue refCount: 0xb0 (1)\n");
	ck_assert_uint_eq(log_data->records, 2);
	ck_assert_uint_eq(log_data->n_queues, 2);
	ck_assert_uint_eq(log_data->n_problems, 0);
}

/* An address that may lack digits is no address. */
TEST(cut_address)
{
	read_log(R "acquireQueue refCount: 0x7f36" R "acquireQueue refCount: 0xb0 (1)\n" R
		   "releaseQueue refCount:0x7f36");
	ck_assert_uint_eq(log_data->n_queues, 1);
	ck_assert_uint_eq(log_data->queues[0].hwq, 0xb0);
	ck_assert_uint_eq(log_data->n_problems, 2);
	ck_assert_uint_eq(log_data->problems[0].line, 1);
	ck_assert_uint_eq(log_data->problems[1].line, 2);
	ck_assert_str_eq(log_data->problems[0].what, "about a queue, but its address is cut off");
}

TEST(cut_head)
{
	read_log(":3:rocdevice.cpp :1: 10 u" R "acquireQueue refCount: 0xb0 (1)\n");
	ck_assert_uint_eq(log_data->n_queues, 1);
	ck_assert_uint_eq(log_data->n_problems, 1);
	ck_assert_str_eq(log_data->problems[0].what, "the head of this record is cut off");
}

TEST(too_many_queues)
{
	char line[128];
	int i;

	for (i = 0; i < 16384 + 10; i++)
		feed_log(line, snprintf(line, sizeof(line), R "acquireQueue refCount: 0x%x (1)\n",
					0x1000 * (i + 1)));
	end_log();
	ck_assert_uint_eq(log_data->n_queues, 16384);
	ck_assert_uint_eq(log_data->n_problems, 10);
	ck_assert_uint_eq(log_data->problems[0].line, 16385);
}

TEST(long_line)
{
	char *line = malloc(200000);

	memset(line, 'x', 200000);
	feed_log(line, 200000);
	feed_text("\n" R "acquireQueue refCount: 0xa0 (1)\n");
	end_log();
	free(line);
	ck_assert_uint_eq(log_data->n_queues, 1);
	ck_assert_uint_eq(log_data->queues[0].line, 2);
	ck_assert_uint_eq(log_data->n_problems, 1);
	ck_assert_str_eq(log_data->problems[0].what, "too long a line");
}

TEST_EACH(numbers, 5)
{
	static const char *const texts[] = {
		"acquireQueue refCount: 0x",
		"acquireQueue refCount: ",
		"acquireQueue refCount: 0x11112222333344445 (1)",
		"acquireQueue refCount: (nil) (1)",
		"acquireQueue refCount:",
	};

	feed_text(R);
	read_log(unit_text("%s\n", texts[_i]));
	ck_assert_uint_eq(log_data->n_queues, 0);
	ck_assert_uint_eq(log_data->n_problems, 1);
}

/* All that a progress bar shares a line with is read, however long it is. */
TEST(carriage_returns)
{
	char record[256];
	int i;

	for (i = 0; i < 3000; i++)
		feed_log(record, snprintf(record, sizeof(record),
					  "%3d%% |####      | step\r" AT "%d us:  " PACKET "\r",
					  i % 100, i));
	feed_text("\n" R "acquireQueue refCount: 0xb0 (1)\n");
	end_log();
	ck_assert_uint_eq(log_data->n_problems, 0);
	ck_assert_uint_eq(n_packets, 3000);
	ck_assert_uint_eq(packets[63].line, 1);
	/* They are one line for an editor. */
	ck_assert_uint_eq(log_data->lines, 2);
	ck_assert_uint_eq(log_data->other_lines, 0);
	ck_assert_uint_eq(log_data->queues[1].line, 2);
}

/* However many pieces a line has, it is one line of something else, or none. */
TEST(lines_of_pieces)
{
	static const char text[] = "a\rb\rc\n"
				   "a\r" R "acquireQueue refCount: 0xb0 (1)\rb\n" R
				   "acquireQueue refCount: 0xb0 (2)\rb\rc\n";

	feed_text(text);
	end_log();
	ck_assert_uint_eq(log_data->lines, 3);
	ck_assert_uint_eq(log_data->other_lines, 1);
}

/* A line's cut may have hidden records: that is a problem. */
TEST_EACH(cut_behind_records, 2)
{
	char *line = malloc(100000);

	memset(line, 'x', 100000);
	feed_text(R "acquireQueue refCount: 0xa0 (1)");
	feed_log(line, _i ? 100000 : 10);
	feed_text(R "acquireQueue refCount: 0xb0 (1)\n");
	end_log();
	free(line);
	ck_assert_uint_eq(log_data->n_queues, _i ? 1 : 2);
	ck_assert_uint_eq(log_data->n_problems, _i);
	if (_i)
		ck_assert_str_eq(log_data->problems[0].what, "too long a line");
}

#define TIMED(us, pointers)                                            \
	":4:rocvirtual.cpp :1: " us " us: [pid:7 tid: 0x1] HWq=0xa0, " \
	"Dispatch Header = 0xb02 (type=2), " pointers "\n"

/* Excerpts that were put together in another order. */
TEST(out_of_order)
{
	read_log(TIMED("5000000", "rptr=8, wptr=9") TIMED("7000000", "rptr=10, wptr=12")
			 TIMED("1000000", "rptr=0, wptr=1"));
	ck_assert_uint_eq(log_data->n_problems, 0);
	ck_assert_int_eq(log_data->processes[0].first_us, 1000000);
	ck_assert_int_eq(log_data->processes[0].last_us, 7000000);
	ck_assert_int_eq(log_data->processes[0].back_us, 6000000);
	ck_assert_int_eq(log_data->queues[0].first_us, 1000000);
	ck_assert_int_eq(log_data->queues[0].last_us, 7000000);
	ck_assert_int_eq(log_data->queues[0].first_rptr, 0);
	ck_assert_int_eq(log_data->queues[0].first_wptr, 1);
	ck_assert_int_eq(log_data->queues[0].last_rptr, 10);
	ck_assert_int_eq(log_data->queues[0].last_wptr, 12);
	ck_assert_int_eq(log_data->queues[0].backlog, 2);
}

/* A terminal of 80 columns cuts the process off, and the rest is a line of its own. */
TEST(wrapped)
{
	read_log(":3:rocdevice.cpp            :480 : 6306213494 us: [pid:459769 tid\n"
		 ": 0x7f8edc1c4400] acquireQueue refCount: 0xa0 (1)\n"
		 ":3:rocdevice.cpp            :480 : 6306213494 us: [pi\n");
	ck_assert_uint_eq(log_data->n_queues, 0);
	ck_assert_uint_eq(log_data->n_problems, 2);
	ck_assert_uint_eq(log_data->problems[1].line, 3);
	ck_assert_str_eq(log_data->problems[0].what, "the head of this record is cut off");
}

TEST(cut_indices)
{
	read_log(AT "7 us:  HWq=0xa0, Dispatch Header = 0xb02 (type=2), "
		    "rptr=5, wptr=9" R "acquireQueue refCount: 0xb0 (1)\n" AT
		    "8 us:  HWq=0xa0, Dispatch Header = 0xb02 (type=2)\n");
	ck_assert_uint_eq(n_packets, 2);
	ck_assert_int_eq(packets[0].wptr, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(log_data->queues[0].last_wptr, GPREEMPT_UNKNOWN);
	/* ROCm 5 has none at all, which is no problem. */
	ck_assert_uint_eq(log_data->n_problems, 1);
	ck_assert_str_eq(log_data->problems[0].what, "a packet whose indices are cut off");
}

static const char *const colours[] = {
	"\x1b[0m",
	"\x1b[m",
	"\x1b[1;38;5;208m",
	"\x1b[2K",
	/* No sequence follows, if no "[" does: that byte alone is no whole. */
	"\x1b",
	"\x1b\x1b",
};

/* Put a colour before each character, and at the ends of lines: the facts are the same. */
TEST_EACH(colours_everywhere, ARRAY_SIZE(colours))
{
	static char painted[1 << 22];
	struct gp_amdlog_packet plain[AMDLOG_PACKETS];
	struct gp_amdlog_queue queues[16];
	const size_t step = 1 << 20;
	size_t n = 0, records, n_queues;
	const char *c;

	ck_assert(read_log_file(FIXTURE, step));
	records = log_data->records;
	n_queues = log_data->n_queues;
	memcpy(queues, log_data->queues, n_queues * sizeof(*queues));
	memcpy(plain, packets, sizeof(plain));
	amdlog_teardown();
	amdlog_setup();
	for (c = unit_file(FIXTURE); *c; c++)
		n += snprintf(painted + n, sizeof(painted) - n, "%s%c",
			      *c != '[' || strchr(colours[_i], '[') ? colours[_i] : "", *c);
	ck_assert_uint_lt(n, sizeof(painted));
	read_log(painted);
	ck_assert_uint_eq(log_data->n_problems, 0);
	ck_assert_uint_eq(log_data->lines, 150);
	ck_assert_uint_eq(log_data->records, records);
	ck_assert_uint_eq(log_data->n_queues, n_queues);
	ck_assert_mem_eq(log_data->queues, queues, n_queues * sizeof(*queues));
	ck_assert_uint_eq(n_packets, DISPATCHES + BARRIERS);
	for (n = 0; n < n_packets; n++) {
		ck_assert_int_eq(packets[n].us, plain[n].us);
		ck_assert_int_eq(packets[n].line, plain[n].line);
		ck_assert_uint_eq(packets[n].hwq, plain[n].hwq);
		ck_assert_int_eq(packets[n].dispatch, plain[n].dispatch);
	}
}

TEST_FIXTURE(amdlog_setup, amdlog_teardown)
