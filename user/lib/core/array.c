// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/core/array.h"

int gp_array_room(struct gp_array *array, size_t count, size_t item_size)
{
	size_t room = array->room;
	void *items;

	if (array->room - array->count >= count)
		return 0;
	while (room - array->count < count)
		room = room ? 2 * room : 64;
	items = reallocarray(array->items, room, item_size);
	if (!items)
		return -ENOMEM;
	array->items = items;
	array->room = room;
	return 0;
}

void *gp_array_add(struct gp_array *array, size_t item_size)
{
	void *item;

	if (gp_array_room(array, 1, item_size))
		return NULL;
	item = (char *)array->items + array->count++ * item_size;
	return memset(item, 0, item_size);
}
