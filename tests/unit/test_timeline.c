// SPDX-License-Identifier: GPL-2.0-only
/* The picture of a run: what is in it, where, and what must not be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard/timeline.h"
#include "unit.h"

#define MS 1000000ULL

static char text[16384];

static const char *draw(const struct timeline *t)
{
	FILE *f = fmemopen(text, sizeof(text), "w");

	timeline_write(t, f);
	fclose(f);
	return text;
}

static struct timeline simple(const struct timeline_span *spans, size_t n)
{
	static const char *const lanes[] = { "a<b>&\"c\"\n", "b" };

	return (struct timeline){
		.title = "T & t",
		.lanes = lanes,
		.n_lanes = 2,
		.spans = spans,
		.n_spans = n,
		.from_ns = 100 * MS,
		.to_ns = 200 * MS,
	};
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
	struct timeline t = simple(NULL, 0);

	draw(&t);
	ck_assert_ptr_nonnull(strstr(text, "T &amp; t"));
	ck_assert_ptr_nonnull(strstr(text, "a&lt;b&gt;&amp;&quot;c&quot;?<"));
}

/* The left edge is at 110, the right one at 890: 7.8 for a ms. */
TEST(in_place)
{
	struct timeline_span s = { 1, TIMELINE_OFFLINE, 110 * MS, 120 * MS };
	struct timeline t = simple(&s, 1);

	draw(&t);
	ck_assert_ptr_nonnull(strstr(text,
				     "<rect x=\"188.00\" y=\"78\" width=\"78.00\""));
}

TEST(cut_off)
{
	struct timeline_span s[] = {
		{ 0, TIMELINE_ONLINE, 50 * MS, 110 * MS },  /* its beginning */
		{ 0, TIMELINE_ONLINE, 190 * MS, 900 * MS }, /* its end */
		{ 0, TIMELINE_ONLINE, 10 * MS, 90 * MS },   /* before */
		{ 0, TIMELINE_ONLINE, 201 * MS, 202 * MS }, /* after */
		{ 2, TIMELINE_ONLINE, 110 * MS, 120 * MS }, /* no such lane */
		{ 0, TIMELINE_ONLINE, 120 * MS, 110 * MS }, /* backwards */
	};
	struct timeline t = simple(s, 6);

	draw(&t);
	ck_assert_uint_eq(count("<rect"), 2);
	ck_assert_ptr_nonnull(strstr(text,
				     "x=\"110.00\" y=\"34\" width=\"78.00\""));
	ck_assert_ptr_nonnull(strstr(text,
				     "x=\"812.00\" y=\"34\" width=\"78.00\""));
}

TEST(same_again)
{
	struct timeline_span s = { 0, TIMELINE_HELD, 110 * MS, 120 * MS };
	struct timeline t = simple(&s, 1);
	char *first = strdup(draw(&t));

	ck_assert_str_eq(first, draw(&t));
	ck_assert_int_eq(strncmp(first, "<svg ", 5), 0);
	ck_assert_str_eq(first + strlen(first) - 7, "</svg>\n");
	free(first);
}

TEST(no_time)
{
	struct timeline t = simple(NULL, 0);

	t.to_ns = t.from_ns;
	text[0] = '\0';
	draw(&t);
	ck_assert_str_eq(text, "");
}

int main(void)
{
	return unit_run("timeline");
}
