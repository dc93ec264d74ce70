// SPDX-License-Identifier: GPL-2.0-only
/* gpreempt-ctl sees, holds and schedules. */
#include "cli/cli.h"

static const struct ctl_command *const commands[] = { CTL_COMMANDS(CTL_ADDRESS) NULL };
static const char *const moved[] = { LAB_COMMANDS(CTL_NAME_OF) NULL };

const struct ctl_program ctl_program = {
	.name = "gpreempt-ctl",
	.purpose = "See and suspend the GPU queues of processes.",
	.commands = commands,
	.usual = &ctl_list,
	.moved = moved,
};

int main(int argc, char **argv)
{
	return ctl_run_program(&ctl_program, argc, argv);
}
