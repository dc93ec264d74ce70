// SPDX-License-Identifier: GPL-2.0-only
/* report: each kind of file, the figures, hostile texts, and the page. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit-command.h"

static double real(const char *path)
{
	return json_object_get_double(json_at(path));
}

/* Samples count as in preempt: the first suspend is apart, and so is the line of all targets. */
TEST(preempt_samples)
{
	make_text("s", "gpreempt-samples - version: 1.1\n"
		       "# cycle pid requested done suspend_ioctl_ns suspend_slots_ns "
		       "slots_resolution_ns held_ns resume_ioctl_ns verified "
		       "verified_by\n"
		       "1 7 2 2 900000 - - 5 11000 1 slots\n"
		       "2 7 2 2 100000 - - 5 12000 1 slots\n"
		       "2 - 2 2 500000 - - 5 99000 1 slots\n"
		       "3 7 2 2 104000 - - 5 13000 1 slots\n"
		       "4 7 2 2 460000 7 1 5 10000 1 slots\n");
	LAB(0, "report s --json");
	expect_text("sources.0.kind", "preempt --samples");
	expect_rows("latencies", 3);
	expect_text("latencies.0.name", "suspend ioctl");
	expect_number("latencies.0.n", 3);
	ck_assert_double_eq(real("latencies.0.p50_us"), 104);
	ck_assert_double_eq(real("latencies.0.max_us"), 460);
	/* 100 to 150 us, two empty ones, 300 to 500. */
	expect_rows("latencies.0.buckets", 4);
	ck_assert_double_eq(real("latencies.0.buckets.0.from_us"), 100);
	ck_assert_double_eq(real("latencies.0.buckets.0.to_us"), 150);
	expect_number("latencies.0.buckets.0.n", 2);
	expect_number("latencies.0.buckets.1.n", 0);
	expect_number("latencies.0.buckets.3.n", 1);
	expect_number("latencies.1.n", 1);
	ck_assert_double_eq(real("latencies.1.buckets.0.from_us"), 0.007);
	expect_number("latencies.2.n", 4);
	ck_assert_double_eq(real("latencies.2.max_us"), 13);
}

TEST(guard_samples)
{
	make_text("s", "# arrival_to_ioctl_ns\tarrival_to_suspended_ns\t"
		       "arrival_to_slots_ns\n1000\t2000\t-\n3000\t4000\t-\n");
	LAB(0, "report s --json");
	expect_rows("latencies", 2);
	expect_text("latencies.1.name", "arrival to suspended");
	ck_assert_double_eq(real("latencies.1.max_us"), 4);
}

/* Lines of two processes; a list in quotes is one cell, and "-" is unknown. */
TEST(monitor)
{
	make_text("m.csv", "t_s,pid,queues,active,slots,suspended,evicted,ids\n"
			   "0.000,7,2,8,9,0,0,\"0,1\"\n0.001,8,1,4,4,0,0,0\n"
			   "0.500,7,2,-,9,1,0,\"0,1\"\nx,y\n");
	LAB(0, "report m.csv --json");
	expect_rows("series", 2);
	expect_number("series.0.pid", 7);
	expect_rows("series.0.points", 2);
	expect_text("series.0.columns.1", "active");
	expect_number("series.0.points.0.1", 8);
	expect_null("series.0.points.1.1");
	expect_number("series.0.points.1.3", 1);
	make_text("m.json", "{\"targets\":[{\"pid\":7,\"series\":[{\"t_s\":0.25,"
			    "\"pid\":7,\"active\":3},{\"t_s\":1},3]},[]]}");
	LAB(0, "report m.csv m.json --json");
	expect_rows("series", 3);
	expect_text("series.2.source", "m.json");
	expect_rows("series.2.points", 1);
	expect_number("series.2.points.0.1", 3);
}

