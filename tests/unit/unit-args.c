// SPDX-License-Identifier: GPL-2.0-only
#include "unit-args.h"

void *parsed_args;

/* Command of the last command line, for args_teardown(). */
static const struct ctl_command *parsed;

void args_teardown(void)
{
	if (parsed)
		ctl_free_args(parsed, parsed_args);
	parsed = NULL;
}

int parse(const struct ctl_command *cmd, const char *line)
{
	static char copy[256], *argv[16];
	int argc;

	snprintf(copy, sizeof(copy), "%s", line);
	argv[0] = (char *)cmd->name;
	argc = 1 + unit_words(copy, argv + 1);
	args_teardown();
	parsed_args = ctl_new_args(cmd);
	ck_assert_ptr_nonnull(parsed_args);
	parsed = cmd;
	return ctl_parse(cmd, argc, argv, parsed_args);
}

void args_setup(void)
{
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
}
