// SPDX-License-Identifier: GPL-2.0-only
/*
 * suspend --how pause, resume and repair: the journal, and the calls of the driver, at each
 * failure. test_owner has the calls of a holder, which is another process here.
 */
#include "hold/run-dir.h"
#include "unit-ctl.h"
#include "unit-holder.h"
#include "unit-pausable.h"

#define START 777 /* start time of the target */

#define HEAD                               \
	"gpreempt-queues - version: 1.0\n" \
	"# qid gpu_id active slots suspended evicted priority age_ms\n"

static const char off_view[] = HEAD "0 0xf7bc 0 4 0 1 7 0\n";
static const char on_view[] = HEAD "0 0xf7bc 4 4 0 0 7 0\n";
static const char old_view[] = HEAD "0 0xf7bc 0 4 0 0 7 12\n";

static struct pause_entry entry;

static void setup(void)
{
	holder_setup();
	hold_dir_setup();
	gp_loop_remove_queue(&loop, 1);
	set_view(target, off_view);
	unit_open_kfd(target);
	unit_clear_trace();
}

/* Is the driver asked for anything? */
static bool asked(void)
{
	return strstr(loop.trace, "seize") || strstr(loop.trace, "pause");
}

static void expect_no_entry(void)
{
	ck_assert_int_eq(pause_journal_read(target, &entry), -ENOENT);
	ck_assert(is_free(target));
}

static void expect_paused(void)
{
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(pause_journal_read(target, &entry), 0);
}

/* Leave a pause of a process that has ended, or that still has the lock. */
static void leave(uint64_t start)
{
	struct pause_entry e;

	pause_entry_init(&e, target, start);
	ck_assert_int_eq(pause_journal_write(&e), 0);
	loop.paused = true;
	loop.evicted = 1;
}

TEST(paused_and_resumed)
{
	CTL(0, "suspend %d --how pause " LEASE, target);
	OUT_LINE("paused %d: 1 queue, ioctl ", target);
	ck_assert_int_eq(pause_journal_read(target, &entry), 0);
	ck_assert_uint_eq(entry.start, START);
	ck_assert_uint_eq(entry.by, holder().pid);
	CTL(0, "suspend %d --how pause " LEASE, target);
	OUT_HAS("it was held already");
	CTL(0, "status");
	OUT_LINE("gpreempt-ctl resume %d", target);
	CTL(0, "repair");
	OUT_HAS("owned");
	/* The view shows no pause while it is old, or without the module. */
	set_view(target, old_view);
	ctl_line("doctor %d", target);
	OUT_LINE("process %d is paused by gpreempt-ctl suspend (%d)", target, (int)holder().pid);
	ck_assert_ptr_null(strstr(ctl_out, "can be"));
	CTL(0, "resume %d", target);
	OUT_LINE("resumed %d: 1 queue, ioctl ", target);
	expect_no_holder();
	expect_no_entry();
	CTL(0, "resume %d", target);
	OUT_LINE("process %d is not held", target);
}

/* The view decides, and not that the driver returned 0. */
TEST_EACH(verified, 3)
{
	static const struct {
		const char *view;
		const char *verdict;
		int status;
	} views[] = {
		{ off_view, "verified: yes", 0 },
		{ on_view, "verified: no\n", GPREEMPT_CLASS_PARTIAL },
		{ old_view, "verified: not checked", 0 },
	};

	set_view(target, views[_i].view);
	CTL(views[_i].status, "suspend %d --how pause " LEASE, target);
	OUT_HAS(views[_i].verdict);
	resume_target();
}

#define VIEW_FILE "/sys/kernel/debug/gpreempt/"

static const char paused_view[] = "gpreempt-queues - version: 1.3\n"
				  "# qid gpu_id state\n0 0xf7bc paused\n";
/* Make the pause ours while status looks. */
static const char *view_with_entry(struct gp_loop *l)
{
	(void)l;
	if (pause_journal_read(target, &entry))
		leave(START);
	return paused_view;
}

