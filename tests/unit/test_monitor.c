// SPDX-License-Identifier: GPL-2.0-only
/* What samples come to. */
#include "ctl/monitor/monitor.h"
#include "unit.h"

TEST(figures)
{
	struct monitor_figure figure = { 0 };

	ck_assert(!monitor_stable(&figure));
	ck_assert(monitor_mean(&figure) == 0);
	monitor_figure_add(&figure, 4);
	monitor_figure_add(&figure, GPREEMPT_UNKNOWN);
	monitor_figure_add(&figure, 4);
	ck_assert_uint_eq(figure.n, 2);
	ck_assert(monitor_stable(&figure));
	monitor_figure_add(&figure, 1);
	ck_assert(!monitor_stable(&figure));
	ck_assert(monitor_mean(&figure) == 3);
	ck_assert_int_eq(figure.min, 1);
	ck_assert_int_eq(figure.max, 4);
}

TEST(ids)
{
	static const int order[] = { 5, 0, 9, 5, 0, 5 };
	struct monitor_sum sum = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(order); i++)
		ck_assert_int_eq(monitor_see(&sum, order[i]), 0);
	ck_assert_uint_eq(sum.n_seen, 3);
	ck_assert_int_eq(sum.seen[0].qid, 0);
	ck_assert_uint_eq(sum.seen[0].samples, 2);
	ck_assert_int_eq(sum.seen[1].qid, 5);
	ck_assert_uint_eq(sum.seen[1].samples, 3);
	ck_assert_int_eq(sum.seen[2].qid, 9);
	monitor_free(&sum);
	ck_assert_uint_eq(sum.n_seen, 0);
}

int main(void)
{
	return unit_run("monitor");
}
