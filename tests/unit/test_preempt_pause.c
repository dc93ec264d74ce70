// SPDX-License-Identifier: GPL-2.0-only
/* preempt --how: the method for each target, and the leftovers of a pause. */
#include <sys/resource.h>

#include "hold/run-dir.h"
#include "ctl/preempt.h"
#include "unit-ctl.h"
#include "unit-holder.h"
#include "unit-pausable.h"

#define RUN "--count 3 --hold 1ms --interval 1ms"

static pid_t self;
static bool was_noted, was_ours;

/* Look, before the driver pauses the process, at the state that a kill would leave now. */
static void look(struct gp_loop *l, const char *call)
{
	struct hold_owner owner;
	struct pause_entry e;

	(void)l;
	if (strcmp(call, "pause"))
		return;
	was_noted = !pause_journal_read(target, &e) && e.by == self;
	was_ours = !hold_read_owner(target, &owner) && owner.role == HOLD_ROLE_PREEMPT &&
		   owner.pid == (uint64_t)self;
}

static void setup(void)
{
	/* A helper process makes the ioctl. */
	self = getpid();
	pausable_setup();
	loop.before = look;
	was_noted = was_ours = false;
}

TEST(by_pause)
{
	CTL(0, "preempt %d --how pause " RUN " --json", target);
	expect_number("succeeded", 3);
	expect_text("targets.0.how", "pause");
	expect_null("targets.0.not_debug_because");
	expect_number("targets.0.verified.yes", 3);
	expect_number("targets.0.resume_ioctl_us.n", 3);
	ck_assert(was_noted && was_ours);
	ck_assert(!loop.debugged && !strstr(loop.trace, "enable"));
	unit_expect_unpaused(target);
	CTL(0, "preempt %d --how pause " RUN, target);
	OUT_LINE("how %d pause\n", target);
	unit_expect_unpaused(target);
}

/* auto pauses only a process that no session can hold, and never a part of it. */
TEST(automatic)
{
	CTL(0, "preempt %d " RUN, target);
	ck_assert_msg(!strstr(ctl_out, "how "), "%s", ctl_out);
	ck_assert(!strstr(loop.trace, "pause"));
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "preempt %d --how debug " RUN, target);
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "preempt %d --queues 0 " RUN, target);
	ck_assert(!strstr(loop.trace, "pause"));
	CTL(0, "preempt %d " RUN " --json", target);
	ERR_HAS("did not enable the KFD runtime; so it is paused\n");
	expect_text("targets.0.how", "pause");
	ck_assert(strstr(json_text("targets.0.not_debug_because"),
			 "did not enable the KFD runtime"));
	unit_expect_unpaused(target);
}

/* The driver is not asked without an entry. */
TEST(cannot_be_noted)
{
	unit_path_fails = ".pause.new";
	unit_path_errno = ENOSPC;
	CTL(GPREEMPT_CLASS_FAILED, "preempt %d --how pause " RUN, target);
	unit_path_fails = NULL;
	ERR_LINE("cannot note process %d", target);
	ck_assert(!strstr(loop.trace, "pause"));
	/* Its guardian ends a moment later. */
	unit_wait_until_free(target);
	unit_expect_unpaused(target);
}

/* Descriptors that ctl_line() needs itself. */
#define CAPTURE 5

/* Nothing is left with too few descriptors for the guardian. */
TEST(descriptors)
{
	int before = unit_count_descriptors(), tries = 0;
	struct rlimit all, few;

	gp_loop_fail(&loop, "process", 1, -EIO);
	getrlimit(RLIMIT_NOFILE, &all);
	few = all;
	for (few.rlim_cur = before + CAPTURE; !strstr(loop.trace, "process"); few.rlim_cur++) {
		ck_assert_int_lt(tries++, 60);
		setrlimit(RLIMIT_NOFILE, &few);
		CTL(GPREEMPT_CLASS_FAILED, "preempt %d --how pause " RUN, target);
		setrlimit(RLIMIT_NOFILE, &all);
		ck_assert_msg(strstr(loop.trace, "process") || strstr(ctl_err, "ulimit -n"), "%s",
			      ctl_err);
		unit_wait_until_free(target);
		unit_expect_unpaused(target);
		ck_assert_int_le(unit_count_descriptors(), before + 1);
	}
	ck_assert_int_gt(tries, 5);
}

/* The driver fails in the second cycle, or another program has paused it. */
TEST_EACH(ends_early, 2)
{
	if (_i) {
		/* The pause is not seen before the driver's answer. */
		loop.view = NULL;
		loop.paused = true;
		loop.evicted = 1;
	} else {
		gp_loop_fail(&loop, "pause", 2, -EIO);
	}
	CTL(_i ? GPREEMPT_CLASS_BUSY : GPREEMPT_CLASS_FAILED, "preempt %d --how pause " RUN,
	    target);
	OUT_LINE("cycles %d succeeded", _i ? 1 : 2);
	loop.evicted -= _i;
	unit_expect_unpaused(target);
}

/* No call can end the pause now: its keepers will, so the entry stays. */
TEST(cannot_be_unpaused)
{
	struct pause_entry e;

	gp_loop_fail(&loop, "unpause", 2, -EIO);
	gp_loop_fail(&loop, "unpause", 3, -EIO);
	CTL(GPREEMPT_CLASS_FAILED, "preempt %d --how pause " RUN, target);
	ERR_LINE("process %d could not be released", target);
	ck_assert_int_eq(pause_journal_read(target, &e), 0);
	/* The process runs again, as the keepers would see it. */
	ck_assert_int_eq(pause_journal_remove(target), 0);
	unit_wait_until_free(target);
	loop.evicted = 0;
	unit_expect_unpaused(target);
}

TEST_FIXTURE(setup, holder_teardown)
