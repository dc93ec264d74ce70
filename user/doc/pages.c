// SPDX-License-Identifier: GPL-2.0-only
/* Commands as mdoc and as markdown. */
#include <ctype.h>
#include <string.h>

#include "doc/doc.h"
#include "cli/metrics.h"

/*
 * Print a text of the table in paragraphs. Lines that begin with a space are
 * to be kept as they are; begin_literal and end_literal are put around them.
 */
struct style {
	const char *paragraph;
	const char *begin_literal;
	const char *end_literal;
	void (*line)(const char *line, size_t len);
	void (*literal)(const char *line, size_t len);
};

static void put_text(const char *text, const struct style *style)
{
	bool literal = false, empty = false;

	while (*text) {
		size_t len = strcspn(text, "\n");
		bool keep = *text == ' ';

		if (len && literal && !keep)
			fputs(style->end_literal, stdout);
		if (len && keep && !literal)
			fputs(style->begin_literal, stdout);
		else if (len && (literal || empty))
			fputs(!keep ? style->paragraph : empty ? "\n" : "", stdout);
		if (len) {
			literal = keep;
			(keep ? style->literal : style->line)(text, len);
		}
		empty = !len;
		text += len + (text[len] == '\n');
	}
	if (literal)
		fputs(style->end_literal, stdout);
}

static bool ends_sentence(const char *line, size_t i, size_t len)
{
	return line[i] == '.' && i && i + 2 < len && line[i + 1] == ' ' &&
	       (isalnum(line[i - 1]) || line[i - 1] == ')') && !islower(line[i + 2]);
}

/*
 * A line of text: no macro, no escape, options with real hyphens, and a line
 * that ends with a sentence.
 */
static void put_mdoc(const char *line, size_t len)
{
	size_t i;

	if (len && (*line == '.' || *line == '\''))
		fputs("\\&", stdout);
	for (i = 0; i < len; i++) {
		bool option = line[i] == '-' &&
			      ((i + 1 < len && line[i + 1] == '-') || (i && line[i - 1] == '-'));

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

/* Print a line literally: columns stay where they are. */
static void put_mdoc_literal(const char *line, size_t len)
{
	for (; len--; line++)
		printf(*line == '\\' ? "\\e" : *line == '-' ? "\\-" : "%c", *line);
	putchar('\n');
}

static void put_mput_text(const char *text)
{
	put_mdoc(text, strlen(text));
}

static const struct style mdoc = {
	.paragraph = ".Pp\n",
	.begin_literal = ".Bd -literal\n",
	.end_literal = ".Ed\n",
	.line = put_mdoc,
	.literal = put_mdoc_literal,
};

static void put_mdoc_option(const struct ctl_option *o)
{
	printf(".It Fl -%s", o->name);
	if (o->arg)
		printf(" Ar %s", o->arg);
	putchar('\n');
	put_mput_text(o->help);
}

static void put_mdoc_command(const struct ctl_command *cmd)
{
	const struct ctl_option *o;

	printf(".Ss %s\n.Bd -literal -compact\n", cmd->name);
	ctl_usage(cmd, stdout);
	fputs("\n.Ed\n.Pp\n", stdout);
	put_mput_text(cmd->summary);
	if (cmd->details) {
		fputs(".Pp\n", stdout);
		put_text(cmd->details, &mdoc);
	}
	if (!cmd->options)
		return;
	fputs(".Bl -tag -width Ds\n", stdout);
	ctl_for_each_option(o, cmd)
		put_mdoc_option(o);
	fputs(".El\n", stdout);
}

void doc_man(const struct ctl_program *p)
{
	size_t i;

	for (i = 0; p->commands[i]; i++)
		put_mdoc_command(p->commands[i]);
	fputs(".Sh TARGETS\n", stdout);
	put_text(ctl_targets_help, &mdoc);
}

static void put_line(const char *line, size_t len)
{
	printf("%.*s\n", (int)len, line);
}

static const struct style markdown = {
	.paragraph = "\n",
	.begin_literal = "\n```\n",
	.end_literal = "```\n",
	.line = put_line,
	.literal = put_line,
};

/* Print a cell of a table, which "|" would end. */
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
		printf("| `--%s%s%s` | ", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
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
		put_text(cmd->details, &markdown);
	}
	if (cmd->options)
		put_options(cmd);
}

void doc_markdown(const struct ctl_program *p)
{
	size_t i;

	if (p == &ctl_program) {
		fputs("# Commands\n\nMade of the same tables as `--help`, the manual "
		      "pages and the completions, by\n`make docs`: first those of gpreempt-ctl, "
		      "then, from [decode](#decode) on, those of\ngpreempt-lab. What the "
		      "commands do, with their output, is in\n[user-guide.md](user-guide.md).\n\n",
		      stdout);
		put_text(ctl_targets_help, &markdown);
	}
	for (i = 0; p->commands[i]; i++)
		put_command(p->commands[i]);
}

void doc_table(const struct ctl_program *p)
{
	size_t i;

	for (i = 0; p->commands[i]; i++) {
		const struct ctl_command *cmd = p->commands[i];

		printf("| `%s%s%s%s` | ", cmd->name, cmd->usage ? " " : "",
		       cmd->usage ? cmd->usage : "", cmd->usage && !cmd->max_words ? "..." : "");
		put_cell(cmd->summary);
		fputs(" |\n", stdout);
	}
}

void doc_families(void)
{
	const struct out_family *f;
	size_t i;

	for (f = out_families; f < out_families + OUT_FAMILIES; f++) {
		printf("| `%s%s` | %s | ", f->name, out_type_suffixes[f->type],
		       out_type_names[f->type]);
		put_cell(f->help);
		fputs(" |", stdout);
		for (i = OUT_HOSTNAME + 1; i < OUT_LABELS; i++)
			if (f->labels & 1u << i)
				printf(" `%s`", out_label_names[i]);
		fputs(" |\n", stdout);
	}
}

void doc_labels(void)
{
	size_t i;

	for (i = 0; i < OUT_LABELS; i++) {
		printf("| `%s` | ", out_label_names[i]);
		put_cell(out_label_texts[i]);
		fputs(" |\n", stdout);
	}
}
