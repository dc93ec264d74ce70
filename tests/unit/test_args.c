// SPDX-License-Identifier: GPL-2.0-only
/*
 * Command lines of gpreempt-ctl and gpreempt-lab; tables of commands: names, help, and the
 * rules for each.
 */
#include "cli/cli.h"
#include "guard/guard.h"
#include "ctl/preempt.h"
#include "ctl/top.h"
#include "lib/see/words.h"
#include "unit-ctl.h"

/* The arguments of the last command line. */
static void *parsed_args;

/* Command of the last command line, for args_teardown(). */
static const struct ctl_command *parsed;

static void args_teardown(void)
{
	if (parsed)
		ctl_free_args(parsed, parsed_args);
	parsed = NULL;
}

/* Words that are split at blanks, after the command. Returns as ctl_parse(). */
static int parse(const struct ctl_command *cmd, const char *line)
{
	static char copy[256], *argv[16];
	int argc;

	snprintf(copy, sizeof(copy), "%s", line);
	argv[0] = (char *)cmd->name;
	argc = 1 + unit_words(copy, argv + 1);
	args_teardown();
	parsed_args = ctl_new_args(cmd);
	ck_assert_ptr_nonnull(parsed_args);
	parsed = cmd;
	return ctl_parse(cmd, argc, argv, parsed_args);
}

/* Messages are dropped unless a test reads them. */
static void args_setup(void)
{
	ctl_set_program(&ctl_program);
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
}

#define GO    (-1)
#define USAGE GPREEMPT_CLASS_USAGE

/* A command that has all that the shared code knows. */
struct all_args {
	struct ctl_target_args targets;
	char **command;
	uint64_t lease_ns;
	uint64_t few;
	const char *output;
	enum out_mode mode;
};

static const struct ctl_option all_options[] = {
	{ "for", CTL_LEASE, offsetof(struct all_args, lease_ns), "TIME", "x" },
	{ "forty", CTL_FLAG, offsetof(struct all_args, few), NULL, "x" },
	{ "output", CTL_FILE, offsetof(struct all_args, output), "FILE", "x" },
	CTL_QUEUE_OPTIONS(struct all_args),
	CTL_WAIT_OPTION(struct all_args),
	CTL_JSON_OPTION(struct all_args),
	CTL_FROM_OPTION(struct all_args),
	{ "csv", CTL_CSV, offsetof(struct all_args, mode), NULL, "x" },
	{ 0 },
};

static const struct ctl_command all = {
	.name = "all",
	.args_size = sizeof(struct all_args),
	.words = CTL_FILES,
	.words_at = offsetof(struct all_args, targets.words),
	.max_words = 2,
	.usage = "FILE",
	.command = "COMMAND...",
	.command_at = offsetof(struct all_args, command),
	.summary = "Everything.",
	.options = all_options,
};

static const struct all_args *parse_all(const char *line)
{
	ck_assert_int_eq(parse(&all, line), GO);
	return parsed_args;
}

TEST(options)
{
	const struct all_args *a = parse_all("4711");

	ck_assert_uint_eq(a->targets.words.n, 1);
	ck_assert_str_eq(a->targets.words.word[0], "4711");
	ck_assert_uint_eq(a->lease_ns, 0);
	ck_assert_ptr_null(a->targets.queues.ids);
	a = parse_all("--for 1.5s 4711 --queues 2,0");
	ck_assert_uint_eq(a->targets.words.n, 1);
	ck_assert_str_eq(a->targets.words.word[0], "4711");
	ck_assert_uint_eq(a->lease_ns, 1500000000);
	ck_assert_uint_eq(a->targets.queues.n_ids, 2);
	ck_assert_uint_eq(a->targets.queues.ids[0], 2);
	a = parse_all("--for=20ms --queues=3 1");
	ck_assert_uint_eq(a->lease_ns, 20000000);
	ck_assert_uint_eq(a->targets.queues.n_ids, 1);
	a = parse_all("-o x -oy");
	ck_assert_str_eq(a->output, "y");
}

