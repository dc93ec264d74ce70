// SPDX-License-Identifier: GPL-2.0-only
/* Help on a command, from its row of the table. */
#include <string.h>

#include "ctl/command/ctl.h"

#define LEFT 18 /* columns of what stands left of an explanation */

const char ctl_targets_help[] =
	"TARGET is one of\n"
	"  PID                    a process, as the host counts\n"
	"  cgroup:PATH            all in a cgroup and below it\n"
	"  user:NAME-OR-UID       all whose real user that is\n"
	"  container:NAME-OR-ID   all in a container; 12 characters of its id do\n"
	"  comm:NAME              all processes of that name\n"
	"  cmd:PATTERN            all whose command line matches, as pgrep -f\n"
	"A process chooses its own name and command line, and a user the ids of\n"
	"containers of its own. Where that matters, use cgroup: or user:.\n"
	"A rootless container: \"container:$(podman inspect -f '{{.Id}}' NAME)\"\n"
	"Only GPU processes count, and never those of gpreempt-ctl itself.\n";

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
