// SPDX-License-Identifier: GPL-2.0-only
/* Latencies: percentiles by nearest rank, and a histogram with logarithmic buckets. */
#include <stdlib.h>

#include "ctl/report/report.h"

/* Six buckets in each power of ten. */
static const double steps[] = { 1, 1.5, 2, 3, 5, 7 };

void report_time(struct report_times *times, double ns)
{
	uint64_t *one;

	/* Also what is not known. */
	if (!(ns >= 0 && ns < 1e18))
		return;
	one = shr_must(shr_add(&times->ns));
	*one = ns;
}

struct json_object *report_add_latency(struct report *r, const char *source, const char *name,
				       int64_t n)
{
	struct json_object *o = json_object_new_object();

	out_add(o, "source", out_json_text(source));
	out_add(o, "name", out_json_text(name));
	out_add(o, "n", out_json_number(n));
	json_object_array_add(r->latencies, o);
	return o;
}

void report_add_bucket(struct json_object *latency, double from_us, double to_us, int64_t n)
{
	struct json_object *o = json_object_new_object(), *all;

	all = report_get(latency, "buckets");
	if (!all) {
		all = json_object_new_array();
		out_add(latency, "buckets", all);
	}
	out_add(o, "from_us", out_json_double(from_us));
	/* The last one of a Prometheus histogram has no end. */
	out_add(o, "to_us", out_json_double(to_us));
	out_add(o, "n", out_json_number(n));
	json_object_array_add(all, o);
}

/* The bound of that number; 0 is 1 ns. */
static double bound(size_t i)
{
	double ns = steps[i % ARRAY_SIZE(steps)];

	for (i /= ARRAY_SIZE(steps); i; i--)
		ns *= 10;
	return ns;
}

/* Empty ones in between are there, others are not. The times are sorted. */
static void add_buckets(struct json_object *latency, const uint64_t *ns, size_t n)
{
	size_t i = 0, at, count;

	for (at = 0; bound(at + 1) <= ns[0]; at++)
		;
	for (; i < n; at++) {
		for (count = 0; i < n && ns[i] < bound(at + 1); i++)
			count++;
		report_add_bucket(latency, at ? bound(at) / 1e3 : 0, bound(at + 1) / 1e3, count);
	}
}

void report_latency(struct report *r, const char *source, const char *name,
		    struct report_times *times)
{
	struct gpreempt_stats s;
	struct json_object *o;

	if (times->ns.count) {
		/* It sorts them. */
		gpreempt_stats(times->ns.items, times->ns.count, &s);
		o = report_add_latency(r, source, name, s.n);
		out_add(o, "min_us", out_json_us(s.min));
		out_add(o, "p50_us", out_json_us(s.p50));
		out_add(o, "p90_us", out_json_us(s.p90));
		out_add(o, "p99_us", out_json_us(s.p99));
		out_add(o, "max_us", out_json_us(s.max));
		add_buckets(o, times->ns.items, times->ns.count);
	}
	free(times->ns.items);
	*times = (struct report_times){ 0 };
}

void report_figures(struct report *r, const char *source, const char *name,
		    struct json_object *figures)
{
	static const char *const keys[][2] = {
		{ "min", "min_us" }, { "p50", "p50_us" }, { "p90", "p90_us" },
		{ "p99", "p99_us" }, { "max", "max_us" },
	};
	double n = report_number(figures, "n");
	struct json_object *o;
	size_t i;

	if (!(n > 0 && n < REPORT_MOST))
		return;
	o = report_add_latency(r, source, name, n);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		out_add(o, keys[i][1], out_json_double(report_number(figures, keys[i][0])));
}
