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
	OUT_HAS("\n7\t3\t-\t1\t10\t0\n");
	OUT_HAS("\n7\t0xa0\t0x5\t3\thigh\t16384\t1\t0\t0\t0\t1\t0\t5\t9\t5\t9\t4\t"
		"10\t20\t1\t-\t-\t-\t-\t-\n");
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
	ERR_HAS("ROCm logs packets from AMD_LOG_LEVEL=5 on, up to ROCm 7.2 from 4 on");
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
	ERR_HAS("AMD_LOG_LEVEL=5");
	LAB(1, "amdlog empty --json");
	ck_assert_str_eq(ctl_out, "");
	ERR_HAS("empty: it is empty, not a log of ROCm");
	LAB(1, "amdlog gz");
	ERR_HAS("compressed (gzip), not a log of ROCm");
	LAB(1, "amdlog nothing");
	LAB(1, "amdlog .");
	LAB(2, "amdlog text --format xml");
	ERR_HAS("table, json, python or shell");
}

/* Text of another kind, and the command that reads it. */
static const struct {
	const char *text, *what;
} others[] = {
	{ "[  950.818166] amdgpu 0000:03:00.0: amdgpu: MES failed to respond\n",
	  "a log of the kernel" },
	{ "[  12.1] kfd: Evicting PASID 1 queues\n", "gpreempt-lab klog FILE" },
	{ "Aug 05 09:01:44 host kernel: kfd kfd: amdgpu: added device\n", "a log of the kernel" },
	{ "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\"\n0,\"f\",0,0\n",
	  "it is of a profiler" },
	{ "\"Name\",\"Calls\",\"TotalDurationNs\"\n\"f\",1,2\n", "it is of a profiler" },
	{ "{\"traceEvents\":[{\"name\":\"f\"}]}\n", "it is of a profiler" },
	{ "kvě 25 19:29:48 h kernel: [drm:f [amdgpu]] *ERROR* x\n", "a log of the kernel" },
	/* A program that names the driver. */
	{ "/opt/amdgpu/share/libdrm/amdgpu.ids: No such file\n", "run the program with" },
	{ "Process 7 PASID 7:\n  Compute queue on device f7bc\n", "gpreempt-lab decode FILE" },
};

TEST_EACH(other_text, ARRAY_SIZE(others))
{
	make_text("text", others[_i].text);
	LAB(1, "amdlog text");
	ERR_HAS(others[_i].what);
	ck_assert_ptr_null(strstr(ctl_err, "AMD_LOG_LEVEL=4"));
}

/* The text of a fault alone, which is there at each level, in all forms of output. */
TEST(fault)
{
	ck_assert(copy_fixture("tests/unit/fixtures/amdlog/hang-dump.log", "log"));
	LAB(0, "amdlog log");
	OUT_HAS("\n-\t0x7e0f00200000\t0x7e1000400000\t1\t-\t-\t-\t-\t-\t-\t-\t-\t"
		"70\t76\t70\t76\t6\t9000500\t9000500\t3\t6\t9000500\t0x1016\t"
		"HSA_STATUS_ERROR_EXCEPTION\tscale_rows\n");
	ERR_HAS("dispatches are not known where they are");
	LAB(0, "amdlog log --json");
	expect_number("queues.0.waiting", 6);
	expect_text("queues.0.error", "HSA_STATUS_ERROR_EXCEPTION");
	expect_text("queues.0.error_code", "0x1016");
	expect_null("processes.0.kernels");
	expect_null("processes.0.dispatches");
	expect_null("queues.0.created");
	expect_number("other_lines", 2);
	LAB(0, "amdlog log --format python");
	OUT_HAS("\"acquired\": None, \"dispatches\": None, \"rptr\": 70, \"wptr\": 76, "
		"\"backlog\": 6, \"priority\": None},");
	LAB(0, "amdlog log --format shell");
	OUT_HAS("GPREEMPT_HARDWARE_QUEUES='0x7e0f00200000'\nGPREEMPT_DISPATCHES=\n");
}

/* A dump without a record. */
TEST(dump_alone)
{
	make_text("log", "Kernel Name: f\nVGPU=0x1 SWq=0x5, HWq=0xa0, id=3\n\trptr=5, wptr=9\n");
	LAB(0, "amdlog log --format python");
	OUT_HAS("PID = None\nHARDWARE_QUEUES = [0xa0]\n");
	LAB(0, "amdlog log");
	ERR_HAS("dispatches are not known");
	LAB(0, "amdlog log --format shell");
	OUT_HAS("GPREEMPT_DISPATCHES=\n");
}

/* A log of level 4 of a ROCm that logs packets at level 5. */
TEST(level_4_since_7_12)
{
	ck_assert(copy_fixture("tests/unit/fixtures/amdlog/level4-of-rocm-7.12.log", "log"));
	LAB(0, "amdlog log --json");
	expect_number("processes.0.kernels", 3);
	expect_null("processes.0.dispatches");
	expect_null("queues.0.dispatches");
	expect_null("queues.0.barriers");
	expect_null("queues.0.deleted");
	expect_number("queues.0.created", 1);
	LAB(0, "amdlog log --format python");
	OUT_HAS("\"dispatches\": None");
	LAB(0, "amdlog log --format shell");
	OUT_HAS("GPREEMPT_DISPATCHES=\n");
	LAB(0, "amdlog log");
	ERR_HAS("from AMD_LOG_LEVEL=5 on");
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
