// SPDX-License-Identifier: GPL-2.0-only
/* follow and cgroups: a target is frozen and moved, a follower needs its own. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "unit-follow.h"

static void freeze(void)
{
	unit_cgroup_freeze("/job", true);
}

static void thaw(void)
{
	unit_cgroup_freeze("/job", false);
}

static void move(void)
{
	unit_cgroup_make("/other");
	unit_cgroup_freeze("/other", true);
	unit_cgroup_of(target, "0::/other\n");
}

TEST(frozen_and_thawed)
{
	steps[0].what = freeze;
	steps[1].what = thaw;
	/* Another cgroup, which is frozen: that has no event. */
	steps[2].what = move;
	steps[3].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	OUT_LINE("suspended %d: it is frozen, 2 of 2 queues, ioctl ", target);
	OUT_LINE("resumed %d: it is thawed, 2 of 2 queues, ioctl ", target);
	OUT_LINE("ended %d: 2 suspensions\n", target);
	ck_assert(!seen->suspended[0] && seen->suspended[1]);
	ck_assert(!seen->suspended[2] && seen->suspended[3]);
}

/* Thawed while it is stopped: it does not run yet. */
TEST(stopped_and_frozen)
{
	steps[0].what = freeze;
	steps[1].stop = STOPPED;
	steps[2].what = thaw;
	steps[3].stop = CONTINUED;
	steps[4].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	ck_assert(seen->suspended[1] && seen->suspended[2] &&
		  seen->suspended[3]);
	ck_assert(!seen->suspended[4]);
	OUT_LINE("ended %d: 1 suspensions\n", target);
}

/* Another process ends the session: the queues are again as they should be. */
static void lose(void)
{
	gp_loop_disable(&loop);
}

TEST(session_lost)
{
	steps[0].stop = STOPPED;
	steps[1].what = lose;
	steps[2].stop = CONTINUED;
	steps[3].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	ERR_LINE("note: process %d: another process ended our debug session; "
		 "opening it again\n",
		 target);
	ck_assert(seen->suspended[1]);
	ck_assert(!seen->suspended[3]);
}

/*
 * The cgroup of the target
 */

/* What cannot be watched is not taken for what cannot be frozen. */
TEST(events_refused)
{
	unit_path_fails = "/job/cgroup.events";
	unit_path_errno = EPERM;
	CTL(GPREEMPT_CLASS_FAILED, "follow --how debug %d", target);
	ERR_HAS("the cgroup /job of process ");
	ERR_HAS("cannot be watched: Operation not permitted");
	unit_path_fails = NULL;
	unit_cgroups_mounted(false, false);
	CTL(GPREEMPT_CLASS_FAILED, "follow --how debug %d", target);
	ERR_HAS("next: is cgroup v2 mounted");
	ck_assert_str_eq(loop.trace, "");
}

static void move_to_refused(void)
{
	move();
	unit_path_fails = "/other/cgroup.events";
	unit_path_errno = EPERM;
}

static void move_to_old(void)
{
	unit_cgroup_of(target, "7:freezer:/old\n0::/\n");
}

/* The same when it moves there: the follower ends, and the queues run. */
TEST_EACH(moves_to_refused, 2)
{
	steps[0].stop = STOPPED;
	steps[1].what = _i ? move_to_old : move_to_refused;
	steps[2].stop = EXITS;
	CTL(_i ? GPREEMPT_CLASS_UNSUPPORTED : GPREEMPT_CLASS_FAILED,
	    "follow --how debug %d", target);
	ERR_HAS(_i ? "has moved to /old of the old freezer (cgroup v1)" :
		     "Operation not permitted");
	ck_assert(seen->suspended[1]);
	ck_assert_int_eq(atomic_load(&seen->done), 2);
}

/* The root cannot be frozen, and has no such file. */
TEST(root_cgroup)
{
	unit_cgroup_of(target, "0::/\n");
	steps[0].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	OUT_LINE("following %d: its signals\n", target);
}

TEST(old_freezer)
{
	unit_cgroup_of(target, "7:freezer:/old\n0::/\n");
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "follow --how debug %d", target);
	ERR_HAS("is in /old of the old freezer (cgroup v1)");
	/* We are in one, and would be unkillable in there. */
	unit_cgroup_of(target, "0::/job\n");
	unit_cgroup_of(0, "7:freezer:/old\n0::/\n");
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "follow --how debug %d", target);
	ERR_HAS("cannot leave it");
	ck_assert_str_eq(loop.trace, "");
}

/* Frozen together with its target a follower could do nothing. */
TEST(own_cgroup)
{
	unit_cgroup_make("/job/shell");
	unit_cgroup_of(0, "0::/job/shell\n");
	steps[0].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	ck_assert(unit_cgroup_entered(unit_text("/gpreempt-hold/%d",
						getpid())));
	ck_assert(unit_cgroup_entered(""));
	unit_path_fails = "/cgroup.procs";
	unit_path_errno = EACCES;
	CTL(GPREEMPT_CLASS_FAILED, "follow --how debug %d", target);
	ERR_LINE("we would be frozen together with process %d: both "
		 "are below the cgroup /job, and we cannot leave it",
		 target);
	unit_path_fails = NULL;
}

TEST_FIXTURE(follow_setup, follow_teardown)
