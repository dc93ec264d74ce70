// SPDX-License-Identifier: GPL-2.0-only
/* Times, numbers and lists as people type them; numbers as text. */
#include <inttypes.h>

#include "shared/text.h"
#include "unit.h"

static const struct {
	const char *text;
	int ret;
	uint64_t ns;
} durations[] = {
	{ "450us", 0, 450000 },
	{ "100ms", 0, 100000000 },
	{ "5s", 0, 5000000000 },
	{ "2m", 0, 120000000000 },
	{ "1h", 0, 3600000000000 },
	{ "7ns", 0, 7 },
	{ "0s", 0, 0 },
	{ "1.5s", 0, 1500000000 },
	{ "0.25ms", 0, 250000 },
	{ "1.0000009s", 0, 1000000000 },
	{ "366h", 0, 1317600000000000 },
	{ "", -EINVAL, 0 },
	{ "s", -EINVAL, 0 },
	{ "-5s", -EINVAL, 0 },
	{ "+5s", -EINVAL, 0 },
	{ " 5s", -EINVAL, 0 },
	{ ".5s", -EINVAL, 0 },
	{ "1.s", -EINVAL, 0 },
	{ "5", 0, 5000000000 },
	{ "1.5", 0, 1500000000 },
	{ "5 s", -ENXIO, 0 },
	{ "5x", -ENXIO, 0 },
	{ "5S", -ENXIO, 0 },
	{ "5ss", -ENXIO, 0 },
	{ "1e3s", -ENXIO, 0 },
	{ "100000h", -ERANGE, 0 },
	{ "31622401s", -ERANGE, 0 },
	{ "18446744073709551616ns", -ERANGE, 0 },
	{ "99999999999999999999999999ns", -ERANGE, 0 },
};

TEST_EACH(duration, ARRAY_SIZE(durations))
{
	uint64_t ns = 12345;

	ck_assert_int_eq(shr_parse_duration(durations[_i].text, &ns), durations[_i].ret);
	/* A failed call leaves the output alone. */
	ck_assert_uint_eq(ns, durations[_i].ret ? 12345 : durations[_i].ns);
	if (durations[_i].ret)
		ck_assert_ptr_nonnull(shr_duration_error(durations[_i].ret));
}

static const struct {
	uint64_t ns;
	const char *text;
} formats[] = {
	{ 0, "0ns" },	      { 999, "999ns" },	    { 450000, "450us" },    { 1500000000, "1.5s" },
	{ 5000000000, "5s" }, { 1234567, "1.2ms" }, { 339123456, "339ms" }, { 90000000000, "1.5m" },
};

TEST_EACH(format, ARRAY_SIZE(formats))
{
	char text[32];

	shr_format_duration(formats[_i].ns, text, sizeof(text));
	ck_assert_str_eq(text, formats[_i].text);
}

TEST(numbers)
{
	uint64_t value = 1;

	ck_assert_int_eq(shr_parse_u64("0", 100, &value), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(shr_parse_u64("100", 100, &value), 0);
	ck_assert_int_eq(shr_parse_u64("101", 100, &value), -ERANGE);
	ck_assert_int_eq(shr_parse_u64("18446744073709551615", UINT64_MAX, &value), 0);
	ck_assert_uint_eq(value, UINT64_MAX);
	ck_assert_int_eq(shr_parse_u64("18446744073709551616", UINT64_MAX, &value), -ERANGE);
	ck_assert_int_eq(shr_parse_u64("", 100, &value), -EINVAL);
	ck_assert_int_eq(shr_parse_u64("1x", 100, &value), -EINVAL);
	ck_assert_int_eq(shr_parse_u64("0x1", 100, &value), -EINVAL);
	ck_assert_int_eq(shr_parse_u64("-1", 100, &value), -EINVAL);
}

TEST(small_limit)
{
	uint64_t value = 1;

	ck_assert_int_eq(shr_parse_u64("3", 3, &value), 0);
	ck_assert_int_eq(shr_parse_u64("4", 3, &value), -ERANGE);
}

static const struct {
	const char *text;
	int ret;
	size_t count;
} lists[] = {
	{ "0", 0, 1 },		{ "0,2", 0, 2 },
	{ "7,3,1023", 0, 3 },	{ "", -EINVAL, 0 },
	{ ",", -EINVAL, 0 },	{ "1,", -EINVAL, 0 },
	{ ",1", -EINVAL, 0 },	{ "1,,2", -EINVAL, 0 },
	{ "1 2", -EINVAL, 0 },	{ "a", -EINVAL, 0 },
	{ "-1", -EINVAL, 0 },	{ "1,1", -EEXIST, 0 },
	{ "1024", -ERANGE, 0 }, { "99999999999999999999", -ERANGE, 0 },
};

TEST_EACH(list, ARRAY_SIZE(lists))
{
	uint32_t *ids = NULL;
	size_t count = 77;

	ck_assert_int_eq(shr_parse_list(lists[_i].text, 1023, &ids, &count), lists[_i].ret);
	ck_assert_uint_eq(count, lists[_i].ret ? 77 : lists[_i].count);
	free(ids);
}

TEST(like_printf)
{
	static const int64_t values[] = {
		0, 1, -1, 9, 10, -10, 99, 100, 4194304, INT64_MAX, INT64_MIN, INT64_MIN + 1,
	};
	char text[SHR_DECIMAL_SIZE + 1], want[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		char *end;

		memset(text, 'x', sizeof(text));
		end = shr_put_decimal(text, values[i]);
		snprintf(want, sizeof(want), "%" PRId64, values[i]);
		ck_assert_str_eq(text, want);
		ck_assert_ptr_eq(end, text + strlen(want));
		/* The text takes not one byte more than it needs. */
		ck_assert_int_eq(end[1], 'x');
	}
}

/* The path of a file of a process, and where it ends. */
TEST(paths)
{
	char path[GP_PID_PATH], *end;

	end = gp_pid_path(path, "/proc", 4194304, "cmdline");
	ck_assert_str_eq(path, "/proc/4194304/cmdline");
	ck_assert_ptr_eq(end, path + strlen(path));
}
