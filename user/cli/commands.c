// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program's main(): which command its words mean, that command's words and options, and its help.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/preempt/wire.h"
#include "lib/see/words.h"
#include "shared/text.h"
#include "shared/util.h"
#include "cli.h"

/* Values of options: a function for each kind. */

#define MAX_COUNT    10000000
#define MAX_QUEUE_ID 1023 /* the driver's */
#define MAX_PRIORITY 15

static const char *take_flag(const char *text, void *field)
{
	(void)text;
	*(uint64_t *)field = 1;
	return NULL;
}

static const char *take_count(const char *text, void *field)
{
	uint64_t *number = field;
	int ret = shr_parse_u64(text, MAX_COUNT, number);

	return ret || !*number ? "a number from 1 to 10000000 is needed" : NULL;
}

static const char *take_duration(const char *text, void *field)
{
	int ret = shr_parse_duration(text, field);

	return ret ? shr_duration_error(ret) : NULL;
}

static const char *take_lease(const char *text, void *field)
{
	const char *why = take_duration(text, field);

	return why ? why : !*(uint64_t *)field ? "a lease of no time makes no sense" : NULL;
}

static const char *take_ids(const char *text, void *field)
{
	struct gpreempt_filter *which = field;
	uint32_t *ids = NULL;
	int ret = shr_parse_list(text, MAX_QUEUE_ID, &ids, &which->n_ids);

	free((void *)which->ids);
	which->ids = ids;
	switch (ret) {
	case 0:
		return NULL;
	case -EEXIST:
		return "a queue id is in it twice";
	case -ERANGE:
		return "queue ids go from 0 to 1023";
	default:
		return "queue ids are numbers with commas between, as in 0,2";
	}
}

/*
 * "<=5", "<5", ">=3", ">3", "=3", "3", "3-7". 0, -EINVAL, or -ERANGE when no
 * priority is like that.
 */
static int parse_priority(const char *text, struct gpreempt_filter *which)
{
	size_t sign = strspn(text, "<>=");
	uint64_t first, last;
	char number[8], *dash;

	snprintf(number, sizeof(number), "%.7s", text + sign);
	dash = sign ? NULL : strchr(number, '-');
	if (dash)
		*dash++ = '\0';
	if (shr_parse_u64(number, MAX_PRIORITY, &first) ||
	    shr_parse_u64(dash ? dash : number, MAX_PRIORITY, &last) || first > last ||
	    strlen(text + sign) >= sizeof(number))
		return -EINVAL;
	if (sign > 2 || (sign == 2 && (text[1] != '=' || *text == '=')))
		return -EINVAL;
	if (*text == '<') {
		first = 0;
		last -= text[1] != '=';
	} else if (*text == '>') {
		first += text[1] != '=';
		last = MAX_PRIORITY;
	}
	which->by_priority = true;
	which->priority_min = first;
	which->priority_max = last;
	return last == UINT64_MAX || first > last ? -ERANGE : 0;
}

static const char *take_priority(const char *text, void *field)
{
	int ret = parse_priority(text, field);

	return !ret	      ? NULL :
	       ret == -ERANGE ? "no priority is like that; they go from 0 to 15" :
				"a priority is from 0 to 15, as in 7, '<=5', 3-7";
}

/* Take names of GPUs: ctl_find_gpus() finds out what they mean, on the host that is opened. */
static const char *take_gpus(const char *text, void *field)
{
	struct ctl_target_args *args = field;

	args->gpus = text;
	/* A filter of GPUs, although they are not known yet. */
	args->queues.n_gpu_ids = 1;
	return gp_gpus_are_words(text) ?
		       NULL :
		       "GPUs are indexes as amd-smi has them, PCI addresses, renderD128, or gpu_ids, "
		       "with commas between";
}

static const char *take_file(const char *text, void *field)
{
	*(const char **)field = text;
	return *text ? NULL : "the name of a file is needed";
}

