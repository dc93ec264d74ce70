// SPDX-License-Identifier: GPL-2.0-only
/* suspend, from its command line to a real holder and back; a holder that cannot be made. */
#include "unit-command.h"
#include "unit-holder.h"
#include "unit-pausable.h"

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
	resume_target();
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

TEST(no_queues_yet)
{
	loop.count = 0;
	CTL(0, "suspend %d " LEASE, target);
	ERR_HAS("has no queues now; new ones will be suspended");
	resume_target();
	CTL(0, "suspend %d --priority >=3 " LEASE, target);
	ERR_HAS("has no such queues now");
	CTL(0, "resume --all");
	OUT_LINE("resumed %d: ", target);
	expect_no_holder();
	CTL(0, "resume --all");
	ck_assert_str_eq(ctl_out, "nothing is held\n");
	/* Queues that do not come in that time. */
	CTL(GPREEMPT_CLASS_NO_TARGET, "suspend %d --wait 1ms", target);
	ERR_LINE("process %d has no such queue yet\nnext: ", target);
	expect_no_holder();
}

/* Refused before there is a holder, or by it: an exit status, and no lock. */
TEST(refused)
{
	CTL(GPREEMPT_CLASS_NO_TARGET, "suspend 4194303");
	CTL(GPREEMPT_CLASS_NO_TARGET, "resume 4194303");
	/* The number that it has in its container. */
	set_file(unit_text("/proc/%d/status", target),
		 unit_text("Name:\tx\nState:\tS\nTgid:\t%d\nTracerPid:\t0\nNSpid:\t%d\t4194303\n"
			   "Threads:\t1\n",
			   target, target));
	CTL(GPREEMPT_CLASS_NO_TARGET, "suspend 4194303");
	ERR_LINE("inside of a container it is %d\nnext: give the PID of the host\n", target);
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

/* All of it, and it is printed by which method and why; never where a part is asked for. */
TEST(paused_instead)
{
	unit_make_pausable(target);
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "suspend %d --queues 0", target);
	ck_assert(!strstr(loop.trace, "pause"));
	expect_no_holder();
	CTL(0, "suspend %d --json", target);
	expect_text("targets.0.how", "pause");
	HAS(json_text("targets.0.not_debug_because"), "did not enable the KFD runtime");
	resume_target();
}

/* The command stays until its target is resumed. */
TEST(in_foreground)
{
	pid_t child = fork();

	if (!child)
		_exit(ctl_line("suspend %d --foreground", target));
	UNIT_WAIT(!is_free(target));
	CTL(0, "resume %d", target);
	ck_assert_int_eq(unit_status(child), 0);
	expect_no_holder();
}

TEST(no_process_for_it)
{
	/* The guardian; then its worker, which the holder reports itself. */
	unit_fork_fails = 1;
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", target);
	ERR_HAS("starting the holder");
	ERR_HAS("Resource temporarily unavailable");
	ck_assert(is_free(target));
	unit_fork_fails = 2;
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", target);
	ERR_HAS("making the holder's worker");
	unit_fork_fails = 0;
	expect_no_holder();
	CTL(0, "suspend %d " LEASE, target);
	resume_target();
}

/* Frozen in there a holder could not be killed, nor its target. */
TEST(old_freezer)
{
	unit_fail_path("/proc/self/cgroup", EMFILE);
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", target);
	ERR_HAS("reading /proc/self/cgroup");
	unit_path_fails = NULL;
	unit_cgroup_of(0, "7:freezer:/job\n0::/\n");
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", target);
	ERR_HAS("leaving the old freezer (cgroup v1)");
	expect_no_holder();
	unit_cgroups_mounted(true, true);
	unit_freezer_stays = true;
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", target);
	ERR_HAS("leaving the old freezer (cgroup v1)");
	ck_assert(unit_freezer_left());
	expect_no_holder();
	unit_freezer_stays = false;
	CTL(0, "suspend %d " LEASE, target);
	resume_target();
}

/* A GPU on which a preemption failed before is named, unless the process has no queue there. */
static const struct {
	const char *gpu, *note;
} failures[] = {
	{ "amdgpu: ", "a GPU: preemption failed 1 time, the last at 20.000000 s after boot" },
	{ "amdgpu 0000:03:00.0: amdgpu: ", "GPU 0000:03:00.0: preemption failed 1 time" },
	{ "amdgpu 0000:04:00.0: amdgpu: ", NULL },
	{ "nvidia: ", NULL },
};

TEST_EACH(failed_before, ARRAY_SIZE(failures))
{
	unit_one_gpu("gfx_target_version 90402\nlocation_id 768\ndomain 0\n");
	set_view(target, "gpreempt-queues - version: 1.4\n# qid gpu_id active suspended\n"
			 "0 0xf7bc 0 1\n1 0xf7bc 0 1\n");
	make_text("made/dev/kmsg", unit_text("3,1,20000000,-;%sqcm fence wait loop timeout "
					     "expired\n",
					     failures[_i].gpu));
	CTL(0, "suspend %d " LEASE " --json", target);
	if (failures[_i].note)
		ERR_HAS(failures[_i].note);
	else
		ck_assert_str_eq(ctl_err, "");
	/* The process is held already: the note was there. */
	CTL(0, "suspend %d " LEASE, target);
	ck_assert_ptr_null(strstr(ctl_err, "preemption failed"));
	ck_assert_int_eq(remove("made/dev/kmsg"), 0);
	resume_target();
}

TEST_FIXTURE(holder_setup, holder_teardown)
