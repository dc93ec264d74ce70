// SPDX-License-Identifier: GPL-2.0-only
/* Arrays that grow. */
#include <stdint.h>
#include <stdlib.h>

#include "shared/array.h"
#include "unit-memory.h"
#include "unit.h"

#define MANY 1000

TEST(grows)
{
	SHR_ARRAY(size_t) array = { NULL, 0 };
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
	for (i = 0; i < MANY; i++)
		ck_assert_uint_eq(array.items[i], i);
	ck_assert_uint_eq(array.count, MANY);
	/* It doubles: 16, 32 ... 1024. */
	ck_assert_uint_le(moved, 7);
	free(array.items);
}

/* What was counted down is counted up again, and the items stay. */
TEST(has_room)
{
	size_t i, *items = NULL;

	ck_assert_int_eq(shr_array_room(&items, 0, 0, sizeof(*items)), 0);
	ck_assert_ptr_null(items);
	ck_assert_int_eq(shr_array_room(&items, 0, MANY, sizeof(*items)), 0);
	for (i = 0; i < MANY; i++)
		items[i] = i;
	ck_assert_int_eq(shr_array_room(&items, 16, 1, sizeof(*items)), 0);
	for (i = 0; i < 17; i++)
		ck_assert_uint_eq(items[i], i);
	free(items);
}

TEST(has_no_memory)
{
	SHR_ARRAY(uint64_t) array = { NULL, 0 };
	uint64_t *items;
	int i;

	for (i = 0; i < 16; i++)
		*(uint64_t *)shr_add(&array) = i;
	items = array.items;
	unit_memory_fails = 1;
	ck_assert_ptr_null(shr_add(&array));
	ck_assert_uint_eq(array.count, 16);
	ck_assert_ptr_eq(array.items, items);
	ck_assert_uint_eq(array.items[15], 15);
	free(array.items);
}

int main(void)
{
	return unit_run("array");
}
