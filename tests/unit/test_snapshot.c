// SPDX-License-Identifier: GPL-2.0-only
/* snapshot: what it keeps, for whom, and of names that processes choose. */
#include "lab/diff.h"
#include "lab/snapshot.h"
#include "unit-command.h"

#define KFD  "made/sys/class/kfd/kfd/proc/4194242/"
#define VIEW "made/sys/kernel/debug/gpreempt/"
#define PROC "made/proc/4194242/"

/* Command line in the kernel's form: words end with a NUL. */
static const char cmdline[] = "x\x1b]52;c;AAAA\x07\0two words\0a\nb";

static void setup(void)
{
	system_setup();
	copy_fixture(DRIVER "mqds", "made/kfd/mqds");
	copy_fixture(DRIVER "hqds", "made/kfd/hqds");
	copy_fixture(DRIVER "rls", "made/kfd/rls");
	copy_fixture(DRIVER "queues-144", VIEW "pid/4194242/queues");
	make_text(VIEW "pid/4194242/usage", "usage\n");
	make_text(KFD "stats_63420/evicted_ms", "7\n");
	make_text(VIEW "processes", "processes\n");
	make_text(VIEW "nodes", "nodes\n");
	make_text(KFD "queues/0/gpuid", "63420\n");
	make_text(KFD "queues/0/size", "65536\n");
	make_text(KFD "queues/0/type", "0\n");
	make_text(PROC "stat", "4194242 (job) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 "
			       "0 3 0 777 1 2 3\n");
	make_text(PROC "status", "Name:\tjob\nState:\tS\nNSpid:\t4194242\t7\n");
	make_text(PROC "comm", "j\x1b[8m b\xff\n");
	make_file(PROC "cmdline", cmdline, sizeof(cmdline));
}

TEST_AS_ROOT(one)
{
	static const char *const files[] = {
		"mqds",	 "hqds",      "rls",   "info",		 "ps",
		"sysfs", "processes", "nodes", "queues-4194242",
	};
	size_t i;

	LAB(0, "snapshot -o day --tag one");
	ck_assert_str_eq(ctl_out, "day/one: 2 processes, 4 queues, 3 of 24 CP "
				  "slots active (12%)\n");
	ck_assert_uint_eq(mode_of("day"), 0700);
	ck_assert_uint_eq(mode_of("day/one"), 0700);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		ck_assert_uint_eq(mode_of(unit_text("day/one/%s", files[i])), 0600);
	ck_assert_str_eq(unit_file("day/one/sys/kernel/debug/gpreempt/pid/"
				   "4194242/usage"),
			 "usage\n");
	ck_assert_str_eq(unit_file("day/one/sys/class/kfd/kfd/proc/4194242/"
				   "stats_63420/evicted_ms"),
			 "7\n");
	/* Nothing is overwritten. */
	LAB(1, "snapshot -o day --tag one");
	ERR_HAS("day/one: File exists");
}

TEST_AS_ROOT(an_empty_directory_will_do)
{
	ck_assert_int_eq(mkdir("day", 0755), 0);
	LAB(0, "snapshot -o day");
	ck_assert_uint_eq(mode_of("day"), 0700);
	ck_assert_uint_eq(mode_of("day/mqds"), 0600);
	LAB(1, "snapshot -o day/mqds/x");
	ERR_HAS("Not a directory");
}

/* A half has another name, which is refused; no parents are made; a failure leaves nothing. */
TEST_AS_ROOT(halves)
{
	LAB(1, "snapshot -o none/day");
	ERR_HAS("next: name a new directory");
	ck_assert_int_ne(access("none", F_OK), 0);
	LAB(0, "snapshot -o day");
	ck_assert_int_eq(rename("day", "day.part-7"), 0);
	CTL(GPREEMPT_CLASS_USAGE, "list --from day.part-7");
	ERR_HAS("half of a snapshot");
	LAB(1, "decode day.part-7");
}

/* The kernel's log in the form of dmesg. */
TEST_AS_ROOT(kernel_log)
{
	make_text("made/dev/kmsg", "6,1,2000003,-;amdgpu: a line\n");
	LAB(0, "snapshot -o day");
	ck_assert_str_eq(unit_file("day/kernel-log"), "[    2.000003] amdgpu: a line\n");
}

/* decode without a file reads the driver's own. */
TEST_AS_ROOT(decode_live)
{
	LAB(0, "decode --json");
	expect_rows("queues", 4);
	ck_assert_int_eq(remove("made/kfd/rls"), 0);
	LAB(0, "decode");
	ck_assert_int_eq(remove("made/kfd/hqds"), 0);
	LAB(GPREEMPT_CLASS_UNSUPPORTED, "decode");
	ERR_HAS("hqds");
}

