/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_CORE_ARRAY_H
#define GP_CORE_ARRAY_H

#include <stddef.h>

/* An array that grows. */
struct gp_array {
	void *items;
	size_t count, room;
};

/* The next item of an array, zeroed, or NULL without memory. */
void *gp_array_add(struct gp_array *array, size_t item_size);
/* Room for @count more items of that size. 0 or -ENOMEM. */
int gp_array_room(struct gp_array *array, size_t count, size_t item_size);

#define gp_items(array, type) ((type *)(array).items)
/* Behind the last one; NULL plus 0 is not allowed. */
#define gp_end(array, type) \
	(gp_items(array, type) ? gp_items(array, type) + (array).count : NULL)
/* NULL if there is none. */
#define gp_last(array, type) \
	((array).count ? gp_items(array, type) + (array).count - 1 : NULL)

#endif
