// SPDX-License-Identifier: GPL-2.0-only
/*
 * suspend, status and resume as a user runs them, over a made-up process, with
 * real holders: what is printed, and the exit status.
 */
#include "unit-ctl.h"
#include "unit-holder.h"
#include "unit-pausable.h"

static const char held_view[] = "gpreempt-queues - version: 1.0\n"
				"# qid gpu_id active slots suspended evicted priority\n"
				"0 0xf7bc 0 4 1 0 7\n1 0xf7bc 0 4 1 0 3\n";

TEST(held_and_resumed)
{
	struct hold_owner owner;

	set_view(target, held_view);
	CTL(0, "suspend %d " LEASE, target);
	owner = holder();
	OUT_LINE("suspended %d: 2 queues, ioctl ", target);
	OUT_HAS(" us, verified: yes\n");
	OUT_LINE("holder %d, guardian %d, lease: ", (int)owner.pid, (int)owner.guardian);
	OUT_LINE("release with: gpreempt-ctl resume %d\n", target);
	ck_assert_str_eq(ctl_err, "");
	CTL(0, "status");
	OUT_LINE("\n%d\t%d\t%d\t2\t", target, (int)owner.pid, (int)owner.guardian);
	OUT_LINE("\tsuspend\tgpreempt-ctl resume %d\t", target);
	ERR_HAS("cannot attach to these until they are released");
	ctl_line("doctor %d", target);
	OUT_LINE("\nok\ttarget\tprocess %d is held by gpreempt-ctl suspend (%d)", target,
		 (int)owner.pid);
	CTL(0, "resume %d", target);
	OUT_LINE("resumed %d: 2 queues, ioctl ", target);
	/* The holder has ended before the command returns. */
	ck_assert(is_free(target));
	CTL(0, "status");
	ck_assert_str_eq(ctl_out, "nothing is held\n");
	expect_no_holder();
}

/* In no slot, and it executes all the same. */
TEST_EACH(verified_by, 3)
{
	static const struct {
		const char *rows, *verified, *by;
		int status;
	} views[] = {
		{ "0 0 1 0\n1 0 1 0\n", "yes", "slots+waves", 0 },
		{ "0 0 1 -\n1 0 1 -\n", "yes", "slots", 0 },
		{ "0 0 1 0\n1 0 1 7\n", "no", "waves", GPREEMPT_CLASS_PARTIAL },
	};

	set_view(target, unit_text("gpreempt-queues - version: 1.4\n"
				   "# qid active suspended waves\n%s",
				   views[_i].rows));
	CTL(views[_i].status, "suspend %d " LEASE " --json", target);
	expect_text("targets.0.verified", views[_i].verified);
	expect_text("targets.0.verified_by", views[_i].by);
	if (views[_i].status)
		expect_text("targets.0.error", unit_text("process %d is held, and a queue of it is "
							 "in no slot and still has waves in flight",
							 target));
	CTL(0, "resume %d", target);
	expect_no_holder();
}

TEST(as_json)
{
	struct hold_owner owner;
	int64_t left;

	CTL(0, "suspend %d " LEASE " --json", target);
	owner = holder();
	expect_number("targets.0.pid", target);
	expect_number("targets.0.status", 0);
	expect_number("targets.0.queues", 2);
	expect_number("targets.0.holder", owner.pid);
	expect_number("targets.0.guardian", owner.guardian);
	/* Nothing shows the slots here, so that is not claimed. */
	expect_text("targets.0.verified", "not checked");
	expect_null("targets.0.verified_by");
	expect_null("targets.0.slots_us");
	expect_null("targets.0.error");
	left = json_object_get_int64(json_at("targets.0.lease_left_us"));
	ck_assert(left > 0 && left <= 60000000);
	CTL(0, "status --json");
	expect_number("holders.0.queues", 2);
	expect_number("holders.0.released_us", 0);
	expect_number("holders.0.churn", 0);
	ck_assert_str_eq(ctl_err, "");
	CTL(0, "resume %d --json", target);
	expect_number("targets.0.queues", 2);
	expect_number("targets.0.still_suspended", 0);
	expect_number("targets.0.held_before", 1);
	CTL(0, "status --json");
	expect_rows("holders", 0);
	expect_no_holder();
}

/* The holder of a target that is held makes the suspend, and the lease is new. */
TEST(held_already)
{
	struct hold_owner first, second;

	CTL(0, "suspend %d --queues 0 " LEASE, target);
	OUT_HAS(": 1 queue, ");
	first = holder();
	CTL(0, "suspend %d --queues 1", target);
	OUT_HAS("it was held already: what was asked for is added, the lease "
		"is new\n");
	OUT_HAS("lease: until resume");
	second = holder();
	ck_assert_uint_eq(first.pid, second.pid);
	CTL(0, "resume %d --queues 0", target);
	OUT_HAS(": 1 queue, ");
	OUT_LINE("1 queue of process %d is still suspended\n", target);
	CTL(0, "suspend %d --queues 0 " LEASE, target);
	CTL(0, "resume %d", target);
	OUT_HAS(": 2 queues, ");
	expect_no_holder();
	CTL(0, "resume %d", target);
	OUT_LINE("process %d is not held: nothing to resume\n", target);
}

