// SPDX-License-Identifier: GPL-2.0-only
/* diff: of a process, of text without ids, of monitors, of nothing. */
#include "lab/diff.h"
#include "unit-command.h"

TEST(diff_of_a_process)
{
	make_text("idle/mqds", "");
	copy_fixture(DRIVER "hqds", "idle/hqds");
	LAB(0, "diff idle now --pid 144");
	ERR_HAS("process 144 is not in idle: it has no queue there");
	OUT_HAS("queue ids: 0 common, 0 only in A, 3 only in B, overlap 0%: "
		"not consistent\n");
	OUT_HAS("queues in mqds: A 0, B 3\n");
	LAB(0, "diff now idle --pid 144");
	ERR_HAS("process 144 is not in idle");
	LAB(0, "diff ./now now --pid 144");
	OUT_HAS("queue ids: 3 common, 0 only in A, 0 only in B, overlap 100%: "
		"consistent\n");
	OUT_HAS("rings: 3 common");
	LAB(5, "diff now idle --pid 9");
	ERR_HAS("process 9 is not in either of them");
	LAB(5, "diff now idle --pid-a 144 --pid-b 144");
	ERR_HAS("process 144 is not in idle");
	LAB(5, "diff idle now --pid-a 144 --pid-b 144");
	LAB(2, "diff ./now now --pid-a 144");
}

TEST(diff_of_nothing)
{
	make_text("a/mqds", "");
	make_text("a/hqds", "Node 1, gpu_id 2d60:\n Inst 0,  CP Pipe 0, Queue 2\n");
	LAB(0, "diff a/mqds a/mqds");
	OUT_HAS("overlap not known: there are none\n");
	OUT_HAS("CP slots: not known");
	LAB(0, "diff --json a/mqds a/mqds");
	expect_null("queue_counts.overlap");
	expect_null("queue_counts.verdict");
	expect_null("slot_counts");
	expect_number("queues_a", 0);
	/* A slot without registers may be active: that is not known. */
	LAB(6, "diff --json a now");
	expect_null("slot_counts");
	ERR_HAS("1 problems in the text");
}

/* Text alone has no ids, but numbers and rings. */
TEST(diff_without_ids)
{
	make_other_rings("other");
	LAB(0, "diff --json now/mqds other");
	expect_null("queue_counts");
	expect_number("queues_a", 4);
	expect_number("queues_b", 4);
	/* The two have only the SDMA queue's ring in common. */
	expect_number("ring_counts.common", 1);
	expect_number("ring_counts.only_a", 3);
	expect_text("ring_counts.verdict", "not consistent");
	LAB(0, "diff now/hqds other");
	OUT_HAS("queues in mqds: A not known, B 4\n");
	LAB(0, "diff ./now now --pid-a 144 --pid-b 156 --json");
	expect_null("ring_counts");
	expect_number("shared_queues", 0);
}

TEST(diff_fails)
{
	LAB(1, "diff nothing now");
	LAB(1, "diff now nothing");
	LAB(2, "diff - -");
}

TEST(diff_of_monitors)
{
	make_text("a.csv", "t_s,pid,queues,ids\n0.0,10,2,\"0,1\"\r\n1.0,10,0,-\n");
	make_text("b.csv", "t_s,pid,queues,ids\n0.0,20,2,\"1,2\"\n");
	make_text("c.csv", "t_s,a\n");
	make_text("d.csv", "t_s,pid,ids\n0.0,10,x\n0.0,y,1\n0,10,\"1\n0.0,10,1");
	LAB(0, "diff a.csv b.csv --pid-a 10 --pid-b 20");
	OUT_HAS("queue ids: 1 common, 1 only in A, 1 only in B, overlap 50%: "
		"not consistent\n");
	OUT_HAS("share no queue");
	ck_assert_ptr_null(strstr(ctl_out, "queues in mqds"));
	LAB(1, "diff c.csv b.csv");
	ERR_HAS("no columns pid and ids");
	LAB(6, "diff a.csv d.csv");
	ERR_HAS("4 lines could not be read, the first is line 2");
}

/* A snapshot without the module has sysfs's ids. */
TEST(ids_of_sysfs)
{
	copy_fixture(DRIVER "mqds", "a/mqds");
	make_text("a/sysfs", "# pid qid gpu_id size type\n144 0 0x2d60 1 2\n"
			     "144 0 0x2d60 1 2\n144 7 0x2d60 1 2\nx\n");
	LAB(0, "diff a now --pid 144");
	OUT_HAS("queue ids: 1 common, 1 only in A, 2 only in B, overlap 33%");
}

TEST(verdicts)
{
	ck_assert_int_eq(diff_judge(0.81), DIFF_CONSISTENT);
	ck_assert_int_eq(diff_judge(0.8), DIFF_PARTLY);
	ck_assert_int_eq(diff_judge(0.5), DIFF_NOT);
	ck_assert_int_eq(diff_judge(-1), DIFF_UNKNOWN);
	ck_assert_str_eq(diff_verdict_name(DIFF_PARTLY), "partly consistent");
}

TEST_FIXTURE(snapshots_setup, command_teardown)
