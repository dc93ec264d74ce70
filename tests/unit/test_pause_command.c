// SPDX-License-Identifier: GPL-2.0-only
/*
 * suspend --how pause, resume and repair over a made-up process: the journal, and the calls of
 * the driver, at each failure.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hold/run-dir.h"
#include "unit-ctl.h"
#include "unit-host.h"
#include "unit-pausable.h"

#define ENTRY HOLD_DIR "/4194242.pause"
#define START 777 /* start time of the made-up process */

#define HEAD                               \
	"gpreempt-queues - version: 1.0\n" \
	"# qid gpu_id active slots suspended evicted priority age_ms\n"

static const char off_view[] = HEAD "0 0xf7bc 0 4 0 1 7 0\n";
static const char on_view[] = HEAD "0 0xf7bc 4 4 0 0 7 0\n";
static const char old_view[] = HEAD "0 0xf7bc 0 4 0 0 7 12\n";

static struct pause_entry entry;

static void setup(void)
{
	hold_dir_setup();
	unit_cgroups_start();
	unit_setup();
	gp_loop_add_queue(&loop, 0);
	set_view(PID, off_view);
	unit_open_kfd(PID);
	unit_clear_trace();
}

static void teardown(void)
{
	unit_path_fails = NULL;
	unit_teardown();
	unit_cgroups_stop();
}

/* Is the driver asked for anything? */
static bool asked(void)
{
	return strstr(loop.trace, "seize") || strstr(loop.trace, "pause");
}

static void expect_no_entry(void)
{
	ck_assert_int_eq(pause_journal_read(PID, &entry), -ENOENT);
	ck_assert_int_ne(access(HOLD_DIR "/4194242.lock", F_OK), 0);
}

static void expect_kept(void)
{
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(pause_journal_read(PID, &entry), 0);
	ck_assert_int_eq(entry.state, PAUSE_KEPT);
}

/* Leave a pause of a process that has ended, or that still has the lock. */
static void leave(enum pause_state state, uint64_t start)
{
	struct pause_entry e;

	pause_entry_init(&e, PID, start);
	e.state = state;
	ck_assert_int_eq(pause_journal_write(&e), 0);
	loop.paused = true;
	loop.evicted = 1;
}

TEST(paused_and_resumed)
{
	CTL(0, "suspend %d --how pause --detach", PID);
	OUT_HAS("paused 4194242: 1 queue, ioctl ");
	OUT_HAS("it stays paused until gpreempt-ctl resume 4194242");
	expect_kept();
	ck_assert_uint_eq(entry.start, START);
	ck_assert_int_eq(entry.by, getpid());
	/* No process has the lock: none is needed. */
	ck_assert_int_ne(access(HOLD_DIR "/4194242.lock", F_OK), 0);
	CTL(0, "suspend %d --how pause --detach", PID);
	OUT_HAS("process 4194242 was paused already");
	ck_assert_int_eq(loop.evicted, 1);
	CTL(0, "status");
	OUT_HAS("gpreempt-ctl resume 4194242");
	CTL(0, "resume %d", PID);
	OUT_HAS("resumed 4194242: 1 queue, ioctl ");
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
	CTL(0, "resume %d", PID);
	OUT_HAS("process 4194242 is not held");
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

	set_view(PID, views[_i].view);
	CTL(views[_i].status, "suspend %d --how pause --detach", PID);
	OUT_HAS(views[_i].verdict);
}

TEST(not_for_a_part)
{
	CTL(GPREEMPT_CLASS_USAGE, "suspend %d --how pause --queues 0", PID);
	ERR_HAS("--queues: not with --how pause");
	CTL(GPREEMPT_CLASS_USAGE, "suspend %d --how pause --priority 3", PID);
	ERR_HAS("--priority: not with --how pause");
	CTL(GPREEMPT_CLASS_USAGE, "suspend %d --how pause --gpu f7bc", PID);
	ERR_HAS("--gpu: not with --how pause");
	CTL(GPREEMPT_CLASS_USAGE, "suspend %d --how pause --grace 1us", PID);
	ERR_HAS("--grace: not with --how pause");
	CTL(GPREEMPT_CLASS_USAGE, "suspend %d --how never", PID);
	ck_assert(!asked());
	leave(PAUSE_KEPT, START);
	CTL(GPREEMPT_CLASS_USAGE, "resume %d --queues 0", PID);
	expect_kept();
	ck_assert(!asked());
}

