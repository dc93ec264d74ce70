// SPDX-License-Identifier: GPL-2.0-only
/* Tables for completion.bash.in, and specifications for completion.zsh.in. */
#include "doc/doc.h"

/* Completions of a value or a word: ends of names of functions that both completions have. */
static const char *const values[CTL_KINDS] = {
	[CTL_DURATION] = "times", [CTL_LEASE] = "times", [CTL_IDS] = "queues",
	[CTL_GPUS] = "gpus",	  [CTL_FILE] = "files",	 [CTL_ROLE] = "targets",
};
static const char *const words[] = {
	[CTL_NO_WORDS] = "",
	[CTL_TARGETS] = "targets",
	[CTL_FILES] = "files",
	[CTL_ROLES] = "roles",
};

static const char *value_of(const struct ctl_option *o)
{
	return values[o->kind] ? values[o->kind] : "";
}

static void put_table(const struct ctl_program *p, const char *name,
		      void (*entry)(const struct ctl_command *))
{
	size_t i;

	printf("declare -gA _gpreempt_ctl_%s=(\n", name);
	for (i = 0; p->commands[i]; i++)
		entry(p->commands[i]);
	fputs(")\n", stdout);
}

static void put_words(const struct ctl_command *cmd)
{
	printf("\t['%s']='%s'\n", cmd->name, words[cmd->words]);
}

static void put_option_names(const struct ctl_command *cmd)
{
	const struct ctl_option *o;

	printf("\t['%s']='", cmd->name);
	ctl_for_each_option(o, cmd)
		printf("--%s ", o->name);
	fputs("--help'\n", stdout);
}

/* Print the options that have a value. */
static void put_values(const struct ctl_command *cmd)
{
	const struct ctl_option *o;

	ctl_for_each_option(o, cmd)
		if (o->arg)
			printf("\t['%s --%s']='%s'\n", cmd->name, o->name, value_of(o));
}

static void put_commands(const struct ctl_command *cmd)
{
	if (cmd->command)
		printf("\t['%s']=yes\n", cmd->name);
}

void doc_bash(const struct ctl_program *p)
{
	put_table(p, "words", put_words);
	put_table(p, "options", put_option_names);
	put_table(p, "values", put_values);
	put_table(p, "commands", put_commands);
}

/* Texts in the language of _arguments. */

/* Inside '...', where ":" and brackets mean something. */
static void put_quoted(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (*text == ':' || *text == '[' || *text == ']' || *text == '\\')
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void put_option(const struct ctl_option *o)
{
	printf("\t\t'--%s%s[", o->name, o->arg ? "=" : "");
	put_quoted(o->help);
	putchar(']');
	if (o->arg) {
		printf(":%s:", o->arg);
		if (values[o->kind])
			printf("_gpreempt_ctl_%s", values[o->kind]);
	}
	fputs("' \\\n", stdout);
}

static void put_case(const struct ctl_command *cmd)
{
	const char *kind = words[cmd->words];
	const struct ctl_option *o;

	printf("\t'%s')\n\t\t_arguments \\\n", cmd->name);
	ctl_for_each_option(o, cmd)
		put_option(o);
	if (*kind)
		printf("\t\t'*:%s:_gpreempt_ctl_%s' \\\n", kind, kind);
	fputs("\t\t'(- *)--help[say more about the command]'\n\t\t;;\n", stdout);
}

void doc_zsh(const struct ctl_program *p)
{
	size_t i;

	fputs("typeset -ga _gpreempt_ctl_commands=(\n", stdout);
	for (i = 0; p->commands[i]; i++) {
		printf("\t'%s:", p->commands[i]->name);
		put_quoted(p->commands[i]->summary);
		fputs("'\n", stdout);
	}
	fputs(")\n_gpreempt_ctl_of()\n{\n\tcase $1 in\n", stdout);
	for (i = 0; p->commands[i]; i++)
		put_case(p->commands[i]);
	fputs("\tesac\n}\n", stdout);
}
