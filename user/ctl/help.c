// SPDX-License-Identifier: GPL-2.0-only
/* Help on the commands, out of their table. */
#include <string.h>

#include "ctl/ctl.h"

#define LEFT 18		/* columns of what stands left of an explanation */

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

static void print_option(const struct ctl_option *o, FILE *f)
{
	char left[64];

	snprintf(left, sizeof(left), "--%s%s%s", o->name, o->arg ? " " : "",
		 o->arg ? o->arg : "");
	fprintf(f, "  %-*s %s\n", LEFT, left, o->help);
}

void ctl_usage(const struct ctl_command *cmd, FILE *f)
{
	fprintf(f, "gpreempt-ctl %s%s%s%s%s%s%s%s", cmd->name,
		cmd->usage ? " " : "", cmd->usage ? cmd->usage : "",
		cmd->usage && !cmd->max_words ? "..." : "",
		ctl_option_at(cmd, 0) ? " [OPTION...]" : "",
		cmd->command ? " [-- " : "", cmd->command ? cmd->command : "",
		cmd->command ? "]" : "");
}

void ctl_help(const struct ctl_command *cmd, FILE *f)
{
	const struct ctl_option *o;
	size_t i;

	fputs("usage: ", f);
	ctl_usage(cmd, f);
	fprintf(f, "\n\n%s\n", cmd->summary);
	if (cmd->details)
		fprintf(f, "\n%s", cmd->details);
	if (cmd->words == CTL_TARGETS)
		fprintf(f, "\n%s", ctl_targets_help);
	if (ctl_option_at(cmd, 0))
		fputc('\n', f);
	for (i = 0; (o = ctl_option_at(cmd, i)); i++)
		print_option(o, f);
}
