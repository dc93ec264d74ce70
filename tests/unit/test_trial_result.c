// SPDX-License-Identifier: GPL-2.0-only
/* gpreempt-lab trial: results of trials, also hostile ones, and two side by side. */
#include "unit-command.h"

/* A GPU with a stage that has one setup, and a claim. */
#define GPU(index, runs, tried, held, verdict)                                                    \
	"{\"gpu\":" index ",\"pci\":null,\"gfx\":\"gfx942\",\"stages\":[{\"stage\":3,"            \
	"\"name\":\"waves\",\"result\":\"done\",\"time_s\":1,\"why\":null,\"runs\":[" runs "]}]," \
	"\"claims\":[{\"verdict\":\"" verdict "\",\"tried\":" tried ",\"held\":" held             \
	",\"claim\":\"Nothing is left behind.\",\"how\":\"stages\"}]}"
#define RUN(name, p50, n)                                                                         \
	"{\"name\":\"" name "\",\"state_bytes\":1048576,\"limit_us\":12.5,\"longest_gap_us\":40," \
	"\"preempt\":{\"cycles\":9,\"suspend_ioctl_us\":{\"n\":" n ",\"min\":1,\"p50\":" p50      \
	",\"p99\":70.5,\"max\":90},\"suspend_slots_us\":null,\"first_suspend_us\":400.25}"        \
	",\"load\":{\"waves\":4,\"requests\":{\"n\":0,\"p50\":0,\"p99\":0,\"max\":0}}}"
#define TRIAL(simulated, gpus)                                                           \
	"{\"version\":\"0.2.0\",\"kernel\":\"6.12.1\",\"gpus\":[" gpus "],\"status\":0," \
	"\"simulated\":" simulated "}"

TEST(one)
{
	make_text("a",
		  TRIAL("true", GPU("3", RUN("full", "50", "100"), "5", "4", "does not hold")));
	LAB(0, "trial a --json");
	expect_text("trials.0.source", "a");
	expect_text("trials.0.gfx", "gfx942");
	expect_number("simulated", 1);
	expect_number("stages.0.gpu", 3);
	expect_text("stages.0.stage", "waves");
	expect_text("claims.0.verdict", "does not hold");
	expect_number("claims.0.tried", 5);
	expect_number("claims.0.held", 4);
	/* No figure: one without samples, one that is null, the limit, a count. */
	expect_rows("figures", 3);
	expect_text("figures.0.figure", "longest_gap_us");
	expect_null("figures.0.part");
	expect_number("figures.0.n", 1);
	expect_null("figures.0.p99_us");
	expect_text("figures.1.part", "preempt");
	expect_text("figures.1.figure", "suspend_ioctl_us");
	expect_text("figures.1.setup", "full");
	expect_number("figures.1.n", 100);
	ck_assert_double_eq(json_object_get_double(json_at("figures.1.p99_us")), 70.5);
	ck_assert_double_eq(json_object_get_double(json_at("figures.1.limit_us")), 12.5);
	expect_number("figures.1.state_bytes", 1048576);
	expect_text("figures.2.figure", "first_suspend_us");
	expect_null("figures.1.b_n");
	LAB(0, "trial a");
	OUT_HAS("a: gpreempt 0.2.0, Linux 6.12.1, gfx942; times are of the driver's path on a "
		"simulated GPU\n");
	OUT_HAS("\n3\tdoes not hold\t5\t4\t");
	OUT_HAS("\n3\twaves\tpreempt\tsuspend_ioctl_us\t100\t50.0\t70.5\t90.0\t1048576\t"
		"12.5\t");
}

