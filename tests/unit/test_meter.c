// SPDX-License-Identifier: GPL-2.0-only
#include "lib/session/meter.h"
#include "unit.h"

/* A window of 1,000 ns. */
#define SLOT 10

static struct gp_meter m;

static void setup(void)
{
	m = (struct gp_meter){ .slot_ns = SLOT };
}

TEST(sums_up)
{
	gp_meter_set(&m, true, 10000);
	gp_meter_set(&m, false, 10025);
	ck_assert_uint_eq(gp_meter_recent(&m, 10025), 25);
	gp_meter_set(&m, true, 10100);
	/* Up to now, although it goes on. */
	ck_assert_uint_eq(gp_meter_recent(&m, 10107), 32);
	ck_assert_uint_eq(gp_meter_total(&m, 10110), 35);
	gp_meter_set(&m, false, 10110);
	gp_meter_set(&m, false, 10120);
	ck_assert_uint_eq(gp_meter_total(&m, 10200), 35);
}

TEST(forgets)
{
	gp_meter_set(&m, true, 10000);
	gp_meter_set(&m, false, 10025);
	ck_assert_uint_eq(gp_meter_recent(&m, 11000), 25);
	/* Slot by slot: the window may be a slot longer, never shorter. */
	ck_assert_uint_eq(gp_meter_recent(&m, 11010), 15);
	ck_assert_uint_eq(gp_meter_recent(&m, 11020), 5);
	ck_assert_uint_eq(gp_meter_recent(&m, 11030), 0);
	ck_assert_uint_eq(gp_meter_total(&m, 11030), 25);
	/* After a long time, too. */
	gp_meter_set(&m, true, 999999990);
	gp_meter_set(&m, false, 1000000000);
	ck_assert_uint_eq(gp_meter_recent(&m, 1000000000), 10);
}

TEST(longer_than_the_window)
{
	gp_meter_set(&m, true, 10000);
	gp_meter_set(&m, false, 50005);
	ck_assert_uint_eq(gp_meter_recent(&m, 50005), 1000);
	ck_assert_uint_eq(gp_meter_total(&m, 50005), 40005);
	ck_assert_uint_eq(gp_meter_recent(&m, 50505), 505);
}

int main(void)
{
	tcase_add_checked_fixture(unit_case(), setup, NULL);
	return unit_run("meter");
}