/* status shows the pause of another program, and not as ours. */
TEST(status_of_another)
{
	set_view(target, paused_view);
	set_file(VIEW_FILE "processes",
		 unit_text("gpreempt-processes - version: 1.3\n# pid queues paused\n%d 2 1\n",
			   target));
	CTL(0, "status");
	OUT_LINE("\n%d\t-\t-\t2\t-\t-\tother\t-\tpause\t", target);
	ERR_LINE("process %d is paused by another program", target);
	ck_assert_ptr_null(strstr(ctl_err, "cannot attach"));
	CTL(0, "status --json");
	expect_text("holders.0.role", "other");
	expect_text("holders.0.how", "pause");
	/* The pause is ours if its entry was there, or comes meanwhile. */
	loop.view = view_with_entry;
	CTL(0, "status");
	ck_assert_str_eq(ctl_out, "nothing is held\n");
	loop.view = NULL;
	CTL(0, "status");
	OUT_HAS("\tpause\tgpreempt-ctl repair\tpause\t");
	ck_assert_ptr_null(strstr(ctl_out, "\tother\t"));
	/* The pause is unknown without the column. */
	pause_journal_remove(target);
	set_file(VIEW_FILE "processes",
		 unit_text("gpreempt-processes - version: 1.0\n# pid queues\n%d 2\n", target));
	CTL(0, "status");
	ck_assert_str_eq(ctl_out, "nothing is held\n");
}

/* A pause that cannot be repaired now is not held on top of it. */
TEST(others_see_it)
{
	leave(START);
	gp_loop_fail(&loop, "seize", 0, -EPERM);
	CTL(GPREEMPT_CLASS_BUSY, "suspend %d", target);
	ERR_LINE("process %d is paused by gpreempt-ctl suspend", target);
	ERR_LINE("gpreempt-ctl resume %d", target);
	CTL(GPREEMPT_CLASS_BUSY, "preempt %d --count 1", target);
	ERR_LINE("process %d is paused by gpreempt-ctl suspend", target);
	CTL(GPREEMPT_CLASS_BUSY, "suspend %d --how pause --for 1m", target);
	expect_paused();
	ck_assert(is_free(target));
}

/* preempt pauses on request, and where KFD's debug interface cannot suspend. */
TEST_EACH(preempted, 2)
{
	if (_i)
		loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	CTL(0, "preempt %d --count 2 --hold 1ms --interval 1ms --how %s --json", target,
	    _i ? "auto" : "pause");
	expect_number("succeeded", 2);
	expect_text("targets.0.how", "pause");
	if (_i)
		ERR_HAS("did not enable the KFD runtime");
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
}

TEST(repairs_what_waits)
{
	leave(START);
	CTL(0, "status");
	ERR_LINE("process %d was left paused", target);
	CTL(0, "repair --dry-run");
	OUT_HAS("waits");
	OUT_HAS("nothing");
	ck_assert(!asked());
	ck_assert_int_eq(loop.evicted, 1);
	CTL(0, "repair %d --json", target);
	expect_text("pauses.0.found", "waits");
	expect_text("pauses.0.done", "unpaused");
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
	CTL(0, "repair");
	OUT_HAS("nothing is paused");
}

/* A pause of which no holder answers is undone for all queues, as it was made. */
TEST(resumes_what_waits)
{
	leave(START);
	CTL(GPREEMPT_CLASS_USAGE, "resume %d --queues 0", target);
	ERR_HAS("next: leave out --queues, --priority and --gpu\n");
	ck_assert(!asked());
	CTL(0, "resume %d", target);
	OUT_LINE("resumed %d: ", target);
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
}

/* A kill between the entry and the ioctl leaves such an entry. */
TEST(repairs_what_was_not_paused)
{
	leave(START);
	loop.paused = false;
	loop.evicted = 0;
	CTL(0, "repair");
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
}

TEST(repair_fails)
{
	leave(START);
	gp_loop_fail(&loop, "seize", 1, -EPERM);
	CTL(GPREEMPT_CLASS_PERMISSION, "repair --json");
	expect_number("pauses.0.status", GPREEMPT_CLASS_PERMISSION);
	ck_assert_ptr_nonnull(json_at("pauses.0.error"));
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(pause_journal_read(target, &entry), 0);
	CTL(0, "repair");
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
}

TEST(suspend_repairs)
{
	leave(START);
	CTL(0, "suspend %d --how pause " LEASE, target);
	ERR_LINE("process %d was left paused", target);
	ck_assert_int_eq(loop.evicted, 0);
	resume_target();
}