TEST(twice)
{
	/* The last one counts, and the first is not leaked. */
	const struct all_args *a = parse_all("1 --queues 1,2 --queues 7 "
					     "--gpu 1,2 --gpu 3");

	ck_assert_uint_eq(a->targets.queues.n_ids, 1);
	ck_assert_uint_eq(a->targets.queues.ids[0], 7);
	ck_assert_uint_eq(a->targets.queues.n_gpu_ids, 1);
}

/* The beginning of one option alone will do. */
TEST(abbreviated)
{
	ck_assert_uint_eq(parse_all("--fort")->few, 1);
	ck_assert_uint_eq(parse_all("--for 5s")->few, 0);
	ck_assert_str_eq(parse_all("--ou=f")->output, "f");
	ck_assert_int_eq(parse(&all, "--fo 5s"), USAGE);
	ck_assert_int_eq(parse(&all, "--jsonx"), USAGE);
}

TEST(mode)
{
	ck_assert_int_eq(parse_all("")->mode, out_mode());
	ck_assert_int_eq(parse_all("--json")->mode, OUT_JSON);
	ck_assert_int_eq(parse_all("--csv")->mode, OUT_CSV);
	ck_assert_int_eq(parse_all("--csv --json")->mode, OUT_JSON);
	ck_assert_int_eq(parse_all("--json --csv")->mode, OUT_JSON);
}

TEST(preempt)
{
	const struct preempt_args *a;

	ck_assert_int_eq(parse(&ctl_preempt, "7"), GO);
	a = parsed_args;
	ck_assert_uint_eq(a->count, 100);
	ck_assert_uint_eq(a->hold_ns, 100000000);
	ck_assert_uint_eq(a->interval_ns, 500000000);
	ck_assert_uint_eq(a->verbose, 0);
	ck_assert_int_eq(parse(&ctl_preempt, "7 --count 3 --hold 0ms "
					     "--interval 1us --verbose"),
			 GO);
	a = parsed_args;
	ck_assert_uint_eq(a->count, 3);
	ck_assert_uint_eq(a->hold_ns, 0);
	ck_assert_uint_eq(a->interval_ns, 1000);
	ck_assert_uint_eq(a->verbose, 1);
}

TEST(status)
{
	ck_assert_int_eq(parse(&ctl_status, ""), GO);
	ck_assert_int_eq(parse(&ctl_status, "1"), USAGE);
}

static const char *const bad_suspends[] = {
	"",
	"x",
	"0",
	"-1",
	"1x",
	"4194305",
	"99999999999999999999",
	"1 cmd:",
	"1 --for",
	"1 --for 5x",
	"1 --for 0s",
	"1 --for=",
	"1 --queues",
	"1 --queues 1024",
	"1 --count 5",
	"1 --unknown",
	"1 --",
	"1 -- ls",
	"--for 5s",
	"1 --forever",
	"1 --fo 5s",
	"1 -f",
	"1 cmd:(",
	"pid:1",
	"cgroup:",
	"1 --wait 5x",
	"1 --json=1",
	"1 -o x",
	"1 -xo",
	"1 --help=1",
	"--for 5s --",
	"1 --from=x",
	"1 --re",
};

TEST_EACH(bad_suspend, ARRAY_SIZE(bad_suspends))
{
	ck_assert_int_eq(parse(&ctl_suspend, bad_suspends[_i]), USAGE);
}

static const char *const bad_preempts[] = {
	"",	     "1 --count 0", "1 --count x",  "1 --count -1",  "1 --count 10000001",
	"1 --count", "1 --hold 5x", "1 --interval", "1 --verbose=1",
};

TEST_EACH(bad_preempt, ARRAY_SIZE(bad_preempts))
{
	ck_assert_int_eq(parse(&ctl_preempt, bad_preempts[_i]), USAGE);
}