static const char *take_name(const char *text, void *field)
{
	*(const char **)field = text;
	return *text ? NULL : "a name is needed";
}

/* A part of something: 30 or 30%. */
static const char *take_percent(const char *text, void *field)
{
	size_t len = strlen(text);
	char number[8];

	if (len && text[len - 1] == '%')
		len--;
	snprintf(number, sizeof(number), "%.*s", (int)len, text);
	return len < sizeof(number) && !shr_parse_u64(number, 99, field) ?
		       NULL :
		       "a percentage from 0 to 99 is needed, as in 30%";
}

static const char *take_cpu(const char *text, void *field)
{
	uint64_t *number = field;
	int ret = shr_parse_u64(text, CPU_SETSIZE - 1, number);

	*number += !ret;
	return ret ? "the number of a CPU is needed, from 0" : NULL;
}

static const char *take_uids(const char *text, void *field)
{
	struct shr_ids *uids = field;

	free(uids->id);
	*uids = (struct shr_ids){ 0 };
	return !shr_parse_list(text, UINT32_MAX - 1, &uids->id, &uids->n) ?
		       NULL :
		       "user ids are numbers with commas between, as in 1000,1001";
}

static const char *take_role(const char *text, void *field)
{
	struct guard_words *words = field;
	struct gpreempt_error err;

	if (words->n == ARRAY_SIZE(words->word) || gp_select_check(text, &err))
		return "a target is needed, such as a PID or comm:NAME";
	words->word[words->n++] = text;
	return NULL;
}

/* Take one of the words, which are in the order of an enum. Returns why, if it is none of them. */
static const char *take_one_of(const char *const *words, size_t n, const char *text,
			       unsigned int *value, const char *why)
{
	size_t i;

	for (i = 0; i < n && strcmp(text, words[i]);)
		i++;
	if (i == n)
		return why;
	*value = i;
	return NULL;
}

static const char *take_how(const char *text, void *field)
{
	static const char *const hows[GPREEMPT_HOWS] = {
		[GPREEMPT_HOW_AUTO] = "auto",
		[GPREEMPT_HOW_DEBUG] = "debug",
		[GPREEMPT_HOW_PAUSE] = "pause",
	};

	return take_one_of(hows, GPREEMPT_HOWS, text, field, "it is auto, debug or pause");
}

static const char *take_json(const char *text, void *field)
{
	(void)text;
	*(enum out_mode *)field = OUT_JSON;
	return NULL;
}

/* --json wins over --csv. */
static const char *take_csv(const char *text, void *field)
{
	enum out_mode *mode = field;

	(void)text;
	if (*mode != OUT_JSON)
		*mode = OUT_CSV;
	return NULL;
}

static const char *take_colour(const char *text, void *field)
{
	static const char *const when[] = {
		[OUT_COLOUR_AUTO] = "auto",
		[OUT_COLOUR_ALWAYS] = "always",
		[OUT_COLOUR_NEVER] = "never",
	};
	struct out_form *form = field;

	return take_one_of(when, ARRAY_SIZE(when), text, &form->colour,
			   "it is auto, always or never");
}

/* Take a value. NULL, or the reason why the option cannot have it. */
static const char *(*const take_value[CTL_KINDS])(const char *text, void *field) = {
	[CTL_FLAG] = take_flag,	      [CTL_COUNT] = take_count,	  [CTL_DURATION] = take_duration,
	[CTL_LEASE] = take_lease,     [CTL_IDS] = take_ids,	  [CTL_PRIORITY] = take_priority,
	[CTL_GPUS] = take_gpus,	      [CTL_FILE] = take_file,	  [CTL_NAME] = take_name,
	[CTL_PERCENT] = take_percent, [CTL_CPU] = take_cpu,	  [CTL_ROLE] = take_role,
	[CTL_UIDS] = take_uids,	      [CTL_HOW] = take_how,	  [CTL_JSON] = take_json,
	[CTL_CSV] = take_csv,	      [CTL_COLOUR] = take_colour,
};