TEST(metrics)
{
	make_text("m", "# HELP g_a_total What it is.\n# TYPE g_a_total counter\n"
		       "g_a_total 12\n# TYPE g_b gauge\n"
		       "g_b{comm=\"a\\\"}, b\",x=\"1\"} 0.0625\nbroken{x=\"\n\nbroken\n"
		       "# TYPE g_c_seconds histogram\n"
		       "g_c_seconds_bucket{gpu=\"0\",le=\"0.001\"} 2\n"
		       "g_c_seconds_bucket{gpu=\"0\",le=\"0.01\"} 2\n"
		       "g_c_seconds_bucket{gpu=\"0\",le=\"+Inf\"} 5\n"
		       "g_c_seconds_bucket{gpu=\"1\",le=\"0.001\"} 1\n"
		       "g_c_seconds_sum{gpu=\"0\"} 0.5\ng_c_seconds_count{gpu=\"0\"} 5\n");
	LAB(0, "report m --json");
	expect_rows("metrics", 4);
	expect_text("metrics.0.help", "What it is.");
	expect_null("metrics.1.help");
	expect_text("metrics.1.labels", "comm=\"a\\\"}, b\",x=\"1\"");
	ck_assert_double_eq(real("metrics.1.value"), 0.0625);
	expect_rows("latencies", 2);
	expect_text("latencies.0.name", "g_c_seconds gpu=\"0\",");
	expect_number("latencies.0.n", 5);
	expect_rows("latencies.0.buckets", 2);
	ck_assert_double_eq(real("latencies.0.buckets.1.from_us"), 10000);
	expect_null("latencies.0.buckets.1.to_us");
	expect_number("latencies.0.buckets.1.n", 3);
	expect_number("latencies.1.n", 1);
}

#define EVENT(name, t, clock, rest) \
	"{\"event\":\"" name "\",\"t_us\":" t ",\"clock_us\":" clock "," rest "}\n"

/* A guard that was started again is on the same clock; a resume counts from its entry. */
TEST(events)
{
	static const char *const lines[] = {
		"note: a message on stderr\n",
		EVENT("joined", "5", "1005",
		      "\"pid\":7,\"text\":\"x\",\"role\":\"online\","
		      "\"comm\":\"s\\u001b\""),
		EVENT("busy", "10", "1010", "\"pid\":7"),
		EVENT("ran", "20", "1020", "\"pid\":8,\"ran_us\":4"),
		"words\n",
		EVENT("suspend", "30", "1030",
		      "\"pid\":8,\"reason\":\"arrival\",\"requested\":2,\"done\":2,"
		      "\"ioctl_us\":12.5,\"arrival_to_ioctl_us\":null,"
		      "\"simulated\":true"),
		EVENT("suspend", "31", "1031",
		      "\"pid\":8,\"requested\":2,\"done\":0,"
		      "\"ioctl_us\":9000"),
		"{\"event\":\"dropped\",\"lines\":3}\n",
		"{\"event\":7}\n{broken\n",
		EVENT("resume", "1", "2050",
		      "\"pid\":8,\"requested\":2,\"done\":2,"
		      "\"ioctl_us\":20"),
		EVENT("refused", "8", "2058", "\"pid\":9,\"text\":\"9 is left alone\""),
		EVENT("summary", "9", "2059", "\"preemptions\":1"),
	};
	char text[4096] = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		strcat(text, lines[i]);
	make_text("g", text);
	LAB(0, "report g --json");
	expect_rows("timelines.0.events", 6);
	expect_text("timelines.0.events.0.comm", "s\033");
	expect_number("timelines.0.events.2.ran_us", 4);
	expect_number("timelines.0.events.3.t_us", 30);
	expect_text("timelines.0.events.3.reason", "arrival");
	expect_number("timelines.0.events.4.t_us", 1030);
	expect_text("timelines.0.events.5.text", "9 is left alone");
	expect_number("timelines.0.to_us", 1059);
	expect_number("timelines.0.lost_lines", 3);
	expect_number("timelines.0.unread_lines", 2);
	expect_number("timelines.0.summary.preemptions", 1);
	expect_number("simulated", 1);
	expect_rows("latencies", 2);
	expect_text("latencies.0.name", "suspend ioctl");
	ck_assert_double_eq(real("latencies.0.max_us"), 12.5);
}

/* Many such numbers are no number of ours any more: the sum ends at the highest that is read. */
TEST(many_lost)
{
	static const char line[] = "{\"event\":\"dropped\",\"lines\":999000000000000}\n";
	size_t len = strlen(line), n = 10000, i;
	char *text = malloc(n * len + 1);

	for (i = 0; i < n; i++)
		strcpy(text + i * len, line);
	make_file("g", text, n * len);
	free(text);
	LAB(0, "report g --json");
	expect_number("timelines.0.lost_lines", 1000000000000000);
}

/* The page gets the last ones, and says how many others there were. */
TEST(many_events)
{
	char *text = malloc(64 * 40003), *at = text;
	int i;

	for (i = 0; i < 40002; i++)
		at += sprintf(at, EVENT("busy", "%d", "%d", "\"pid\":7"), i, i + 10);
	make_file("g", text, at - text);
	free(text);
	LAB(0, "report g -o p");
	LAB(0, "report ./g -o p");
	ck_assert_ptr_nonnull(strstr(unit_file("p"), "\"cut_events\":2,"));
}

