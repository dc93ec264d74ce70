// SPDX-License-Identifier: GPL-2.0-only
/* Choice of the connection that makes place for a new one. */
#include "shared/socket.h"
#include "unit.h"

static const struct ipc_limits limits = {
	.places = 8,
	.for_root = 2,
	.per_user = 3,
};

static struct ipc_place place[8];

static void use(size_t i, uid_t uid, uint64_t last_ns, bool busy)
{
	place[i] = (struct ipc_place){
		.used = true,
		.uid = uid,
		.last_ns = last_ns,
		.busy = busy,
	};
}

TEST(a_user_takes_its_own_place)
{
	memset(place, 0, sizeof(place));
	use(0, 1000, 30, false);
	use(1, 1000, 10, true);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1000), 2);
	use(2, 1000, 20, false);
	/* The user has all its places: its longest idle one goes, not a busy one. */
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1000), 2);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1001), 3);
	place[0].busy = true;
	place[2].busy = true;
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1000), -EUSERS);
}

TEST(root_has_places)
{
	int i;

	memset(place, 0, sizeof(place));
	for (i = 0; i < 6; i++)
		use(i, 1000 + i / 3, i, true);
	/* Two are left, which are root's. */
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1005), -EUSERS);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 0), 6);
	use(6, 0, 1, true);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 0), 7);
	use(7, 0, 1, true);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 0), -EUSERS);
	/* An idle connection of a user goes before root is refused. */
	place[4].busy = false;
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 0), 4);
}

/* The user with most places loses one to a user that has fewer, and not to one with more. */
TEST(the_heaviest_user_makes_place)
{
	int i;

	memset(place, 0, sizeof(place));
	for (i = 0; i < 3; i++)
		use(i, 1000, 10 - i, false);
	use(3, 1001, 1, false);
	use(4, 1001, 2, false);
	use(5, 1002, 0, false);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1003), 2);
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1002), 2);
	for (i = 0; i < 3; i++)
		place[i].busy = true;
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1003), 3);
	place[3].busy = place[4].busy = place[5].busy = true;
	ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1003), -EUSERS);
}

/* The place of the user that was silent longest goes, wherever it is. */
TEST(the_longest_idle_goes)
{
	size_t i, oldest;

	for (oldest = 0; oldest < limits.per_user; oldest++) {
		memset(place, 0, sizeof(place));
		for (i = 0; i < limits.per_user; i++)
			use(i, 1000, i == oldest ? 1 : 10 + i, false);
		ck_assert_int_eq(gp_ipc_place_find(place, &limits, 1000), oldest);
	}
}
