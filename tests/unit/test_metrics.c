// SPDX-License-Identifier: GPL-2.0-only
/* Metrics as text: the table of families, both formats, labels that others choose. */
#include <ctype.h>
#include <math.h>

#include "cli/metrics.h"
#include "unit.h"
#include "unit-memory.h"

static struct out_metrics m;
static char *text;
static size_t size;

static void setup(void)
{
	unit_setup();
	out_metrics_init(&m);
	strcpy(m.hostname, "h");
}

static void teardown(void)
{
	free(text);
	text = NULL;
	unit_teardown();
}

static const char *print(enum out_format format)
{
	FILE *f = open_memstream(&text, &size);

	ck_assert_int_eq(out_metrics_print(&m, format, f), 0);
	fclose(f);
	return text;
}

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len > n && !strcmp(name + len - n, end);
}

/* Rules of OpenMetrics and promtool for each name and text. */
TEST_EACH(table, OUT_FAMILIES)
{
	const struct out_family *family = &out_families[_i];
	const char *c;
	size_t i;

	ck_assert_ptr_nonnull(family->name);
	ck_assert(!strncmp(family->name, "gpreempt", 8));
	for (c = family->name; *c; c++)
		ck_assert(islower(*c) || *c == '_');
	for (i = 0; i < (size_t)_i; i++)
		ck_assert_str_ne(family->name, out_families[i].name);
	ck_assert(!ends_with(family->name, "_total"));
	ck_assert(!ends_with(family->name, "_info"));
	ck_assert(!ends_with(family->name, "_count"));
	if (family->unit)
		ck_assert(ends_with(family->name, unit_text("_%s", family->unit)));
	else
		ck_assert(!ends_with(family->name, "_seconds") &&
			  !ends_with(family->name, "_bytes") && !ends_with(family->name, "_ratio"));
	if (family->type == OUT_HISTOGRAM)
		ck_assert_str_eq(family->unit, "seconds");
	ck_assert(ends_with(family->help, "."));
	ck_assert_ptr_null(strpbrk(family->help, "\n\\|"));
	ck_assert(family->labels & 1u << OUT_HOSTNAME);
}

/* Each label has a name and a text, and a family that uses it. */
TEST_EACH(labels, OUT_LABELS)
{
	unsigned int used = 0;
	size_t i;

	ck_assert_ptr_nonnull(out_label_names[_i]);
	ck_assert_ptr_nonnull(out_label_texts[_i]);
	for (i = 0; i < OUT_FAMILIES; i++)
		used |= out_families[i].labels;
	ck_assert(used & 1u << _i);
}

TEST(prometheus)
{
	const struct out_labels labels = { {
		[OUT_PROCESS_ID] = "7",
		[OUT_GPU_ID] = "0",
		[OUT_CONTAINER] = "",
		[OUT_COMM] = "not a label of this family",
	} };

	/* The order is that of the table, whatever the order of the calls. */
	out_metric(&m, OUT_PROCESS_EVICTED, &labels, 1.5);
	out_metric(&m, OUT_SIMULATED, NULL, 0);
	out_metric(&m, OUT_PROCESS_EVICTED, &labels, 2);
	out_metric_known(&m, OUT_PROCESS_EVICTED, &labels, GPREEMPT_UNKNOWN);
	out_metric_known(&m, OUT_GPU_QUEUES, NULL, 1LL << 40);
	out_metric(&m, OUT_GPREEMPT, &(struct out_labels){ { [OUT_VERSION] = "1" } }, 1);
	ck_assert_uint_eq(m.series, 5);
	ck_assert_str_eq(print(OUT_PROMETHEUS),
			 unit_text("# HELP gpreempt_info %s\n"
				   "# TYPE gpreempt_info gauge\n"
				   "gpreempt_info{hostname=\"h\",version=\"1\"} 1\n"
				   "# HELP gpreempt_simulated %s\n"
				   "# TYPE gpreempt_simulated gauge\n"
				   "gpreempt_simulated{hostname=\"h\"} 0\n"
				   "# HELP gpreempt_gpu_queues %s\n"
				   "# TYPE gpreempt_gpu_queues gauge\n"
				   "gpreempt_gpu_queues{hostname=\"h\"} 1099511627776\n"
				   "# HELP gpreempt_process_evicted_seconds_total %s\n"
				   "# TYPE gpreempt_process_evicted_seconds_total counter\n"
				   "gpreempt_process_evicted_seconds_total{hostname=\"h\","
				   "gpu_id=\"0\",process_id=\"7\"} 1.5\n"
				   "gpreempt_process_evicted_seconds_total{hostname=\"h\","
				   "gpu_id=\"0\",process_id=\"7\"} 2\n",
				   out_families[OUT_GPREEMPT].help,
				   out_families[OUT_SIMULATED].help,
				   out_families[OUT_GPU_QUEUES].help,
				   out_families[OUT_PROCESS_EVICTED].help));
}

/* The names of a counter and an info lack the suffix of their samples; units are there. */
TEST(openmetrics)
{
	*m.hostname = '\0';
	out_metric(&m, OUT_PROCESS_EVICTED, NULL, 2);
	out_metric(&m, OUT_GPREEMPT, NULL, 1);
	ck_assert_str_eq(print(OUT_OPENMETRICS),
			 unit_text("# HELP gpreempt %s\n# TYPE gpreempt info\n"
				   "gpreempt_info 1\n"
				   "# HELP gpreempt_process_evicted_seconds %s\n"
				   "# TYPE gpreempt_process_evicted_seconds counter\n"
				   "# UNIT gpreempt_process_evicted_seconds seconds\n"
				   "gpreempt_process_evicted_seconds_total 2\n# EOF\n",
				   out_families[OUT_GPREEMPT].help,
				   out_families[OUT_PROCESS_EVICTED].help));
}

