// SPDX-License-Identifier: GPL-2.0-only
/* Numbers as text, against printf(). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shared/decimal.h"
#include "unit.h"

START_TEST(like_printf)
{
	static const int64_t numbers[] = {
		0,  1,	 -1,	  9,	     10,	-10,
		99, 100, 4194304, INT64_MAX, INT64_MIN, INT64_MIN + 1,
	};
	char text[SHR_DECIMAL_SIZE + 1], want[32];
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		char *end;

		memset(text, 'x', sizeof(text));
		end = shr_put_decimal(text, numbers[i]);
		snprintf(want, sizeof(want), "%" PRId64, numbers[i]);
		ck_assert_str_eq(text, want);
		ck_assert_ptr_eq(end, text + strlen(want));
		/* Not one byte more than it needs. */
		ck_assert_int_eq(end[1], 'x');
	}
}
END_TEST

/* The path of a file of a process, and where it ends. */
START_TEST(paths)
{
	char path[GP_PID_PATH], *end;

	end = gp_pid_path(path, "/proc", 4194304, "cmdline");
	ck_assert_str_eq(path, "/proc/4194304/cmdline");
	ck_assert_ptr_eq(end, path + strlen(path));
}
END_TEST

int main(void)
{
	tcase_add_test(unit_case(), like_printf);
	tcase_add_test(unit_case(), paths);
	return unit_run("decimal");
}
