// SPDX-License-Identifier: GPL-2.0-only
/* gpreempt-ctl sees, holds and schedules. */
#include "cli/cli.h"

static const struct ctl_command *const commands[] = { CTL_COMMANDS(CTL_ADDRESS) NULL };
static const char *const others[] = { LAB_COMMANDS(CTL_NAME_OF) NULL };

static const struct ctl_group groups[] = {
	{ "First", &ctl_list },	    { "See", &ctl_gpus },   { "Hold", &ctl_preempt },
	{ "Schedule", &ctl_guard }, { "Host", &ctl_trial }, { 0 },
};

static const struct ctl_synonym synonyms[] = {
	{ "stop", "suspend" },
	{ "hold", "suspend" },
	{ "pause", "suspend --how pause" },
	{ "freeze", "suspend" },
	{ "continue", "resume" },
	{ "unpause", "resume" },
	{ "release", "resume" },
	{ "thaw", "resume" },
	{ "ps", "list" },
	{ "ls", "list" },
	{ "show", "list" },
	{ "watch", "top" },
	{ "check", "doctor" },
	{ "begin", "guard begin" },
	{ "online", "guard begin" },
	{ "end", "guard end" },
	{ "load", "module load" },
	{ "unload", "module unload" },
	{ 0 },
};

const struct ctl_program ctl_program = {
	.name = "gpreempt-ctl",
	.purpose = "See and suspend the GPU queues of processes.",
	.commands = commands,
	.usual = &ctl_list,
	.other = "gpreempt-lab",
	.others = others,
	.groups = groups,
	.synonyms = synonyms,
};

int main(int argc, char **argv)
{
	return ctl_run_program(&ctl_program, argc, argv);
}
