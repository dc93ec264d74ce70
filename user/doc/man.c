// SPDX-License-Identifier: GPL-2.0-only
/* Commands as mdoc. */
#include <ctype.h>
#include <string.h>

#include "doc/doc.h"

static bool ends_sentence(const char *line, size_t i, size_t len)
{
	return line[i] == '.' && i && i + 2 < len && line[i + 1] == ' ' &&
	       (isalnum(line[i - 1]) || line[i - 1] == ')') &&
	       !islower(line[i + 2]);
}

/*
 * A line of text: no macro, no escape, options with real hyphens, and a line
 * that ends with a sentence.
 */
static void put_line(const char *line, size_t len)
{
	size_t i;

	if (len && (*line == '.' || *line == '\''))
		fputs("\\&", stdout);
	for (i = 0; i < len; i++) {
		bool option = line[i] == '-' &&
			      ((i + 1 < len && line[i + 1] == '-') ||
			       (i && line[i - 1] == '-'));

		if (line[i] == '\\')
			fputs("\\e", stdout);
		else
			printf("%s%c", option ? "\\" : "", line[i]);
		if (ends_sentence(line, i, len)) {
			putchar('\n');
			i++;
		}
	}
	putchar('\n');
}

/* As it is: columns stay where they are. */
static void put_literal(const char *line, size_t len)
{
	for (; len--; line++)
		printf(*line == '\\' ? "\\e" :
		       *line == '-'  ? "\\-" :
				       "%c",
		       *line);
	putchar('\n');
}

static void put_string(const char *text)
{
	put_line(text, strlen(text));
}

static const struct doc_style style = {
	.paragraph = ".Pp\n",
	.begin_literal = ".Bd -literal\n",
	.end_literal = ".Ed\n",
	.line = put_line,
	.literal = put_literal,
};

static void put_option(const struct ctl_option *o)
{
	printf(".It Fl -%s", o->name);
	if (o->arg)
		printf(" Ar %s", o->arg);
	putchar('\n');
	put_string(o->help);
}

static void put_command(const struct ctl_command *cmd)
{
	const struct ctl_option *o;

	printf(".Ss %s\n.Bd -literal -compact\n", cmd->name);
	ctl_usage(cmd, stdout);
	fputs("\n.Ed\n.Pp\n", stdout);
	put_string(cmd->summary);
	if (cmd->details) {
		fputs(".Pp\n", stdout);
		doc_text(cmd->details, &style);
	}
	if (!cmd->options)
		return;
	fputs(".Bl -tag -width Ds\n", stdout);
	ctl_for_each_option(o, cmd)
		put_option(o);
	fputs(".El\n", stdout);
}

void doc_man(void)
{
	size_t i;

	for (i = 0; ctl_commands[i]; i++)
		put_command(ctl_commands[i]);
	fputs(".Sh TARGETS\n", stdout);
	doc_text(ctl_targets_help, &style);
}
