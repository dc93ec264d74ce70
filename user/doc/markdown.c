// SPDX-License-Identifier: GPL-2.0-only
/* Commands as markdown. */
#include "doc/doc.h"

static void put_line(const char *line, size_t len)
{
	printf("%.*s\n", (int)len, line);
}

static const struct doc_style style = {
	.paragraph = "\n",
	.begin_literal = "\n```\n",
	.end_literal = "```\n",
	.line = put_line,
	.literal = put_line,
};

/* A cell of a table: "|" would end it. */
static void put_cell(const char *text)
{
	for (; *text; text++)
		printf(*text == '|' ? "\\|" : "%c", *text);
}

static void put_options(const struct ctl_command *cmd)
{
	const struct ctl_option *o;

	fputs("\n| option | |\n| --- | --- |\n", stdout);
	ctl_for_each_option(o, cmd) {
		printf("| `--%s%s%s` | ", o->name, o->arg ? " " : "",
		       o->arg ? o->arg : "");
		put_cell(o->help);
		fputs(" |\n", stdout);
	}
}

static void put_command(const struct ctl_command *cmd)
{
	printf("\n## %s\n\n```\n", cmd->name);
	ctl_usage(cmd, stdout);
	printf("\n```\n\n%s\n", cmd->summary);
	if (cmd->details) {
		putchar('\n');
		doc_text(cmd->details, &style);
	}
	if (cmd->options)
		put_options(cmd);
}

void doc_markdown(void)
{
	size_t i;

	fputs("# Commands\n\nMade of the same table as `--help`, the manual "
	      "page and the completions, by\n`make docs`. What the "
	      "commands do, with their output, is in\n"
	      "[user-guide.md](user-guide.md).\n\n",
	      stdout);
	doc_text(ctl_targets_help, &style);
	for (i = 0; ctl_commands[i]; i++)
		put_command(ctl_commands[i]);
}

void doc_table(void)
{
	size_t i;

	for (i = 0; ctl_commands[i]; i++) {
		const struct ctl_command *cmd = ctl_commands[i];

		printf("| `%s%s%s%s` | ", cmd->name, cmd->usage ? " " : "",
		       cmd->usage ? cmd->usage : "",
		       cmd->usage && !cmd->max_words ? "..." : "");
		put_cell(cmd->summary);
		fputs(" |\n", stdout);
	}
}
