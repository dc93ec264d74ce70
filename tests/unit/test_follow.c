// SPDX-License-Identifier: GPL-2.0-only
/*
 * follow: a made-up process that is stopped by a script of the test. The queues
 * do as the process does, and run when the follower ends.
 */
#include "unit-follow.h"

TEST(stopped_and_continued)
{
	steps[0].stop = STOPPED;
	steps[1].stop = CONTINUED;
	steps[2].stop = STOPPED;
	steps[3].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	OUT_LINE("following %d: its signals and its cgroup /job\n", target);
	OUT_LINE("suspended %d: it is stopped, 2 of 2 queues, ioctl ", target);
	OUT_LINE("resumed %d: it is continued, 2 of 2 queues, ioctl ", target);
	OUT_LINE("ended %d: 2 suspensions\n", target);
	ck_assert(!seen->suspended[0] && seen->suspended[1]);
	ck_assert(!seen->suspended[2] && seen->suspended[3]);
}

/* The queues run after its end, however it comes. */
TEST(release)
{
	steps[0].stop = STOPPED;
	steps[1].what = interrupt;
	CTL(0, "follow --how debug %d", target);
	ck_assert(seen->suspended[1]);
	OUT_LINE("released %d: 1 suspensions\n", target);
	/* The follower has ended, too. */
	ck_assert_int_eq(kill(atomic_load(&seen->follower), 0), -1);
}

TEST(follower_dies)
{
	steps[0].what = die;
	CTL(GPREEMPT_CLASS_FAILED, "follow --how debug %d", target);
	ERR_LINE("the follower of process %d was killed by signal 9; "
		 "the queues run",
		 target);
}

/* The command is killed: no follower stays. */
static void kill_command(void)
{
	kill(getppid(), SIGKILL);
	/* PR_SET_PDEATHSIG; or the follower would hold it for ever. */
}

TEST(command_dies)
{
	struct hold_owner owner;
	pid_t child;

	steps[0].stop = STOPPED;
	steps[1].what = kill_command;
	child = fork();
	if (!child)
		_exit(ctl_line("follow --how debug %d", target));
	ck_assert_int_eq(unit_status(child), -SIGKILL);
	UNIT_WAIT(hold_read_owner(target, &owner) == -ENOENT);
}

TEST(execs)
{
	steps[0].stop = STOPPED;
	steps[1].stop = EXECS;
	ck_assert_int_ne(ctl_line("follow --how debug %d", target), 0);
	ERR_LINE("%d", target);
	ERR_HAS("another program");
}

/*
 * The follower is not stopped together with the target: the leader of the group, as "sh -c
 * 'train & exec gpreempt-ctl follow $!'", cannot leave it, but the follower can.
 */
TEST(leads_the_group)
{
	ck_assert_int_eq(getpgrp(), getpid());
	ck_assert_int_eq(setpgid(target, getpgrp()), 0);
	steps[0].stop = EXITS;
	CTL(0, "follow --how debug %d", target);
	ck_assert_int_eq(atomic_load(&seen->group), atomic_load(&seen->follower));
	ck_assert_int_ne(atomic_load(&seen->group), getpgrp());
}

TEST(own_process_group)
{
	pid_t child;
	int status;

	ck_assert_int_eq(setpgid(target, getpgrp()), 0);
	steps[0].stop = EXITS;
	child = fork();
	if (!child) {
		status = ctl_line("follow --how debug %d", target);
		_exit(getpgrp() == getpid() ? status : 99);
	}
	ck_assert_int_eq(unit_status(child), 0);
	ck_assert_int_eq(atomic_load(&seen->group), child);
}

TEST(refused)
{
	struct hold_owner owner = { .role = HOLD_ROLE_GUARD, .pid = 5, .guardian = 6 };
	int lock;

	/* First: follow gives up the right to change its user. */
	ck_assert_int_eq(seteuid(65534), 0);
	CTL(GPREEMPT_CLASS_PERMISSION, "follow --how debug %d", target);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(hold_dir_prepare(), 0);
	lock = hold_take(target, &owner);
	CTL(GPREEMPT_CLASS_BUSY, "follow --how debug %d", target);
	ERR_LINE("next: release it first: gpreempt-ctl guard release %d", target);
	hold_drop(target, lock);
	gp_loop_fail(&loop, "enable", 0, -EALREADY);
	CTL(GPREEMPT_CLASS_BUSY, "follow --how debug %d", target);
	CTL(GPREEMPT_CLASS_NO_TARGET, "follow --how debug 4194303");
}

TEST(no_process_for_it)
{
	unit_fork_fails = 1;
	CTL(GPREEMPT_CLASS_FAILED, "follow --how debug %d", target);
	ERR_HAS("Resource temporarily unavailable");
	ck_assert_str_eq(loop.trace, "");
}

/*
 * Several targets
 */

static pid_t command, second, third, mine;

