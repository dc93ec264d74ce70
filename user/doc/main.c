// SPDX-License-Identifier: GPL-2.0-only
/* Program of the build: makes documents from the tables of commands, for one program or both. */
#include <ctype.h>
#include <string.h>

#include "cli/metrics.h"
#include "shared/util.h"
#include "cli/cli.h"
#include "guard/guard.h"

/* Commands as mdoc. */

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

/* Print a text of the table in paragraphs. Lines that begin with a space stay as they are. */
static void put_text(const char *text)
{
	bool literal = false, empty = false;

	while (*text) {
		size_t len = strcspn(text, "\n");
		bool keep = *text == ' ';

		if (len && literal && !keep)
			fputs(".Ed\n", stdout);
		if (len && keep && !literal)
			fputs(".Bd -literal\n", stdout);
		else if (len && (literal || empty))
			fputs(!keep ? ".Pp\n" : empty ? "\n" : "", stdout);
		if (len) {
			literal = keep;
			(keep ? put_mdoc_literal : put_mdoc)(text, len);
		}
		empty = !len;
		text += len + (text[len] == '\n');
	}
	if (literal)
		fputs(".Ed\n", stdout);
}

static void put_mdoc_option(const struct ctl_option *o)
{
	printf(".It Fl -%s", o->name);
	if (o->arg)
		printf(" Ar %s", o->arg);
	putchar('\n');
	put_mdoc(o->help, strlen(o->help));
}

static void put_mdoc_command(const struct ctl_command *cmd)
{
	const struct ctl_option *o;

	printf(".Ss %s\n.Bd -literal -compact\n", cmd->name);
	ctl_usage(cmd, stdout);
	fputs("\n.Ed\n.Pp\n", stdout);
	put_mdoc(cmd->summary, strlen(cmd->summary));
	if (cmd->details) {
		fputs(".Pp\n", stdout);
		put_text(cmd->details);
	}
	if (!cmd->options)
		return;
	fputs(".Bl -tag -width Ds\n", stdout);
	ctl_for_each_option(o, cmd)
		put_mdoc_option(o);
	fputs(".El\n", stdout);
}

static void put_targets(void)
{
	fputs(".Sh TARGETS\n", stdout);
	put_text(ctl_targets_help);
}

static void put_examples(const struct ctl_command *cmd)
{
	if (cmd->examples)
		put_text(cmd->examples);
}

/* Print a cell of a table, which "|" would end. */
static void put_cell(const char *text)
{
	for (; *text; text++)
		printf(*text == '|' ? "\\|" : "%c", *text);
}

static void put_row(const struct ctl_command *cmd)
{
	printf("| `%s%s%s%s` | ", cmd->name, cmd->usage ? " " : "", cmd->usage ? cmd->usage : "",
	       cmd->usage && !cmd->max_words ? "..." : "");
	put_cell(cmd->summary);
	fputs(" |\n", stdout);
}

static void doc_families(void)
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

static void doc_labels(void)
{
	size_t i;

	for (i = 0; i < OUT_LABELS; i++) {
		printf("| `%s` | ", out_label_names[i]);
		put_cell(out_label_texts[i]);
		fputs(" |\n", stdout);
	}
}

/* Tables for completion.bash.in, and specifications for completion.zsh.in. */

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

/* The words that may stand behind a role, in an array. */
static void put_role_words(void)
{
	char word[32];
	size_t i;

	fputs("typeset -ga _gpreempt_ctl_role_words=(", stdout);
	for (i = 0; guard_config_word(i, word); i++)
		printf(" %s", word);
	fputs(" )\n", stdout);
}

static void doc_bash(const struct ctl_program *p)
{
	put_role_words();
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

static void doc_zsh(const struct ctl_program *p)
{
	size_t i;

	put_role_words();
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

/* Program of the build: makes documents from the tables of commands, for one program or both. */

/* "command option value" a line, for tests. */
static void put_names(const struct ctl_command *cmd)
{
	const struct ctl_option *o;

	printf("%s\n", cmd->name);
	ctl_for_each_option(o, cmd)
		printf("%s --%s %s\n", cmd->name, o->name, o->arg ? o->arg : "");
}

static const struct {
	const char *name;
	void (*print)(const struct ctl_program *p);
	void (*each)(const struct ctl_command *cmd);
	void (*once)(void); /* behind those of all programs */
} outputs[] = {
	{ "man", .each = put_mdoc_command, .once = put_targets },
	{ "examples", .each = put_examples },
	{ "bash", .print = doc_bash },
	{ "zsh", .print = doc_zsh },
	{ "table", .each = put_row },
	{ "list", .each = put_names },
	{ "families", .once = doc_families },
	{ "labels", .once = doc_labels },
};

static const struct ctl_program *const programs[] = { &ctl_program, &lab_program };

/* Print for the program of that name; NULL: for each program. */
static void print(size_t nth, const char *name)
{
	const struct ctl_command *const *cmd;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(programs); i++) {
		if (name && strcmp(programs[i]->name, name))
			continue;
		ctl_set_program(programs[i]);
		if (outputs[nth].print)
			outputs[nth].print(programs[i]);
		for (cmd = programs[i]->commands; outputs[nth].each && *cmd; cmd++)
			outputs[nth].each(*cmd);
	}
	if (outputs[nth].once)
		outputs[nth].once();
}

int main(int argc, char **argv)
{
	const char *what = argv[argc - 1];
	size_t i;

	for (i = 0; argc > 1 && argc < 4 && i < ARRAY_SIZE(outputs); i++) {
		if (strcmp(outputs[i].name, what))
			continue;
		print(i, argc == 3 ? argv[1] : NULL);
		return fflush(stdout) || ferror(stdout);
	}
	fputs("usage: command-doc [PROGRAM] man|examples|bash|zsh|table|list|families|labels\n",
	      stderr);
	return 2;
}
