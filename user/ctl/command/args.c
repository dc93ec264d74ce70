// SPDX-License-Identifier: GPL-2.0-only
/* Command lines, as the table of each command has them. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/command/ctl.h"
#include "shared/list.h"
#include "shared/macro.h"
#include "shared/parse.h"

#define MAX_COUNT 10000000
#define MAX_QUEUE_ID 1023	/* the driver's */
#define MAX_PRIORITY 15
#define MAX_GPUS 64

static int usage(const struct ctl_command *cmd, const char *what,
		 const char *value, const char *why)
{
	char next[64];

	snprintf(next, sizeof(next), "gpreempt-ctl %s --help", cmd->name);
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, next, "%s%s%s%s: %s", what,
			     value ? " \"" : "", value ? value : "",
			     value ? "\"" : "", why);
}

static const char *list_error(int err)
{
	switch (err) {
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
static int parse_priority(const char *text, struct ctl_range *out)
{
	size_t sign = strspn(text, "<>=");
	uint64_t first, last;
	char number[8], *dash;

	snprintf(number, sizeof(number), "%.7s", text + sign);
	dash = sign ? NULL : strchr(number, '-');
	if (dash)
		*dash++ = '\0';
	if (shr_parse_u64(number, MAX_PRIORITY, &first) ||
	    shr_parse_u64(dash ? dash : number, MAX_PRIORITY, &last) ||
	    first > last || strlen(text + sign) >= sizeof(number))
		return -EINVAL;
	*out = (struct ctl_range){ .set = true, .min = first, .max = last };
	switch (*text) {
	case '<':
		out->min = 0;
		out->max -= text[1] != '=';
		break;
	case '>':
		out->min += text[1] != '=';
		out->max = MAX_PRIORITY;
		break;
	}
	if (sign > 2 || (sign == 2 && (text[1] != '=' || *text == '=')))
		return -EINVAL;
	return out->min > out->max ? -ERANGE : 0;
}

/* gpu_ids with commas between, hexadecimal as everything prints them. */
static int parse_gpus(const char *text, struct ctl_args *args)
{
	uint32_t *gpus = calloc(MAX_GPUS, sizeof(*gpus));
	size_t n = 0;
	char *end;

	if (!gpus)
		return -ENOMEM;
	for (;;) {
		unsigned long gpu = strtoul(text, &end, 16);

		if (!strchr("0123456789abcdefABCDEF", *text) || !gpu ||
		    gpu > UINT32_MAX || n == MAX_GPUS ||
		    (*end && *end != ',')) {
			free(gpus);
			return -EINVAL;
		}
		gpus[n++] = gpu;
		if (!*end)
			break;
		text = end + 1;
	}
	free(args->gpus);
	args->gpus = gpus;
	args->n_gpus = n;
	return 0;
}

static int parse_ids(const char *text, struct ctl_args *args)
{
	free(args->ids);
	args->ids = NULL;
	return shr_parse_list(text, MAX_QUEUE_ID, &args->ids, &args->n_ids);
}

/* A part of something: 30 or 30%. */
static int parse_percent(const char *text, uint64_t *out)
{
	size_t len = strlen(text);
	char number[8];

	if (len && text[len - 1] == '%')
		len--;
	snprintf(number, sizeof(number), "%.*s", (int)len, text);
	return len >= sizeof(number) ? -EINVAL : shr_parse_u64(number, 99, out);
}

static int add_role_word(struct ctl_args *args, struct guard_words *words,
			 const char *word)
{
	struct gpreempt_error err;

	if (words->n == ARRAY_SIZE(words->word))
		return -E2BIG;
	if (gpreempt_select_check(word, &err))
		return -EINVAL;
	words->word[words->n++] = word;
	args->sched.into = words;
	return 0;
}

/* NULL, or why that is no value of the option. */
static const char *parse_value(const struct ctl_option *o, const char *value,
			       struct ctl_args *args)
{
	void *field = (char *)args + o->offset;
	uint64_t *number = field;
	int ret;

	switch (o->kind) {
	case CTL_FLAG:
		*number = 1;
		return NULL;
	case CTL_COUNT:
		ret = shr_parse_u64(value, MAX_COUNT, number);
		return ret || !*number ?
			"a number from 1 to 10000000 is needed" : NULL;
	case CTL_DURATION:
		ret = shr_parse_duration(value, number);
		if (ret)
			return shr_duration_error(ret);
		return !*number && number == &args->lease_ns ?
			"a lease of no time makes no sense" : NULL;
	case CTL_IDS:
		ret = parse_ids(value, args);
		return ret ? list_error(ret) : NULL;
	case CTL_PRIORITY:
		ret = parse_priority(value, &args->priority);
		return !ret ? NULL : ret == -ERANGE ?
			"no priority is like that; they go from 0 to 15" :
			"a priority is from 0 to 15, as in 7, '<=5', 3-7";
	case CTL_GPUS:
		return !parse_gpus(value, args) ? NULL :
			"GPUs are gpu_ids with commas between, as in f7bc; "
			"gpreempt-ctl queues shows them";
	case CTL_FILE:
		*(const char **)field = value;
		return *value ? NULL : "the name of a file is needed";
	case CTL_NAME:
		*(const char **)field = value;
		return *value ? NULL : "a name is needed";
	case CTL_PERCENT:
		return !parse_percent(value, number) ? NULL :
			"a percentage from 0 to 99 is needed, as in 30%";
	case CTL_CPU:
		ret = shr_parse_u64(value, CPU_SETSIZE - 1, number);
		*number += !ret;
		return ret ? "the number of a CPU is needed, from 0" : NULL;
	case CTL_UIDS:
		free(args->sched.uids);
		args->sched.uids = NULL;
		return !shr_parse_list(value, UINT32_MAX - 1,
				       &args->sched.uids,
				       &args->sched.n_uids) ? NULL :
			"user ids are numbers with commas between, as in 1000,1001";
	case CTL_ROLE:
		return !add_role_word(args, field, value) ? NULL :
			"a target is needed, such as a PID or comm:NAME";
	default:
		return "unknown option";
	}
}

static const struct ctl_option *find_option(const struct ctl_command *cmd,
					    const char *name, size_t len)
{
	const struct ctl_option *o;
	size_t i;

	for (i = 0; (o = ctl_option_at(cmd, i)); i++)
		if (strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	return NULL;
}

/* An option at argv[*i], which moves over its value. */
static int parse_option(const struct ctl_command *cmd, int argc, char **argv,
			int *i, struct ctl_args *args)
{
	const char *name = argv[*i] + 2, *value, *why;
	const struct ctl_option *o;
	char what[32];

	if (!strcmp(argv[*i], "-o"))
		name = "output";
	value = strchr(name, '=');
	o = find_option(cmd, name, value ? (size_t)(value - name) :
					   strlen(name));
	if (!o && cmd->not_recorded && (!strcmp(name, "record") ||
					!strcmp(name, "replay")))
		return usage(cmd, argv[*i], NULL, cmd->not_recorded);
	if (!o || (argv[*i][1] != '-' && strcmp(argv[*i], "-o")))
		return usage(cmd, argv[*i], NULL, "unknown option");
	if (value && !o->arg)
		return usage(cmd, argv[*i], NULL, "it takes no value");
	if (value)
		value++;
	else if (o->arg && *i + 1 == argc)
		return usage(cmd, argv[*i], NULL, "it needs a value");
	else if (o->arg)
		value = argv[++*i];
	why = parse_value(o, value, args);
	snprintf(what, sizeof(what), "--%s", o->name);
	return why ? usage(cmd, what, value, why) : -1;
}

/* Put it behind the words so far, which are all at the start of argv. */
static int take_word(const struct ctl_command *cmd, char **argv, char *word,
		     struct ctl_args *args)
{
	struct gpreempt_error err;

	if (cmd->words == CTL_NO_WORDS && args->sched.into)
		return !add_role_word(args, args->sched.into, word) ? -1 :
			usage(cmd, "argument", word, "it is no target");
	if (cmd->words == CTL_NO_WORDS)
		return usage(cmd, "argument", word, "none is expected");
	if (cmd->max_words && args->n_words == cmd->max_words)
		return usage(cmd, "argument", word, "that is one too many");
	if (cmd->words == CTL_TARGETS && gpreempt_select_check(word, &err))
		return ctl_fail(&err);
	if (!*word)
		return usage(cmd, "argument", word, "it is empty");
	argv[args->n_words++] = word;
	args->words = (const char *const *)argv;
	return -1;
}

/* What stands behind "--". */
static int take_rest(const struct ctl_command *cmd, char **words,
		     char **command, struct ctl_args *args)
{
	int ret = -1;

	/* Names of files may begin with a dash. */
	if (cmd->words == CTL_FILES && !cmd->command) {
		for (; *command && ret < 0; command++)
			ret = take_word(cmd, words, *command, args);
		return ret;
	}
	if (!cmd->command)
		return usage(cmd, "--", NULL, "unknown option");
	if (!*command)
		return usage(cmd, "--", NULL, "a command is expected there");
	args->command = command;
	return -1;
}

static int check_args(const struct ctl_command *cmd,
		      const struct ctl_args *args)
{
	if (args->n_words < cmd->min_words)
		return usage(cmd, cmd->name, NULL,
			     cmd->words == CTL_TARGETS ?
			     "a target is needed, such as a PID" :
			     "the name of a file is needed");
	if (args->record && args->replay)
		return usage(cmd, "--record", NULL, "not with --replay");
	return -1;
}

int ctl_parse(const struct ctl_command *cmd, int argc, char **argv,
	      struct ctl_args *args)
{
	int i, ret = -1;

	for (i = 0; i < argc && ret < 0; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			ctl_help(cmd, stdout);
			return 0;
		}
		if (!strcmp(argv[i], "--")) {
			ret = take_rest(cmd, argv, argv + i + 1, args);
			break;
		}
		if (argv[i][0] == '-' && argv[i][1])
			ret = parse_option(cmd, argc, argv, &i, args);
		else
			ret = take_word(cmd, argv, argv[i], args);
	}
	return ret < 0 ? check_args(cmd, args) : ret;
}

void ctl_free_args(struct ctl_args *args)
{
	free(args->ids);
	free(args->gpus);
	free(args->sched.uids);
	args->sched.uids = NULL;
	args->ids = NULL;
	args->gpus = NULL;
}

bool ctl_chosen(const struct ctl_args *args, const struct gpreempt_queue *queue)
{
	const struct ctl_range *priority = &args->priority;

	return (!args->n_ids ||
		shr_has(args->ids, args->n_ids, queue->qid)) &&
	       (!args->n_gpus ||
		shr_has(args->gpus, args->n_gpus, queue->gpu_id)) &&
	       (!priority->set || (queue->priority >= priority->min &&
				   queue->priority <= priority->max));
}

struct gpreempt_filter ctl_filter(const struct ctl_args *args)
{
	return (struct gpreempt_filter){
		.ids = args->ids,
		.n_ids = args->n_ids,
		.by_priority = args->priority.set,
		.priority_min = args->priority.min,
		.priority_max = args->priority.max,
		.gpu_ids = args->gpus,
		.n_gpu_ids = args->n_gpus,
	};
}
