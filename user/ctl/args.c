// SPDX-License-Identifier: GPL-2.0-only
/* Command lines and their help, out of one table for each command. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "shared/parse.h"

#define MAX_PID (1 << 22)	/* the kernel's own limit */
#define MAX_COUNT 10000000
#define MAX_QUEUE_ID 1023	/* the driver's */

void ctl_help(const struct ctl_command *cmd, FILE *f)
{
	const struct ctl_option *o;

	fprintf(f, "usage: gpreempt-ctl %s%s%s%s\n\n%s\n", cmd->name,
		cmd->target ? " " : "", cmd->target ? cmd->target : "",
		cmd->options && cmd->options->name ? " [OPTION...]" : "",
		cmd->summary);
	if (cmd->details)
		fprintf(f, "\n%s", cmd->details);
	if (!cmd->options || !cmd->options->name)
		return;
	fputc('\n', f);
	for (o = cmd->options; o->name; o++) {
		char left[32];

		snprintf(left, sizeof(left), "--%s%s%s", o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		fprintf(f, "  %-16s %s\n", left, o->help);
	}
}

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

static int parse_value(const struct ctl_command *cmd,
		       const struct ctl_option *o, const char *value,
		       struct ctl_args *args)
{
	uint64_t *number = (uint64_t *)((char *)args + o->offset);
	char what[32];
	int ret;

	snprintf(what, sizeof(what), "--%s", o->name);
	switch (o->kind) {
	case CTL_FLAG:
		*number = 1;
		return -1;
	case CTL_COUNT:
		ret = shr_parse_u64(value, MAX_COUNT, number);
		if (ret || !*number)
			return usage(cmd, what, value,
				     "a number from 1 to 10000000 is needed");
		return -1;
	case CTL_DURATION:
		ret = shr_parse_duration(value, number);
		if (ret)
			return usage(cmd, what, value,
				     shr_duration_error(ret));
		if (!*number && number == &args->lease_ns)
			return usage(cmd, what, value,
				     "a lease of no time makes no sense");
		return -1;
	case CTL_IDS:
		free(args->ids);
		args->ids = NULL;
		ret = shr_parse_list(value, MAX_QUEUE_ID, &args->ids,
				     &args->n_ids);
		if (ret)
			return usage(cmd, what, value, list_error(ret));
		return -1;
	}
	return usage(cmd, what, value, "unknown option");
}

static const struct ctl_option *find_option(const struct ctl_command *cmd,
					    const char *name, size_t len)
{
	const struct ctl_option *o;

	for (o = cmd->options; o && o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	return NULL;
}

/* An option at argv[*i], which moves over its value. */
static int parse_option(const struct ctl_command *cmd, int argc, char **argv,
			int *i, struct ctl_args *args)
{
	const char *name = argv[*i] + 2, *equals = strchr(name, '=');
	const struct ctl_option *o;

	o = find_option(cmd, name, equals ? (size_t)(equals - name) :
					    strlen(name));
	if (!o)
		return usage(cmd, argv[*i], NULL, "unknown option");
	if (!o->arg)
		return equals ? usage(cmd, argv[*i], NULL,
				      "it takes no value") :
				parse_value(cmd, o, NULL, args);
	if (equals)
		return parse_value(cmd, o, equals + 1, args);
	if (*i + 1 == argc)
		return usage(cmd, argv[*i], NULL, "it needs a value");
	return parse_value(cmd, o, argv[++*i], args);
}

static int parse_target(const struct ctl_command *cmd, const char *word,
			struct ctl_args *args)
{
	uint64_t pid;

	if (!cmd->target)
		return usage(cmd, "argument", word, "none is expected");
	if (args->pid)
		return usage(cmd, "argument", word, "one PID is enough");
	if (shr_parse_u64(word, MAX_PID, &pid) || !pid)
		return usage(cmd, "PID", word, "a PID is a positive number");
	args->pid = pid;
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
		if (!strncmp(argv[i], "--", 2))
			ret = parse_option(cmd, argc, argv, &i, args);
		else
			ret = parse_target(cmd, argv[i], args);
	}
	if (ret < 0 && cmd->target && !args->pid)
		return usage(cmd, cmd->name, NULL, "a PID is needed");
	return ret;
}
