// SPDX-License-Identifier: GPL-2.0-only
/* snapshot: what it keeps, for whom, and of names that processes choose. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl/text/snapshot.h"
#include "unit-command.h"

#define DRIVER "tests/unit/fixtures/linux-6.12.117/"

#define KFD  "made/sys/class/kfd/kfd/proc/4194242/"
#define VIEW "made/sys/kernel/debug/gpreempt/"
#define PROC "made/proc/4194242/"

/* As the kernel has it: words end with a NUL. */
static const char cmdline[] = "x\x1b]52;c;AAAA\x07\0two words\0a\nb";

static void setup(void)
{
	unit_setup();
	command_setup();
	copy_fixture(DRIVER "mqds", "made/kfd/mqds");
	copy_fixture(DRIVER "hqds", "made/kfd/hqds");
	copy_fixture(DRIVER "rls", "made/kfd/rls");
	copy_fixture(DRIVER "queues-144", VIEW "pid/4194242/queues");
	make_text(VIEW "processes", "processes\n");
	make_text(VIEW "nodes", "nodes\n");
	make_text(KFD "queues/0/gpuid", "63420\n");
	make_text(KFD "queues/0/size", "65536\n");
	make_text(KFD "queues/0/type", "0\n");
	make_text(PROC "stat",
		  "4194242 (job) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 "
		  "0 3 0 777 1 2 3\n");
	make_text(PROC "status", "Name:\tjob\nState:\tS\nNSpid:\t4194242\t7\n");
	make_text(PROC "comm", "j\x1b[8m b\xff\n");
	make_file(PROC "cmdline", cmdline, sizeof(cmdline));
}

static void teardown(void)
{
	command_teardown();
	unit_teardown();
}

static bool as_root(void)
{
	if (geteuid())
		puts("snapshot: skipped, only root may take one");
	return !geteuid();
}

TEST(one)
{
	static const char *const files[] = {
		"mqds",	 "hqds",      "rls",   "info",		 "ps",
		"sysfs", "processes", "nodes", "queues-4194242",
	};
	char path[128];
	size_t i;

	if (!as_root())
		return;
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "day", "--tag", "one",
				     NULL),
			 0);
	ck_assert_str_eq(ctl_out, "day/one: 2 processes, 4 queues, 3 of 24 CP "
				  "slots active (12%)\n");
	ck_assert_uint_eq(mode_of("day"), 0700);
	ck_assert_uint_eq(mode_of("day/one"), 0700);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "day/one/%s", files[i]);
		ck_assert_uint_eq(mode_of(path), 0600);
	}
	/* Nothing is overwritten. */
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "day", "--tag", "one",
				     NULL),
			 1);
	expect_err("day/one: File exists");
}

TEST(an_empty_directory_will_do)
{
	if (!as_root())
		return;
	ck_assert_int_eq(mkdir("day", 0755), 0);
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "day", NULL), 0);
	ck_assert_uint_eq(mode_of("day"), 0700);
	ck_assert_uint_eq(mode_of("day/mqds"), 0600);
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "day/mqds/x", NULL),
			 1);
	expect_err("Not a directory");
}

TEST(series)
{
	if (!as_root())
		return;
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "s", "--every",
				     "10ms", "--count", "2", "--tag", "busy",
				     NULL),
			 0);
	expect_out("s/000-baseline: ");
	expect_out("\ns/001-busy: ");
	expect_out("\ns/002-busy: ");
	expect_out("\ns/003-final: ");
	ck_assert_uint_eq(mode_of("s/003-final/info"), 0600);
}

/* While a command runs: what it prints is kept, its exit status is ours. */
TEST(of_a_command)
{
	char line[16];
	FILE *f;

	if (!as_root())
		return;
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "s", "--every",
				     "10ms", "--count", "1", "--", "sh", "-c",
				     "echo out; echo err >&2; "
				     "until [ -e s/001-sample/info ]; do :; done; "
				     "exit 3",
				     NULL),
			 3);
	expect_out("s/000-baseline: ");
	expect_out("\ns/001-sample: ");
	expect_out("\ns/002-final: ");
	ck_assert_int_ne(access("s/003-final", F_OK), 0);
	f = fopen("s/command.out", "r");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	ck_assert_str_eq(line, "out\n");
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	ck_assert_str_eq(line, "err\n");
	fclose(f);
	ck_assert_uint_eq(mode_of("s/command.out"), 0600);
}

/* A sample that fails: the command is waited for all the same. */
TEST(fails_during_a_command)
{
	if (!as_root())
		return;
	/* It takes the place of whichever sample is next. */
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "s", "--every",
				     "100ms", "--", "sh", "-c",
				     "for n in 1 2 3 4 5 6 7 8 9; do "
				     "mkdir s/00$n-sample && >s/00$n-sample/x; "
				     "done; sleep 1; >ended",
				     NULL),
			 1);
	expect_err("-sample: File exists");
	ck_assert_int_eq(access("ended", F_OK), 0);
}

/* Samples end with the command, however many are asked for. */
TEST(of_a_short_command)
{
	if (!as_root())
		return;
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "s", "--every", "1h",
				     "--", "true", NULL),
			 0);
	expect_out("s/000-baseline: ");
	expect_out("\ns/001-final: ");
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "none", "--",
				     "/nowhere/program", NULL),
			 127);
	expect_err("cannot run /nowhere/program: No such file");
	ck_assert_int_eq(access("none/001-final/info", F_OK), 0);
}

TEST(refused)
{
	ck_assert_int_eq(run_command(&ctl_snapshot, "--tag", "a/b", NULL), 2);
	expect_err("without /");
	if (!as_root())
		return;
	ck_assert_int_eq(rename("made/kfd", "made/other"), 0);
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "day", NULL), 3);
	expect_err("there is no made/kfd");
	/* mqds is there, and no hqds. */
	ck_assert_int_eq(mkdir("made/kfd", 0755), 0);
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "day", NULL), 1);
	expect_err("No such file");
}

/* hqds that can't be read: the figures are not known. */
TEST(slots_not_known)
{
	if (!as_root())
		return;
	make_text("made/kfd/hqds", "Node 1, gpu_id 2d60:\n"
				   " Inst 0,  CP Pipe 0, Queue 2\n");
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "day", NULL), 0);
	expect_out("day: 2 processes, 4 queues, CP slots not known\n");
}

/* Of a snapshot that is made: a file of it. */
static void expect_text(const char *path, const char *text)
{
	char got[1024] = "";
	FILE *file;

	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "day", NULL), 0);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_lt(fread(got, 1, sizeof(got), file), sizeof(got));
	fclose(file);
	ck_assert_str_eq(got, text);
}

TEST(queues_of_sysfs)
{
	if (as_root())
		expect_text("day/sysfs", "# pid qid gpu_id size type\n"
					 "4194242 0 0xf7bc 65536 0\n");
}

TEST(names_are_escaped)
{
	if (as_root())
		expect_text("day/ps",
			    "# pid start ns_pid container comm args\n"
			    "4194242 777 7 - j\\033[8m\\040b\\377 "
			    "x\\033]52;c;AAAA\\007 two words a\\012b\n");
}

TEST_FIXTURE(setup, teardown)