/* Guard and follow repair before they give up the rights for it; then each has no target. */
TEST_EACH(guard_and_follow_repair, 2)
{
	leave(START);
	if (_i)
		ck_assert_int_ne(ctl_line("follow 4194303"), 0);
	else
		ck_assert_int_ne(ctl_line("guard --online 4194301 --offline 4194303"), 0);
	ERR_LINE("process %d was left paused", target);
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
}

TEST(not_what_has_an_owner)
{
	struct hold_owner owner = { .role = HOLD_ROLE_FOLLOW, .pid = 1 };
	int lock = hold_take(target, &owner);

	leave(START);
	CTL(0, "repair");
	OUT_HAS("owned");
	CTL(GPREEMPT_CLASS_BUSY, "suspend %d --how pause", target);
	CTL(GPREEMPT_CLASS_BUSY, "suspend %d", target);
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(pause_journal_read(target, &entry), 0);
	ck_assert(!asked());
	hold_drop(target, lock);
}

/* The number is another process's, which another program may have paused. */
TEST(not_another_process)
{
	leave(START - 1);
	CTL(0, "repair");
	OUT_HAS("stale");
	OUT_HAS("removed");
	ck_assert(!asked());
	ck_assert_int_eq(loop.evicted, 1);
	expect_no_entry();
	leave(START - 1);
	CTL(0, "resume %d", target);
	OUT_LINE("process %d is not held", target);
	ck_assert(!asked());
}

TEST(not_what_is_damaged)
{
	const char *path = unit_text(HOLD_DIR "/%d.pause", target);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	ck_assert_int_eq(write(fd, "x", 1), 1);
	close(fd);
	loop.paused = true;
	loop.evicted = 1;
	CTL(GPREEMPT_CLASS_FAILED, "repair");
	ERR_LINE("%d.pause is damaged", target);
	CTL(GPREEMPT_CLASS_FAILED, "resume %d", target);
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d --how pause", target);
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", target);
	CTL(0, "status");
	ERR_LINE("%d.pause is damaged", target);
	ck_assert(!asked());
	ck_assert_int_eq(pause_journal_read(target, &entry), -EPROTO);
}

static const char evicted_view[] = "gpreempt-queues - version: 1.3\n"
				   "# qid gpu_id evicted state age_ms\n0 0xf7bc 1 evicted 0\n";
static const char running_view[] = "gpreempt-queues - version: 1.3\n"
				   "# qid gpu_id evicted state age_ms\n0 0xf7bc 0 active 0\n";

/* The program that paused it has ended, and only the user knows that. */
TEST(resume_by_force)
{
	loop.paused = true;
	loop.evicted = 1;
	set_view(target, paused_view);
	CTL(GPREEMPT_CLASS_BUSY, "resume %d", target);
	ERR_HAS("gpreempt-ctl resume --force");
	ck_assert_int_eq(loop.evicted, 1);
	CTL(0, "resume %d --force", target);
	OUT_LINE("resumed %d: 1 queue, ioctl ", target);
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
	set_view(target, running_view);
	unit_clear_trace();
	CTL(0, "resume %d --force", target);
	OUT_LINE("process %d is not held", target);
	ck_assert(!asked());
}

/* The driver fails to restore the process: a user who asks again has looked whether it runs. */
TEST(unpause_fails)
{
	leave(START);
	set_view(target, evicted_view);
	gp_loop_fail(&loop, "unpause", 1, -EIO);
	CTL(GPREEMPT_CLASS_FAILED, "repair");
	ck_assert_int_eq(pause_journal_read(target, &entry), 0);
	set_view(target, running_view);
	gp_loop_fail(&loop, "unpause", 0, -EIO);
	CTL(0, "repair");
	expect_no_entry();
}

/* No entry is stale where start times are others. */
TEST(in_another_time_namespace)
{
	leave(START + 100);
	set_file("/proc/self/ns/time", "time:[4026532500]");
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "repair");
	ERR_HAS("this is not the host's namespace of processes or of time");
	CTL(0, "status");
	ck_assert_int_eq(pause_journal_read(target, &entry), 0);
}

TEST_FIXTURE(setup, holder_teardown)
