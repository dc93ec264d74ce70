// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include <gpreempt/gpreempt.h>

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest sample that at least percent of all samples do not exceed. */
static uint64_t nearest_rank(const uint64_t *sorted, size_t n, size_t percent)
{
	size_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;

	return sorted[rank - 1];
}

void gpreempt_stats(uint64_t *samples, size_t n, struct gpreempt_stats *out)
{
	*out = (struct gpreempt_stats){ .n = n };
	if (!n)
		return;
	qsort(samples, n, sizeof(*samples), compare);
	out->min = samples[0];
	out->p50 = nearest_rank(samples, n, 50);
	out->p90 = nearest_rank(samples, n, 90);
	out->p99 = nearest_rank(samples, n, 99);
	out->max = samples[n - 1];
}