/* A setup that only one trial has is printed, and GPUs are compared in their order. */
TEST(two)
{
	make_text("a", TRIAL("false", GPU("0", RUN("full", "50", "100") "," RUN("a", "0", "1"), "5",
					  "5", "holds") "," GPU("1", RUN("full", "20", "7"), "0",
								"0", "not tried")));
	make_text("b", TRIAL("true", GPU("6", RUN("full", "60", "90") "," RUN("b", "5", "1"), "5",
					 "4", "does not hold")));
	LAB(0, "trial a b --json");
	expect_text("trials.1.source", "b");
	expect_text("claims.0.verdict", "holds");
	expect_text("claims.0.b_verdict", "does not hold");
	expect_number("claims.0.b_held", 4);
	expect_text("claims.1.b_verdict", "does not hold");
	expect_rows("claims", 2);
	expect_text("stages.1.b_result", "done");
	expect_rows("figures", 12);
	ck_assert_double_eq(json_object_get_double(json_at("figures.1.b_percent")), 120);
	expect_number("figures.1.b_n", 90);
	/* There is no percentage of 0, and none of a figure that B has not. */
	expect_text("figures.4.setup", "a");
	expect_null("figures.4.b_percent");
	expect_null("figures.4.b_n");
	expect_number("figures.7.gpu", 1);
	ck_assert_double_eq(json_object_get_double(json_at("figures.7.b_percent")), 300);
	expect_number("figures.10.gpu", 6);
	expect_text("figures.10.setup", "b");
	expect_null("figures.10.n");
	expect_number("figures.10.b_n", 1);
	LAB(0, "trial a b");
	OUT_HAS("A: a: ");
	OUT_HAS("\nB: b: ");
}

/* Files that are something else, or are too large for any trial. */
TEST(refused)
{
	static const char *const bad[] = {
		"",
		"x",
		"[]",
		"{\"gpus\":[]}",
		"{\"gpus\":{},\"version\":\"1\",\"kernel\":\"6\"}",
		"{\"gpus\":[{\"gpu\":0}],\"version\":1,\"kernel\":\"6\"}",
		"{\"version\":\"1\",\"kernel\":\"6\",\"gpus\":[",
	};
	char *text = malloc(1 << 20), *at;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		make_text("bad", bad[i]);
		LAB(2, "trial bad");
		ERR_HAS("bad: this is no result of gpreempt-ctl trial\nnext: gpreempt-ctl trial "
			"--output FILE");
		ck_assert_str_eq(ctl_out, "");
	}
	at = text + sprintf(text, "{\"version\":\"1\",\"kernel\":\"6\",\"gpus\":[{\"claims\":[{}");
	for (i = 0; i < 4096; i++)
		at += sprintf(at, ",{}");
	strcpy(at, "]}]}");
	make_text("bad", text);
	free(text);
	LAB(2, "trial bad");
	ERR_HAS("more figures than a trial has");
	LAB(1, "trial none");
	LAB(2, "trial - -");
	LAB(2, "trial");
	LAB(2, "trial a b c");
}

/* Each value is of another type than it should be, or out of its range. */
TEST(hostile)
{
	make_text("a",
		  "{\"version\":\"\\u001b[31m\\u202e\",\"kernel\":\"</script>\",\"gpus\":[3,null,[],"
		  "{\"gpu\":\"x\",\"gfx\":{},\"stages\":{\"a\":1},\"claims\":\"x\"},"
		  "{\"gpu\":-1e300,\"stages\":[7,{\"name\":3,\"runs\":[null,1,{\"name\":[],"
		  "\"reads\":{\"n\":1e300,\"p50\":1},\"x_us\":NaN,\"y_us\":\"8\",\"z_us\":1e15,"
		  "\"state_bytes\":-5,\"limit_us\":Infinity,\"k\\u001b\":{\"n\":2,\"p50\":1e14}}]}],"
		  "\"claims\":[{\"tried\":1e19,\"held\":true,\"verdict\":\"\\u0007\"}]}]}");
	LAB(0, "trial a --json");
	expect_rows("figures", 1);
	expect_null("figures.0.gpu");
	expect_null("figures.0.limit_us");
	expect_null("figures.0.state_bytes");
	expect_null("claims.0.tried");
	expect_null("claims.0.held");
	expect_number("simulated", 0);
	LAB(0, "trial a a");
	ck_assert_ptr_null(strchr(ctl_out, '\033'));
	ck_assert_ptr_null(strstr(ctl_out, "\xe2\x80\xae"));
}

TEST_FIXTURE(command_setup, command_teardown)
