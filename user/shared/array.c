// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shared/array.h"

#define LEAST_ROOM 16

static size_t room_for(size_t count)
{
	size_t room = count ? LEAST_ROOM : 0;

	while (room < count)
		room *= 2;
	return room;
}

int shr_array_room(void *items, size_t count, size_t more, size_t item_size)
{
	void *old, *bigger;

	if (count + more <= room_for(count))
		return 0;
	memcpy(&old, items, sizeof(old));
	bigger = reallocarray(old, room_for(count + more), item_size);
	if (!bigger)
		return -ENOMEM;
	memcpy(items, &bigger, sizeof(bigger));
	return 0;
}

void *shr_array_add(void *items, size_t *count, size_t item_size)
{
	char *all;

	if (shr_array_room(items, *count, 1, item_size))
		return NULL;
	memcpy(&all, items, sizeof(all));
	return memset(all + (*count)++ * item_size, 0, item_size);
}

int shr_compare_first(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}
