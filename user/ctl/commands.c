// SPDX-License-Identifier: GPL-2.0-only
/* The table of commands. Help, manual and completions are made of it. */
#include <string.h>

#include "cli/cli.h"

#define LEFT 19 /* columns of a name and its words, in the help */

#define ADDRESS(name) &ctl_##name,

const struct ctl_command *const ctl_commands[] = {
	CTL_COMMANDS(ADDRESS) NULL,
};

static const struct ctl_command *find(const char *name)
{
	size_t i;

	for (i = 0; ctl_commands[i]; i++)
		if (!strcmp(ctl_commands[i]->name, name))
			return ctl_commands[i];
	return NULL;
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
static bool is_group(const char *word)
{
	size_t len = strlen(word), i;

	for (i = 0; ctl_commands[i]; i++)
		if (!strncmp(ctl_commands[i]->name, word, len) && ctl_commands[i]->name[len] == ' ')
			return true;
	return false;
}

/* The command of which that is the second word; NULL: of none. */
static const struct ctl_command *find_second(const char *word)
{
	const char *space;
	size_t i;

	for (i = 0; ctl_commands[i]; i++) {
		space = strchr(ctl_commands[i]->name, ' ');
		if (space && !strcmp(space + 1, word))
			return ctl_commands[i];
	}
	return NULL;
}

/* The names of so many words, of which @typed may be one; NULL: it is near none. */
static const char *find_near(const char *typed, bool two_words)
{
	struct ctl_nearest nearest = { .typed = typed };
	size_t i;

	for (i = 0; ctl_commands[i]; i++)
		if (!strchr(ctl_commands[i]->name, ' ') != two_words)
			ctl_offer(&nearest, ctl_commands[i]->name);
	return nearest.name;
}

static const char *find_meant(int argc, char **argv)
{
	const struct ctl_command *cmd = argc > 1 ? find_second(argv[1]) : NULL;
	const char *name = NULL;
	char both[64];

	/* "load" alone is meant for "module load". */
	if (!cmd)
		cmd = find_second(argv[0]);
	if (cmd)
		return cmd->name;
	if (argc > 1) {
		snprintf(both, sizeof(both), "%s %s", argv[0], argv[1]);
		name = find_near(both, true);
	}
	return name ? name : find_near(argv[0], false);
}

int ctl_no_command(int argc, char **argv)
{
	const char *name = find_meant(argc, argv);
	char next[64];

	snprintf(next, sizeof(next), "gpreempt-ctl %s", name ? name : "--help lists the commands");
	return ctl_fail_text(GPREEMPT_CLASS_USAGE, next, "%s \"%s\"%s%s%s",
			     is_group(argv[0]) ? "a second word belongs to the command" :
						 "there is no command",
			     argv[0], name ? "; did you mean \"" : "", name ? name : "",
			     name ? "\"?" : "");
}

void ctl_help_all(FILE *f)
{
	size_t i;

	fputs("usage: gpreempt-ctl [COMMAND] [ARGUMENT...] [OPTION...]\n\n"
	      "See and suspend the GPU queues of processes.\n\n",
	      f);
	for (i = 0; ctl_commands[i]; i++) {
		const char *words = ctl_commands[i]->usage;

		fprintf(f, "  %s %-*s %s\n", ctl_commands[i]->name,
			(int)(LEFT - strlen(ctl_commands[i]->name)), words ? words : "",
			ctl_commands[i]->summary);
	}
	fprintf(f, "\n%s", ctl_targets_help);
	fputs("\n  --help     this list; COMMAND --help: more about one\n"
	      "  --version  the version\n\n"
	      "exit status: 0 done, 1 failed, 2 wrong usage, 3 not supported "
	      "here,\n4 no permission, 5 no such GPU process, 6 done in part, "
	      "7 busy\n",
	      f);
}
