// SPDX-License-Identifier: GPL-2.0-only
/* The table of commands. Help, manual and completions are made of it. */
#include <string.h>

#include "ctl/command/ctl.h"

const struct ctl_command *const ctl_commands[] = {
	&ctl_list,
	&ctl_queues,
	&ctl_suspend,
	&ctl_resume,
	&ctl_status,
	&ctl_monitor,
	&ctl_preempt,
	&ctl_decode,
	&ctl_snapshot,
	&ctl_diff,
	&ctl_amdlog,
	&ctl_pidmap,
	&ctl_experiment,
	&ctl_self,
	&ctl_trace,
	&ctl_guard,
	&ctl_follow,
	&ctl_run,
	&ctl_doctor,
	&ctl_load,
	&ctl_unload,
	&ctl_online,
	&ctl_release,
	NULL,
};

const struct ctl_command *ctl_find_command(const char *name)
{
	size_t i;

	for (i = 0; ctl_commands[i]; i++)
		if (!strcmp(ctl_commands[i]->name, name))
			return ctl_commands[i];
	return NULL;
}

void ctl_help_all(FILE *f)
{
	size_t i;

	fputs("usage: gpreempt-ctl [COMMAND] [ARGUMENT...] [OPTION...]\n\n"
	      "See and suspend the GPU queues of processes.\n\n", f);
	for (i = 0; ctl_commands[i]; i++)
		fprintf(f, "  %-9s %-9s %s\n", ctl_commands[i]->name,
			ctl_commands[i]->usage ? ctl_commands[i]->usage : "",
			ctl_commands[i]->summary);
	fprintf(f, "\n%s", ctl_targets_help);
	fputs("\n  --help     this list; COMMAND --help: more about one\n"
	      "  --version  the version\n\n"
	      "exit status: 0 done, 1 failed, 2 wrong usage, 3 not supported "
	      "here,\n4 no permission, 5 no such GPU process, 6 done in part, "
	      "7 busy\n", f);
}
