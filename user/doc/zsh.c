// SPDX-License-Identifier: GPL-2.0-only
/* Specifications for completion.zsh.in, in the language of _arguments. */
#include "doc/doc.h"

/* Inside '...', where ":" and brackets mean something. */
static void put_quoted(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (*text == ':' || *text == '[' || *text == ']' ||
			 *text == '\\')
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

static void put_option(const struct ctl_option *o)
{
	const char *completion = doc_completion(o->kind);

	printf("\t\t'--%s%s[", o->name, o->arg ? "=" : "");
	put_quoted(o->help);
	putchar(']');
	if (o->arg) {
		printf(":%s:", o->arg);
		if (*completion)
			printf("_gpreempt_ctl_%s", completion);
	}
	fputs("' \\\n", stdout);
}

static void put_command(const struct ctl_command *cmd)
{
	const char *words = doc_words_completion(cmd->words);
	const struct ctl_option *o;

	printf("\t'%s')\n\t\t_arguments \\\n", cmd->name);
	ctl_for_each_option(o, cmd)
		put_option(o);
	if (*words)
		printf("\t\t'*:%s:_gpreempt_ctl_%s' \\\n", words, words);
	fputs("\t\t'(- *)--help[say more about the command]'\n\t\t;;\n",
	      stdout);
}

void doc_zsh(void)
{
	size_t i;

	fputs("typeset -ga _gpreempt_ctl_commands=(\n", stdout);
	for (i = 0; ctl_commands[i]; i++) {
		printf("\t'%s:", ctl_commands[i]->name);
		put_quoted(ctl_commands[i]->summary);
		fputs("'\n", stdout);
	}
	fputs(")\n_gpreempt_ctl_of()\n{\n\tcase $1 in\n", stdout);
	for (i = 0; ctl_commands[i]; i++)
		put_command(ctl_commands[i]);
	fputs("\tesac\n}\n", stdout);
}