TEST_AS_ROOT(series)
{
	LAB(0, "snapshot -o s --every 10ms --count 2 --tag busy");
	OUT_HAS("s/000-baseline: ");
	OUT_HAS("\ns/001-busy: ");
	OUT_HAS("\ns/002-busy: ");
	OUT_HAS("\ns/003-final: ");
	ck_assert_uint_eq(mode_of("s/003-final/info"), 0600);
}

/* While a command runs: what it prints is kept, its exit status is ours. */
TEST_AS_ROOT(of_a_command)
{
	LAB(3, "snapshot -o s --every 10ms --count 1 -- sh -c "
	       "'echo out; echo err >&2; "
	       "until [ -e s/001-sample/info ]; do :; done; exit 3'");
	OUT_HAS("s/000-baseline: ");
	OUT_HAS("\ns/001-sample: ");
	OUT_HAS("\ns/002-final: ");
	ck_assert_int_ne(access("s/003-final", F_OK), 0);
	ck_assert_str_eq(unit_file("s/command.out"), "out\nerr\n");
	ck_assert_uint_eq(mode_of("s/command.out"), 0600);
}

/* A sample that fails: the command is waited for all the same. */
TEST_AS_ROOT(fails_during_a_command)
{
	/* A directory takes the place of a sample, however busy the host is. */
	LAB(1, "snapshot -o s --every 500ms -- sh -c "
	       "'for n in $(seq -w 1 29); do "
	       "mkdir s/0$n-sample && >s/0$n-sample/x; done; "
	       "until grep -q sample: /proc/$PPID/fd/2; do sleep 0.1; done; "
	       ">ended'");
	/* File exists, or the directory is not empty. */
	ERR_HAS("-sample: ");
	ck_assert_int_eq(access("ended", F_OK), 0);
}

/* Samples end with the command, however many are asked for. */
TEST_AS_ROOT(of_a_short_command)
{
	LAB(0, "snapshot -o s --every 1h -- true");
	OUT_HAS("s/000-baseline: ");
	OUT_HAS("\ns/001-final: ");
	LAB(127, "snapshot -o none -- /nowhere/program");
	ERR_HAS("cannot run /nowhere/program: No such file");
	ck_assert_int_eq(access("none/001-final/info", F_OK), 0);
}

TEST(bad_tag)
{
	LAB(2, "snapshot --tag a/b");
	ERR_HAS("without /");
}

TEST_AS_ROOT(refused)
{
	ck_assert_int_eq(rename("made/kfd", "made/other"), 0);
	LAB(3, "snapshot -o day");
	ERR_HAS("there is no made/kfd");
	/* mqds is there, and no hqds. */
	ck_assert_int_eq(mkdir("made/kfd", 0755), 0);
	LAB(1, "snapshot -o day");
	ERR_HAS("No such file");
}

/* hqds that can't be read: the figures are not known. */
TEST_AS_ROOT(slots_not_known)
{
	make_text("made/kfd/hqds", "Node 1, gpu_id 2d60:\n"
				   " Inst 0,  CP Pipe 0, Queue 2\n");
	LAB(0, "snapshot -o day");
	OUT_HAS("day: 2 processes, 4 queues, CP slots not known\n");
}

/* Expect a file in a snapshot that is made now. */
static void expect_file(const char *path, const char *text)
{
	LAB(0, "snapshot -o day");
	ck_assert_str_eq(unit_file(path), text);
}

TEST_AS_ROOT(queues_of_sysfs)
{
	expect_file("day/sysfs", "# pid qid gpu_id size type\n"
				 "4194242 0 0xf7bc 65536 0\n");
}

TEST_AS_ROOT(names_are_escaped)
{
	expect_file("day/ps", "# pid start ns_pid container comm args\n"
			      "4194242 777 7 - j\\033[8m\\040b\\377 "
			      "x\\033]52;c;AAAA\\007 two words a\\012b\n");
}

TEST_FIXTURE(setup, system_teardown)