void *ctl_new_args(const struct ctl_command *cmd)
{
	void *args = shr_must(calloc(1, cmd->args_size + 1));
	const struct ctl_option *o;

	if (cmd->defaults)
		memcpy(args, cmd->defaults, cmd->args_size);
	/* The mode's default depends on stdout. */
	ctl_for_each_option(o, cmd)
		if (o->kind == CTL_JSON)
			*(enum out_mode *)((char *)args + o->offset) = out_mode();
	return args;
}

void ctl_free_args(const struct ctl_command *cmd, void *args)
{
	const struct ctl_option *o;

	ctl_for_each_option(o, cmd) {
		void *field = (char *)args + o->offset;

		if (o->kind == CTL_IDS)
			free((void *)((struct gpreempt_filter *)field)->ids);
		else if (o->kind == CTL_GPUS)
			free((void *)((struct ctl_target_args *)field)->queues.gpu_ids);
		else if (o->kind == CTL_UIDS)
			free(((struct shr_ids *)field)->id);
	}
	free(args);
}

static const struct ctl_program *program;

/* Help on a command, and its command line: getopt_long() by its row of the table. */

#define LEFT 18 /* columns left of an explanation */

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
	fprintf(f, "%s%s%s%s%s%s%s%s%s%s", program->name, *cmd->name ? " " : "", cmd->name,
		cmd->usage ? " " : "", cmd->usage ? cmd->usage : "",
		cmd->usage && !cmd->max_words ? "..." : "", cmd->options ? " [OPTION...]" : "",
		cmd->command ? " [-- " : "", cmd->command ? cmd->command : "",
		cmd->command ? "]" : "");
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
	if (cmd->examples)
		fprintf(f, "\nExamples:\n%s", cmd->examples);
}

#define WORD	     1	 /* getopt_long() returns it for a word */
#define FIRST_OPTION 256 /* and from here on rows of the table */

/* Old words for an option, which no help shows. */
static const struct {
	const char *old, *name;
} aliases[] = { { "delay", "interval" }, { "every", "interval" }, { "duration", "for" } };

struct parser {
	const struct ctl_command *cmd;
	char **argv;
	void *args;
	size_t n_words;
	const struct ctl_option *role; /* further words belong to it; or NULL */
	/* The rows in the same places, and behind them old words. */
	struct option options[CTL_MAX_OPTIONS + ARRAY_SIZE(aliases) + 2];
};

static int usage(const struct ctl_command *cmd, const char *what, const char *value,
		 const char *why)
{
	char next[64];

	snprintf(next, sizeof(next), "%s%s%s --help", program->name, *cmd->name ? " " : "",
		 cmd->name);
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, next, "%s%s%s%s: %s", what, value ? " \"" : "",
			     value ? value : "", value ? "\"" : "", why);
}

