// SPDX-License-Identifier: GPL-2.0-only
/*
 * follow: a made-up process that is stopped and frozen by a script of the test. The queues do
 * as the process does. The cases follow/ of the virtual machine have all ends of a follower,
 * its group, several targets, and what a pause does.
 */
#include <stdatomic.h>
#include <sys/ptrace.h>

#include "hold/owner.h"
#include "shared/cgroup.h"
#include "unit-ctl.h"
#include "unit-holder.h"

#define STOP(event, sig) ((event) << 16 | (sig) << 8 | 0x7f)
#define STOPPED		 STOP(PTRACE_EVENT_STOP, SIGTSTP)
#define CONTINUED	 STOP(PTRACE_EVENT_STOP, SIGTRAP)
#define EXITS		 STOP(PTRACE_EVENT_EXIT, SIGTRAP)
#define EXECS		 STOP(PTRACE_EVENT_EXEC, SIGTRAP)
#define MAX_STEPS	 8

/* A change of the target, one each time the follower looks at it. */
struct follow_step {
	int stop; /* status for wait(); 0: none */
	void (*what)(void);
};

/* Notes that the follower, another process, writes for the test. */
struct follow_seen {
	/* Were the queues suspended when that step came? */
	atomic_bool suspended[MAX_STEPS];
	atomic_int done; /* steps */
};

static struct follow_step steps[MAX_STEPS];
static struct follow_seen *seen;

/* Before the follower waits: it has done what the step before asked for. */
static void next_step(void)
{
	int n = atomic_load(&seen->done);

	/* Only the one that follows has a session. */
	if (!loop.debugged || n == MAX_STEPS || (!steps[n].stop && !steps[n].what))
		return;
	seen->suspended[n] = loop.queues[0].suspended;
	atomic_store(&seen->done, n + 1);
	if (steps[n].what)
		steps[n].what();
	if (steps[n].stop)
		gp_loop_stop(&loop, steps[n].stop);
}

/* The target of unit-holder.h, in a process group and in the cgroup /job. */
static void follow_setup(void)
{
	holder_setup();
	setpgid(target, target);
	seen = unit_share(sizeof(*seen));
	unit_before_ppoll = next_step;
	unit_cgroup_make("/job");
	unit_cgroup_of(target, "0::/job\n");
}

/* Fails if the target is still held. */
static void follow_teardown(void)
{
	struct hold_owner owner;

	ck_assert_int_eq(hold_read_owner(target, &owner), -ENOENT);
	holder_teardown();
}

TEST(execs)
{
	steps[0].stop = STOPPED;
	steps[1].stop = EXECS;
	ck_assert_int_ne(ctl_line("follow --how debug %d", target), 0);
	ERR_LINE("%d", target);
	ERR_HAS("another program");
}

TEST(no_process_for_it)
{
	unit_fork_fails = 1;
	CTL(GPREEMPT_CLASS_FAILED, "follow --how debug %d", target);
	ERR_HAS("Resource temporarily unavailable");
	ck_assert_str_eq(loop.trace, "");
}

static void freeze(void)
{
	unit_cgroup_freeze("/job", true);
}

static void thaw(void)
{
	unit_cgroup_freeze("/job", false);
}

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
	unit_fail_path("/cgroup.procs", EACCES);
	CTL(GPREEMPT_CLASS_FAILED, "follow --how debug %d", target);
	ERR_LINE("we would be frozen together with process %d: both "
		 "are below the cgroup /job, and we cannot leave it",
		 target);
	unit_path_fails = NULL;
}

TEST_FIXTURE(follow_setup, follow_teardown)
