// SPDX-License-Identifier: GPL-2.0-only
/*
 * The holder that suspend makes: when it cannot be made, where it lives, that none
 * stays which the user does not know of, and --foreground.
 */
#include "unit-ctl.h"
#include "unit-holder.h"

/*
 * A holder that cannot be made
 */

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
	CTL(0, "resume %d", target);
	expect_no_holder();
}

TEST(no_place_for_its_lock)
{
	CTL(0, "status");
	ck_assert_int_eq(hold_dir_prepare(), 0);
	unit_path_fails = unit_text("/%d.lock", target);
	unit_path_errno = ENOSPC;
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", target);
	ERR_HAS("No space left on device");
	ERR_HAS("next: make room in ");
	unit_path_fails = NULL;
	ck_assert_int_eq(system("rm -rf " HOLD_DIR), 0);
	unit_path_fails = HOLD_DIR;
	unit_path_errno = EROFS;
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", target);
	ERR_HAS("cannot make " HOLD_DIR ": Read-only file system");
	unit_path_fails = NULL;
	expect_no_holder();
}

/* A file in the place of the directory is not taken for it. */
TEST(no_directory)
{
	int fd = open(HOLD_DIR, O_CREAT | O_WRONLY, 0600);

	close(fd);
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", target);
	ERR_HAS("cannot make " HOLD_DIR);
	ERR_HAS("next: it must be a directory of root's");
	unlink(HOLD_DIR);
}

/*
 * Where the holder lives
 */

TEST(own_cgroup)
{
	unit_cgroup_make("/gpreempt-hold");
	unit_cgroup_make_unused("/gpreempt-hold/77");
	unit_cgroup_make("/gpreempt-hold/78");
	unit_cgroup_make_unused("/system.slice");
	CTL(0, "suspend %d " LEASE, target);
	ck_assert(unit_cgroup_entered(unit_text("/gpreempt-hold/%d", (int)holder().guardian)));
	/* The cgroup of a holder that was killed goes; others do not. */
	ck_assert(!unit_cgroup_exists("/gpreempt-hold/77"));
	ck_assert(unit_cgroup_exists("/gpreempt-hold/78"));
	ck_assert(unit_cgroup_exists("/system.slice"));
	ck_assert(!unit_cgroup_entered(""));
	CTL(0, "resume %d", target);
	expect_no_holder();
	/* The last one leaves it for the root. */
	ck_assert(unit_cgroup_entered(""));
}

TEST(no_cgroup)
{
	unit_cgroups_mounted(false, false);
	CTL(0, "suspend %d " LEASE, target);
	ERR_HAS("note: no cgroup v2 for the holder alone");
	CTL(0, "resume %d", target);
	expect_no_holder();
	unit_cgroups_mounted(true, false);
	unit_path_fails = "/cgroup.procs";
	unit_path_errno = EACCES;
	CTL(0, "suspend %d " LEASE, target);
	ERR_HAS("note: no cgroup v2 for the holder alone");
	CTL(0, "resume %d", target);
	unit_path_fails = NULL;
	expect_no_holder();
}

/* Frozen in there a holder could not be killed, nor its target. */
TEST(old_freezer)
{
	unit_path_fails = "/proc/self/cgroup";
	unit_path_errno = EMFILE;
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
	CTL(0, "resume %d", target);
	expect_no_holder();
}

/*
 * A holder of which the user knows nothing
 */

/* The command ends before it has printed anything. */
TEST(command_dies)
{
	struct hold_request request = { .verb = HOLD_SUSPEND };
	struct hold_owner none = { .pid = getpid() };
	pid_t child;

	CTL(0, "status");
	ck_assert_int_eq(hold_dir_prepare(), 0);
	child = fork();
	if (!child) {
		struct hold_reply reply;
		int fd = hold_spawn_begin(hold_take(target, &none), target, &request);

		if (fd < 0 || gp_hold_recv(fd, &reply, shr_now_ns() + UNIT_LIMIT_NS) ||
		    reply.status || reply.queues != 2)
			_exit(1);
		holder();
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(unit_status(child), -SIGKILL);
	expect_no_holder();
}

/* Both of it are killed: the next command finds the target free. */
TEST(holder_dies)
{
	struct hold_owner owner;

	CTL(0, "suspend %d " LEASE, target);
	owner = holder();
	kill(owner.guardian, SIGKILL);
	kill(owner.pid, SIGKILL);
	waitpid(owner.guardian, NULL, 0);
	UNIT_WAIT(kill(owner.pid, 0));
	CTL(0, "status");
	ck_assert_str_eq(ctl_out, "nothing is held\n");
	CTL(0, "resume %d", target);
	OUT_HAS("is not held");
	expect_no_holder();
}

/*
 * --foreground
 */

static void block(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* In another process, when there is a holder of the target. */
static pid_t when_held(void (*what)(pid_t command))
{
	pid_t command = getpid(), pid = fork();
	struct hold_owner owner;

	if (pid)
		return pid;
	while (hold_read_owner(target, &owner) || owner.role != HOLD_ROLE_HOLDER)
		shr_sleep_ns(NSEC_PER_MSEC);
	what(command);
	_exit(0);
}

static void terminate(pid_t command)
{
	kill(command, SIGTERM);
}

TEST(foreground)
{
	pid_t helper;

	/* The signal comes before the command waits for it, and is not lost. */
	block(SIGTERM);
	helper = when_held(terminate);
	CTL(0, "suspend %d --foreground " LEASE, target);
	OUT_LINE("it ends with gpreempt-ctl suspend --foreground (%d)\n", getpid());
	waitpid(helper, NULL, 0);
	expect_no_holder();
}

TEST_FIXTURE(holder_setup, holder_teardown)