/* The letter of an option, or 0. */
static int letter_of(const char *name)
{
	static const struct {
		const char *name;
		int letter;
	} letters[] = {
		{ "output", 'o' }, { "count", 'n' }, { "interval", 'd' }, { "columns", 'o' }
	};
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
	const struct option *row, *end;
	size_t i;

	ctl_for_each_option(o, p->cmd) {
		to->name = o->name;
		to->has_arg = o->arg ? required_argument : no_argument;
		to->val = letter_of(o->name);
		if (!to->val)
			to->val = FIRST_OPTION + (int)(to - p->options);
		to++;
	}
	end = to;
	for (i = 0; i < ARRAY_SIZE(aliases); i++)
		for (row = p->options; row < end; row++)
			if (!strcmp(row->name, aliases[i].name)) {
				*to = *row;
				to++->name = aliases[i].old;
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
	why = take_value[o->kind](optarg, (char *)p->args + o->offset);
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
	char typed[64], why[64] = "unknown option";
	struct ctl_nearest nearest = { .typed = typed };
	const char *name = word + strspn(word, "-");
	const struct ctl_option *o;
	size_t n = 0;

	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(name, "="), name);
	ctl_offer(&nearest, "help");
	ctl_for_each_option(o, cmd) {
		ctl_offer(&nearest, o->name);
		n += !strncmp(o->name, typed, strlen(typed));
	}
	if (n > 1)
		snprintf(why, sizeof(why), "it is short for several options");
	else if (nearest.name)
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

/* Report a word that is no target. People type the name of a process. */
static int fail_target(const struct ctl_command *cmd, const char *word,
		       const struct gpreempt_error *err)
{
	char name[64], next[160];
	const char *words[] = { name };
	char *comma = next;
	__cleanup_list struct gpreempt_targets *list = NULL;
	__cleanup_handle struct gpreempt *g = NULL;
	int ret;

	/* One of several that have commas between. */
	if (strchr(word, ',') && strspn(word, "0123456789,") == strlen(word)) {
		snprintf(next, sizeof(next), "%s %s %s", program->name, cmd->name, word);
		while ((comma = strchr(comma, ',')))
			*comma = ' ';
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, next,
				     "\"%s\" is no target: targets have blanks between", word);
	}
	snprintf(name, sizeof(name), "comm:%s", word);
	if (err->reason != GPREEMPT_BAD_TARGET || gpreempt_new(NULL, &g))
		return ctl_fail(err);
	ret = gpreempt_select(g, words, 1, NULL, NULL, &list, NULL);
	if (ret)
		return ctl_fail(err);
	snprintf(next, sizeof(next), "%s %s %s", program->name, cmd->name, name);
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, next,
			     "\"%s\" is no target; a GPU process has that name: %s", word, name);
}

/* Put it behind the words so far, which are all at the start of argv. */
static int take_word(struct parser *p, char *word)
{
	const struct ctl_command *cmd = p->cmd;
	struct ctl_words *words = (void *)((char *)p->args + cmd->words_at);
	struct gpreempt_error err;

	if (p->role)
		return take_role(word, (char *)p->args + p->role->offset) ?
			       usage(cmd, "argument", word, "it is no target") :
			       -1;
	if (cmd->words == CTL_NO_WORDS)
		return usage(cmd, "argument", word, "none is expected");
	if (cmd->max_words && p->n_words == cmd->max_words)
		return usage(cmd, "argument", word, "that is one too many");
	if (cmd->words == CTL_TARGETS && gp_select_check(word, &err))
		return fail_target(cmd, word, &err);
	if (!*word)
		return usage(cmd, "argument", word, "it is empty");
	words->word = (const char *const *)p->argv + 1;
	p->argv[1 + p->n_words++] = word;
	words->n = p->n_words;
	return -1;
}

/* Take the words behind "--". */
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

/* Does each word between commas name a column? */
static bool are_columns(const struct out_table *table, const char *text)
{
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (!out_find(table, text, len))
			return false;
		if (!text[len])
			return true;
	}
}

static int no_column(const struct ctl_command *cmd, const char *option, const char *value,
		     const struct out_table *table)
{
	char names[1024] = "the columns are";
	size_t i;

	for (i = 0; i < table->n_fields; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s %s",
			 i ? "," : "", table->fields[i].name);
	return usage(cmd, option, value, names);
}

int ctl_check_form(const struct ctl_command *cmd, const struct out_form *form,
		   const struct out_table *table)
{
	const char *sort = form->sort ? form->sort + (*form->sort == '-') : NULL;

	if (form->mode == OUT_JSON && (form->columns || sort || form->bare))
		return usage(cmd, "--json", NULL,
			     "its objects have all columns, by their names; --columns, --sort and "
			     "--no-headers are for tables");
	if (form->columns && !are_columns(table, form->columns))
		return no_column(cmd, "--columns", form->columns, table);
	if (sort && !out_find(table, sort, strlen(sort)))
		return no_column(cmd, "--sort", form->sort, table);
	return -1;
}

