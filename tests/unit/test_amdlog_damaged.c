// SPDX-License-Identifier: GPL-2.0-only
/* ROCm's log interleaved, cut, wrapped, or hostile. */
#include "unit-amdlog.h"

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
	feed_text(texts[_i]);
	feed_text("\n");
	end_log();
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

TEST_FIXTURE(amdlog_setup, amdlog_teardown)
