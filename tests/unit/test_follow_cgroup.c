// SPDX-License-Identifier: GPL-2.0-only
/* follow and cgroups: a target is frozen and moved, a follower needs its own. */
#include "shared/cgroup.h"
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
	/* The process moves to a frozen cgroup, which has no event. */
	steps[2].what = move;
	steps[3].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	OUT_LINE("suspended %d: it is frozen, 2 of 2 queues, ioctl ", target);
	OUT_LINE("resumed %d: it is thawed, 2 of 2 queues, ioctl ", target);
	OUT_LINE("ended %d: 2 suspensions\n", target);
	ck_assert(!seen->suspended[0] && seen->suspended[1]);
	ck_assert(!seen->suspended[2] && seen->suspended[3]);
}

/* The cgroup is thawed while the process is stopped: it does not run yet. */
TEST(stopped_and_frozen)
{
	steps[0].what = freeze;
	steps[1].stop = STOPPED;
	steps[2].what = thaw;
	steps[3].stop = CONTINUED;
	steps[4].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	ck_assert(seen->suspended[1] && seen->suspended[2] && seen->suspended[3]);
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

/* A cgroup that cannot be watched is not taken for one that cannot be frozen. */
TEST(not_mounted)
{
	unit_cgroups_mounted(false, false);
	CTL(GPREEMPT_CLASS_FAILED, "follow --how debug %d", target);
	ERR_HAS("the cgroup /job of process ");
	ERR_HAS("next: is cgroup v2 mounted");
	ck_assert_str_eq(loop.trace, "");
}

static void move_to_old(void)
{
	unit_cgroup_of(target, "7:freezer:/old\n0::/\n");
}

/* The process could not be held while it is frozen there. */
TEST(moves_to_old)
{
	steps[0].stop = STOPPED;
	steps[1].what = move_to_old;
	steps[2].stop = EXITS;
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "follow --how debug %d", target);
	ERR_HAS("has moved to /old of the old freezer (cgroup v1)");
	ck_assert(seen->suspended[1]);
	ck_assert_int_eq(atomic_load(&seen->done), 2);
}

static void hide_path(void)
{
	unit_cgroup_of(target, UNIT_CGROUP_TOO_LONG);
}

static void show_path(void)
{
	unit_cgroup_of(target, "0::/job\n");
}

/* Its path cannot be read any more while it is frozen, and while it runs: no way out. */
TEST(lost)
{
	steps[0].what = freeze;
	steps[1].what = hide_path;
	steps[2].what = thaw;
	steps[3].what = freeze;
	steps[4].what = show_path;
	steps[5].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	OUT_LINE("ended %d: 2 suspensions\n", target);
	ck_assert(!seen->suspended[0] && seen->suspended[1]);
	ck_assert(seen->suspended[2] && !seen->suspended[3]);
	ck_assert(seen->suspended[4] && seen->suspended[5]);
}

/* A lost session before is no reason not to follow it. */
TEST(lost_before)
{
	hide_path();
	steps[0].stop = STOPPED;
	steps[1].stop = CONTINUED;
	steps[2].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	OUT_LINE("following %d: its signals and its cgroup, whose path cannot be "
		 "read\n",
		 target);
	OUT_LINE("ended %d: 1 suspensions\n", target);
	ck_assert(seen->suspended[1] && !seen->suspended[2]);
}

static char deep[SHR_CGROUP_PATH + 8] = "0::";

static void move_deep(void)
{
	unit_cgroup_of(target, deep);
}

static void freeze_deep(void)
{
	unit_cgroup_freeze(deep + strlen("0::"), true);
}

/* A path of that length is one like any other. */
TEST_EACH(long_path, 3)
{
	static const size_t lengths[] = { 4000, 4032, 4094 };

	strcpy(deep, "0::/job");
	unit_cgroup_long(deep + strlen("0::"), lengths[_i], 190);
	steps[0].what = move_deep;
	steps[1].what = freeze_deep;
	steps[2].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	OUT_LINE("ended %d: 1 suspensions\n", target);
	ck_assert(!seen->suspended[1] && seen->suspended[2]);
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

/* A follower that is frozen with its target could do nothing. */
TEST(own_cgroup)
{
	unit_cgroup_make("/job/shell");
	unit_cgroup_of(0, "0::/job/shell\n");
	steps[0].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	ck_assert(unit_cgroup_entered(unit_text("/gpreempt-hold/%d", getpid())));
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
