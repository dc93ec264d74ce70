// SPDX-License-Identifier: GPL-2.0-only
/* Help on a command, and its command line: getopt_long() by its row of the table. */
#include <getopt.h>
#include <string.h>

#include "ctl/command/ctl.h"
#include "guard/options.h"
#include "lib/select/words.h"

#define LEFT 18 /* columns of what stands left of an explanation */

const char ctl_targets_help[] =
	"TARGET is one of\n"
	"  PID                    a process, as the host counts\n"
	"  cgroup:PATH            all in a cgroup and below it\n"
	"  role:ROLE              all in cgroups of that role, online or offline\n"
	"  user:NAME-OR-UID       all of that user: the ids of /etc/subuid and its\n"
	"                         slice count, too\n"
	"  container:NAME-OR-ID   all in a container; 12 characters of its id do\n"
	"  comm:NAME              all processes of that name\n"
	"  cmd:PATTERN            all whose command line matches, as pgrep -f\n"
	"A process chooses its own name and command line, and a user the ids of\n"
	"containers of its own. Where that matters, use cgroup:, role: or user:.\n"
	"A rootless container: \"container:$(podman inspect -f '{{.Id}}' NAME)\"\n"
	"Only GPU processes count, and never those of gpreempt-ctl itself.\n";

static void print_option(const struct ctl_option *o, FILE *f)
{
	char left[64];

	snprintf(left, sizeof(left), "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
	fprintf(f, "  %-*s %s\n", LEFT, left, o->help);
}

void ctl_usage(const struct ctl_command *cmd, FILE *f)
{
	fprintf(f, "gpreempt-ctl %s%s%s%s%s%s%s%s", cmd->name, cmd->usage ? " " : "",
		cmd->usage ? cmd->usage : "", cmd->usage && !cmd->max_words ? "..." : "",
		cmd->options ? " [OPTION...]" : "", cmd->command ? " [-- " : "",
		cmd->command ? cmd->command : "", cmd->command ? "]" : "");
}

void ctl_help(const struct ctl_command *cmd, FILE *f)
{
	const struct ctl_option *o;

	fputs("usage: ", f);
	ctl_usage(cmd, f);
	fprintf(f, "\n\n%s\n", cmd->summary);
	if (cmd->details)
		fprintf(f, "\n%s", cmd->details);
	if (cmd->words == CTL_TARGETS)
		fprintf(f, "\n%s", ctl_targets_help);
	if (cmd->options)
		fputc('\n', f);
	ctl_for_each_option(o, cmd)
		print_option(o, f);
}

#define WORD	     1	 /* getopt_long() returns it for a word */
#define FIRST_OPTION 256 /* and from here on rows of the table */

struct parser {
	const struct ctl_command *cmd;
	char **argv;
	void *args;
	size_t n_words;
	const struct ctl_option *role;		    /* further words belong to it; or NULL */
	struct option options[CTL_MAX_OPTIONS + 2]; /* rows in the same places */
};

static int usage(const struct ctl_command *cmd, const char *what, const char *value,
		 const char *why)
{
	char next[64];

	snprintf(next, sizeof(next), "gpreempt-ctl %s --help", cmd->name);
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, next, "%s%s%s%s: %s", what, value ? " \"" : "",
			     value ? value : "", value ? "\"" : "", why);
}

/* The letter of an option, or 0. */
static int letter_of(const char *name)
{
	static const struct {
		const char *name;
		int letter;
	} letters[] = { { "output", 'o' }, { "count", 'n' }, { "delay", 'd' } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(letters); i++)
		if (!strcmp(name, letters[i].name))
			return letters[i].letter;
	return 0;
}

static void fill_options(struct parser *p)
{
	struct option *to = p->options;
	const struct ctl_option *o;

	ctl_for_each_option(o, p->cmd) {
		to->name = o->name;
		to->has_arg = o->arg ? required_argument : no_argument;
		to->val = letter_of(o->name);
		if (!to->val)
			to->val = FIRST_OPTION + (int)(to - p->options);
		to++;
	}
	*to = (struct option){ .name = "help", .val = 'h' };
}

/* The row that has this value; NULL: it is no option of the command. */
static const struct ctl_option *find_option(const struct parser *p, int val)
{
	size_t i;

	for (i = 0; p->options[i].val != 'h'; i++)
		if (p->options[i].val == val)
			return p->cmd->options + i;
	return NULL;
}

