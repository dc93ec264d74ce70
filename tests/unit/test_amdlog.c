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
TEST_EACH(other, 9)
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
		"make a:main.cpp:12: 7 us: HWq=0xa0, Dispatch Header = 1",
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

/* Messages of several versions: one more stream shares a queue. */
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

/* A part that is cut off is a problem, and no queue. */
static const struct {
	const char *text, *what;
	size_t queues, problems, last_line;
} cuts[] = {
	/* An address that may lack digits is no address. */
	{ R "acquireQueue refCount: 0x7f36" R "acquireQueue refCount: 0xb0 (1)\n" R
	    "releaseQueue refCount:0x7f36",
	  "about a queue, but its address is cut off", 1, 2, 2 },
	{ ":3:rocdevice.cpp :1: 10 u" R "acquireQueue refCount: 0xb0 (1)\n",
	  "the head of this record is cut off", 1, 1, 1 },
	/* A terminal of 80 columns cuts the process off, and the rest is a line of its own. */
	{ ":3:rocdevice.cpp            :480 : 6306213494 us: [pid:459769 tid\n"
	  ": 0x7f8edc1c4400] acquireQueue refCount: 0xa0 (1)\n"
	  ":3:rocdevice.cpp            :480 : 6306213494 us: [pi\n",
	  "the head of this record is cut off", 0, 2, 3 },
};

