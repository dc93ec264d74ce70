// SPDX-License-Identifier: GPL-2.0-only
/* Help on a command, from its row of the table. */
#include <string.h>

#include "ctl/command/ctl.h"

#define LEFT 18		/* columns of what stands left of an explanation */

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