static const struct {
	const char *text;
	int min; /* -1: it is refused */
	int max;
} priorities[] = {
	{ "<=5", 0, 5 },  { "<5", 0, 4 },   { ">=3", 3, 15 },	   { ">3", 4, 15 },
	{ "=3", 3, 3 },	  { "3", 3, 3 },    { "3-7", 3, 7 },	   { "7-7", 7, 7 },
	{ "0", 0, 0 },	  { "15", 15, 15 }, { "<=15", 0, 15 },	   { ">14", 15, 15 },
	{ "<0", -1, 0 },  { ">15", -1, 0 }, { "7-3", -1, 0 },	   { "16", -1, 0 },
	{ "", -1, 0 },	  { "<", -1, 0 },   { "==3", -1, 0 },	   { "=<3", -1, 0 },
	{ "<>3", -1, 0 }, { "3-", -1, 0 },  { "-3", -1, 0 },	   { "<3-5", -1, 0 },
	{ "x", -1, 0 },	  { "3x", -1, 0 },  { "00000003", -1, 0 },
};

TEST_EACH(priority, ARRAY_SIZE(priorities))
{
	const struct gpreempt_filter *which;
	const char *line = unit_text("--priority=%s", priorities[_i].text);

	if (priorities[_i].min < 0) {
		ck_assert_int_eq(parse(&all, line), USAGE);
		return;
	}
	which = &parse_all(line)->targets.queues;
	ck_assert(which->by_priority);
	ck_assert_int_eq(which->priority_min, priorities[_i].min);
	ck_assert_int_eq(which->priority_max, priorities[_i].max);
}

/* Names of GPUs mean something on a host alone: see test_gpus. */
TEST(gpus)
{
	static const char *const bad[] = { "--gpu=", "--gpu=f7bc,", "--gpu=,f7bc", "--gpu=0,,1" };
	size_t i;

	ck_assert_str_eq(parse_all("--gpu f7bc,0x3A1")->targets.gpus, "f7bc,0x3A1");
	ck_assert_uint_eq(parse_all("--gpu 0")->targets.queues.n_gpu_ids, 1);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(parse(&all, bad[i]), USAGE);
}

static bool chooses(const char *line, const struct gpreempt_queue *queue)
{
	return gp_filter_matches(&parse_all(line)->targets.queues, queue->qid, queue->gpu_id,
				 queue->priority);
}

TEST(chosen)
{
	struct gpreempt_queue queue = {
		.qid = 2,
		.gpu_id = 0xf7bc,
		.priority = 7,
	};

	ck_assert(chooses("", &queue));
	ck_assert(chooses("--queues 0,2 --priority >=7", &queue));
	ck_assert(!chooses("--queues 0,1", &queue));
	ck_assert(!chooses("--priority <7", &queue));
	/* A queue of unknown priority does not match. */
	queue.priority = GPREEMPT_UNKNOWN;
	ck_assert(!chooses("--priority <7", &queue));
}

TEST(roles)
{
	const struct guard_options *sched;

	ck_assert_int_eq(parse(&ctl_guard, "--online 1 comm:serve --offline=2 "
					   "--gang 3 --online 4 --duty 30% --cpu 0"),
			 GO);
	sched = parsed_args;
	ck_assert_uint_eq(sched->online_words.n, 3);
	ck_assert_str_eq(sched->online_words.word[1], "comm:serve");
	ck_assert_str_eq(sched->online_words.word[2], "4");
	ck_assert_uint_eq(sched->offline_words.n, 2);
	ck_assert_str_eq(sched->offline_words.word[1], "3");
	ck_assert_uint_eq(sched->gang, 1);
	ck_assert_uint_eq(sched->duty, 30);
	ck_assert_uint_eq(sched->cpu, 1);
	ck_assert_uint_eq(sched->share, 10);
	ck_assert_int_eq(parse(&ctl_guard, "--offline-share 0 --slots 2 --slice 5ms "
					   "--allow-uid 7 --allow-uid 8,9"),
			 GO);
	sched = parsed_args;
	ck_assert_uint_eq(sched->uids.n, 2);
	ck_assert_uint_eq(sched->uids.id[1], 9);
	ck_assert_uint_eq(sched->share, 0);
	ck_assert_uint_eq(sched->slots, 2);
	ck_assert_uint_eq(sched->slice_ns, 5000000);
	args_setup();
	ck_assert_int_eq(parse(&ctl_guard, "1"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--online x:y"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--online 1 x:y"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--duty 100"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--duty %"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--duty 3.5"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--cpu 5000"), USAGE);
	ck_assert_int_eq(parse(&ctl_guard, "--poll="), USAGE);
}

