// SPDX-License-Identifier: GPL-2.0-only
#include "lib/preempt/session.h"
#include "unit.h"

/* A slot has 10 of them, the window 1,000. */
#define T(n) ((n) * (GP_METER_SLOT_NS / 10))

static struct gp_meter m;

TEST(sums_up)
{
	gp_meter_set(&m, true, T(10000));
	gp_meter_set(&m, false, T(10025));
	ck_assert_uint_eq(gp_meter_recent(&m, T(10025)), T(25));
	gp_meter_set(&m, true, T(10100));
	/* Up to now, although it goes on. */
	ck_assert_uint_eq(gp_meter_recent(&m, T(10107)), T(32));
	ck_assert_uint_eq(gp_meter_total(&m, T(10110)), T(35));
	gp_meter_set(&m, false, T(10110));
	gp_meter_set(&m, false, T(10120));
	ck_assert_uint_eq(gp_meter_total(&m, T(10200)), T(35));
}

TEST(forgets)
{
	gp_meter_set(&m, true, T(10000));
	gp_meter_set(&m, false, T(10025));
	ck_assert_uint_eq(gp_meter_recent(&m, T(11000)), T(25));
	/* Slot by slot: the window may be a slot longer, never shorter. */
	ck_assert_uint_eq(gp_meter_recent(&m, T(11010)), T(15));
	ck_assert_uint_eq(gp_meter_recent(&m, T(11020)), T(5));
	ck_assert_uint_eq(gp_meter_recent(&m, T(11030)), T(0));
	ck_assert_uint_eq(gp_meter_total(&m, T(11030)), T(25));
	/* The figures hold after a long time, too. */
	gp_meter_set(&m, true, T(999999990));
	gp_meter_set(&m, false, T(1000000000));
	ck_assert_uint_eq(gp_meter_recent(&m, T(1000000000)), T(10));
}

TEST(longer_than_the_window)
{
	gp_meter_set(&m, true, T(10000));
	gp_meter_set(&m, false, T(50005));
	ck_assert_uint_eq(gp_meter_recent(&m, T(50005)), T(1000));
	ck_assert_uint_eq(gp_meter_total(&m, T(50005)), T(40005));
	ck_assert_uint_eq(gp_meter_recent(&m, T(50505)), T(505));
}
