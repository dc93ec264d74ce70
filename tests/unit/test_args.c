// SPDX-License-Identifier: GPL-2.0-only
/* Command lines of gpreempt-ctl. */
#include <stdio.h>
#include <string.h>

#include "ctl/command/ctl.h"
#include "unit.h"

#define GO (-1)
#define USAGE GPREEMPT_CLASS_USAGE

static struct ctl_args args;

static int parse(const struct ctl_command *cmd, const char *line)
{
	static char copy[256], *argv[16];
	char *word;
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	ctl_free_args(&args);
	args = cmd->defaults;
	return ctl_parse(cmd, argc, argv, &args);
}

/* Messages are dropped unless a test reads them. */
static void be_quiet(void)
{
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
}

static void free_ids(void)
{
	ctl_free_args(&args);
}

START_TEST(suspend)
{
	ck_assert_int_eq(parse(&ctl_suspend, "4711"), GO);
	ck_assert_uint_eq(args.n_words, 1);
	ck_assert_str_eq(args.words[0], "4711");
	ck_assert_uint_eq(args.lease_ns, 0);
	ck_assert_ptr_null(args.ids);
	ck_assert_int_eq(parse(&ctl_suspend, "--for 1.5s 4711 --queues 2,0"),
			 GO);
	ck_assert_uint_eq(args.n_words, 1);
	ck_assert_str_eq(args.words[0], "4711");
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
	"", "x", "0", "-1", "1x", "4194305", "99999999999999999999", "1 cmd:",
	"1 --for", "1 --for 5", "1 --for 5x", "1 --for 0s", "1 --for -5s",
	"1 --for=", "1 --for 1e9h", "1 --queues", "1 --queues 1,", "1 --queues x",
	"1 --queues 1,1", "1 --queues 1024", "1 --count 5", "1 --unknown",
	"1 --", "1 -- ls", "--for 5s", "1 --forever", "1 --fo 5s", "1 -f",
	"1 cmd:(", "pid:1", "cgroup:", "1 --wait 5", "1 --json=1",
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

/* A command that has all that the shared code knows. */
static const struct ctl_command all = {
	.name = "all",
	.words = CTL_FILES,
	.max_words = 2,
	.usage = "FILE",
	.command = "COMMAND...",
	.summary = "Everything.",
	.shared = (1 << CTL_SHARED_COUNT) - 1,
};

static const struct {
	const char *text;
	int min;		/* -1: it is refused */
	int max;
} priorities[] = {
	{ "<=5", 0, 5 }, { "<5", 0, 4 }, { ">=3", 3, 15 }, { ">3", 4, 15 },
	{ "=3", 3, 3 }, { "3", 3, 3 }, { "3-7", 3, 7 }, { "7-7", 7, 7 },
	{ "0", 0, 0 }, { "15", 15, 15 }, { "<=15", 0, 15 }, { ">14", 15, 15 },
	{ "<0", -1, 0 }, { ">15", -1, 0 }, { "7-3", -1, 0 }, { "16", -1, 0 },
	{ "", -1, 0 }, { "<", -1, 0 }, { "==3", -1, 0 }, { "=<3", -1, 0 },
	{ "<>3", -1, 0 }, { "3-", -1, 0 }, { "-3", -1, 0 }, { "<3-5", -1, 0 },
	{ "x", -1, 0 }, { "3x", -1, 0 }, { "00000003", -1, 0 },
};

START_TEST(priority)
{
	char line[64];

	snprintf(line, sizeof(line), "--priority=%s", priorities[_i].text);
	if (priorities[_i].min < 0) {
		ck_assert_int_eq(parse(&all, line), USAGE);
		return;
	}
	ck_assert_int_eq(parse(&all, line), GO);
	ck_assert(args.priority.set);
	ck_assert_int_eq(args.priority.min, priorities[_i].min);
	ck_assert_int_eq(args.priority.max, priorities[_i].max);
}
END_TEST

START_TEST(gpus)
{
	static const char *const bad[] = {
		"--gpu=", "--gpu=0", "--gpu=f7bc,", "--gpu=,f7bc", "--gpu=-1",
		"--gpu=xyz", "--gpu=123456789", "--gpu=f7bc;1",
	};
	size_t i;

	ck_assert_int_eq(parse(&all, "--gpu f7bc,0x3A1"), GO);
	ck_assert_uint_eq(args.n_gpus, 2);
	ck_assert_uint_eq(args.gpus[0], 0xf7bc);
	ck_assert_uint_eq(args.gpus[1], 0x3a1);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(parse(&all, bad[i]), USAGE);
}
END_TEST

START_TEST(chosen)
{
	struct gpreempt_queue queue = {
		.qid = 2, .gpu_id = 0xf7bc, .priority = 7,
	};

	parse(&all, "");
	ck_assert(ctl_chosen(&args, &queue));
	parse(&all, "--queues 0,2 --gpu f7bc --priority >=7");
	ck_assert(ctl_chosen(&args, &queue));
	parse(&all, "--queues 0,1");
	ck_assert(!ctl_chosen(&args, &queue));
	parse(&all, "--gpu f7bd");
	ck_assert(!ctl_chosen(&args, &queue));
	parse(&all, "--priority <7");
	ck_assert(!ctl_chosen(&args, &queue));
	/* A queue of unknown priority does not match. */
	queue.priority = GPREEMPT_UNKNOWN;
	ck_assert(!ctl_chosen(&args, &queue));
}
END_TEST

START_TEST(roles)
{
	const struct guard_options *sched = &args.sched;

	ck_assert_int_eq(parse(&ctl_guard, "--online 1 comm:serve --offline=2 "
			       "--gang 3 --online 4 --duty 30% --cpu 0"), GO);
	ck_assert_uint_eq(sched->online_words.n, 3);
	ck_assert_str_eq(sched->online_words.word[1], "comm:serve");
	ck_assert_str_eq(sched->online_words.word[2], "4");
	ck_assert_uint_eq(sched->offline_words.n, 2);
	ck_assert_str_eq(sched->offline_words.word[1], "3");
	ck_assert_uint_eq(sched->gang, 1);
	ck_assert_uint_eq(sched->duty, 30);
	ck_assert_uint_eq(sched->cpu, 1);
	ck_assert_uint_eq(sched->share, 10);
	ck_assert_int_eq(parse(&ctl_guard, "--offline-share 0 --min-run 5ms"),
			 GO);
	ck_assert_uint_eq(sched->share, 0);
	ck_assert_uint_eq(sched->min_run_ns, 5000000);
	be_quiet();
	ck_assert_int_eq(parse(&ctl_guard, "1"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--online x:y"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--online 1 x:y"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--duty 100"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--duty %"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--duty 3.5"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--cpu 5000"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--poll="), USAGE);
}
END_TEST

START_TEST(words)
{
	ck_assert_int_eq(parse(&all, "a --json b --wait 2s --record f"), GO);
	ck_assert_uint_eq(args.n_words, 2);
	ck_assert_str_eq(args.words[0], "a");
	ck_assert_str_eq(args.words[1], "b");
	ck_assert_uint_eq(args.json, 1);
	ck_assert_uint_eq(args.wait_ns, 2000000000);
	ck_assert_str_eq(args.record, "f");
	ck_assert_ptr_null(args.command);
	ck_assert_int_eq(parse(&all, "- -- ls --json -l"), GO);
	ck_assert_uint_eq(args.n_words, 1);
	ck_assert_uint_eq(args.json, 0);
	ck_assert_str_eq(args.command[0], "ls");
	ck_assert_str_eq(args.command[1], "--json");
	ck_assert_int_eq(parse(&all, "a b c"), USAGE);
	ck_assert_int_eq(parse(&all, "a --"), USAGE);
	ck_assert_int_eq(parse(&all, "--record a --replay b"), USAGE);
	ck_assert_int_eq(parse(&all, "--record="), USAGE);
	ck_assert_int_eq(parse(&ctl_suspend, "7 comm:x cmd:^a container:b "
			       "cgroup:/c"), GO);
	ck_assert_uint_eq(args.n_words, 5);
}
END_TEST

START_TEST(merge)
{
	ck_assert_int_eq(ctl_merge_status(0, 0), 0);
	ck_assert_int_eq(ctl_merge_status(5, 5), 5);
	ck_assert_int_eq(ctl_merge_status(0, 5), 6);
	ck_assert_int_eq(ctl_merge_status(7, 0), 6);
	ck_assert_int_eq(ctl_merge_status(7, 6), 6);
	ck_assert_int_eq(ctl_merge_status(7, 5), 7);
}
END_TEST

static const struct ctl_command *find_words(const char *line, int *words)
{
	static char copy[64], *argv[4];
	char *word;
	int argc = 0;

	snprintf(copy, sizeof(copy), "%s", line);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return ctl_find_command(argc, argv, words);
}

static const struct ctl_command *find(const char *line)
{
	int words;

	return find_words(line, &words);
}

static const struct {
	const char *line;
	const struct ctl_command *cmd;
	int words;
} names[] = {
	{ "guard", &ctl_guard, 1 },
	{ "guard begin", &ctl_guard_begin, 2 },
	{ "guard release 7", &ctl_guard_release, 2 },
	{ "guard --offline 7", &ctl_guard, 1 },
	{ "module unload", &ctl_module_unload, 2 },
	{ "list list", &ctl_list, 1 },
	{ "module", NULL, 0 },
	{ "module loa", NULL, 0 },
	{ "modules load", NULL, 0 },
	{ "guard\tbegin", NULL, 0 },
	{ "load", NULL, 0 },
	{ "begin", NULL, 0 },
};

START_TEST(name)
{
	int words = 0;

	ck_assert_ptr_eq(find_words(names[_i].line, &words), names[_i].cmd);
	if (names[_i].cmd)
		ck_assert_int_eq(words, names[_i].words);
}
END_TEST

/* No two commands and no two options of one have the same name. */
START_TEST(table)
{
	const struct ctl_command *cmd;
	const struct ctl_option *o;
	size_t i, j;

	for (i = 0; (cmd = ctl_commands[i]); i++) {
		ck_assert_ptr_eq(find(cmd->name), cmd);
		ck_assert(!cmd->usage == (cmd->words == CTL_NO_WORDS));
		for (j = 0; (o = ctl_option_at(cmd, j)); j++) {
			size_t k;

			ck_assert(!o->arg == (o->kind == CTL_FLAG));
			for (k = 0; k < j; k++)
				ck_assert_str_ne(ctl_option_at(cmd, k)->name,
						 o->name);
		}
	}
	ck_assert_uint_gt(i, 4);
	ck_assert_ptr_null(find("nonsense"));
}
END_TEST

/* No line of a help is wider than a terminal. */
static void expect_narrow(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		ck_assert_msg(len <= 80, "%.*s", (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static void read_help(const struct ctl_command *cmd, char *text, size_t size)
{
	FILE *f = tmpfile();

	if (cmd)
		ctl_help(cmd, f);
	else
		ctl_help_all(f);
	rewind(f);
	text[fread(text, 1, size - 1, f)] = '\0';
	fclose(f);
}

START_TEST(help)
{
	char text[8192], one[8192];
	const struct ctl_command *cmd;
	const struct ctl_option *o;
	size_t i, j;

	read_help(NULL, text, sizeof(text));
	expect_narrow(text);
	for (i = 0; (cmd = ctl_commands[i]); i++) {
		ck_assert_ptr_nonnull(strstr(text, cmd->name));
		ck_assert_ptr_nonnull(strstr(text, cmd->summary));
		ck_assert_int_eq(parse(cmd, "--help"), 0);
		ck_assert_int_eq(parse(cmd, "-h"), 0);
		read_help(cmd, one, sizeof(one));
		expect_narrow(one);
		ck_assert_ptr_nonnull(strstr(one, cmd->summary));
		for (j = 0; (o = ctl_option_at(cmd, j)); j++) {
			ck_assert_ptr_nonnull(strstr(one, o->name));
			ck_assert_ptr_nonnull(strstr(one, o->help));
		}
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
	tcase_add_loop_test(tc, priority, 0, ARRAY_SIZE(priorities));
	tcase_add_test(tc, gpus);
	tcase_add_test(tc, chosen);
	tcase_add_test(tc, roles);
	tcase_add_test(tc, words);
	tcase_add_test(tc, merge);
	tcase_add_loop_test(tc, name, 0, ARRAY_SIZE(names));
	tcase_add_test(tc, table);
	tcase_add_test(tc, help);
	tcase_add_test(tc, sentence);
	return unit_run("arguments");
}
