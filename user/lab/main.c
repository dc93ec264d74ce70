// SPDX-License-Identifier: GPL-2.0-only
/* gpreempt-lab reads what others wrote. It suspends no process. */
#include "cli/cli.h"

static const struct ctl_command *const commands[] = { LAB_COMMANDS(CTL_ADDRESS) NULL };
static const char *const others[] = { CTL_COMMANDS(CTL_NAME_OF) NULL };

const struct ctl_program lab_program = {
	.name = "gpreempt-lab",
	.purpose = "Show what the driver, ROCm and gpreempt-ctl wrote about GPU queues.",
	.commands = commands,
	.other = "gpreempt-ctl",
	.others = others,
};

int main(int argc, char **argv)
{
	return ctl_run_program(&lab_program, argc, argv);
}
