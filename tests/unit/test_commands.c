// SPDX-License-Identifier: GPL-2.0-only
/* Tables of commands: names, help, and the rules for each. */
#include "cli/guard-options.h"
#include "unit-args.h"

static const struct ctl_command *find_words(const char *line, int *words)
{
	static char copy[64], *argv[4];

	snprintf(copy, sizeof(copy), "%s", line);
	ctl_set_program(&ctl_program);
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

TEST_EACH(name, ARRAY_SIZE(names))
{
	int words = 0;

	ck_assert_ptr_eq(find_words(names[_i].line, &words), names[_i].cmd);
	if (names[_i].cmd)
		ck_assert_int_eq(words, names[_i].words);
}

static const struct ctl_program *const programs[] = { &ctl_program, &lab_program };

/* No two commands and no two options of one have the same name. */
TEST_EACH(table, ARRAY_SIZE(programs))
{
	const struct ctl_command *cmd;
	const struct ctl_option *o;
	size_t i, j;

	for (i = 0; (cmd = programs[_i]->commands[i]); i++) {
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
	if (typed[_i].name)
		ck_assert_pstr_eq(nearest.name, typed[_i].name);
	else
		ck_assert_ptr_null(nearest.name);
}

TEST_FIXTURE(args_setup, args_teardown)