TEST(words)
{
	const struct all_args *a = parse_all("a --json b --wait 2s --from f");

	ck_assert_uint_eq(a->targets.words.n, 2);
	ck_assert_str_eq(a->targets.words.word[0], "a");
	ck_assert_str_eq(a->targets.words.word[1], "b");
	ck_assert_int_eq(a->mode, OUT_JSON);
	ck_assert_uint_eq(a->targets.wait_ns, 2000000000);
	ck_assert_str_eq(a->targets.from, "f");
	ck_assert_ptr_null(a->command);
	a = parse_all("- -- ls --json -l");
	ck_assert_uint_eq(a->targets.words.n, 1);
	ck_assert_int_ne(a->mode, OUT_JSON);
	ck_assert_str_eq(a->command[0], "ls");
	ck_assert_str_eq(a->command[1], "--json");
	/* "--" is the option's value here. */
	a = parse_all("a -o --");
	ck_assert_str_eq(a->output, "--");
	ck_assert_ptr_null(a->command);
	ck_assert_int_eq(parse(&all, "a b c"), USAGE);
	ck_assert_int_eq(parse(&all, "a --"), USAGE);
	ck_assert_int_eq(parse(&all, "--from="), USAGE);
	ck_assert_int_eq(parse(&ctl_suspend, "7 comm:x cmd:^a container:b "
					     "cgroup:/c"),
			 GO);
	/* Names of files may begin with a dash. */
	ck_assert_int_eq(parse(&ctl_decode, "-- -a --json"), GO);
}

TEST(merge)
{
	ck_assert_int_eq(ctl_merge_status(0, 0), 0);
	ck_assert_int_eq(ctl_merge_status(5, 5), 5);
	ck_assert_int_eq(ctl_merge_status(0, 5), 6);
	ck_assert_int_eq(ctl_merge_status(7, 0), 6);
	ck_assert_int_eq(ctl_merge_status(7, 6), 6);
	ck_assert_int_eq(ctl_merge_status(7, 5), 7);
}

/* Each mistake gets a sentence and a next step. */
TEST(sentence)
{
	begin_capture();
	ck_assert_int_eq(parse(&ctl_suspend, "1 --for 5x"), USAGE);
	end_capture();
	ck_assert_str_eq(ctl_err, "gpreempt-ctl: --for \"5x\": it has an unknown unit; "
				  "units are ns, us, ms, s, m, h\n"
				  "next: gpreempt-ctl suspend --help\n");
}

/* One word for an idea; the old ones are taken, and no help shows them. */
TEST(old_words)
{
	static const char *const lines[] = { "--interval 2", "--delay 2s", "-d 2",
					     "--delay=2000ms" };
	static const char *const old[] = { "--delay", "--every", "--duration" };
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		ck_assert_int_eq(parse(&ctl_top, lines[i]), GO);
		ck_assert_uint_eq(((struct top_args *)parsed_args)->delay_ns, 2 * NSEC_PER_SEC);
	}
	ck_assert_int_eq(parse(&ctl_monitor, "1 --duration 1.5 --interval 500ms"), GO);
	ck_assert_int_eq(parse(&ctl_monitor, "1 --for 1.5 -d 500ms"), GO);
	ck_assert_int_eq(parse(&ctl_snapshot, "--every 10"), GO);
	ck_assert_int_eq(parse(&ctl_experiment, "--duration 10 --a x"), GO);
	ck_assert_int_eq(parse(&ctl_trace, "1 --duration 10"), GO);
	ck_assert_int_eq(parse(&ctl_list, "--every 10"), USAGE);
	for (i = 0; ctl_program.commands[i]; i++) {
		begin_capture();
		ctl_help(ctl_program.commands[i], stdout);
		end_capture();
		for (k = 0; k < ARRAY_SIZE(old); k++)
			ck_assert_ptr_null(strstr(ctl_out, old[k]));
	}
}

