// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include <gpreempt/gpreempt.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest sample that so many thousandths of all do not exceed. */
static uint64_t nearest_rank(const uint64_t *sorted, size_t n, size_t mille)
{
	size_t rank = n / 1000 * mille + (n % 1000 * mille + 999) / 1000;

	return sorted[rank - 1];
}

/* Rounded to the nearest; the sum may need more than 64 bits. */
static uint64_t mean(const uint64_t *samples, size_t n)
{
	unsigned __int128 sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += samples[i];
	return (sum + n / 2) / n;
}

void gpreempt_stats(uint64_t *samples, size_t n, struct gpreempt_stats *out)
{
	*out = (struct gpreempt_stats){ .n = n };
	if (!n)
		return;
	qsort(samples, n, sizeof(*samples), compare);
	out->min = samples[0];
	out->mean = mean(samples, n);
	out->p50 = nearest_rank(samples, n, 500);
	out->p90 = nearest_rank(samples, n, 900);
	out->p99 = nearest_rank(samples, n, 990);
	out->p999 = nearest_rank(samples, n, 999);
	out->max = samples[n - 1];
}