TEST(preempt_json)
{
	make_text("p", "{\"cycles\":3,\"succeeded\":3,\"suspend_ioctl_us\":{\"n\":3,"
		       "\"min\":1.5,\"p50\":2.0,\"p90\":null,\"p99\":7,\"max\":8},"
		       "\"suspend_slots_us\":null,\"resume_ioctl_us\":{\"n\":0},"
		       "\"simulated\":true}");
	LAB(0, "report p --json");
	expect_rows("latencies", 1);
	expect_number("latencies.0.n", 3);
	ck_assert_double_eq(real("latencies.0.min_us"), 1.5);
	expect_null("latencies.0.p90_us");
	expect_number("simulated", 1);
}

#define EVIL "</script><img src=x onerror=alert(1)><!--<script>"

/* Each list is taken as it is; no text of it ends the page's script or turns a line around. */
TEST(lists)
{
	char *page;

	make_text("l", "{\"processes\":[{\"pid\":7,\"command\":\"" EVIL
		       "\\u202e\",\"vram\":5}],\"source\":\"module\"}");
	make_text("s", "{\"holders\":[]}");
	make_text("d", "{\"checks\":[{\"result\":\"ok\"}],\"status\":0}");
	LAB(0, "report l s d l --json -o p");
	ck_assert_uint_eq(mode_of("p"), 0600);
	expect_rows("states", 2);
	expect_text("states.0.source", "l, s, d");
	expect_text("states.0.processes.0.command", EVIL "\\342\\200\\256");
	expect_rows("states.0.holders", 0);
	expect_text("states.0.checks.0.result", "ok");
	expect_rows("states.1.processes", 1);
	page = (char *)unit_file("p");
	ck_assert_ptr_null(strstr(page, "<img"));
	ck_assert_ptr_nonnull(strstr(page, "\\u003c/script>\\u003cimg src=x"));
	HAS(page, "default-src 'none'");
	HAS(page, "(MIT)");
	ck_assert_ptr_null(strstr(page, "@DATA@"));
	ck_assert_ptr_null(strstr(page, "sourceMappingURL"));
	ck_assert_str_eq(page + strlen(page) - strlen("</html>\n"), "</html>\n");
}

/* Texts that JSON cannot have and json-c reads: keys that are no UTF-8, and no number. */
TEST(no_json)
{
	make_text("l", "{\"processes\":[{\"us\xe9r\":1,\"a\":NaN,\"b\":Infinity,"
		       "\"c\":1e999,\"d\":2.5}]}");
	make_text("p", "{\"cycles\":1,\"suspend_ioctl_us\":{\"n\":1,\"min\":NaN,"
		       "\"max\":1e300}}");
	LAB(0, "report l p --json");
	expect_number("states.0.processes.0.us\\351r", 1);
	OUT_HAS("\"a\": null");
	OUT_HAS("\"b\": null");
	OUT_HAS("\"c\": null");
	OUT_HAS("\"d\": 2.5");
	OUT_HAS("\"min_us\": null");
	OUT_HAS("e+300");
}

/* Texts that are none of ours, as a whole: no page is made, and none is changed. */
static const char *const other_texts[] = {
	"",
	"{",
	"{}",
	"[]",
	"words\n",
	"{\"processes\":7}",
	"{\"targets\":[]}",
	"{\"targets\":[{\"queues\":[]}]}",
	"note: x",
	"\177ELF",
	"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
};

TEST_EACH(others, ARRAY_SIZE(other_texts))
{
	make_text("s", "{\"holders\":[]}");
	make_text("other", other_texts[_i]);
	make_text("p", "before");
	LAB(2, "report s other -o p");
	ERR_HAS("other: this is no output of gpreempt-ctl that report knows");
	ck_assert_str_eq(unit_file("p"), "before");
}

TEST(usage)
{
	make_text("s", "{\"holders\":[]}");
	LAB(2, "report s");
	ERR_HAS("-o FILE is needed");
	LAB(1, "report none -o p");
	ERR_HAS("none: No such file");
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	LAB(1, "report fifo -o p");
	ERR_HAS("fifo: it is not a regular file");
	LAB(2, "report . -o p");
	ERR_HAS("it is no snapshot");
	ck_assert_int_eq(access("p", F_OK), -1);
	/* The page is no regular file. */
	LAB(1, "report s -o fifo");
	ERR_HAS("the page fifo cannot be written: a FIFO");
	ck_assert_int_eq(symlink("s", "link"), 0);
	LAB(1, "report s -o link");
	ERR_HAS("a link is there");
}

TEST_FIXTURE(command_setup, command_teardown)
