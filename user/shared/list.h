/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHARED_LIST_H
#define SHARED_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of queues, GPUs or users; NULL: any. */
struct shr_ids {
	uint32_t *id;
	size_t n;
};

/* Is it one of the list? Never of an empty one. */
static inline bool shr_has(const uint32_t *list, size_t n, int64_t value)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i] == value)
			return true;
	return false;
}

#endif
