// SPDX-License-Identifier: GPL-2.0-only
/* report: each kind of file, the figures, hostile texts, and the page. */
#include <sys/utsname.h>

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

#define RESULT(simulated, gpus) \
	"{\"version\":\"9\",\"kernel\":\"6\",\"simulated\":" simulated ",\"gpus\":[" gpus "]}"
#define RESULT_GPU(claim, p50)                                                                 \
	"{\"gpu\":0,\"gfx\":\"gfx942\",\"stages\":[{\"name\":\"waves\",\"result\":\"failed\"," \
	"\"why\":\"no fence\",\"runs\":[{\"name\":\"full, 32 registers, 1 KiB\","              \
	"\"state_bytes\":4096,\"limit_us\":2,\"preempt\":{\"suspend_ioctl_us\":{\"n\":9,"      \
	"\"p50\":" p50 ",\"p99\":3e6,\"max\":4e6}}}]}],"                                       \
	"\"claims\":[{\"claim\":\"" claim "\",\"verdict\":\"holds\",\"tried\":5,\"held\":5}]}"

/* A trial of a real GPU has what was found above a simulated one beside it, and no more of that. */
TEST(trial)
{
	make_text("t", RESULT("false", RESULT_GPU("Nothing is left behind.",
						  "1e6") "," RESULT_GPU("Nothing else.", "2e6")));
	LAB(0, "report t --json");
	expect_text("sources.0.kind", "trial --output");
	expect_number("simulated", 0);
	expect_rows("states", 0);
	expect_rows("trials.0.trials", 2);
	expect_text("trials.0.trials.1.source", "simulated GPU");
	expect_number("trials.0.trials.1.simulated", 1);
	expect_rows("trials.0.claims", 2);
	expect_text("trials.0.claims.0.b_verdict", "holds");
	expect_null("trials.0.claims.1.b_verdict");
	expect_rows("trials.0.figures", 2);
	ck_assert_double_gt(real("trials.0.figures.0.b_p50_us"), 1);
	ck_assert_double_eq(real("trials.0.figures.0.b_p50_us"),
			    real("trials.0.figures.1.b_p50_us"));
	make_text("t", RESULT("true", RESULT_GPU("Nothing is left behind.", "1e6")));
	LAB(0, "report t -o p --json");
	expect_number("simulated", 1);
	expect_rows("trials.0.trials", 1);
	expect_null("trials.0.claims.0.b_verdict");
	make_text("t", RESULT("true", "{\"claims\":\"x\"},7"));
	LAB(0, "report t --json");
	expect_rows("trials.0.claims", 0);
}

/* One with more than a trial can have is nothing that report knows. */
TEST(too_large_a_trial)
{
	char *text = malloc(1 << 16), *at = text;
	int i;

	at += sprintf(at, "{\"version\":\"9\",\"kernel\":\"6\",\"gpus\":[{\"claims\":[1");
	for (i = 0; i < 4096; i++)
		at += sprintf(at, ",1");
	strcpy(at, "]}]}");
	make_text("t", text);
	free(text);
	LAB(2, "report t -o p");
	ck_assert_int_ne(access("p", F_OK), 0);
}

TEST(metrics)
{
	make_text("m", "# HELP g_a_total What it is.\n# TYPE g_a_total counter\n"
		       "g_a_total 12\n# TYPE g_b gauge\n"
		       "g_b{comm=\"a\\\"}, b\",x=\"1\"} 0.0625\nbroken{x=\"\n\nbroken\n"
		       "# TYPE g_c_seconds histogram\n"
		       "g_c_seconds_bucket{gpu=\"0,le=\",le=\"0.001\",x=\"1\"} 2\n"
		       "g_c_seconds_bucket{le=\"0.01\",gpu=\"0,le=\",x=\"1\"} 2\n"
		       "g_c_seconds_bucket{gpu=\"0,le=\",x=\"1\",le=\"+Inf\"} 5\n"
		       "g_c_seconds_sum{gpu=\"0,le=\",x=\"1\"} 0.5\n"
		       "g_c_seconds_count{gpu=\"0,le=\",x=\"1\"} 5\n"
		       "g_c_seconds_bucket{le=\"0.001\"} 1\ng_c_seconds_count 1\n"
		       "g_c_seconds_bucket{gpu=\"2\"} 1\ng_d_seconds_sum 7\n"
		       "gpreempt_guard_arrival_to_slots_seconds_bucket{le=\"0.1\"} 1\n");
	LAB(0, "report m --json");
	/* A bucket without le, and a sum of another family, are values. */
	expect_rows("metrics", 4);
	expect_text("metrics.0.help", "What it is.");
	expect_null("metrics.1.help");
	expect_text("metrics.1.labels", "comm=\"a\\\"}, b\",x=\"1\"");
	ck_assert_double_eq(real("metrics.1.value"), 0.0625);
	expect_rows("latencies", 3);
	expect_text("latencies.0.name", "g_c_seconds");
	expect_text("latencies.0.labels", "gpu=\"0,le=\",x=\"1\"");
	ck_assert_double_eq(real("latencies.0.sum_us"), 500000);
	expect_number("simulated", 0);
	expect_text("latencies.2.name", "arrival to slots inactive");
	expect_number("latencies.0.n", 5);
	expect_rows("latencies.0.buckets", 2);
	ck_assert_double_eq(real("latencies.0.buckets.1.from_us"), 10000);
	expect_null("latencies.0.buckets.1.to_us");
	expect_number("latencies.0.buckets.1.n", 3);
	expect_null("latencies.1.labels");
	expect_number("latencies.1.n", 1);
}