TEST(diff_of_a_process)
{
	make_text("idle/mqds", "");
	copy_fixture(DRIVER "hqds", "idle/hqds");
	LAB(0, "diff idle now --pid 144");
	ERR_HAS("process 144 is not in idle: it has no queue there");
	OUT_HAS("queue ids: 0 common, 0 only in A, 3 only in B, overlap 0%: "
		"not consistent\n");
	OUT_HAS("queues in mqds: A 0, B 3\n");
	LAB(0, "diff now idle --pid 144");
	ERR_HAS("process 144 is not in idle");
	LAB(0, "diff ./now now --pid 144");
	OUT_HAS("queue ids: 3 common, 0 only in A, 0 only in B, overlap 100%: "
		"consistent\n");
	OUT_HAS("rings: 3 common");
	ck_assert_ptr_null(strstr(ctl_out, "both"));
	LAB(0, "diff ./now now --pid 144 --all");
	OUT_HAS("\t144\t144\tboth\n");
	LAB(5, "diff now idle --pid 9");
	ERR_HAS("process 9 is not in either of them");
	LAB(5, "diff now idle --pid-a 144 --pid-b 144");
	ERR_HAS("process 144 is not in idle");
	LAB(5, "diff idle now --pid-a 144 --pid-b 144");
	LAB(2, "diff ./now now --pid-a 144");
}

TEST(diff_of_nothing)
{
	make_text("a/mqds", "");
	make_text("a/hqds", "Node 1, gpu_id 2d60:\n Inst 0,  CP Pipe 0, Queue 2\n");
	LAB(0, "diff a/mqds a/mqds");
	OUT_HAS("overlap not known: there are none\n");
	OUT_HAS("CP slots: not known");
	LAB(0, "diff --json a/mqds a/mqds");
	expect_null("queue_counts.overlap");
	expect_null("queue_counts.verdict");
	expect_null("slot_counts");
	expect_number("queues_a", 0);
	/* A slot without registers may be active: that is not known. */
	LAB(6, "diff --json a now");
	expect_null("slot_counts");
	ERR_HAS("1 problems in the text");
}

/* Text alone has no ids, but numbers and rings. */
TEST(diff_without_ids)
{
	make_other_rings("other");
	LAB(0, "diff --json now/mqds other");
	expect_null("queue_counts");
	expect_number("queues_a", 4);
	expect_number("queues_b", 4);
	/* The two have only the SDMA queue's ring in common. */
	expect_number("ring_counts.common", 1);
	expect_number("ring_counts.only_a", 3);
	expect_text("ring_counts.verdict", "not consistent");
	LAB(0, "diff now/hqds other");
	OUT_HAS("queues in mqds: A not known, B 4\n");
	LAB(0, "diff ./now now --pid-a 144 --pid-b 156 --json");
	expect_null("ring_counts");
	expect_number("shared_queues", 0);
}

TEST(diff_fails)
{
	LAB(1, "diff nothing now");
	LAB(1, "diff now nothing");
	LAB(2, "diff - -");
}

TEST(diff_of_monitors)
{
	make_text("a.csv", "t_s,pid,queues,ids\n0.0,10,2,\"0,1\"\r\n1.0,10,0,-\n");
	make_text("b.csv", "t_s,pid,queues,ids\n0.0,20,2,\"1,2\"\n");
	make_text("c.csv", "t_s,a\n");
	make_text("d.csv", "t_s,pid,ids\n0.0,10,x\n0.0,y,1\n0,10,\"1\n0.0,10,1");
	LAB(0, "diff a.csv b.csv --pid-a 10 --pid-b 20");
	OUT_HAS("queue ids: 1 common, 1 only in A, 1 only in B, overlap 50%: "
		"not consistent\n");
	OUT_HAS("share no queue");
	ck_assert_ptr_null(strstr(ctl_out, "queues in mqds"));
	LAB(1, "diff c.csv b.csv");
	ERR_HAS("no columns pid and ids");
	LAB(6, "diff a.csv d.csv");
	ERR_HAS("4 lines could not be read, the first is line 2");
}

/* A snapshot without the module has sysfs's ids. */
TEST(ids_of_sysfs)
{
	copy_fixture(DRIVER "mqds", "a/mqds");
	make_text("a/sysfs", "# pid qid gpu_id size type\n144 0 0x2d60 1 2\n"
			     "144 0 0x2d60 1 2\n144 7 0x2d60 1 2\nx\n");
	LAB(0, "diff a now --pid 144");
	OUT_HAS("queue ids: 1 common, 1 only in A, 2 only in B, overlap 33%");
}

TEST(verdicts)
{
	ck_assert_int_eq(diff_judge(0.81), DIFF_CONSISTENT);
	ck_assert_int_eq(diff_judge(0.8), DIFF_PARTLY);
	ck_assert_int_eq(diff_judge(0.5), DIFF_NOT);
	ck_assert_int_eq(diff_judge(-1), DIFF_UNKNOWN);
	ck_assert_str_eq(diff_verdict_name(DIFF_PARTLY), "partly consistent");
}

TEST_FIXTURE(snapshots_setup, command_teardown)
