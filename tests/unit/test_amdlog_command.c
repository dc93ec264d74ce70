// SPDX-License-Identifier: GPL-2.0-only
/* What amdlog prints of a log, for people, programs and scripts. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit-command.h"

#define LOG "tests/unit/fixtures/hip-5.7.1/amd-log-4"
#define HEAD(level, us, pid) \
	":" level ":rocvirtual.cpp :1: " us " us: [pid:" pid " tid: 0x1] "
#define PACKET \
	"HWq=0xa0, id=3, Dispatch Header = 0xb02 (type=2), rptr=5, wptr=9\n"
#define CREATED \
	"Created SWq=0x5 to map on HWq=0xa0 with size 16384 with priority 2\n"

TEST(table)
{
	make_text("log", HEAD("3", "10", "7") CREATED HEAD("4", "20", "7")
				 PACKET "loss 0.4\n");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", NULL), 0);
	expect_out("\n7\t2\t0\t1\t10\t0\n");
	expect_out("\n7\t0xa0\t0x5\t3\thigh\t16384\t1\t0\t0\t0\t1\t0\t5\t9\t5\t9\t4\t"
		   "10\t20\t1\n");
	ck_assert_str_eq(ctl_err, "");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--format", "json",
				     NULL),
			 0);
	read_json();
	expect_number(json, "queues.0.backlog", 4);
	expect_number(json, "other_lines", 1);
	expect_number(json, "lines", 3);
	expect_number(json, "level", 4);
}

TEST(python)
{
	make_text("log",
		  HEAD("3", "10", "7") CREATED HEAD("4", "20", "7") PACKET
		  ":4:rocvirtual.cpp :1: 30 us: [pid:7 tid: 0x1] HWq=0xb0, "
		  "Dispatch Header = 0xb02 (type=2)\n");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--format", "python",
				     NULL),
			 0);
	ck_assert_str_eq(
		ctl_out,
		"# Made by gpreempt-ctl amdlog. None: the log does not say it.\n"
		"PID = 7\nHARDWARE_QUEUES = [0xa0, 0xb0]\nQUEUES = [\n"
		"    {\"pid\": 7, \"hwq\": 0xa0, \"swq\": 0x5, \"id\": 3, "
		"\"acquired\": 0, \"dispatches\": 1, \"rptr\": 5, \"wptr\": 9, "
		"\"backlog\": 4, \"priority\": \"high\"},\n"
		"    {\"pid\": 7, \"hwq\": 0xb0, \"swq\": None, \"id\": None, "
		"\"acquired\": 0, \"dispatches\": 1, \"rptr\": None, "
		"\"wptr\": None, \"backlog\": None, \"priority\": None},\n]\n");
}

/* An address is its process's own. */
TEST(two_processes)
{
	make_text("log",
		  HEAD("4", "20", "7") PACKET HEAD("4", "21", "8") PACKET);
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--format", "python",
				     NULL),
			 0);
	expect_out("PID = None\nHARDWARE_QUEUES = None");
	expect_out("{\"pid\": 7, \"hwq\": 0xa0,");
	expect_out("{\"pid\": 8, \"hwq\": 0xa0,");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--format", "shell",
				     NULL),
			 2);
	ck_assert_str_eq(ctl_out, "");
	expect_err("the log is of 2 processes");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--format", "shell",
				     "--pid", "8", NULL),
			 0);
	ck_assert_str_eq(ctl_out,
			 "# Made by gpreempt-ctl amdlog. Empty: the log does not say it.\n"
			 "GPREEMPT_PID=8\nGPREEMPT_HARDWARE_QUEUES='0xa0'\n"
			 "GPREEMPT_DISPATCHES=1\n");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--pid", "9", NULL),
			 5);
	expect_err("process 9 is not in this log");
}

