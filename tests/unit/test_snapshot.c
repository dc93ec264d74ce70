// SPDX-License-Identifier: GPL-2.0-only
/* snapshot: what it keeps, for whom, and of names that processes choose. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/text/snapshot.h"
#include "unit-command.h"

#define DRIVER "tests/unit/fixtures/linux-6.12.117/"

static pid_t child;

/* A program whose name and arguments are hostile. */
static void start_child(void)
{
	char *const argv[] = {
		"x\x1b]52;c;AAAA\x07",
		"two words",
		"a\nb",
		NULL,
	};
	char *const environment[] = { NULL };
	int pipes[2];
	char c;

	ck_assert_int_eq(pipe(pipes), 0);
	child = fork();
	if (!child) {
		close(pipes[0]);
		dup2(pipes[1], STDOUT_FILENO);
		execve("/proc/self/exe", argv, environment);
		_exit(127);
	}
	close(pipes[1]);
	ck_assert_int_eq(read(pipes[0], &c, 1), 1);
	close(pipes[0]);
}

/* That is what runs as the child. */
static int be_child(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "j\x1b[8m b\xff");
	if (write(STDOUT_FILENO, "x", 1) == 1)
		pause();
	return 0;
}

static void setup(void)
{
	unit_setup();
	command_setup();
	child = 0;
	copy_fixture(DRIVER "mqds", "made/kfd/mqds");
	copy_fixture(DRIVER "hqds", "made/kfd/hqds");
	copy_fixture(DRIVER "rls", "made/kfd/rls");
	copy_fixture(DRIVER "queues-144", "made/gpreempt/pid/4194242/queues");
	make_text("made/gpreempt/processes", "processes\n");
	make_text("made/gpreempt/nodes", "nodes\n");
}

static void teardown(void)
{
	if (child) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	command_teardown();
	unit_teardown();
}

static bool as_root(void)
{
	if (geteuid())
		puts("snapshot: skipped, only root may take one");
	return !geteuid();
}

START_TEST(one)
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
END_TEST

START_TEST(an_empty_directory_will_do)
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
END_TEST

START_TEST(series)
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
END_TEST

/* While a command runs: what it prints is kept, its exit status is ours. */
START_TEST(of_a_command)
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
END_TEST

/* A sample that fails: the command is waited for all the same. */
START_TEST(fails_during_a_command)
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
END_TEST

/* Samples end with the command, however many are asked for. */
START_TEST(of_a_short_command)
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
END_TEST

START_TEST(refused)
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
END_TEST

/* hqds that can't be read: the figures are not known. */
START_TEST(slots_not_known)
{
	if (!as_root())
		return;
	make_text("made/kfd/hqds", "Node 1, gpu_id 2d60:\n"
				   " Inst 0,  CP Pipe 0, Queue 2\n");
	ck_assert_int_eq(run_command(&ctl_snapshot, "-o", "day", NULL), 0);
	expect_out("day: 2 processes, 4 queues, CP slots not known\n");
}
END_TEST

START_TEST(names_are_escaped)
{
	struct gpreempt_target target = { 0 };
	struct gpreempt_targets targets = { .targets = &target, .count = 1 };
	char text[4096] = "", want[64];
	FILE *file = tmpfile();

	start_child();
	target.pid = child;
	target.start = 99;
	snapshot_write_ps(g, file, &targets);
	rewind(file);
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, file), 0);
	fclose(file);
	snprintf(want, sizeof(want), "\n%d 99 ", child);
	ck_assert_ptr_nonnull(strstr(text, want));
	ck_assert_ptr_nonnull(strstr(text,
				     " j\\033[8m\\040b\\377 "
				     "x\\033]52;c;AAAA\\007 two words a\\012b\n"));
	ck_assert_ptr_null(strchr(text, '\x1b'));
}
END_TEST

START_TEST(of_a_process_that_is_gone)
{
	struct gpreempt_target target = { .pid = 4194242, .start = 1 };
	struct gpreempt_targets targets = { .targets = &target, .count = 1 };
	char text[4096] = "";
	FILE *file = tmpfile();

	target.pid = 1 << 30;
	snapshot_write_ps(g, file, &targets);
	rewind(file);
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, file), 0);
	fclose(file);
	ck_assert_str_eq(text, "# pid start ns_pid container comm args\n"
			       "1073741824 1 1073741824 - - -\n");
}
END_TEST

int main(int argc, char **argv)
{
	TCase *tc;

	if (argc && strchr(argv[0], '\x1b'))
		return be_child();
	tc = unit_case();
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, one);
	tcase_add_test(tc, an_empty_directory_will_do);
	tcase_add_test(tc, series);
	tcase_add_test(tc, of_a_command);
	tcase_add_test(tc, of_a_short_command);
	tcase_add_test(tc, fails_during_a_command);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, slots_not_known);
	tcase_add_test(tc, names_are_escaped);
	tcase_add_test(tc, of_a_process_that_is_gone);
	return unit_run("snapshot");
}
