// SPDX-License-Identifier: GPL-2.0-only
/* Arrays that grow. */
#include "unit-memory.h"
#include "unit.h"

#define MANY 1024 /* a power of two: the next one takes memory */

TEST(grows)
{
	SHR_ARRAY(size_t, array) = { NULL, 0 };
	size_t i, *item, *before, moved = 0;

	ck_assert_ptr_null(shr_end(&array));
	ck_assert_ptr_null(shr_last(&array));
	for (i = 0; i < MANY; i++) {
		before = array.items;
		item = shr_add(&array);
		ck_assert_ptr_eq(item, shr_last(&array));
		ck_assert_uint_eq(*item, 0);
		*item = i;
		moved += array.items != before;
	}
	/* The size doubles: 16, 32 ... 1024. */
	ck_assert_uint_le(moved, 7);
	unit_memory_fails = 1;
	ck_assert_ptr_null(shr_add(&array));
	ck_assert_uint_eq(array.count, MANY);
	for (i = 0; i < MANY; i++)
		ck_assert_uint_eq(array.items[i], i);
	/* A count that was lowered can be raised again. */
	array.count = 16;
	ck_assert_int_eq(shr_array_room(&array.items, 16, 1, sizeof(i)), 0);
	ck_assert_uint_eq(array.items[15], 15);
	free(array.items);
}
