// SPDX-License-Identifier: GPL-2.0-only
/* The picture of what guard did: who has a lane, and what is drawn in it. */
#include <string.h>

#include "guard/picture.h"
#include "shared/clock.h"
#include "unit.h"

#define MS     NSEC_PER_MSEC
#define WINDOW GUARD_WINDOW_NS
/* Fills, as the manual names them. */
#define ORANGE "#d9480f"
#define BLUE   "#1c7ed6"
#define GREY   "#868e96"

static struct guard_picture p;
static char text[4 << 20];

static void setup(void)
{
	memset(&p, 0, sizeof(p));
}

static void draw(uint64_t start, uint64_t now)
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	guard_picture_draw(&p, start, now, false, f);
	fclose(f);
	ck_assert_ptr_nonnull(strstr(text, "</svg>"));
}

/* Bars of that colour in the row, or in all if it is negative. */
static unsigned int bars(const char *colour, int row)
{
	const char *at = text;
	unsigned int n = 0;
	char fill[16], y[16];

	for (; (at = strstr(at, "<rect")); at++) {
		ck_assert_int_eq(sscanf(at,
					"<rect x=%*s y=\"%15[0-9]\" "
					"width=%*s height=%*s fill=\"%15[#0-9a-f]",
					y, fill),
				 2);
		n += !strcmp(fill, colour) &&
		     (row < 0 || atoi(y) == 34 + 44 * row);
	}
	return n;
}

TEST(roles)
{
	int off = guard_picture_join(&p, 7, "train", false, 1 * MS);
	int on = guard_picture_join(&p, 8, "se<r>ve", true, 1 * MS);

	guard_picture_begin(&p, on, 10 * MS);
	guard_picture_begin(&p, off, 11 * MS);
	guard_picture_end(&p, on, 20 * MS);
	guard_picture_end(&p, off, 22 * MS);
	draw(1 * MS, 101 * MS);
	/* Online first, in any order of arrival. */
	ck_assert_uint_eq(bars(ORANGE, 0), 1);
	ck_assert_uint_eq(bars(ORANGE, -1), 1);
	ck_assert_uint_eq(bars(BLUE, 1), 1);
	ck_assert_uint_eq(bars(GREY, 1), 1);
	ck_assert_uint_eq(bars(GREY, -1), 1);
	/* From 170 to 890 in 100 ms. */
	ck_assert_ptr_nonnull(strstr(text,
				     "<rect x=\"234.80\" y=\"34\" width=\"72.00\""));
	ck_assert_ptr_nonnull(strstr(text,
				     "<rect x=\"242.00\" y=\"78\" width=\"79.20\""));
	ck_assert_ptr_nonnull(strstr(text, ">8 se&lt;r&gt;ve<"));
	ck_assert_ptr_nonnull(strstr(text, ">7 train<"));
	ck_assert_ptr_null(strstr(text, "dropped"));
	ck_assert_ptr_null(strstr(text, "left out"));
}

TEST(goes_on)
{
	int off = guard_picture_join(&p, 7, "a", false, 1 * MS);

	guard_picture_begin(&p, off, 51 * MS);
	guard_picture_begin(&p, off, 61 * MS);
	draw(1 * MS, 101 * MS);
	ck_assert_uint_eq(bars(GREY, 0), 1);
	ck_assert_ptr_nonnull(strstr(text,
				     "x=\"530.00\" y=\"34\" width=\"360.00\""));
	/* It is gone: neither suspended nor running after that. */
	guard_picture_leave(&p, off, 76 * MS);
	guard_picture_end(&p, off, 80 * MS);
	draw(1 * MS, 101 * MS);
	ck_assert_uint_eq(bars(GREY, 0), 1);
	ck_assert_ptr_nonnull(strstr(text,
				     "x=\"530.00\" y=\"34\" width=\"180.00\""));
	ck_assert_ptr_nonnull(strstr(text,
				     "x=\"170.00\" y=\"34\" width=\"540.00\""));
}