TEST(nothing)
{
	ck_assert_str_eq(print(OUT_PROMETHEUS), "");
	free(text);
	ck_assert_str_eq(print(OUT_OPENMETRICS), "# EOF\n");
}

/* Quotes cannot end a label, lines not begin another sample; all is UTF-8. */
TEST_EACH(hostile, 6)
{
	static const struct {
		const char *value, *printed;
	} rows[] = {
		{ "a\"} 9\n# TYPE b gauge\nb{c=\"", "a\\\"} 9\\\\012# TYPE b gauge"
						    "\\\\012b{c=\\\"" },
		{ "back\\slash\\n", "back\\\\slash\\\\n" },
		{ "\033[2J\r\t", "\\\\033[2J\\\\015\\\\011" },
		{ "\303\244\377\303", "\303\244\\\\377\\\\303" },
		{ "\342\200\256evil", "\\\\342\\\\200\\\\256evil" },
		{ "{},=#", "{},=#" },
	};

	out_metric(&m, OUT_PROCESS, &(struct out_labels){ { [OUT_COMM] = rows[_i].value } }, 1);
	print(OUT_PROMETHEUS);
	ck_assert_ptr_nonnull(strstr(text, unit_text("\ngpreempt_process_info{hostname=\"h\","
						     "comm=\"%s\"} 1\n",
						     rows[_i].printed)));
}

TEST_EACH(numbers, 10)
{
	static const struct {
		double value;
		const char *printed;
	} rows[] = {
		{ 0, "0" },
		{ 0.000000001, "0.000000001" },
		{ 0.5, "0.5" },
		{ 0.25, "0.25" },
		{ 12.05, "12.05" },
		{ 0.99999999999, "1" },
		{ 1e15 + 0.5, "1000000000000000.5" },
		{ 274877906944.0, "274877906944" },
		{ 100, "100" },
		{ NAN, "NaN" },
	};

	out_metric(&m, OUT_SIMULATED, NULL, rows[_i].value);
	print(OUT_PROMETHEUS);
	ck_assert_str_eq(strrchr(text, '}'), unit_text("} %s\n", rows[_i].printed));
}

/* A time is in the first bucket whose bound it does not exceed, and in all later ones. */
TEST(histogram)
{
	struct out_histogram h = { 0 };

	out_histogram_add(&h, 0);
	out_histogram_add(&h, 50 * NSEC_PER_USEC);
	out_histogram_add(&h, 50 * NSEC_PER_USEC + 1);
	out_histogram_add(&h, 1 * NSEC_PER_SEC);
	out_histogram_add(&h, 10 * NSEC_PER_SEC);
	out_histogram_add(&h, 11 * NSEC_PER_SEC);
	out_metric_times(&m, OUT_GUARD_TO_SLOTS, NULL, &h);
	ck_assert_uint_eq(m.series, OUT_BUCKETS + 3);
	print(OUT_PROMETHEUS);
#define NAME	       "\ngpreempt_guard_arrival_to_slots_seconds"
#define HAS_LINE(rest) ck_assert_ptr_nonnull(strstr(text, NAME rest "\n"))
	HAS_LINE("_bucket{hostname=\"h\",le=\"5e-05\"} 2");
	HAS_LINE("_bucket{hostname=\"h\",le=\"0.0001\"} 3");
	HAS_LINE("_bucket{hostname=\"h\",le=\"0.5\"} 3");
	HAS_LINE("_bucket{hostname=\"h\",le=\"1.0\"} 4");
	HAS_LINE("_bucket{hostname=\"h\",le=\"5.0\"} 4");
	HAS_LINE("_bucket{hostname=\"h\",le=\"10.0\"} 5");
	HAS_LINE("_bucket{hostname=\"h\",le=\"+Inf\"} 6");
	HAS_LINE("_sum{hostname=\"h\"} 22.000100001");
	HAS_LINE("_count{hostname=\"h\"} 6");
	ck_assert_ptr_nonnull(strstr(text, "# TYPE gpreempt_guard_arrival_to_slots_seconds "
					   "histogram\n"));
}

TEST(counting)
{
	m.counting = true;
	out_metric(&m, OUT_SIMULATED, NULL, 1);
	m.counting = false;
	ck_assert_uint_eq(m.series, 1);
	ck_assert_str_eq(print(OUT_PROMETHEUS), "");
}

/* There is no text with a part of the samples if memory runs out. */
TEST(no_memory)
{
	FILE *f = open_memstream(&text, &size);

	out_metric(&m, OUT_SIMULATED, NULL, 1);
	unit_memory_fails = 1;
	out_metric(&m, OUT_PROCESS, &(struct out_labels){ { [OUT_COMM] = "some name" } }, 1);
	unit_memory_fails = 0;
	ck_assert_int_eq(out_metrics_print(&m, OUT_PROMETHEUS, f), -ENOMEM);
	fclose(f);
	ck_assert_str_eq(text, "");
}

TEST_FIXTURE(setup, teardown)