TEST(some_are_not_there)
{
	CTL(GPREEMPT_CLASS_PARTIAL, "suspend %d --queues 1,9 " LEASE, target);
	OUT_HAS(": 1 queue, ");
	ERR_HAS("queue 9 of process ");
	ERR_HAS("there is no such queue");
	ERR_HAS("next: look at the queues: gpreempt-ctl queues ");
	CTL(0, "resume %d", target);
	expect_no_holder();
	/* None of them: nothing is held, and no holder stays. */
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d --queues 8,9 " LEASE, target);
	ck_assert_str_eq(ctl_out, "");
	expect_no_holder();
}

TEST(no_queues_yet)
{
	loop.count = 0;
	CTL(0, "suspend %d " LEASE, target);
	ERR_HAS("has no queues now; new ones will be suspended");
	CTL(0, "resume %d", target);
	expect_no_holder();
	CTL(0, "suspend %d --priority >=3 " LEASE, target);
	ERR_HAS("has no such queues now");
	CTL(0, "resume %d", target);
	expect_no_holder();
}

/* Refused before there is a holder, or by it: an exit status, and no lock. */
TEST(refused)
{
	CTL(GPREEMPT_CLASS_NO_TARGET, "suspend 4194303");
	CTL(GPREEMPT_CLASS_NO_TARGET, "resume 4194303");
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	gp_loop_fail(&loop, "seize", 0, -EPERM);
	ck_assert_int_ne(ctl_line("suspend %d", target), 0);
	ck_assert_str_eq(ctl_out, "");
	ERR_HAS("next: ");
	expect_no_holder();
	loop.kfd = false;
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "suspend %d", target);
	expect_no_holder();
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "suspend %d --json", target);
	expect_number("targets.0.status", GPREEMPT_CLASS_UNSUPPORTED);
	expect_null("targets.0.holder");
	expect_no_holder();
}

/* All of it, and it is printed which way and why; never where a part is asked for. */
TEST(paused_instead)
{
	unit_make_pausable(target);
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "suspend %d --how debug", target);
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "suspend %d --queues 0", target);
	ck_assert(!strstr(loop.trace, "pause"));
	expect_no_holder();
	CTL(0, "suspend %d --json", target);
	expect_text("targets.0.how", "pause");
	HAS(json_text("targets.0.not_debug_because"), "did not enable the KFD runtime");
	/* The driver of this test is the holder's own copy. */
	CTL(0, "status");
	OUT_HAS("\tpause\t");
	CTL(0, "resume %d", target);
	OUT_LINE("resumed %d: ", target);
	expect_no_holder();
}

/* A grace of which the GPU's clock is not known. */
TEST(bad_grace)
{
	ck_assert_int_ne(ctl_line("suspend %d --grace 50us", target), 0);
	ERR_HAS("gpreempt-ctl: ");
	ERR_HAS("next: ");
	expect_no_holder();
}

TEST(not_root)
{
	ck_assert_int_eq(seteuid(65534), 0);
	CTL(GPREEMPT_CLASS_PERMISSION, "suspend %d", target);
	ERR_HAS("root");
	CTL(GPREEMPT_CLASS_PERMISSION, "resume %d", target);
	CTL(GPREEMPT_CLASS_PERMISSION, "status");
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert(is_free(target));
}

/* Two targets of which one can't be held: the other one is. */
TEST(in_part)
{
	pid_t other = unit_make_sleeper();

	set_file("/sys/class/kfd/kfd/proc/", unit_text("%d\n%d", target, other));
	set_file(unit_text("/proc/%d/stat", other),
		 unit_text("%d (x) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 "
			   "0 3 0 888 100\n",
			   other));
	CTL(GPREEMPT_CLASS_PARTIAL, "suspend %d %d " LEASE " --json", target, other);
	expect_rows("targets", 2);
	expect_number("targets.0.status", 0);
	ck_assert_str_ne(json_text("targets.1.status"), "0");
	holder();
	ck_assert(is_free(other));
	/* To resume what is not held is no mistake. */
	CTL(0, "resume %d %d", target, other);
	OUT_LINE("resumed %d: 2 queues", target);
	OUT_LINE("process %d is not held", other);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	expect_no_holder();
}

TEST_FIXTURE(holder_setup, holder_teardown)