TEST_EACH(cut, ARRAY_SIZE(cuts))
{
	read_log(cuts[_i].text);
	ck_assert_uint_eq(log_data->n_queues, cuts[_i].queues);
	if (cuts[_i].queues)
		ck_assert_uint_eq(log_data->queues[0].hwq, 0xb0);
	ck_assert_uint_eq(log_data->n_problems, cuts[_i].problems);
	ck_assert_uint_eq(log_data->problems[0].line, 1);
	ck_assert_uint_eq(log_data->problems[cuts[_i].problems - 1].line, cuts[_i].last_line);
	ck_assert_str_eq(log_data->problems[0].what, cuts[_i].what);
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

/* Texts of the field. */

#define FIELD(name) "tests/unit/fixtures/amdlog/" name ".log"
/* The head of a record that tells no PID. */
#define NO_PID(level, us) ":" level ":rocdevice.cpp            :3590: " us " us:  "
#define RAISED		  "aborting with error : HSA_STATUS_ERROR_EXCEPTION: An exception. code: 0x1016\n"
#define DUMP(vgpu, swq, hwq)                                                                \
	"VGPU=" vgpu " SWq=" swq ", HWq=" hwq ", id=1\n\tDispatch Header =0xb02 (type=2), " \
	"setup=0\n\tgrid=[2048, 1, 1], workgroup=[128, 1, 1]\n"

static const struct gp_amdlog_queue *only_queue(void)
{
	ck_assert_uint_eq(log_data->n_queues, 1);
	return log_data->queues;
}

static void expect_dispatches(int64_t dispatches)
{
	ck_assert_uint_eq(log_data->n_processes, 1);
	ck_assert_int_eq(log_data->processes->dispatches, dispatches);
}

/* Logs by their level and HIP's version. */
#define VERSION(level, text) \
	":" level ":hip_context.cpp :1: 1 us: [pid:7 tid: 0x1] HIP Version: " text "\n"
#define SHADER(level) ":" level ":rocvirtual.cpp :1: 2 us: [pid:7 tid: 0x1] ShaderName : f\n"
#define ARGS(level)   ":" level ":rocvirtual.cpp :1: 2 us: [pid:7 tid: 0x1] Arg0:  = val:0x7\n"

static const struct {
	const char *text;
	int64_t kernels, dispatches;
} packets_known[] = {
	{ ARGS("3"), 0, GPREEMPT_UNKNOWN },
	{ ARGS("4"), 0, GPREEMPT_UNKNOWN },
	{ ARGS("5"), 0, 0 },
	{ ARGS("6"), 0, 0 },
	{ VERSION("3", "7.2.26015, Driver") ARGS("4"), 0, 0 },
	{ VERSION("3", "5.7.31921-0, Driver") ARGS("4"), 0, 0 },
	{ VERSION("3", "7.2.26015") ARGS("3"), 0, GPREEMPT_UNKNOWN },
	{ VERSION("3", "7.12.60610") ARGS("4"), 0, GPREEMPT_UNKNOWN },
	{ VERSION("3", "10.0.1") ARGS("4"), 0, GPREEMPT_UNKNOWN },
	{ VERSION("3", "unknown") ARGS("4"), 0, GPREEMPT_UNKNOWN },
	{ AT "7 us: [pid:7 tid: 0x1] " PACKET "\n", GPREEMPT_UNKNOWN, 1 },
	{ SHADER("3") AT "7 us: [pid:7 tid: 0x1] " PACKET "\n", 1, 1 },
	/* The mask left the packets out. */
	{ SHADER("3") ARGS("5"), 1, GPREEMPT_UNKNOWN },
	{ ARGS("1"), GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN },
	{ NO_PID("0", "7") "Callback: Queue 0xa0 " RAISED, GPREEMPT_UNKNOWN, GPREEMPT_UNKNOWN },
};

TEST_EACH(unknown_is_never_0, ARRAY_SIZE(packets_known))
{
	read_log(packets_known[_i].text);
	expect_dispatches(packets_known[_i].dispatches);
	ck_assert_int_eq(log_data->processes->kernels, packets_known[_i].kernels);
	ck_assert_uint_eq(log_data->n_problems, 0);
}

/* One process's level says nothing of another's. */
TEST(levels_by_process)
{
	read_log(R
		 "acquireQueue refCount: 0xa0 (1)\n"
		 ":5:rocvirtual.cpp :1: 9 us: [pid:8 tid: 0x1] HWq=0xb0, Dispatch Header = 0xb02, "
		 "rptr=5, wptr=9\n");
	ck_assert_int_eq(log_data->processes[0].dispatches, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(log_data->queues[0].dispatches, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(log_data->queues[0].created, 0);
	ck_assert_int_eq(log_data->processes[1].dispatches, 1);
	ck_assert_int_eq(log_data->queues[1].barriers, 0);
	ck_assert_int_eq(log_data->queues[1].created, GPREEMPT_UNKNOWN);
}

/* "Deleting" is of level 5 since the packets are. */
TEST_EACH(deleted, 5)
{
	static const struct {
		const char *text;
		int64_t deleted;
	} logs[] = {
		{ R "acquireQueue refCount: 0xa0 (1)\n", GPREEMPT_UNKNOWN },
		{ R "Deleting CG enabled hardware queue 0xa0 with refCount 0\n", 1 },
		{ VERSION("3", "7.0.51831") R "acquireQueue refCount: 0xa0 (1)\n", 0 },
		{ R "acquireQueue refCount: 0xa0 (1)\n" ARGS("5"), 0 },
		{ R "acquireQueue refCount: 0xa0 (1)\n" AT "7 us: [pid:7 tid: 0x1] " PACKET "\n",
		  0 },
	};

	read_log(logs[_i].text);
	ck_assert_int_eq(only_queue()->deleted, logs[_i].deleted);
}

TEST_EACH(hang_dump, 3)
{
	static const size_t steps[] = { 1 << 20, 1, 97 };
	const struct gp_amdlog_queue *q;

	ck_assert(read_log_file(FIELD("hang-dump"), steps[_i]));
	q = only_queue();
	ck_assert_uint_eq(q->hwq, 0x7e0f00200000);
	ck_assert_uint_eq(q->swq, 0x7e1000400000);
	ck_assert_int_eq(q->id, 1);
	ck_assert_int_eq(q->last_rptr, 70);
	ck_assert_int_eq(q->last_wptr, 76);
	ck_assert_int_eq(q->waiting, 6);
	ck_assert_str_eq(q->kernel, "scale_rows");
	ck_assert_int_eq(q->aborted_us, 9000500);
	ck_assert_str_eq(q->error, "HSA_STATUS_ERROR_EXCEPTION");
	ck_assert_int_eq(q->error_code, 0x1016);
	ck_assert_int_eq(q->dispatches, GPREEMPT_UNKNOWN);
	ck_assert_uint_eq(log_data->n_problems, 0);
	ck_assert_uint_eq(log_data->other_lines, 2);
}

TEST(abort_of_four_ranks)
{
	static const struct {
		uint64_t hwq;
		int64_t us;
	} ranks[] = {
		{ 0x7e2000200000, 70000000 },
		{ 0x7e2100200000, 70000310 },
		{ 0x7e2200200000, 70095000 },
		{ 0x7e2300200000, 70410000 },
	};
	size_t i;

	ck_assert(read_log_file(FIELD("abort-of-four-ranks"), 1 << 20));
	ck_assert_uint_eq(log_data->n_queues, 4);
	for (i = 0; i < 4; i++) {
		ck_assert_uint_eq(log_data->queues[i].hwq, ranks[i].hwq);
		ck_assert_int_eq(log_data->queues[i].aborted_us, ranks[i].us);
		ck_assert_int_eq(log_data->queues[i].waiting, GPREEMPT_UNKNOWN);
	}
}

#define ABORTS	  NO_PID("0", "7") "Callback: Queue 0xa0 " RAISED
#define MEMORY	  NO_PID("0", "7") "Memory Fault Error "
#define WARNS	  "Warning: Queue error - HSA_STATUS_ERROR_MEMORY_FAULT\n"
#define ANALYSIS  "VGPU(0x1) hang analysis:\n"
#define ITS_QUEUE "SWq=0x5, HWq=0xa0, id=1, "
#define INDICES	  "\trptr=5, wptr=9\n"
#define APERTURE  "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION"

/* Forms in which the runtime dumps a queue and reports the fault. */
/* clang-format off */
static const struct {
	const char *text;
	int64_t swq, hwq, waiting, us;
	const char *error, *kernel;
} faults[] = {
	/* The record is first; other output and a prefix stand before the name. */
	{ ABORTS "(Worker pid=9) test_a Kernel Name: f<int>(int)\n(Worker pid=9) "
	  DUMP("0x1", "0x5", "0xa0") "(Worker pid=9) " INDICES,
	  5, 0xa0, 4, 7, "HSA_STATUS_ERROR_EXCEPTION", "f<int>(int)" },
	/* ROCm 6 has the PID; an upper case letter, and more behind the code. */
	{ R "Callback: Queue 0xa0 Aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES: "
	  "It failed. Code: 0x1008 Available Free mem : 17 MB\n",
	  -1, 0xa0, -1, 10, "HSA_STATUS_ERROR_OUT_OF_RESOURCES", NULL },
	/* A fault of memory names the kernel in its record, and no queue: that of the dump. */
	{ DUMP("0x1", "0x5", "0xa0") INDICES MEMORY "[host: h, GPU index: 0, faulting addr: 0x7f, "
	  "kernel: (anonymous namespace)::f(int const*, int [2])]\n",
	  5, 0xa0, 4, 7, "Memory Fault Error",
	  "(anonymous namespace)::f(int const*, int [2])" },
	/* The packet's own line, as since July 2026. */
	{ "50%|##  | 1/2" WARNS ANALYSIS ITS_QUEUE "priority=1, Dispatch Header = 0xb02 (type=2), "
	  "setup=3, grid=[1, 1, 1], rptr=5, wptr=9\n" ITS_QUEUE "Metadata Packet [wptr=9]: "
	  "header=[0x1, 0x2, 0x3, 0x4]\n" MEMORY "[GPU index: 0, kernel: f]\n",
	  5, 0xa0, 4, 7, "HSA_STATUS_ERROR_MEMORY_FAULT", "f" },
	{ ANALYSIS ITS_QUEUE "priority=1, Barrier-AND Header = 0xb02 (type=3), rptr=5, wptr=9\n",
	  5, 0xa0, 4, -1, NULL, NULL },
	/* The process hangs after that, and no record follows. */
	{ WARNS ANALYSIS ITS_QUEUE "Dispatch Header = 0xb02, rptr=5, wptr=9\n",
	  5, 0xa0, 4, -1, "HSA_STATUS_ERROR_MEMORY_FAULT", NULL },
	{ "VGPU(0x1) Queue(0x5) rptr=5, wptr=9. A barrier packet in the queue!\n",
	  5, -1, 4, -1, NULL, NULL },
	{ "VGPU(0x1) Queue(0x5) rptr=5, wptr=9. Vendor packet (amd_format=2)\n",
	  5, -1, 4, -1, NULL, NULL },
	{ "VGPU(0x1) Queue(0x5) is idle\n", 5, -1, 0, -1, NULL, NULL },
	{ "VGPU(0x1) Queue(0x5). Couldn't find the hang AQL packet!\n",
	  5, -1, -1, -1, NULL, NULL },
	/* No queue is named. */
	{ R "HW Exception Error\n", -1, -1, -1, 10, "HW Exception Error", NULL },
	{ R "Device::callbackQueue aborting with error : " APERTURE ": It did. code: 0x29\n",
	  -1, -1, -1, 10, APERTURE, NULL },
	{ WARNS ANALYSIS, -1, -1, -1, -1, "HSA_STATUS_ERROR_MEMORY_FAULT", NULL },
};
/* clang-format on */

TEST_EACH(fault_forms, ARRAY_SIZE(faults))
{
	const struct gp_amdlog_queue *q;

	read_log(faults[_i].text);
	q = only_queue();
	ck_assert_int_eq(q->swq, faults[_i].swq);
	ck_assert_int_eq(q->hwq, faults[_i].hwq);
	ck_assert_int_eq(q->waiting, faults[_i].waiting);
	ck_assert_int_eq(q->aborted_us, faults[_i].us);
	ck_assert_pstr_eq(q->error, faults[_i].error);
	ck_assert_pstr_eq(q->kernel, faults[_i].kernel);
	ck_assert_uint_eq(log_data->n_problems, 0);
}

/* A dump has no PID: it is of the process whose queue it is, before or after. */
TEST_EACH(process_of_a_dump, 3)
{
	const char *dump = DUMP("0x1", "0x5", "0xa0") "\trptr=5, wptr=9\n";
	const char *by_swq =
		"VGPU(0x1) Queue(0x5) rptr=5, wptr=9. A barrier packet in the queue!\n";
	const char *created = R "Created SWq=0x5 to map on HWq=0xa0 with size 16 with priority 1\n";

	feed_text(_i == 1 ? dump : created);
	read_log(_i == 1 ? created : _i ? by_swq : dump);
	ck_assert_int_eq(only_queue()->pid, 7);
	ck_assert_int_eq(only_queue()->waiting, 4);
	ck_assert_int_eq(only_queue()->created, 1);
	ck_assert_int_eq(only_queue()->first_us, 10);
}

/* Two processes have it: the dump is of neither. */
TEST(dump_of_one_of_two)
{
	feed_text(R "acquireQueue refCount: 0xa0 (1)\n" OTHER "acquireQueue refCount: 0xa0 (1)\n");
	read_log(DUMP("0x1", "0x5", "0xa0") "\trptr=5, wptr=9\n");
	ck_assert_uint_eq(log_data->n_queues, 3);
	ck_assert_int_eq(log_data->queues[2].pid, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(log_data->queues[2].waiting, 4);
	ck_assert_int_eq(log_data->queues[0].waiting, GPREEMPT_UNKNOWN);
}

/* Processes that die at once write between each other's lines. */
TEST(dumps_in_one_another)
{
	read_log("Kernel Name: f\nKernel Name: g\n" DUMP("0x1", "0x5", "0xa0")
			 DUMP("0x1", "0x6", "0xb0") "\trptr=5, wptr=9\n\trptr=7, wptr=9\n" NO_PID(
				 "0", "7") "Memory Fault Error [GPU index: 0, kernel: f]\n"
					   "Kernel Name: h\n" DUMP("0x1", "0x7",
								   "0xc0") "\trptr=8, wptr=9\n");
	ck_assert_uint_eq(log_data->n_queues, 4);
	ck_assert_int_eq(log_data->queues[0].waiting, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(log_data->queues[1].waiting, GPREEMPT_UNKNOWN);
	ck_assert_ptr_null(log_data->queues[0].kernel);
	ck_assert_ptr_null(log_data->queues[1].kernel);
	ck_assert_int_eq(log_data->queues[2].hwq, GPREEMPT_UNKNOWN);
	ck_assert_str_eq(log_data->queues[2].kernel, "f");
	ck_assert_int_eq(log_data->queues[3].waiting, 1);
	ck_assert_str_eq(log_data->queues[3].kernel, "h");
	ck_assert_uint_eq(log_data->n_problems, 2);
}

/* The name was cut off: it is not that of the dump before. */
TEST_EACH(no_kernel, 2)
{
	if (_i)
		feed_text("Kernel Name: f\n" DUMP("0x1", "0x6", "0xb0") INDICES);
	read_log("Kernel Name: "
		 "\n" DUMP("0x1", "0x5", "0xa0") INDICES);
	ck_assert_uint_eq(log_data->n_queues, 1 + _i);
	ck_assert_ptr_null(log_data->queues[_i].kernel);
}

/* A dump whose end is lost, a name without a dump, a word of another program. */
TEST(parts_of_dumps)
{
	read_log("Kernel Name: f\n" DUMP("0x1", "0x5",
					 "0xa0") "\trptr=6, wptr=\n"
						 "rptr=1, wptr=2\nKernel Name: g\nHWq=0xb0, Dispatch Header\n"
						 "redis Queue error - refused\n");
	ck_assert_int_eq(only_queue()->waiting, GPREEMPT_UNKNOWN);
	ck_assert_str_eq(only_queue()->kernel, "f");
	ck_assert_uint_eq(log_data->n_problems, 1);
	ck_assert_str_eq(log_data->problems[0].what, "a dump whose indices are cut off");
}

TEST(mask_without_location)
{
	const struct gp_amdlog_queue *q;

	ck_assert(read_log_file(FIELD("mask-without-location"), 1 << 20));
	q = only_queue();
	ck_assert_int_eq(q->pid, 612);
	ck_assert_int_eq(q->created, 1);
	ck_assert_int_eq(q->dispatches, 2);
	ck_assert_int_eq(q->first_rptr, 4);
	ck_assert_int_eq(q->first_wptr, 4);
	ck_assert_int_eq(q->last_wptr, 6);
	ck_assert_int_eq(q->backlog, 2);
	ck_assert_uint_eq(log_data->n_problems, 0);
	ck_assert_uint_eq(log_data->level, 5);
}

/* Records without a file, or with a cut begin, and lines that are none. */
static const struct {
	const char *text;
	uint64_t records;
	size_t problems;
} begins[] = {
	{ ":5::0:7 us: " PACKET "\n", 1, 0 },
	{ "rank 0 | :5:             :0   : 7270505900d us:  " PACKET "\n", 1, 0 },
	{ ":5:    :0   : 7 us:  " PACKET ", :5:    :0   : 8 us:  " PACKET "\n", 2, 0 },
	{ "at 12:5: :0: x\n", 0, 0 },
	{ ":5:    :12  : 7 us:  " PACKET "\n", 0, 0 },
	{ "4:rocvirtual.cpp           :1083: 7 us:  " PACKET "\n", 1, 0 },
	{ ":rocvirtual.cpp           :1083: 7 us:  " PACKET "\n", 1, 0 },
	{ "> 4:rocvirtual.cpp           :1083: 7 us:  " PACKET "\n", 1, 0 },
	{ "4:rocvirtual.cpp :1083: 7 us:  " PACKET AT "8 us:  " PACKET "\n", 2, 1 },
	{ "2:main.cpp:12: error: x\n", 0, 0 },
	{ "rocvirtual.cpp:12:7: error: x\n", 0, 0 },
};

TEST_EACH(begin, ARRAY_SIZE(begins))
{
	read_log(begins[_i].text);
	ck_assert_uint_eq(log_data->records, begins[_i].records);
	ck_assert_uint_eq(n_packets, begins[_i].records);
	ck_assert_uint_eq(log_data->n_problems, begins[_i].problems);
}

TEST(first_colon_lost)
{
	ck_assert(read_log_file(FIELD("first-colon-lost"), 1 << 20));
	ck_assert_int_eq(only_queue()->dispatches, 2);
	ck_assert_int_eq(only_queue()->pid, 615);
	ck_assert_uint_eq(log_data->n_problems, 0);
}

TEST(priority_in_packets)
{
	ck_assert(read_log_file(FIELD("priority-in-packet"), 1 << 20));
	ck_assert_uint_eq(log_data->n_queues, 2);
	ck_assert_str_eq(log_data->queues[0].priority, "high");
	ck_assert_str_eq(log_data->queues[1].priority, "low");
}

/* HIP's numbers: its medium is a queue of normal priority. */
TEST_EACH(priorities, 6)
{
	static const char *const names[] = { "low", "normal", "normal", "high", NULL, NULL };

	read_log(unit_text(AT
			   "7 us: HWq=0xa0, id=1, priority=%s, Dispatch Header = 0xb02, rptr=5, wptr=9\n",
			   _i < 5 ? unit_text("%d", _i) : "-1"));
	ck_assert_pstr_eq(only_queue()->priority, names[_i]);
}

/* Its lines have a thread, and few of them a PID. */
TEST(rocm_4_5)
{
	ck_assert(read_log_file(FIELD("rocm45-bang"), 1 << 20));
	ck_assert_uint_eq(log_data->n_processes, 2);
	ck_assert_int_eq(log_data->processes[0].pid, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(log_data->processes[0].kernels, 1);
	ck_assert_int_eq(log_data->processes[0].dispatches, 1);
	ck_assert_int_eq(log_data->processes[1].pid, 614);
	ck_assert_int_eq(only_queue()->dispatches, 1);
	ck_assert_uint_eq(log_data->n_problems, 0);
}

/* The mark stands with and without a tab, and a name may begin with one. */
TEST_EACH(kernels_of_rocm_4_5, 4)
{
	static const char *const rests[] = { "!\tShaderName : f", "! ShaderName : f",
					     " ShaderName : f", "\tShaderName : !f" };

	read_log(unit_text(":3:rocvirtual.cpp :2670: 7 us: [7f01]%s\n", rests[_i]));
	ck_assert_int_eq(log_data->processes->kernels, 1);
}

/* rptr is read after the packet was written; the indices are printed as 32 bits. */
TEST_EACH(backlogs, 5)
{
	static const struct {
		const char *text;
		int64_t backlog;
	} logs[] = {
		{ TIMED("1", "rptr=9, wptr=8"), 0 },
		{ TIMED("1", "rptr=9, wptr=8") TIMED("2", "rptr=10, wptr=12"), 2 },
		{ TIMED("1", "rptr=9, wptr=8") TIMED("2", "rptr=12, wptr=10"), 0 },
		{ TIMED("1", "rptr=4294967290, wptr=5"), 11 },
		{ TIMED("1", "x"), GPREEMPT_UNKNOWN },
	};

	read_log(logs[_i].text);
	ck_assert_int_eq(only_queue()->backlog, logs[_i].backlog);
}

TEST_FIXTURE(amdlog_setup, amdlog_teardown)