TEST(simulated_metrics)
{
	make_text("m", "# TYPE gpreempt_guard_simulated gauge\n"
		       "gpreempt_guard_simulated{guard=\"a\"} 1\n");
	LAB(0, "report m --json");
	expect_number("simulated", 1);
}

/* Samples, figures and a histogram of one run are one latency, and those of another run are not. */
TEST(one_run)
{
	make_text("s", "# arrival_to_ioctl_ns\tarrival_to_suspended_ns\t"
		       "arrival_to_slots_ns\n1000\t-\t-\n3000\t-\t-\n");
	make_text("p", "# TYPE gpreempt_guard_arrival_to_ioctl_seconds histogram\n"
		       "gpreempt_guard_arrival_to_ioctl_seconds_bucket{guard=\"a\",le=\"+Inf\"} 2\n"
		       "gpreempt_guard_arrival_to_ioctl_seconds_sum{guard=\"a\"} 0.000004\n"
		       "gpreempt_guard_arrival_to_ioctl_seconds_bucket{guard=\"b\",le=\"+Inf\"} 2\n"
		       "gpreempt_guard_arrival_to_ioctl_seconds_sum{guard=\"b\"} 0.000005\n");
	LAB(0, "report p s --json");
	expect_rows("latencies", 2);
	expect_text("latencies.0.source", "s, p");
	expect_text("latencies.0.labels", "guard=\"a\"");
	ck_assert_double_eq(real("latencies.0.p50_us"), 1);
	expect_text("latencies.1.labels", "guard=\"b\"");
	make_text("t", "gpreempt-samples - version: 1.1\n"
		       "# cycle pid suspend_ioctl_ns resume_ioctl_ns\n"
		       "1 7 1 2000\n2 7 5001 3000\n");
	make_text("j", "{\"cycles\":2,\"suspend_ioctl_us\":{\"n\":1,\"p50\":5.001},"
		       "\"resume_ioctl_us\":{\"n\":2,\"p50\":2.000,\"max\":3.002}}");
	LAB(0, "report t j --json");
	expect_rows("latencies", 3);
	expect_text("latencies.0.source", "t, j");
	expect_text("latencies.1.source", "t");
	expect_text("latencies.2.source", "j");
	/* The figures of all targets of one are not those of the samples. */
	make_text("j", "{\"cycles\":2,\"suspend_ioctl_us\":{\"n\":1,\"p50\":5.201},\"targets\":[{"
		       "\"suspend_ioctl_us\":{\"n\":1,\"p50\":5.001}}]}");
	LAB(0, "report t j --json");
	expect_rows("latencies", 2);
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

#define A(us, more) \
	"\"tenants\":[{\"tenant\":\"a\",\"class\":\"offline\",\"gpu_us\":" us "}" more "]"
#define B(name, us) ",{\"tenant\":\"" name "\",\"class\":\"online\",\"gpu_us\":" us "}"

/* A share is of the time since the last count; a guard that was started again counts from 0. */
TEST(shares)
{
	make_text("g",
		  unit_text("%s%s%s%s%s", EVENT("tenants", "1000000", "1000005", A("250000", "")),
			    EVENT("tenants", "2000000", "2000005", A("1000000", B("b", "500000"))),
			    EVENT("summary", "2000000", "2000005", A("1000000", B("b", "500000"))),
			    EVENT("tenants", "3000000", "3000005", A("7", B("b", "null"))),
			    EVENT("tenants", "500000", "4000005", A("200000", B("\\u202e", "5")))));
	LAB(0, "report g --json");
	expect_rows("shares", 1);
	expect_rows("shares.0.columns", 4);
	expect_text("shares.0.columns.1", "a offline");
	expect_text("shares.0.columns.2", "b online");
	expect_text("shares.0.columns.3", "\\342\\200\\256 online");
	expect_rows("shares.0.points", 4);
	ck_assert_double_eq(real("shares.0.points.0.0"), 1);
	ck_assert_double_eq(real("shares.0.points.0.1"), 25);
	ck_assert_double_eq(real("shares.0.points.1.1"), 75);
	ck_assert_double_eq(real("shares.0.points.1.2"), 50);
	/* Less than before is no time. */
	expect_rows("shares.0.points.2", 1);
	ck_assert_double_eq(real("shares.0.points.3.0"), 4);
	ck_assert_double_eq(real("shares.0.points.3.1"), 40);
	/* They are no events of a process, and one count is no course. */
	expect_rows("timelines.0.events", 0);
	make_text("one", EVENT("summary", "9", "10", A("5", "")));
	LAB(0, "report one --json");
	expect_rows("shares", 0);
}

/* More tenants than a guard can have are left out. */
TEST(many_shares)
{
	char *text = malloc(100000), *at = text;
	int i, n;

	for (n = 1; n < 3; n++) {
		at += sprintf(at,
			      "{\"event\":\"tenants\",\"t_us\":%d,\"clock_us\":%d,\"tenants\":[", n,
			      n);
		for (i = 0; i < 200; i++)
			at += sprintf(at, "%s{\"tenant\":\"%d\",\"gpu_us\":%d}", i ? "," : "", i,
				      n);
		at += sprintf(at, "]}\n");
	}
	make_file("g", text, at - text);
	free(text);
	LAB(0, "report g --json");
	expect_rows("shares.0.columns", 1 + 128);
	expect_rows("shares.0.points.1", 1 + 128);
}

/* The shares of a simulation add up to its own summary. */
TEST(simulated_shares)
{
	double sum[3] = { 0 };
	int i, j;

	make_text("world", "policy fair slots=1 slice=50ms\ntenant comm:on online\n"
			   "tenant comm:a weight=100\ntenant comm:b weight=200\n"
			   "load comm:on work=20ms gap=80ms\nrun time=20s switch=470us\n");
	CTL(0, "guard --simulate world --json");
	make_text("g", ctl_out);
	LAB(0, "report g --json");
	expect_rows("shares.0.points", 20);
	for (i = 0; i < 20; i++)
		for (j = 0; j < 3; j++)
			sum[j] += real(unit_text("shares.0.points.%d.%d", i, j + 1));
	for (j = 0; j < 3; j++)
		ck_assert_double_eq_tol(sum[j] * 1e4,
					real(unit_text("timelines.0.summary.tenants.%d.gpu_us", j)),
					1);
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

#define EVIL "</script><img src=x onerror=alert(1)><!--<script>"

/* Each list is taken as it is; no text of it ends the page's script or turns a line around. */
TEST(lists)
{
	static const struct timespec times[] = { { .tv_sec = 1772600767 },
						 { .tv_sec = 1772600767 } };
	struct utsname host;
	char *page;

	uname(&host);
	make_text("g", "{\"gpus\":[{\"gpu\":3}]}");
	make_text("l", "{\"processes\":[{\"pid\":7,\"command\":\"" EVIL
		       "\\u202e\",\"vram\":5}],\"source\":\"module\"}");
	make_text("s", "{\"holders\":[]}");
	make_text("d", "{\"checks\":[{\"result\":\"ok\"}],\"status\":0}");
	ck_assert_int_eq(utimensat(AT_FDCWD, "d", times, 0), 0);
	LAB(0, "report g l s d l --json -o p");
	ck_assert_uint_eq(mode_of("p"), 0600);
	expect_text("sources.3.time", "2026-03-04T05:06:07Z");
	expect_text("host", host.nodename);
	expect_text("kernel", host.release);
	ck_assert_uint_eq(strlen(json_text("time")), strlen("2026-03-04T05:06:07Z"));
	expect_rows("states", 2);
	expect_text("states.0.source", "g, l, s, d");
	expect_number("states.0.gpus.0.gpu", 3);
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
	"{\"gpus\":[],\"processes\":[]}",
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

/* The files that report is tested with in a browser have the keys that commands print today. */
static const struct {
	const char *file, *command;
} fixtures[] = {
	{ "gpus", "gpus" },	  { "list", "list" },	    { "status", "status" },
	{ "doctor", "doctor" },	  { "guard", "guard" },	    { "simulation", "guard" },
	{ "monitor", "monitor" }, { "preempt", "preempt" },
};

TEST_EACH(page_files, ARRAY_SIZE(fixtures))
{
	size_t len;
	char *text =
		fixture_text(unit_text("tests/report/fixtures/%s.json", fixtures[_i].file), &len);

	ck_assert_ptr_nonnull(text);
	/* Only what a command has printed here counts as tested. */
	unsetenv("JSON_KEYS");
	expect_schema(fixtures[_i].command, text);
	free(text);
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