static int take_option(struct parser *p, int val)
{
	const struct ctl_option *o = find_option(p, val);
	const char *why;
	char what[32];

	snprintf(what, sizeof(what), "-%c", val);
	if (!o)
		return usage(p->cmd, what, NULL, "unknown option");
	why = ctl_take_value(o, optarg, p->args);
	snprintf(what, sizeof(what), "--%s", o->name);
	if (why)
		return usage(p->cmd, what, optarg, why);
	if (o->kind == CTL_ROLE)
		p->role = o;
	return -1;
}

/* The word is as typed: with its dashes, and perhaps a value. */
static int no_option(const struct ctl_command *cmd, const char *word)
{
	char typed[64], why[64] = "unknown option, or short for several";
	struct ctl_nearest nearest = { .typed = typed };
	const char *name = word + strspn(word, "-");
	const struct ctl_option *o;

	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(name, "="), name);
	ctl_offer(&nearest, "help");
	ctl_for_each_option(o, cmd)
		ctl_offer(&nearest, o->name);
	if (nearest.name)
		snprintf(why, sizeof(why), "unknown option; did you mean --%s?", nearest.name);
	return usage(cmd, word, NULL, why);
}

/* getopt_long() returned '?' or ':', and left in optopt which option it was. */
static int bad_option(const struct parser *p, int code)
{
	char letter[3] = { '-', (char)optopt, '\0' };
	const char *word = p->argv[optind - 1];

	if (code == ':')
		return usage(p->cmd, word, NULL, "it needs a value");
	if (optopt == 'h' || optopt >= FIRST_OPTION)
		return usage(p->cmd, word, NULL, "it takes no value");
	if (optopt)
		return usage(p->cmd, letter, NULL, "unknown option");
	return no_option(p->cmd, word);
}

/* Put it behind the words so far, which are all at the start of argv. */
static int take_word(struct parser *p, char *word)
{
	const struct ctl_command *cmd = p->cmd;
	struct ctl_words *words = (void *)((char *)p->args + cmd->words_at);
	struct gpreempt_error err;

	if (p->role)
		return !ctl_take_value(p->role, word, p->args) ?
			       -1 :
			       usage(cmd, "argument", word, "it is no target");
	if (cmd->words == CTL_NO_WORDS)
		return usage(cmd, "argument", word, "none is expected");
	if (cmd->max_words && p->n_words == cmd->max_words)
		return usage(cmd, "argument", word, "that is one too many");
	if (cmd->words == CTL_TARGETS && gp_select_check(word, &err))
		return ctl_fail(&err);
	if (!*word)
		return usage(cmd, "argument", word, "it is empty");
	words->word = (const char *const *)p->argv + 1;
	p->argv[1 + p->n_words++] = word;
	words->n = p->n_words;
	return -1;
}

/* What stands behind "--". */
static int take_rest(struct parser *p, char **rest)
{
	const struct ctl_command *cmd = p->cmd;
	int ret = -1;

	/* Names of files may begin with a dash. */
	if (cmd->words == CTL_FILES && !cmd->command) {
		for (; *rest && ret < 0; rest++)
			ret = take_word(p, *rest);
		return ret;
	}
	if (!cmd->command)
		return usage(cmd, "--", NULL, "unknown option");
	if (!*rest)
		return usage(cmd, "--", NULL, "a command is expected there");
	*(char ***)((char *)p->args + cmd->command_at) = rest;
	return -1;
}

static int take_item(struct parser *p, int code)
{
	switch (code) {
	case WORD:
		return take_word(p, optarg);
	case 'h':
		ctl_help(p->cmd, stdout);
		return 0;
	case '?':
	case ':':
		return bad_option(p, code);
	default:
		return take_option(p, code);
	}
}

int ctl_parse(const struct ctl_command *cmd, int argc, char **argv, void *args)
{
	struct parser p = { .cmd = cmd, .argv = argv, .args = args };
	int code, at = 1, ret = -1;

	fill_options(&p);
	optind = 0; /* forget the last command line */
	opterr = 0;
	while (ret < 0) {
		/* "-": words in their places, ":": a code for no value. */
		code = getopt_long(argc, argv, "-:ho:n:d:", p.options, NULL);
		if (code < 0)
			break;
		ret = take_item(&p, code);
		at = optind;
	}
	if (ret < 0 && at < argc && !strcmp(argv[at], "--"))
		ret = take_rest(&p, argv + at + 1);
	if (ret < 0 && p.n_words < cmd->min_words)
		return usage(cmd, cmd->name, NULL,
			     cmd->words == CTL_TARGETS ? "a target is needed, such as a PID" :
							 "the name of a file is needed");
	return ret;
}
