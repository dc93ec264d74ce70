// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit-experiment.h"

void experiment_setup(void)
{
	unit_setup();
	command_setup();
}

void experiment_teardown(void)
{
	command_teardown();
	unit_teardown();
}

void write_plan(const char *more)
{
	char text[512];

	snprintf(text, sizeof(text), "gpreempt-experiment - version: 1.0\n%s",
		 more);
	make_text("e/experiment", text);
	ck_assert_int_eq(chmod("e", 0700), 0);
	ck_assert_int_eq(chmod("e/experiment", 0600), 0);
}
