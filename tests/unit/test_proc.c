// SPDX-License-Identifier: GPL-2.0-only
/* Small files of /proc. */
#include "unit.h"

TEST(reads_the_start)
{
	char text[4] = "xxx", all[64];

	ck_assert_int_eq(shr_read_start(text, sizeof(text), "/no/%d/such", 1), -ENOENT);
	ck_assert_str_eq(text, "");
	ck_assert_int_gt(shr_read_start(all, sizeof(all), "/proc/%d/stat", getpid()), 3);
	ck_assert_int_eq(atoi(all), getpid());
	ck_assert_int_eq(shr_read_start(text, sizeof(text), "/proc/self/stat"), 3);
	ck_assert_int_eq(strlen(text), 3);
}

/* A process chooses its name. */
TEST(finds_the_state)
{
	ck_assert_str_eq(shr_stat_state("7 (a) R) T 1"), "T 1");
	ck_assert_ptr_null(shr_stat_state("7 (a"));
	ck_assert_ptr_null(shr_stat_state("7 (a)"));
	ck_assert_ptr_null(shr_stat_state(""));
}