TEST(window)
{
	int on = guard_picture_join(&p, 7, "a", true, 1 * MS);
	int gone = guard_picture_join(&p, 8, "gone", true, 1 * MS);

	guard_picture_begin(&p, on, 10 * MS);
	guard_picture_end(&p, on, 20 * MS);
	guard_picture_leave(&p, gone, 20 * MS);
	draw(1 * MS, WINDOW + 15 * MS);
	ck_assert_uint_eq(bars(ORANGE, 0), 1);
	ck_assert_ptr_nonnull(strstr(text, ">8 gone<"));
	draw(1 * MS, WINDOW + 25 * MS);
	ck_assert_uint_eq(bars(ORANGE, -1), 0);
	ck_assert_ptr_nonnull(strstr(text, ">10000 ms<"));
	ck_assert_ptr_null(strstr(text, "gone"));
}

/* The oldest ones are dropped, and so is the time that they were in. */
TEST(many_spans)
{
	int on = guard_picture_join(&p, 7, "a", true, 1);
	uint64_t i, us = NSEC_PER_USEC;

	for (i = 1; i <= GUARD_SPANS + 100; i++) {
		guard_picture_begin(&p, on, i * 100 * us);
		guard_picture_end(&p, on, (i * 100 + 50) * us);
	}
	draw(1, (i * 100) * us);
	ck_assert_uint_eq(bars(ORANGE, 0), GUARD_SPANS);
	ck_assert_uint_eq(p.dropped_ns, (100 * 100 + 50) * us);
	ck_assert_ptr_nonnull(strstr(text, "older spans dropped"));
	/* They are out of the picture. */
	draw(1, (i * 100) * us + WINDOW);
	ck_assert_ptr_null(strstr(text, "dropped"));
}

TEST(many_lanes)
{
	int i, lane[GUARD_LANES];

	for (i = 0; i < GUARD_LANES; i++)
		lane[i] = guard_picture_join(&p, i, "a", i % 2, 1 * MS);
	i = guard_picture_join(&p, 99, "late", true, 2 * MS);
	ck_assert_int_eq(i, -1);
	guard_picture_begin(&p, i, 3 * MS);
	guard_picture_end(&p, i, 4 * MS);
	guard_picture_leave(&p, i, 4 * MS);
	ck_assert_uint_eq(p.spans, 0);
	guard_picture_begin(&p, lane[3], 3 * MS);
	guard_picture_leave(&p, lane[3], 5 * MS);
	draw(1 * MS, 10 * MS);
	ck_assert_ptr_nonnull(strstr(text, "left out: 1"));
	ck_assert_ptr_null(strstr(text, "late"));
	ck_assert_uint_eq(bars(ORANGE, -1), 1);
	/* Still to be seen, then not any more: its lane is another's. */
	ck_assert_int_eq(guard_picture_join(&p, 99, "b", false, WINDOW), -1);
	ck_assert_int_eq(guard_picture_join(&p, 99, "b", false,
					    WINDOW + 6 * MS),
			 lane[3]);
	draw(1 * MS, WINDOW + 7 * MS);
	ck_assert_uint_eq(bars(GREY, -1), 0);
	ck_assert_uint_eq(bars(BLUE, -1), GUARD_LANES / 2 + 1);
}

/* What ran in a hold is above it, also when the hold has ended. */
TEST(ran_in_hold)
{
	int off = guard_picture_join(&p, 7, "a", false, 1 * MS), i;
	const char *grey;

	guard_picture_begin(&p, off, 11 * MS);
	guard_picture_ran(&p, off, 21 * MS, 31 * MS);
	guard_picture_ran(&p, -1, 21 * MS, 31 * MS);
	for (i = 0; i < 2; i++) {
		draw(1 * MS, 101 * MS);
		ck_assert_uint_eq(bars(GREY, 0), 1);
		ck_assert_uint_eq(bars(BLUE, 0), 2);
		grey = strstr(text, "fill=\"" GREY "\"/");
		ck_assert_ptr_nonnull(grey);
		ck_assert_ptr_nonnull(strstr(grey,
					     "<rect x=\"314.00\" y=\"34\" "
					     "width=\"72.00\""));
		guard_picture_end(&p, off, 91 * MS);
	}
}

TEST(names)
{
	guard_picture_join(&p, 7, "a\xc3\n\x7fz", true, 1 * MS);
	draw(1 * MS, 2 * MS);
	ck_assert_ptr_nonnull(strstr(text, ">7 a???z<"));
}

TEST_FIXTURE(setup, NULL)
