// SPDX-License-Identifier: GPL-2.0-only
/* snapshot: what it keeps, for whom, and of names that processes choose. */
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
	/* The directory takes the place of the next sample. */
	LAB(1, "snapshot -o s --every 100ms -- sh -c "
	       "'for n in 1 2 3 4 5 6 7 8 9; do "
	       "mkdir s/00$n-sample && >s/00$n-sample/x; done; "
	       "until grep -q exists /proc/$PPID/fd/2; do sleep 0.1; done; "
	       ">ended'");
	ERR_HAS("-sample: File exists");
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
