// SPDX-License-Identifier: GPL-2.0-only
/* Percentiles by nearest rank, of raw samples. */
#include "unit.h"

static struct shr_stats stats;

TEST(none)
{
	stats = (struct shr_stats){ .n = 5, .max = 5 };
	shr_stats(NULL, 0, &stats);
	ck_assert_uint_eq(stats.n, 0);
	ck_assert_uint_eq(stats.max, 0);
}

TEST(one)
{
	uint64_t sample = 42;

	shr_stats(&sample, 1, &stats);
	ck_assert_uint_eq(stats.min, 42);
	ck_assert_uint_eq(stats.p50, 42);
	ck_assert_uint_eq(stats.p99, 42);
	ck_assert_uint_eq(stats.max, 42);
}

TEST(hundred)
{
	uint64_t samples[100];
	size_t i;

	/* 1 to 100 in no order: 37 is prime to 100. */
	for (i = 0; i < 100; i++)
		samples[i] = i * 37 % 100 + 1;
	shr_stats(samples, 100, &stats);
	ck_assert_uint_eq(stats.n, 100);
	ck_assert_uint_eq(stats.min, 1);
	ck_assert_uint_eq(stats.p50, 50);
	ck_assert_uint_eq(stats.p90, 90);
	ck_assert_uint_eq(stats.p99, 99);
	ck_assert_uint_eq(stats.p999, 100);
	ck_assert_uint_eq(stats.max, 100);
	/* 50.5, and half is rounded up. */
	ck_assert_uint_eq(stats.mean, 51);
}

TEST(thousands)
{
	static uint64_t samples[10000];
	size_t i;

	/* 1 to 10000 in no order: 3701 is prime to 10000. */
	for (i = 0; i < 10000; i++)
		samples[i] = i * 3701 % 10000 + 1;
	shr_stats(samples, 10000, &stats);
	ck_assert_uint_eq(stats.p50, 5000);
	ck_assert_uint_eq(stats.p99, 9900);
	ck_assert_uint_eq(stats.p999, 9990);
	/* The 999.999th of 1001, and so the 1000th. */
	shr_stats(samples, 1001, &stats);
	ck_assert_uint_eq(stats.p999, 1000);
}

/* The rank is rounded up: of 3, the 90th percentile is the largest. */
TEST(few)
{
	uint64_t three[] = { 30, 10, 20 }, four[] = { 4, 3, 2, 1 };

	shr_stats(three, 3, &stats);
	ck_assert_uint_eq(stats.p50, 20);
	ck_assert_uint_eq(stats.p90, 30);
	shr_stats(four, 4, &stats);
	ck_assert_uint_eq(stats.p50, 2);
	ck_assert_uint_eq(stats.p90, 4);
}

TEST(large_values)
{
	uint64_t samples[] = { UINT64_MAX, 0, UINT64_MAX - 1 };

	shr_stats(samples, 3, &stats);
	ck_assert_uint_eq(stats.min, 0);
	ck_assert_uint_eq(stats.p50, UINT64_MAX - 1);
	ck_assert_uint_eq(stats.max, UINT64_MAX);
	/* The sum is 2^65 - 3, more than 64 bits hold. */
	ck_assert_uint_eq(stats.mean, UINT64_MAX / 3 * 2);
}