/* A pause that cannot be written is refused before the driver is asked. */
TEST(no_journal_no_pause)
{
	unit_path_fails = ".pause.new";
	unit_path_errno = ENOSPC;
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d --how pause --detach", PID);
	ERR_HAS("cannot note process 4194242");
	ERR_HAS("next: make room in ");
	ck_assert(!asked());
	unit_path_fails = NULL;
	expect_no_entry();
}

/* The driver fails: no process is left paused, and nothing is tried again. */
TEST(driver_fails)
{
	gp_loop_fail(&loop, "pause", 1, -EIO);
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d --how pause --detach", PID);
	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_ptr_null(strstr(strstr(loop.trace, " pause ") + 1, " pause "));
	expect_no_entry();
}

/* The command fails before it touches another program's pause. */
TEST(attach_fails)
{
	loop.paused = true;
	loop.evicted = 1;
	gp_loop_fail(&loop, "seize", 1, -EPERM);
	CTL(GPREEMPT_CLASS_PERMISSION, "suspend %d --how pause --detach", PID);
	ck_assert_int_eq(loop.evicted, 1);
	expect_no_entry();
}

TEST(paused_by_another)
{
	loop.paused = true;
	loop.evicted = 1;
	CTL(GPREEMPT_CLASS_BUSY, "suspend %d --how pause --detach", PID);
	ERR_HAS("process 4194242 is paused by another program");
	ck_assert_int_eq(loop.evicted, 1);
	expect_no_entry();
	unit_clear_trace();
	CTL(0, "resume %d", PID);
	CTL(0, "repair");
	ck_assert(!asked());
	ck_assert_int_eq(loop.evicted, 1);
}

#define VIEW_FILE "/sys/kernel/debug/gpreempt/"

static const char paused_view[] = "gpreempt-queues - version: 1.3\n"
				  "# qid gpu_id state\n0 0xf7bc paused\n";
static const char processes[] = "gpreempt-processes - version: 1.3\n"
				"# pid queues paused\n4194242 2 1\n";
/* Make the pause ours while status looks. */
static const char *view_with_entry(struct gp_loop *l)
{
	(void)l;
	if (access(ENTRY, F_OK))
		leave(PAUSE_KEPT, START);
	return paused_view;
}

/* status shows the pause of another program, and not as ours. */
TEST(status_of_another)
{
	set_view(PID, paused_view);
	set_file(VIEW_FILE "processes", processes);
	CTL(0, "status");
	OUT_HAS("\n4194242\t-\t-\t2\t-\t-\tother\t-\tpause\t");
	ERR_HAS("process 4194242 is paused by another program");
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
	OUT_HAS("\tpause\tgpreempt-ctl resume 4194242\tpause\t");
	ck_assert_ptr_null(strstr(ctl_out, "\tother\t"));
	/* The pause is unknown without the column. */
	pause_journal_remove(PID);
	set_file(VIEW_FILE "processes", "gpreempt-processes - version: 1.0\n"
					"# pid queues\n4194242 2\n");
	CTL(0, "status");
	ck_assert_str_eq(ctl_out, "nothing is held\n");
}

/* A debugger is in the way: the entry stays, and the next one works. */
TEST(resume_fails)
{
	leave(PAUSE_KEPT, START);
	gp_loop_fail(&loop, "seize", 1, -EPERM);
	CTL(GPREEMPT_CLASS_PERMISSION, "resume %d", PID);
	expect_kept();
	CTL(0, "resume %d", PID);
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
}

