// SPDX-License-Identifier: GPL-2.0-only
/*
 * experiment: what it refuses, and its plan; and the report of runs that were made elsewhere.
 */
#include <sys/file.h>

#include "lab/experiment.h"
#include "unit-command.h"
#include "unit-text.h"

/* The VM cases experiment/ have runs with queues, their end by a signal and by a limit of time. */
static void setup(void)
{
	system_setup();
	make_text("made/kfd/mqds", "");
	make_text("made/kfd/hqds", "Node 1, gpu_id 2a:\n Device is stopped\n");
	make_text("made/kfd/rls", "");
}

/* A run without queues is none; what was written of it is root's alone. */
TEST_AS_ROOT(no_queue)
{
	LAB(1, "experiment --a 'echo out; echo err >&2' -o e --runs 1");
	ERR_HAS("model A ended before its queues were seen");
	ck_assert_str_eq(unit_file("e/a-1/a.out"), "out\n");
	ck_assert_uint_eq(mode_of("e"), 0700);
	ck_assert_uint_eq(mode_of("e/experiment"), 0600);
	ck_assert_uint_eq(mode_of("e/a-1/a.out"), 0600);
	ck_assert_uint_eq(mode_of("e/a-1/before/mqds"), 0600);
	LAB(1, "experiment --report-only e");
	ERR_HAS("e has no complete run of A alone");
}

/* A model: it has a GPU, and the driver's text has its queue. */
static const char model[] =
	"#!/bin/sh\n"
	"kfd=made/sys/class/kfd/kfd/proc/$$/queues/0\n"
	"view=made/sys/kernel/debug/gpreempt/pid/$$\n"
	"mkdir -p $kfd $view made/proc/$$\n"
	"cp /proc/$$/stat /proc/$$/status made/proc/$$\n"
	"echo 42 > $kfd/gpuid\n"
	"printf 'gpreempt-queues - version: 1.4\\n# qid gpu_id\\n0 0x2a\\n' > $view/queues\n"
	"sed s/MODEL/$$/ mqds > made/kfd/mqds\n"
	"kill -USR1 $PPID\n"
	"exec sleep 99\n";

/* Two runs of one model, each ended by its limit of time. */
TEST_AS_ROOT(runs)
{
	make_text("model", model);
	chmod("model", 0755);
	say("Process MODEL PASID 1:\n  Compute queue on device 2a\n");
	say_ring_mqd(0x17ba000, 0x7f0000100000);
	make_file("mqds", made, made_len);
	take_programs();
	LAB(0, "experiment --a 'exec ./model' -o e --runs 2 --duration 1s --json");
	expect_rows("runs", 2);
	expect_text("a.verdict", "consistent");
	expect_schema("experiment", unit_file("e/report.json"));
	HAS(unit_file("e/report.md"), "consistent");
	ck_assert_int_eq(access("e/a-2/during/mqds", F_OK), 0);
	ck_assert_int_ne(access("e/a-2/during.next", F_OK), 0);
	/* Ctrl-C before there are queues: what is complete stays, and can be gone on with. */
	LAB(128 + SIGINT, "experiment --a 'kill -INT $PPID; exec sleep 99' -o f --runs 2");
	ERR_HAS("interrupted\nnext: gpreempt-lab experiment --resume f goes on");
	LAB(2, "experiment --b x");
}

TEST_AS_ROOT(arguments)
{
	LAB(2, "experiment");
	LAB(2, "experiment --a x --resume e");
	LAB(2, "experiment --a a\nb");
	ERR_HAS("of one line");
	LAB(2, "experiment --a x --runs 101");
	ERR_HAS("more than 100 runs");
	LAB(1, "experiment --a x -o none/e");
	make_text("e/experiment", "x\n");
	LAB(1, "experiment --a x -o e");
	ERR_HAS("--resume goes on with one");
}

static const struct {
	const char *path;
	mode_t mode;
	uid_t owner;
	int status;
} trusts[] = {
	{ "e", 0755, 0, 0 },
	{ "e", 0777, 0, 4 },
	{ "e", 0770, 0, 4 },
	{ "e", 0755, 12, 4 },
	{ "e/experiment", 0644, 0, 0 },
	{ "e/experiment", 0664, 0, 4 },
	{ "e/experiment", 0646, 0, 4 },
	{ "e/experiment", 0600, 12, 4 },
};