int ctl_parse(const struct ctl_command *cmd, int argc, char **argv, void *args)
{
	struct parser p = { .cmd = cmd, .argv = argv, .args = args };
	const struct ctl_option *o;
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
	/* Check the form of the command's table, where the command has one. */
	ctl_for_each_option(o, cmd)
		if (ret < 0 && o->kind == CTL_COLOUR && cmd->table)
			ret = ctl_check_form(cmd, (void *)((char *)args + o->offset), cmd->table);
	return ret;
}

/* A program: its table of commands, which of them the words mean, and its main(). */

#define LEFT_ALL 19 /* columns of a name and its words, in the help */

void ctl_set_program(const struct ctl_program *p)
{
	program = p;
	ctl_set_name(p->name, NULL);
}

static const struct ctl_command *find(const char *name)
{
	const struct ctl_command *cmd;
	size_t i;

	for (i = 0; (cmd = program->commands[i]); i++)
		if (!strcmp(cmd->name, name))
			break;
	return cmd;
}

const struct ctl_command *ctl_find_command(int argc, char **argv, int *words)
{
	const struct ctl_command *cmd = NULL;
	char both[64];

	/* The name of one as "module load" is two words. */
	if (strchr(argv[0], ' '))
		return NULL;
	*words = 2;
	if (argc > 1) {
		snprintf(both, sizeof(both), "%s %s", argv[0], argv[1]);
		cmd = find(both);
	}
	if (cmd)
		return cmd;
	*words = 1;
	return find(argv[0]);
}

/* Is it "module", of which only "module load" and others are commands? */
static bool is_group(const char *word, char *next, size_t size)
{
	const struct ctl_command *cmd;
	size_t len = strlen(word), used = 0, i;

	for (i = 0; (cmd = program->commands[i]); i++)
		if (!strncmp(cmd->name, word, len) && cmd->name[len] == ' ' && used < size)
			used += snprintf(next + used, size - used, "%s%s %s", used ? ", or " : "",
					 program->name, cmd->name);
	return used;
}

/* Returns the command that people mean who type that; NULL: no such word is known. */
static const char *find_synonym(const char *typed)
{
	const struct ctl_synonym *s = program->synonyms;

	for (; s && s->typed; s++)
		if (!strcmp(s->typed, typed))
			return s->meant;
	return NULL;
}

/* The names of so many words, of which @typed may be one; NULL: it is near none. */
static const char *find_near(const char *typed, bool two_words)
{
	struct ctl_nearest nearest = { .typed = typed };
	const struct ctl_command *cmd;
	size_t i;

	for (i = 0; (cmd = program->commands[i]); i++)
		if (!strchr(cmd->name, ' ') != two_words)
			ctl_offer(&nearest, cmd->name);
	return nearest.name;
}

static const char *find_meant(int argc, char **argv)
{
	const char *name = find_synonym(argv[0]);
	char both[64];

	if (name)
		return name;
	if (argc > 1) {
		snprintf(both, sizeof(both), "%s %s", argv[0], argv[1]);
		name = find_near(both, true);
	}
	return name ? name : find_near(argv[0], false);
}

/* Report that the words begin with no command of this program. Returns the exit status. */
static int no_command(int argc, char **argv)
{
	const char *const *other = program->others;
	const char *name = find_meant(argc, argv);
	char next[128];

	for (; *other; other++) {
		if (strcmp(*other, argv[0]))
			continue;
		snprintf(next, sizeof(next), "%s %s", program->other, *other);
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, next, "%s is a command of %s", *other,
				     program->other);
	}
	if (!name && is_group(argv[0], next, sizeof(next)))
		return ctl_fail_text(GPREEMPT_CLASS_USAGE, next,
				     "a second word belongs to the command \"%s\"", argv[0]);
	snprintf(next, sizeof(next), "%s %s", program->name,
		 name ? name : "--help lists the commands");
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, next, "there is no command \"%s\"%s%s%s",
			     argv[0], name ? "; did you mean \"" : "", name ? name : "",
			     name ? "\"?" : "");
}