TEST(others_see_it)
{
	leave(PAUSE_KEPT, START);
	CTL(GPREEMPT_CLASS_BUSY, "suspend %d", PID);
	ERR_HAS("process 4194242 is paused by gpreempt-ctl suspend");
	ERR_HAS("gpreempt-ctl resume 4194242");
	CTL(GPREEMPT_CLASS_BUSY, "preempt %d --count 1", PID);
	ERR_HAS("process 4194242 is paused by gpreempt-ctl suspend");
	CTL(GPREEMPT_CLASS_BUSY, "suspend %d --how pause --for 1m", PID);
	expect_kept();
	ck_assert(!asked());
	ck_assert_int_ne(access(HOLD_DIR "/4194242.lock", F_OK), 0);
}

TEST(repairs_what_waits)
{
	leave(PAUSE_BEGUN, START);
	CTL(0, "status");
	ERR_HAS("process 4194242 was left paused");
	CTL(0, "repair --dry-run");
	OUT_HAS("waits");
	OUT_HAS("nothing");
	ck_assert(!asked());
	ck_assert_int_eq(loop.evicted, 1);
	CTL(0, "repair %d", PID);
	OUT_HAS("waits");
	OUT_HAS("unpaused");
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
	CTL(0, "repair");
	OUT_HAS("nothing is paused");
}

/* A kill between the entry and the ioctl leaves such an entry. */
TEST(repairs_what_was_not_paused)
{
	leave(PAUSE_BEGUN, START);
	loop.paused = false;
	loop.evicted = 0;
	CTL(0, "repair");
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
}

TEST(repair_fails)
{
	leave(PAUSE_BEGUN, START);
	gp_loop_fail(&loop, "seize", 1, -EPERM);
	CTL(GPREEMPT_CLASS_PERMISSION, "repair");
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(pause_journal_read(PID, &entry), 0);
	CTL(0, "repair");
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
}

TEST(suspend_repairs)
{
	leave(PAUSE_BEGUN, START);
	CTL(0, "suspend %d --how pause --detach", PID);
	ERR_HAS("process 4194242 was left paused");
	expect_kept();
}

/* Guard and follow repair before they give up the rights for it; then each has no target. */
TEST_EACH(guard_and_follow_repair, 2)
{
	leave(PAUSE_BEGUN, START);
	if (_i)
		ck_assert_int_ne(ctl_line("follow 4194303"), 0);
	else
		ck_assert_int_ne(ctl_line("guard --online 4194301 --offline 4194303"), 0);
	ERR_HAS("process 4194242 was left paused");
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
}

TEST(not_what_has_an_owner)
{
	struct hold_owner owner = { .role = HOLD_ROLE_FOLLOW, .pid = 1 };
	int lock = hold_take(PID, &owner);

	leave(PAUSE_BEGUN, START);
	CTL(0, "repair");
	OUT_HAS("owned");
	CTL(GPREEMPT_CLASS_BUSY, "suspend %d --how pause --detach", PID);
	CTL(GPREEMPT_CLASS_BUSY, "suspend %d", PID);
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(pause_journal_read(PID, &entry), 0);
	ck_assert(!asked());
	hold_drop(PID, lock);
}

TEST(not_what_is_kept)
{
	leave(PAUSE_KEPT, START);
	CTL(0, "repair");
	OUT_HAS("kept");
	OUT_HAS("nothing");
	expect_kept();
	ck_assert(!asked());
}

/* The number is another process's, which another program may have paused. */
TEST_EACH(not_another_process, PAUSE_STATES)
{
	leave(_i, START - 1);
	CTL(0, "repair");
	OUT_HAS("stale");
	OUT_HAS("removed");
	ck_assert(!asked());
	ck_assert_int_eq(loop.evicted, 1);
	expect_no_entry();
	leave(_i, START - 1);
	CTL(0, "resume %d", PID);
	OUT_HAS("process 4194242 is not held");
	ck_assert(!asked());
}

TEST(not_what_is_damaged)
{
	int fd = open(ENTRY, O_WRONLY | O_CREAT, 0600);

	ck_assert_int_eq(write(fd, "x", 1), 1);
	close(fd);
	loop.paused = true;
	loop.evicted = 1;
	CTL(GPREEMPT_CLASS_FAILED, "repair");
	ERR_HAS("4194242.pause is damaged");
	CTL(GPREEMPT_CLASS_FAILED, "resume %d", PID);
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d --how pause --detach", PID);
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", PID);
	CTL(0, "status");
	ERR_HAS("4194242.pause is damaged");
	ck_assert(!asked());
	ck_assert_int_eq(access(ENTRY, F_OK), 0);
}

