// SPDX-License-Identifier: GPL-2.0-only
/* The picture of a run: what is in it, where, and what must not be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/timeline.h"
#include "shared/macro.h"
#include "unit.h"

#define MS 1000000ULL

static char text[16384];

struct span {
	unsigned int lane;
	enum timeline_kind kind;
	uint64_t from, to;
};

/* Of the time from 100 to @to ms. */
static void draw(uint64_t to, const struct span *s, size_t n)
{
	static const char *const lanes[] = { "a<b>&\"c\"\n", "b" };
	struct timeline t = {
		.out = fmemopen(text, sizeof(text), "w"),
		.title = "T & t",
		.lanes = lanes,
		.n_lanes = 2,
		.left = 110,
		.from_ns = 100 * MS,
		.to_ns = to * MS,
	};

	timeline_begin(&t);
	for (; n--; s++)
		timeline_span(&t, s->lane, s->kind, s->from * MS, s->to * MS);
	timeline_end(&t);
	fclose(t.out);
}

static size_t count(const char *what)
{
	const char *at = text;
	size_t n = 0;

	for (; (at = strstr(at, what)); at++)
		n++;
	return n;
}

TEST(escaped)
{
	draw(200, NULL, 0);
	ck_assert_ptr_nonnull(strstr(text, "T &amp; t"));
	ck_assert_ptr_nonnull(strstr(text, "a&lt;b&gt;&amp;&quot;c&quot;?<"));
}

/* The left edge is at 110, the right one at 890: 7.8 for a ms. */
TEST(in_place)
{
	static const struct span s = { 1, TIMELINE_OFFLINE, 110, 120 };

	draw(200, &s, 1);
	ck_assert_ptr_nonnull(strstr(text,
				     "<rect x=\"188.00\" y=\"78\" width=\"78.00\""));
}

TEST(cut_off)
{
	static const struct span s[] = {
		{ 0, TIMELINE_ONLINE, 50, 110 },  /* its beginning */
		{ 0, TIMELINE_ONLINE, 190, 900 }, /* its end */
		{ 0, TIMELINE_ONLINE, 10, 90 },	  /* before */
		{ 0, TIMELINE_ONLINE, 201, 202 }, /* after */
		{ 2, TIMELINE_ONLINE, 110, 120 }, /* no such lane */
		{ 0, TIMELINE_ONLINE, 120, 110 }, /* backwards */
	};

	draw(200, s, ARRAY_SIZE(s));
	ck_assert_uint_eq(count("<rect"), 2);
	ck_assert_ptr_nonnull(strstr(text,
				     "x=\"110.00\" y=\"34\" width=\"78.00\""));
	ck_assert_ptr_nonnull(strstr(text,
				     "x=\"812.00\" y=\"34\" width=\"78.00\""));
}

TEST(same_again)
{
	static const struct span s = { 0, TIMELINE_HELD, 110, 120 };
	char *first;

	draw(200, &s, 1);
	first = strdup(text);
	draw(200, &s, 1);
	ck_assert_str_eq(first, text);
	ck_assert_int_eq(strncmp(first, "<svg ", 5), 0);
	ck_assert_str_eq(first + strlen(first) - 7, "</svg>\n");
	free(first);
}

TEST(no_time)
{
	text[0] = '\0';
	draw(100, NULL, 0);
	ck_assert_str_eq(text, "");
}