void ctl_help_all(FILE *f)
{
	const struct ctl_group *group = program->groups;
	const struct ctl_command *cmd;
	size_t i;

	fprintf(f, "usage: %s %s [ARGUMENT...] [OPTION...]\n\n%s\n\n", program->name,
		program->usual ? "[COMMAND]" : "COMMAND", program->purpose);
	for (i = 0; (cmd = program->commands[i]); i++) {
		if (group && group->first == cmd)
			fprintf(f, "%s%s\n", i ? "\n" : "", group++->heading);
		fprintf(f, "  %s %-*s %s\n", cmd->name, (int)(LEFT_ALL - strlen(cmd->name)),
			cmd->usage ? cmd->usage : "", cmd->summary);
	}
	fprintf(f, "\n%s", ctl_targets_help);
	fputs("\n  --help, help COMMAND  this list, or more about a command\n"
	      "  --version, -V         the version\n\n"
	      "exit status: 0 done, 1 failed, 2 wrong usage, 3 not supported here,\n4 no "
	      "permission, 5 no such GPU process, 6 done in part, 7 busy\n",
	      f);
}

int ctl_finish_output(int status)
{
	if (!fflush(stdout)) {
		if (!ferror(stdout))
			return status;
		/* An earlier write failed, and its error is gone: ask again. */
		if (write(STDOUT_FILENO, "\n", 1) == 1)
			errno = EIO;
	}
	/* The reader has enough, as in "| head". */
	if (errno == EPIPE)
		return status;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     ctl_want_room(-errno,
					   "give it a standard output that it can write to"),
			     "cannot write the output: %s", strerror(errno));
}

static int run(const struct ctl_command *cmd, int argc, char **argv)
{
	void *args = ctl_new_args(cmd);
	int ret = ctl_parse(cmd, argc, argv, args);

	ctl_set_name(program->name, cmd->name);
	if (ret < 0)
		ret = cmd->run(args);
	ctl_free_args(cmd, args);
	return ctl_finish_output(ret);
}

/*
 * Fill the gaps of a start without stdin, stdout or stderr (">&-"): the next file that we open
 * would take such a number, and get our output. A write to the stand-in fails as it would have
 * failed before.
 */
static void fill_gaps(void)
{
	int fd = open("/dev/null", O_RDONLY);

	while (fd >= 0 && fd <= STDERR_FILENO)
		fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		close(fd);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

/* Print the help of the command that the words name, or of all. */
static int help(int argc, char **argv)
{
	int words;
	const struct ctl_command *cmd = argc < 1 ? NULL : ctl_find_command(argc, argv, &words);

	if (cmd)
		ctl_help(cmd, stdout);
	else if (argc < 1)
		ctl_help_all(stdout);
	else
		return no_command(argc, argv);
	return ctl_finish_output(0);
}

int ctl_run_program(const struct ctl_program *p, int argc, char **argv)
{
	const char *word = argc < 2 ? "" : argv[1];
	const struct ctl_command *cmd;
	int words;

	fill_gaps();
	ctl_set_program(p);
	shr_title_init(argc, argv);
	if (is_one_of(word, "--help", "-h", "help") || (argc < 2 && !p->usual))
		return help(argc - 2, argv + 2);
	if (is_one_of(word, "--version", "-V", "version")) {
		printf("%s %s\n", p->name, gpreempt_version());
		return ctl_finish_output(0);
	}
	if (p->usual && (argc < 2 || *word == '-'))
		return run(p->usual, argc, argv);
	cmd = ctl_find_command(argc - 1, argv + 1, &words);
	if (!cmd)
		return no_command(argc - 1, argv + 1);
	return run(cmd, argc - words, argv + words);
}
