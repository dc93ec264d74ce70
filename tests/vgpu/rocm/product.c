// SPDX-License-Identifier: GPL-2.0-only
#include "product.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void product_next(struct product *p)
{
	size_t i, k;

	p->begun++;
	for (i = 0; i < PRODUCT_CELLS; i++) {
		p->a[i] = (float)((i * 7 + p->done * 5) % 13) - 6;
		p->b[i] = (float)((i * 11 + p->done * 3) % 17) - 8;
	}
	memset(p->want, 0, sizeof(p->want));
	for (i = 0; i < PRODUCT_CELLS; i++)
		for (k = 0; k < PRODUCT_SIDE; k++)
			p->want[i] += p->a[i - i % PRODUCT_SIDE + k] *
				      p->b[k * PRODUCT_SIDE + i % PRODUCT_SIDE];
}

static uint64_t add(uint64_t sum, const float *cells)
{
	size_t i;

	for (i = 0; i < PRODUCT_CELLS; i++)
		sum = sum * 31 + (uint64_t)(int64_t)cells[i];
	return sum;
}

void product_compare(struct product *p, const float *got)
{
	p->checksum = add(p->checksum, got);
	p->expected = add(p->expected, p->want);
	p->wrong += memcmp(got, p->want, sizeof(p->want)) != 0;
	p->done++;
}

void product_progress(const struct product *p, uint64_t ns)
{
	printf("t %.3f submitted %" PRIu64 " completed %" PRIu64 "\n", (double)ns / 1e9, p->begun,
	       p->done);
}

int product_result(const struct product *p)
{
	printf("done submitted %" PRIu64 " completed %" PRIu64 " wrong %" PRIu64
	       " checksum %016" PRIx64 " expected %016" PRIx64 "\n",
	       p->begun, p->done, p->wrong, p->checksum, p->expected);
	return p->wrong || p->checksum != p->expected;
}
