// SPDX-License-Identifier: GPL-2.0-only
/* Command lines of gpreempt-ctl. */
#include <stdio.h>
#include <string.h>

#include "ctl/ctl.h"
#include "unit.h"

#define GO (-1)
#define USAGE GPREEMPT_CLASS_USAGE

static struct ctl_args args;

static int parse(const struct ctl_command *cmd, const char *line)
{
	char copy[256], *argv[16], *word;
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	free(args.ids);
	args = cmd->defaults;
	return ctl_parse(cmd, argc, argv, &args);
}

/* What is said is not of interest unless a test looks. */
static void be_quiet(void)
{
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
}

static void free_ids(void)
{
	free(args.ids);
	args.ids = NULL;
}

START_TEST(suspend)
{
	ck_assert_int_eq(parse(&ctl_suspend, "4711"), GO);
	ck_assert_int_eq(args.pid, 4711);
	ck_assert_uint_eq(args.lease_ns, 0);
	ck_assert_ptr_null(args.ids);
	ck_assert_int_eq(parse(&ctl_suspend, "--for 1.5s 4711 --queues 2,0"),
			 GO);
	ck_assert_int_eq(args.pid, 4711);
	ck_assert_uint_eq(args.lease_ns, 1500000000);
	ck_assert_uint_eq(args.n_ids, 2);
	ck_assert_uint_eq(args.ids[0], 2);
	ck_assert_int_eq(parse(&ctl_suspend, "--for=20ms --queues=3 1"), GO);
	ck_assert_uint_eq(args.lease_ns, 20000000);
	ck_assert_uint_eq(args.n_ids, 1);
}
END_TEST

START_TEST(twice)
{
	/* The last one counts, and the first is not leaked. */
	ck_assert_int_eq(parse(&ctl_suspend, "1 --queues 1,2 --queues 7"),
			 GO);
	ck_assert_uint_eq(args.n_ids, 1);
	ck_assert_uint_eq(args.ids[0], 7);
}
END_TEST

START_TEST(preempt)
{
	ck_assert_int_eq(parse(&ctl_preempt, "7"), GO);
	ck_assert_uint_eq(args.count, 100);
	ck_assert_uint_eq(args.hold_ns, 100000000);
	ck_assert_uint_eq(args.interval_ns, 500000000);
	ck_assert_uint_eq(args.verbose, 0);
	ck_assert_int_eq(parse(&ctl_preempt, "7 --count 3 --hold 0ms "
			       "--interval 1us --verbose"), GO);
	ck_assert_uint_eq(args.count, 3);
	ck_assert_uint_eq(args.hold_ns, 0);
	ck_assert_uint_eq(args.interval_ns, 1000);
	ck_assert_uint_eq(args.verbose, 1);
}
END_TEST

START_TEST(status)
{
	ck_assert_int_eq(parse(&ctl_status, ""), GO);
	ck_assert_int_eq(parse(&ctl_status, "1"), USAGE);
}
END_TEST

static const char *const bad_suspends[] = {
	"", "x", "0", "-1", "1x", "4194305", "99999999999999999999", "1 2",
	"1 --for", "1 --for 5", "1 --for 5x", "1 --for 0s", "1 --for -5s",
	"1 --for=", "1 --for 1e9h", "1 --queues", "1 --queues 1,", "1 --queues x",
	"1 --queues 1,1", "1 --queues 1024", "1 --count 5", "1 --unknown",
	"1 --", "--for 5s", "1 --forever", "1 --fo 5s",
};

START_TEST(bad_suspend)
{
	ck_assert_int_eq(parse(&ctl_suspend, bad_suspends[_i]), USAGE);
}
END_TEST

static const char *const bad_preempts[] = {
	"", "1 --count 0", "1 --count x", "1 --count -1", "1 --count 10000001",
	"1 --count", "1 --hold 5", "1 --interval", "1 --verbose=1",
};

START_TEST(bad_preempt)
{
	ck_assert_int_eq(parse(&ctl_preempt, bad_preempts[_i]), USAGE);
}
END_TEST

static const struct ctl_command *const commands[] = {
	&ctl_queues, &ctl_suspend, &ctl_resume, &ctl_status, &ctl_preempt,
};

START_TEST(help)
{
	const struct ctl_command *cmd = commands[_i];
	const struct ctl_option *o;
	char text[4096] = "";
	FILE *f = tmpfile();
	size_t n;

	ck_assert_int_eq(parse(cmd, "--help"), 0);
	ck_assert_int_eq(parse(cmd, "-h"), 0);
	ctl_help(cmd, f);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	ck_assert_uint_gt(n, 50);
	ck_assert_ptr_nonnull(strstr(text, cmd->summary));
	for (o = cmd->options; o && o->name; o++) {
		ck_assert_ptr_nonnull(strstr(text, o->name));
		ck_assert_ptr_nonnull(strstr(text, o->help));
	}
}
END_TEST

/* Each mistake gets a sentence and a next step. */
START_TEST(sentence)
{
	char text[512] = "";
	FILE *f = tmpfile();
	size_t n;

	dup2(fileno(f), STDERR_FILENO);
	ck_assert_int_eq(parse(&ctl_suspend, "1 --for 5"), USAGE);
	fflush(stderr);
	rewind(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	ck_assert_uint_gt(n, 20);
	ck_assert_str_eq(text, "gpreempt-ctl: --for \"5\": it has no unit; "
			 "units are ns, us, ms, s, m, h\n"
			 "next: gpreempt-ctl suspend --help\n");
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, be_quiet, free_ids);
	tcase_add_test(tc, suspend);
	tcase_add_test(tc, twice);
	tcase_add_test(tc, preempt);
	tcase_add_test(tc, status);
	tcase_add_loop_test(tc, bad_suspend, 0, ARRAY_SIZE(bad_suspends));
	tcase_add_loop_test(tc, bad_preempt, 0, ARRAY_SIZE(bad_preempts));
	tcase_add_loop_test(tc, help, 0, ARRAY_SIZE(commands));
	tcase_add_test(tc, sentence);
	return unit_run("arguments");
}