/* Without packets, that there are none is not known. */
TEST(level_3)
{
	make_text("log", HEAD("3", "10", "7") CREATED);
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--json", NULL), 0);
	read_json();
	expect_null(json, "queues.0.dispatches");
	expect_null(json, "queues.0.barriers");
	expect_null(json, "processes.0.dispatches");
	expect_number(json, "queues.0.created", 1);
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--format", "python",
				     NULL),
			 0);
	expect_out("\"dispatches\": None");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--format", "shell",
				     NULL),
			 0);
	expect_out("GPREEMPT_DISPATCHES=\n");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", NULL), 0);
	expect_err("this is level 3");
}

TEST(without_pid)
{
	make_text("log", ":3:rocdevice.cpp :1: 10 us:  " CREATED);
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--format", "shell",
				     NULL),
			 0);
	expect_out("GPREEMPT_PID=\n");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--format", "python",
				     NULL),
			 0);
	expect_out("PID = None\nHARDWARE_QUEUES = [0xa0]\n");
}

TEST(no_log)
{
	make_text("text", "loss 0.4\n");
	make_file("gz", "\x1f\x8b\x08", 3);
	make_text("empty", "");
	ck_assert_int_eq(run_command(&ctl_amdlog, "text", NULL), 1);
	expect_err("no line of ROCm's log is in it");
	expect_err("AMD_LOG_LEVEL=4");
	ck_assert_int_eq(run_command(&ctl_amdlog, "empty", "--json", NULL), 1);
	ck_assert_str_eq(ctl_out, "");
	ck_assert_int_eq(run_command(&ctl_amdlog, "gz", NULL), 1);
	expect_err("compressed (gzip), not a log of ROCm");
	ck_assert_int_eq(run_command(&ctl_amdlog, "nothing", NULL), 1);
	ck_assert_int_eq(run_command(&ctl_amdlog, ".", NULL), 1);
	ck_assert_int_eq(run_command(&ctl_amdlog, "text", "--format", "xml",
				     NULL),
			 2);
	expect_err("table, json, python or shell");
}

TEST(problems)
{
	char text[8192];
	size_t n = 0, i;

	for (i = 0; i < 30; i++)
		n += sprintf(text + n,
			     HEAD("3", "10",
				  "7") "acquireQueue refCount: (nil)\n");
	make_file("log", text, n);
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", NULL), 6);
	expect_err("line 20: about a queue, but its address is cut off");
	ck_assert_ptr_null(strstr(ctl_err, "line 21:"));
	expect_err("and 10 more; --json has the first 30");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--json", NULL), 6);
	read_json();
	expect_number(json, "n_problems", 30);
	expect_number(json, "problems.29.line", 30);
}

TEST(not_in_order)
{
	make_text("log", HEAD("4", "9000000", "7")
				 PACKET HEAD("4", "1000000", "7") PACKET);
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", NULL), 0);
	expect_err("the log is not in order: a line is 8.0 s earlier");
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--json", NULL), 0);
	read_json();
	expect_number(json, "processes.0.run_us", 8000000);
	expect_number(json, "processes.0.back_us", 8000000);
}

/* Numbers counted with grep -c. */
TEST(of_a_real_runtime)
{
	ck_assert(copy_fixture(LOG, "log"));
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", "--json", NULL), 0);
	read_json();
	expect_number(json, "lines", 150);
	expect_number(json, "processes.0.dispatches", 3);
	expect_null(json, "queues.0.hwq");
	expect_null(json, "hip_version");
}

/* Of another user, whose file it is. */
TEST(not_permitted)
{
	if (geteuid()) {
		puts("not_permitted: skipped, only root can be another user");
		return;
	}
	make_text("log", HEAD("3", "10", "7") CREATED);
	ck_assert_int_eq(chmod("log", 0600), 0);
	ck_assert_int_eq(chmod(".", 0755), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(run_command(&ctl_amdlog, "log", NULL), 4);
	ck_assert_int_eq(run_command(&ctl_decode, "log", NULL), 4);
	ck_assert_int_eq(seteuid(0), 0);
}

TEST_FIXTURE(command_setup, command_teardown)
