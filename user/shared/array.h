/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that grow. They begin with no items, and free() takes their items. */
#ifndef SHARED_ARRAY_H
#define SHARED_ARRAY_H

#include <stddef.h>

/*
 * Room for @more items behind @count, in the array that *(type **)items points to.
 * How much room there is follows from the count: no other function may allocate the
 * same array. 0 or -ENOMEM.
 */
int shr_array_room(void *items, size_t count, size_t more, size_t item_size);
/* Counts one more item. Returns it, zeroed, or NULL without memory. */
void *shr_array_add(void *items, size_t *count, size_t item_size);

/* For qsort(): by the first field of the items, an int64_t. */
int shr_compare_first(const void *a, const void *b);

#define SHR_ARRAY(type, name) \
	struct {              \
		type *items;  \
		size_t count; \
	} name
#define shr_add(array) shr_array_add(&(array)->items, &(array)->count, sizeof(*(array)->items))
/* Behind the last one; NULL plus 0 is not allowed. */
#define shr_end(array) ((array)->items ? (array)->items + (array)->count : NULL)
/* NULL if there is none. */
#define shr_last(array) ((array)->count ? shr_end(array) - 1 : NULL)

#endif
