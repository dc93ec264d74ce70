/* SPDX-License-Identifier: GPL-2.0-only */
/* Command lines of gpreempt-ctl that are parsed, and not run. */
#ifndef UNIT_ARGS_H
#define UNIT_ARGS_H

#include "cli/cli.h"
#include "unit.h"

/* The arguments of the last command line. */
extern void *parsed_args;

/* Messages are dropped unless a test reads them. */
void args_setup(void);
void args_teardown(void);

/* Words that are split at blanks, after the command. Returns as ctl_parse(). */
int parse(const struct ctl_command *cmd, const char *line);

#endif