static const struct ctl_command *find_words(const char *line, int *words)
{
	static char copy[64], *argv[4];

	snprintf(copy, sizeof(copy), "%s", line);
	return ctl_find_command(unit_words(copy, argv), argv, words);
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
} command_names[] = {
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

TEST_EACH(command_name, ARRAY_SIZE(command_names))
{
	int words = 0;

	ck_assert_ptr_eq(find_words(command_names[_i].line, &words), command_names[_i].cmd);
	if (command_names[_i].cmd)
		ck_assert_int_eq(words, command_names[_i].words);
}

static const struct ctl_program *const programs[] = { &ctl_program, &lab_program };

/* No two commands and no two options of one have the same name. */
TEST_EACH(command_table, ARRAY_SIZE(programs))
{
	const struct ctl_command *cmd;
	const struct ctl_option *o;
	size_t i, j;

	for (i = 0; (cmd = programs[_i]->commands[i]); i++) {
		/* Both programs have a command named trial. */
		if (cmd != &ctl_lab_trial)
			ck_assert_ptr_eq(find(cmd->name), _i ? NULL : cmd);
		ck_assert(!cmd->usage == (cmd->words == CTL_NO_WORDS));
		j = 0;
		ctl_for_each_option(o, cmd) {
			size_t k;

			ck_assert(!o->arg == (o->kind == CTL_FLAG || o->kind == CTL_JSON ||
					      o->kind == CTL_CSV));
			ck_assert(o->kind != CTL_COLOUR || cmd->table || cmd == &ctl_doctor);
			ck_assert_uint_lt(o->offset, cmd->args_size);
			for (k = 0; k < j; k++)
				ck_assert_str_ne(cmd->options[k].name, o->name);
			j++;
		}
		ck_assert_uint_le(j, CTL_MAX_OPTIONS);
		ck_assert(cmd->words == CTL_NO_WORDS || cmd->words_at < cmd->args_size);
		ck_assert(!cmd->command || cmd->command_at < cmd->args_size);
	}
	ck_assert_uint_gt(i, 4);
	ck_assert_ptr_null(find("nonsense"));
}

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

TEST_EACH(help, ARRAY_SIZE(programs))
{
	char text[8192], one[8192];
	const struct ctl_command *cmd;
	const struct ctl_option *o;
	size_t i;

	ctl_set_program(programs[_i]);
	read_help(NULL, text, sizeof(text));
	expect_narrow(text);
	for (i = 0; (cmd = programs[_i]->commands[i]); i++) {
		ck_assert_ptr_nonnull(strstr(text, cmd->name));
		ck_assert_ptr_nonnull(strstr(text, cmd->summary));
		ck_assert_int_eq(parse(cmd, "--help"), 0);
		ck_assert_int_eq(parse(cmd, "-h"), 0);
		read_help(cmd, one, sizeof(one));
		expect_narrow(one);
		ck_assert_ptr_nonnull(strstr(one, cmd->summary));
		ctl_for_each_option(o, cmd) {
			ck_assert_ptr_nonnull(strstr(one, o->name));
			ck_assert_ptr_nonnull(strstr(one, o->help));
		}
	}
}

/* The nearest of these, or none. */
static const struct {
	const char *typed;
	const char *name;
} typed[] = {
	{ "suspned", "suspend" },
	{ "suspen", "suspend" },
	{ "suspends", "suspend" },
	{ "ilst", "list" },
	{ "docter", "doctor" },
	{ "module lado", "module load" },
	{ "list", "list" },
	{ "lxyz", NULL },
	{ "x", NULL },
	{ "", NULL },
	{ "nonsense", NULL },
	{ "statsu", "status" },
	{ "suspendsuspendsuspendsuspendsuspend", NULL },
};

TEST_EACH(nearest, ARRAY_SIZE(typed))
{
	struct ctl_nearest nearest = { .typed = typed[_i].typed };
	size_t i;

	for (i = 0; ctl_program.commands[i]; i++)
		ctl_offer(&nearest, ctl_program.commands[i]->name);
	ck_assert_pstr_eq(nearest.name, typed[_i].name);
}

TEST_FIXTURE(args_setup, args_teardown)