/* A driver that crashes where an address space is missing: it is not asked. */
TEST(without_address_space)
{
#define NODES "/sys/class/kfd/kfd/topology/nodes/"
	set_file(NODES, "1");
	set_file(NODES "1/gpu_id", "63420\n");
	set_file(NODES "1/properties", "capability 0\n");
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "suspend %d --how pause --detach", PID);
	ERR_HAS("gpreempt.ko does not show its address spaces");
	set_file(VIEW_FILE "pid/4194242/gpus", "gpreempt-gpus - version: 1.1\n# gpu_id vm context\n"
					       "0xf7bc 0 -\n");
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "suspend %d --how pause --detach", PID);
	ERR_HAS("no address space on its GPUs 0xf7bc");
	ck_assert(!asked());
	expect_no_entry();
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
	set_view(PID, paused_view);
	CTL(GPREEMPT_CLASS_BUSY, "resume %d", PID);
	ERR_HAS("gpreempt-ctl resume --force");
	ck_assert_int_eq(loop.evicted, 1);
	CTL(0, "resume %d --force", PID);
	OUT_HAS("resumed 4194242: 1 queue, ioctl ");
	ck_assert_int_eq(loop.evicted, 0);
	expect_no_entry();
	set_view(PID, running_view);
	unit_clear_trace();
	CTL(0, "resume %d --force", PID);
	OUT_HAS("process 4194242 is not held");
	ck_assert(!asked());
}

/* The driver evicted some of its queues, failed, and leaves them so. */
TEST(stays_off_after_an_error)
{
	set_view(PID, evicted_view);
	gp_loop_fail(&loop, "pause", 1, -ETIME);
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d --how pause --detach", PID);
	ERR_HAS("its queues are still evicted");
	expect_no_entry();
}

/* criu dump counted its own pause, and its end ended one of two. */
TEST(stays_off_after_resume)
{
	leave(PAUSE_KEPT, START);
	set_view(PID, evicted_view);
	CTL(GPREEMPT_CLASS_FAILED, "resume %d", PID);
	ERR_HAS("process 4194242 is not paused any more, and its queues are still evicted");
	expect_no_entry();
}

/* The driver fails to restore the process: a user who asks again has looked whether it runs. */
TEST(unpause_fails)
{
	leave(PAUSE_BEGUN, START);
	set_view(PID, evicted_view);
	gp_loop_fail(&loop, "unpause", 1, -EIO);
	CTL(GPREEMPT_CLASS_FAILED, "repair");
	ck_assert_int_eq(pause_journal_read(PID, &entry), 0);
	set_view(PID, running_view);
	gp_loop_fail(&loop, "unpause", 0, -EIO);
	CTL(0, "repair");
	expect_no_entry();
}

/* Another program has ended our pause. */
TEST(pause_is_over)
{
	leave(PAUSE_KEPT, START);
	loop.paused = false;
	loop.evicted = 0;
	set_view(PID, running_view);
	CTL(0, "status");
	ERR_HAS("process 4194242 runs: another program, such as criu, has ended");
	/* The view here stays as it is. */
	CTL(GPREEMPT_CLASS_PARTIAL, "suspend %d --how pause --detach", PID);
	OUT_HAS("paused 4194242: 1 queue, ioctl ");
	expect_kept();
}

/* No entry is stale where start times are others. */
TEST(in_another_time_namespace)
{
	leave(PAUSE_KEPT, START + 100);
	set_file("/proc/self/ns/time", "time:[4026532500]");
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "repair");
	ERR_HAS("this is not the host's namespace of processes or of time");
	CTL(0, "status");
	ck_assert_int_eq(pause_journal_read(PID, &entry), 0);
}

TEST_FIXTURE(setup, teardown)