TEST_EACH(whose_commands, unit_as_root("whose_commands") * ARRAY_SIZE(trusts))
{
	write_plan(PLAN);
	ck_assert_int_eq(chmod(trusts[_i].path, trusts[_i].mode), 0);
	ck_assert_int_eq(chown(trusts[_i].path, trusts[_i].owner, 0), 0);
	if (!trusts[_i].status) {
		LAB(1, "experiment --resume e");
		ERR_HAS("run a-1\n");
		return;
	}
	LAB(4, "experiment --resume e");
	ERR_HAS("its commands would be run");
	ck_assert_int_ne(access("ran", F_OK), 0);
	ck_assert_int_ne(access("e/a-1", F_OK), 0);
}

TEST_AS_ROOT(a_link_is_no_plan)
{
	write_plan(PLAN);
	ck_assert_int_eq(rename("e/experiment", "plan"), 0);
	ck_assert_int_eq(symlink("../plan", "e/experiment"), 0);
	LAB(4, "experiment --resume e");
	LAB(1, "experiment --report-only e");
	ERR_HAS("it is a link");
	LAB(1, "experiment --resume nothing");
	ERR_HAS("nothing is no experiment");
}

TEST_AS_ROOT(one_at_a_time)
{
	int fd;

	write_plan(PLAN);
	fd = open("e/experiment", O_RDONLY);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	LAB(7, "experiment --resume e");
	ERR_HAS("is at work there");
	close(fd);
}

static const char *const damaged[] = {
	"", "runs 2\n", "runs 101\na x\n", "a x\nruns 0\n", "runs 1\na x\nconcurrent 101\n",
};

TEST_EACH(damaged_plan, ARRAY_SIZE(damaged))
{
	write_plan(damaged[_i]);
	LAB(1, "experiment --report-only e");
	ERR_HAS("e/experiment is damaged");
}

TEST_FIXTURE(setup, system_teardown)

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
	LAB(0, "experiment --report-only e --json");
	expect_number("a.same_ids", !_i);
}

/* ROCm's log of a run; the runs are made elsewhere. */
TEST(amd_log)
{
	write_plan(PLAN);
	make_run("a-1", "a pid 144 status 0\n");
	make_run("b-1", "b pid 156 status 0\n");
	make_run("both-1", "a pid 144 status 0\nb pid 156 status 0\n");
	copy_fixture(DRIVER "mqds", "e/both-1/a-alone/mqds");
	copy_fixture(DRIVER "hqds", "e/both-1/a-alone/hqds");
	copy_fixture(DRIVER "queues-144", "e/both-1/a-alone/queues-144");
	make_text("e/a-1/a.err", "program\n"
				 ":4:rocvirtual.cpp :1: 1000 us: [pid:7 tid: 0x1] Created "
				 "SWq=0x5 to map on HWq=0xa0 with size 16\n"
				 ":4:rocvirtual.cpp :1: 9000 us: [pid:7 tid: 0x1] HWq=0xa0, "
				 "Dispatch Header = 0xb02 (type=2), rptr=5, wptr=9\n");
	LAB(0, "experiment --report-only e --json");
	expect_number("amd_log.a_alone.run_us", 8000);
	expect_null("amd_log.b_alone.dispatches");
	expect_number("runs.2.a_before_b", 1);
}

/* A log of a level below that of the packets: unknown, and not 0. */
TEST(amd_log_without_packets)
{
	write_plan(PLAN);
	make_run("a-1", "a pid 144 status 0\n");
	make_run("b-1", "b pid 156 status 0\n");
	ck_assert(copy_fixture("tests/unit/fixtures/amdlog/level4-of-rocm-7.12.log",
			       "e/a-1/a.err"));
	ck_assert(copy_fixture("tests/unit/fixtures/amdlog/hang-dump.log", "e/b-1/b.err"));
	LAB(0, "experiment --report-only e --json");
	expect_null("amd_log.a_alone.dispatches");
	expect_number("amd_log.a_alone.hardware_queues", 1);
	expect_null("amd_log.b_alone.dispatches");
	expect_null("amd_log.b_alone.hardware_queues");
	LAB(0, "experiment --report-only e");
	OUT_HAS("ROCm logs packets from AMD_LOG_LEVEL=5 on");
	ck_assert(strstr(ctl_out, "| dispatches | - | - | - | - |"));
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
