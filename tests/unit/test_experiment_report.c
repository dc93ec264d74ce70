// SPDX-License-Identifier: GPL-2.0-only
/* experiment: the report of runs that were made elsewhere. */
#include "lab/experiment.h"
#include "unit-command.h"

static void make_run(const char *run, const char *pids)
{
	static const char *const names[] = {
		"mqds",
		"hqds",
		"queues-144",
		"queues-156",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert(copy_fixture(unit_text(DRIVER "%s", names[i]),
				       unit_text("e/%s/during/%s", run, names[i])));
	make_text(unit_text("e/%s/result", run), pids);
}

/* The runs were made elsewhere: two of each model alone, and one of both. */
TEST(report)
{
	write_plan(PLAN);
	make_run("a-1", "a pid 144 status 0\n");
	make_run("a-2", "a pid 144 status 3\n");
	make_run("b-1", "b pid 156 status 0\n");
	make_run("b-2", "b pid 156 status 0\n");
	make_run("both-1", "a pid 144 status 0\nb pid 156 status 0\n");
	make_text("e/a-1/during/info", "x\nsimulated 1\n");
	make_text("e/a-1/a.err", "program\n"
				 ":4:rocvirtual.cpp :1: 1000 us: [pid:7 tid: 0x1] Created "
				 "SWq=0x5 to map on HWq=0xa0 with size 16\n"
				 ":4:rocvirtual.cpp :1: 9000 us: [pid:7 tid: 0x1] HWq=0xa0, "
				 "Dispatch Header = 0xb02 (type=2), rptr=5, wptr=9\n");
	make_text("e/b-1/b.err", "no log\n");
	make_text("e/b-2/b.err", ":3:rocvirtual.cpp :1: 1000 us: [pid:7 tid: 0x1]"
				 " Created SWq=0x5 to map on HWq=0xa0 with size 16\n");
	LAB(0, "experiment --report-only e");
	OUT_HAS("| a-1 | 144 | 3 | 2d60:0,2d60:1,2d60:2 | 2 | 2 | 1 | 1 | 8 |\n");
	OUT_HAS("| b-1 | 156 | 1 | 2d60:0 | 1 | 1 | - | - | - |\n");
	/* Level 3 has queues, and no packets. */
	OUT_HAS("| b-2 | 156 | 1 | 2d60:0 | 1 | 1 | - | 1 | 0 |\n");
	OUT_HAS("a-2: the command ended with 3");
	OUT_HAS("Ids of A alone and B alone in common: 33%");
	OUT_HAS("| dispatches | 1 | - | - | - |");
	OUT_HAS("| most packets waiting | 4 | - | - | - |");
	OUT_HAS("The GPU was the simulated one.");
	ck_assert_int_ne(access("e/report.md", F_OK), 0);
	LAB(0, "experiment --report-only e --json");
	expect_number("amd_log.a_alone.run_us", 8000);
	expect_null("amd_log.b_alone.dispatches");
	expect_null("runs.4.a_before_b");
	expect_number("simulated", 1);
}

/* A process that was gone has no ids, and one run proves nothing. */
TEST(report_of_little)
{
	write_plan("runs 2\nconcurrent 1\na ./a\nb ./b\n");
	make_run("a-1", "a pid 144 status 0\n");
	make_run("both-1", "a pid 144 status 0\nb pid 999 status 0\n");
	LAB(0, "experiment --report-only e");
	OUT_HAS("both-1: one of them had no queue when the other had its own");
	OUT_HAS("Same queue ids every run: not known, it ran alone only once");
	OUT_HAS("Same queue ids every run: not known, it did not run alone");
	OUT_HAS("Ids of A alone and B alone in common: not known");
	OUT_HAS("one run does not tell whether queue ids are the same");
}

/* The strategies: ids, pid; priority is above. */
TEST_EACH(strategies, 2)
{
	static const char *const reasons[] = {
		"Choose queues by id: queue ids are the same in each run: they",
		"Choose queues by pid: queue ids are not the same in each run",
	};

	write_plan("runs 2\nconcurrent 0\na ./a\n");
	make_run("a-1", "a pid 144 status 0\n");
	make_run("a-2", _i ? "a pid 156 status 0\n" : "a pid 144 status 0\n");
	LAB(0, "experiment --report-only e");
	OUT_HAS(reasons[_i]);
}

/* Text without ids, of a script, by the converter. */
TEST(of_a_script)
{
	static const char *const runs[] = {
		"model_a_run_1",
		"model_a_run_2",
		"model_b_run_1",
		"concurrent_run_1",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(runs); i++) {
		const char *when = i < 3 ? "during" : "both";

		copy_fixture(DRIVER "mqds",
			     unit_text("s/%s/mqd_%s_20260203_120005.txt", runs[i], when));
		copy_fixture(DRIVER "hqds",
			     unit_text("s/%s/hqd_%s_20260203_120006.txt", runs[i], when));
		make_text(unit_text("s/%s/model_a_pid.txt", runs[i]), "144\n");
		make_text(unit_text("s/%s/model_b_pid.txt", runs[i]), "156\r\n");
	}
	ck_assert(copy_fixture("tests/../docs/examples/script_results.py", "convert.py"));
	ck_assert_int_eq(system("python3 convert.py s e"), 0);
	LAB(0, "experiment --report-only e");
	OUT_HAS("| a-2 | 144 | 3 | - | 2 | 2 |\n");
	OUT_HAS("| b-1 | 156 | 1 | - | 1 | 1 |\n");
	OUT_HAS("Same queue ids every run: not known, the text has no ids\n\n"
		"Same number of queues every run: yes\n");
	OUT_HAS("both-1: ids in common: not known, 0 slots in common");
	LAB(0, "experiment --report-only e --json");
	expect_null("a.same_ids");
	expect_null("runs.3.overlap");
	expect_null("runs.0.a.exit_status");
}

TEST(nothing_there)
{
	ck_assert_int_eq(mkdir("e", 0700), 0);
	LAB(1, "experiment --report-only e");
	ERR_HAS("e is no experiment");
}

TEST_FIXTURE(system_setup, system_teardown)
