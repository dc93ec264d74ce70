// SPDX-License-Identifier: GPL-2.0-only
/* Tables for completion.bash.in. */
#include "doc/doc.h"

static void put_table(const char *name,
		      void (*entry)(const struct ctl_command *))
{
	size_t i;

	printf("declare -gA _gpreempt_ctl_%s=(\n", name);
	for (i = 0; ctl_commands[i]; i++)
		entry(ctl_commands[i]);
	fputs(")\n", stdout);
}

static void put_words(const struct ctl_command *cmd)
{
	printf("\t['%s']='%s'\n", cmd->name, doc_words_completion(cmd->words));
}

static void put_options(const struct ctl_command *cmd)
{
	const struct ctl_option *o;

	printf("\t['%s']='", cmd->name);
	ctl_for_each_option(o, cmd)
		printf("--%s ", o->name);
	fputs("--help'\n", stdout);
}

/* Those with a value only. */
static void put_values(const struct ctl_command *cmd)
{
	const struct ctl_option *o;

	ctl_for_each_option(o, cmd)
		if (o->arg)
			printf("\t['%s --%s']='%s'\n", cmd->name, o->name,
			       doc_completion(o->kind));
}

static void put_commands(const struct ctl_command *cmd)
{
	if (cmd->command)
		printf("\t['%s']=yes\n", cmd->name);
}

void doc_bash(void)
{
	put_table("words", put_words);
	put_table("options", put_options);
	put_table("values", put_values);
	put_table("commands", put_commands);
}
