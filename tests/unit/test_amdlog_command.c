// SPDX-License-Identifier: GPL-2.0-only
/* Output of amdlog for a log: for people, programs and scripts. */
#include "unit-command.h"

#define LOG		     "tests/unit/fixtures/hip-5.7.1/amd-log-4"
#define HEAD(level, us, pid) ":" level ":rocvirtual.cpp :1: " us " us: [pid:" pid " tid: 0x1] "
#define PACKET		     "HWq=0xa0, id=3, Dispatch Header = 0xb02 (type=2), rptr=5, wptr=9\n"
#define CREATED		     "Created SWq=0x5 to map on HWq=0xa0 with size 16384 with priority 2\n"

TEST(table)
{
	make_text("log", HEAD("3", "10", "7") CREATED HEAD("4", "20", "7")
				 PACKET HEAD("3", "20", "7") "HIP Version: 7.0.51831, Driver\n"
							     "loss 0.4\n");
	LAB(0, "amdlog log");
	OUT_HAS("\n7\t3\t0\t1\t10\t0\n");
	OUT_HAS("\n7\t0xa0\t0x5\t3\thigh\t16384\t1\t0\t0\t0\t1\t0\t5\t9\t5\t9\t4\t"
		"10\t20\t1\n");
	ck_assert_str_eq(ctl_err, "");
	LAB(0, "amdlog log --json");
	expect_number("queues.0.backlog", 4);
	expect_number("other_lines", 1);
	expect_number("lines", 4);
	expect_number("level", 4);
	expect_text("hip_version", "7.0.51831");
}

/* An address is its process's own. */
TEST(two_processes)
{
	make_text("log", HEAD("4", "20", "7") PACKET HEAD("4", "21", "8") PACKET);
	LAB(0, "amdlog log --format python");
	OUT_HAS("PID = None\nHARDWARE_QUEUES = None");
	OUT_HAS("{\"pid\": 7, \"hwq\": 0xa0,");
	OUT_HAS("{\"pid\": 8, \"hwq\": 0xa0,");
	LAB(2, "amdlog log --format shell");
	ck_assert_str_eq(ctl_out, "");
	ERR_HAS("the log is of 2 processes");
	LAB(0, "amdlog log --format shell --pid 8");
	ck_assert_str_eq(ctl_out, "# Made by gpreempt-lab amdlog. Empty: the log does not say it.\n"
				  "GPREEMPT_PID=8\nGPREEMPT_HARDWARE_QUEUES='0xa0'\n"
				  "GPREEMPT_DISPATCHES=1\n");
	LAB(5, "amdlog log --pid 9");
	ERR_HAS("process 9 is not in this log");
}

/* The number of packets is not known in a log without them. */
TEST(level_3)
{
	make_text("log", HEAD("3", "10", "7") CREATED);
	LAB(0, "amdlog log --json");
	expect_null("queues.0.dispatches");
	expect_null("queues.0.barriers");
	expect_null("processes.0.dispatches");
	expect_number("queues.0.created", 1);
	LAB(0, "amdlog log --format python");
	OUT_HAS("\"dispatches\": None");
	LAB(0, "amdlog log --format shell");
	OUT_HAS("GPREEMPT_DISPATCHES=\n");
	LAB(0, "amdlog log");
	ERR_HAS("this is level 3");
}

TEST(without_pid)
{
	make_text("log", ":3:rocdevice.cpp :1: 10 us:  " CREATED);
	LAB(0, "amdlog log --format shell");
	OUT_HAS("GPREEMPT_PID=\n");
	LAB(0, "amdlog log --format python");
	OUT_HAS("PID = None\nHARDWARE_QUEUES = [0xa0]\n");
}

TEST(no_log)
{
	make_text("text", "loss 0.4\n");
	make_file("gz", "\x1f\x8b\x08", 3);
	make_text("empty", "");
	LAB(1, "amdlog text");
	ERR_HAS("no line of ROCm's log is in it");
	ERR_HAS("AMD_LOG_LEVEL=4");
	LAB(1, "amdlog empty --json");
	ck_assert_str_eq(ctl_out, "");
	LAB(1, "amdlog gz");
	ERR_HAS("compressed (gzip), not a log of ROCm");
	LAB(1, "amdlog nothing");
	LAB(1, "amdlog .");
	LAB(2, "amdlog text --format xml");
	ERR_HAS("table, json, python or shell");
}

TEST(problems)
{
	char text[8192];
	size_t n = 0, i;

	for (i = 0; i < 30; i++)
		n += sprintf(text + n, HEAD("3", "10", "7") "acquireQueue refCount: (nil)\n");
	make_file("log", text, n);
	LAB(6, "amdlog log");
	ERR_HAS("line 20: about a queue, but its address is cut off");
	ck_assert_ptr_null(strstr(ctl_err, "line 21:"));
	ERR_HAS("and 10 more; --json has the first 30");
	LAB(6, "amdlog log --json");
	expect_number("n_problems", 30);
	expect_number("problems.29.line", 30);
}

TEST(not_in_order)
{
	make_text("log", HEAD("4", "9000000", "7") PACKET HEAD("4", "1000000", "7") PACKET);
	LAB(0, "amdlog log");
	ERR_HAS("the log is not in order: a line is 8.0 s earlier");
	LAB(0, "amdlog log --json");
	expect_number("processes.0.run_us", 8000000);
	expect_number("processes.0.back_us", 8000000);
}

/* The file belongs to another user. */
TEST_AS_ROOT(not_permitted)
{
	make_text("log", HEAD("3", "10", "7") CREATED);
	ck_assert_int_eq(chmod("log", 0600), 0);
	ck_assert_int_eq(chmod(".", 0755), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	LAB(4, "amdlog log");
	LAB(4, "decode log");
	ck_assert_int_eq(seteuid(0), 0);
}

TEST_FIXTURE(command_setup, command_teardown)