static int find_mine(void *data, pid_t pid)
{
	struct hold_owner owner;

	(void)data;
	if (hold_read_owner(pid, &owner) || owner.pid != (uint64_t)getpid())
		return 0;
	mine = pid;
	return 1;
}

/* The driver of a follower, which has a copy of the loop, has its target. */
static void before_open(struct gp_loop *l, const char *call)
{
	if (!strcmp(call, "open") && hold_list(find_mine, NULL))
		l->pid = mine;
}

static void add_process(pid_t pid, const char *comm)
{
	unit_make_process(pid);
	set_file(unit_text("/proc/%d/comm", pid), comm);
}

static void set_processes(pid_t other)
{
	set_file("/sys/class/kfd/kfd/proc/", unit_text("%d\n%d", target, other));
}

/*
 * The second process ends at once; then there is a third, of the first one's
 * name. When that has ended, too, the first one does.
 */
static void next_of_many(void)
{
	static bool over, changed;
	static int turns;

	if (getpid() == command) {
		if (atomic_load(&seen->done) && !changed)
			set_processes(third);
		changed |= atomic_load(&seen->done);
		return;
	}
	if (!loop.debugged || over)
		return;
	if (mine == target && atomic_load(&seen->done) < 2 && ++turns < 60)
		return;
	over = true;
	atomic_fetch_add(&seen->done, 1);
	gp_loop_stop(&loop, EXITS);
}

TEST(word_by_word)
{
	second = unit_make_sleeper();
	third = unit_make_sleeper();
	setpgid(second, second);
	setpgid(third, third);
	add_process(target, "train\n");
	add_process(second, "serve\n");
	add_process(third, "train\n");
	set_processes(second);
	command = getpid();
	loop.before = before_open;
	unit_before_ppoll = next_of_many;
	/* Soon the first word names no process any more. */
	CTL(0, "follow --how debug comm:serve comm:train");
	OUT_LINE("ended %d: 0 suspensions\n", second);
	OUT_LINE("ended %d: 0 suspensions\n", third);
	OUT_LINE("ended %d: 0 suspensions\n", target);
	kill(second, SIGKILL);
	kill(third, SIGKILL);
	unit_wait_for_children(target);
}

/*
 * More processes than places
 */

static pid_t crowd[FOLLOW_PLACES + 1];

static void list_crowd(size_t n)
{
	static char text[256];
	size_t i;

	text[0] = '\0';
	for (i = 0; i < n; i++)
		sprintf(text + strlen(text), "%d\n", crowd[i]);
	set_file("/sys/class/kfd/kfd/proc/", text);
}

/* A process comes when all places are taken; when it is followed, all end. */
static void one_more_comes(void)
{
	static bool counted, changed;
	static int turns;
	int followed = atomic_load(&seen->done);

	if (getpid() != command) {
		if (loop.debugged && !counted)
			atomic_fetch_add(&seen->done, 1);
		counted = loop.debugged;
	} else if (followed == FOLLOW_PLACES && !changed) {
		list_crowd(FOLLOW_PLACES + 1);
		changed = true;
	} else if (followed > FOLLOW_PLACES || ++turns > 100) {
		kill(getpid(), SIGTERM);
	}
}

static const struct {
	bool queues; /* the first ones have queues */
	int status;
} crowds[] = { { false, 0 }, { true, GPREEMPT_CLASS_PARTIAL } };

TEST_EACH(one_user_fills_it, ARRAY_SIZE(crowds))
{
	const char *queues = crowds[_i].queues ? "0" : "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(crowd); i++) {
		pid_t pid = crowd[i] = i ? unit_make_sleeper() : target;

		setpgid(pid, pid);
		add_process(pid, "train\n");
		set_file(unit_text("/proc/%d/status", pid),
			 unit_text("Name:\tx\nState:\tS\nTgid:\t%d\n"
				   "Uid:\t%d\nTracerPid:\t0\n"
				   "Threads:\t1\n",
				   pid, i < FOLLOW_PLACES ? 1000 : 1001));
		set_file(unit_text("/sys/class/kfd/kfd/proc/%d/queues/", pid),
			 i < FOLLOW_PLACES ? queues : "0");
	}
	list_crowd(FOLLOW_PLACES);
	command = getpid();
	loop.before = before_open;
	unit_before_ppoll = one_more_comes;
	CTL(crowds[_i].status, "follow --stay --how debug comm:train");
	OUT_LINE("following %d: ", crowd[FOLLOW_PLACES]);
	/* The process has ended by now, or ends with all others. */
	OUT_LINE("released %d: 0 suspensions\n", crowd[FOLLOW_PLACES - 1]);
	ERR_LINE("note: follow (%d) has no place for %d processes with queues "
		 "and %d without: all its %d places are taken",
		 command, crowds[_i].queues, !crowds[_i].queues, FOLLOW_PLACES);
	for (i = 1; i < ARRAY_SIZE(crowd); i++)
		kill(crowd[i], SIGKILL);
	unit_wait_for_children(target);
}

TEST_FIXTURE(follow_setup, follow_teardown)
