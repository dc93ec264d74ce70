// SPDX-License-Identifier: GPL-2.0-only
/*
 * suspend, status and resume as a user runs them, over a made-up process, with
 * real holders: what is printed, the exit status, and that no holder stays
 * which the user does not know of.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holder/holder.h"
#include "shared/clock.h"
#include "unit-ctl.h"
#include "unit-host.h"

/* A holder that a test which fails leaves behind ends by itself. */
#define LEASE "--for 60s"
#define LIMIT_NS (20 * NSEC_PER_SEC)

static pid_t target;
static char view_path[96];

static const char held_view[] =
	"gpreempt-queues - version: 1.0\n"
	"# qid gpu_id active slots suspended evicted priority\n"
	"0 0xf7bc 0 4 1 0 7\n1 0xf7bc 0 4 1 0 3\n";

static void setup(void)
{
	ck_assert_int_eq(system("rm -rf " HOLD_DIR), 0);
	unit_cgroups_start();
	target = unit_make_sleeper();
	unit_setup_for(target);
	snprintf(view_path, sizeof(view_path),
		 "/sys/kernel/debug/gpreempt/pid/%d/queues", target);
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
}

static void teardown(void)
{
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
	unit_teardown();
	unit_cgroups_stop();
}

static bool is_free(pid_t pid)
{
	struct hold_owner owner;

	return hold_read_owner(pid, &owner) == -ENOENT &&
	       !hold_socket_inode(pid);
}

/* Guardian and worker have ended, and nothing of them is left. */
static void expect_no_holder(void)
{
	uint64_t deadline = shr_now_ns() + LIMIT_NS;

	while (!is_free(target) && shr_now_ns() < deadline)
		shr_sleep_ns(NSEC_PER_MSEC);
	ck_assert(is_free(target));
	/* Guardians are children of the command, which is this process. */
	unit_wait_for_children(target);
}

static struct hold_owner holder(void)
{
	struct hold_owner owner = { 0 };

	ck_assert_int_eq(hold_read_owner(target, &owner), 0);
	ck_assert_int_eq(owner.role, HOLD_ROLE_HOLDER);
	return owner;
}

static struct json_object *first_of(const char *table)
{
	return json_object_array_get_idx(json_member(ctl_json(), table), 0);
}

static int64_t number(struct json_object *row, const char *key)
{
	return json_object_get_int64(json_member(row, key));
}

/* A line that has these numbers in it. */
#define OUT_HAS_LINE(format, ...) do {					\
	char line_[256];						\
	snprintf(line_, sizeof(line_), format, __VA_ARGS__);		\
	OUT_HAS(line_);							\
} while (0)

START_TEST(held_and_resumed)
{
	struct hold_owner owner;

	gp_loop_set_file(&loop, view_path, held_view);
	CTL(0, "suspend %d " LEASE, target);
	owner = holder();
	OUT_HAS_LINE("suspended %d: 2 queues, ioctl ", target);
	OUT_HAS(" us, verified: yes\n");
	OUT_HAS_LINE("holder %d, guardian %d, lease: ", (int)owner.pid,
		     (int)owner.guardian);
	OUT_HAS_LINE("release with: gpreempt-ctl resume %d\n", target);
	ck_assert_str_eq(ctl_err, "");
	CTL(0, "status");
	OUT_HAS_LINE("\n%d\t%d\t%d\t2\t", target, (int)owner.pid,
		     (int)owner.guardian);
	OUT_HAS_LINE("\tsuspend\tgpreempt-ctl resume %d\t", target);
	ERR_HAS("cannot attach to these until they are released");
	CTL(0, "resume %d", target);
	OUT_HAS_LINE("resumed %d: 2 queues, ioctl ", target);
	/* It has ended before the command returns. */
	ck_assert(is_free(target));
	CTL(0, "status");
	ck_assert_str_eq(ctl_out, "nothing is held\n");
	expect_no_holder();
}
END_TEST

START_TEST(as_json)
{
	struct json_object *row, *holders;
	struct hold_owner owner;

	CTL(0, "suspend %d " LEASE " --json", target);
	owner = holder();
	row = first_of("targets");
	ck_assert_int_eq(number(row, "pid"), target);
	ck_assert_int_eq(number(row, "status"), 0);
	ck_assert_int_eq(number(row, "queues"), 2);
	ck_assert_int_eq(number(row, "holder"), (int64_t)owner.pid);
	ck_assert_int_eq(number(row, "guardian"), (int64_t)owner.guardian);
	/* Nothing shows the slots here, so that is not claimed. */
	ck_assert_str_eq(json_object_get_string(json_member(row, "verified")),
			 "not checked");
	ck_assert_ptr_null(json_member(row, "slots_us"));
	ck_assert_ptr_null(json_member(row, "error"));
	ck_assert(number(row, "lease_left_us") <= 60000000);
	ck_assert(number(row, "lease_left_us") > 0);
	CTL(0, "status --json");
	row = first_of("holders");
	ck_assert_int_eq(number(row, "queues"), 2);
	ck_assert_int_eq(number(row, "released_us"), 0);
	ck_assert(!json_object_get_boolean(json_member(row, "churn")));
	ck_assert_str_eq(ctl_err, "");
	CTL(0, "resume %d --json", target);
	row = first_of("targets");
	ck_assert_int_eq(number(row, "queues"), 2);
	ck_assert_int_eq(number(row, "still_suspended"), 0);
	ck_assert(json_object_get_boolean(json_member(row, "held_before")));
	CTL(0, "status --json");
	holders = json_member(ctl_json(), "holders");
	ck_assert_uint_eq(json_object_array_length(holders), 0);
	expect_no_holder();
}
END_TEST

/* Of a target that is held the holder does it, and the lease is new. */
START_TEST(held_already)
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
	OUT_HAS_LINE("1 queue of process %d is still suspended\n", target);
	CTL(0, "suspend %d --queues 0 " LEASE, target);
	CTL(0, "resume %d", target);
	OUT_HAS(": 2 queues, ");
	expect_no_holder();
	CTL(0, "resume %d", target);
	OUT_HAS_LINE("process %d is not held: nothing to resume\n", target);
}
END_TEST

START_TEST(some_are_not_there)
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
END_TEST

START_TEST(no_queues_yet)
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
END_TEST

/* Refused before there is a holder, or by it: an exit status, and no lock. */
START_TEST(refused)
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
	ck_assert_int_eq(number(first_of("targets"), "status"),
			 GPREEMPT_CLASS_UNSUPPORTED);
	ck_assert_ptr_null(json_member(first_of("targets"), "holder"));
	expect_no_holder();
}
END_TEST

/* A grace of which the GPU's clock is not known. */
START_TEST(bad_grace)
{
	ck_assert_int_ne(ctl_line("suspend %d --grace 50us", target), 0);
	ERR_HAS("gpreempt-ctl: ");
	ERR_HAS("next: ");
	expect_no_holder();
}
END_TEST

START_TEST(not_root)
{
	ck_assert_int_eq(seteuid(65534), 0);
	CTL(GPREEMPT_CLASS_PERMISSION, "suspend %d", target);
	ERR_HAS("root");
	CTL(GPREEMPT_CLASS_PERMISSION, "resume %d", target);
	CTL(GPREEMPT_CLASS_PERMISSION, "status");
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert(is_free(target));
}
END_TEST

/* Two targets of which one can't be held: the other one is. */
START_TEST(in_part)
{
	static char list[64], stat_path[64], stat[128];
	pid_t other = unit_make_sleeper();
	struct json_object *rows;

	snprintf(list, sizeof(list), "%d\n%d", target, other);
	snprintf(stat_path, sizeof(stat_path), "/proc/%d/stat", other);
	snprintf(stat, sizeof(stat), "%d (x) S 1 1 1 0 -1 0 1 2 3 4 5 6 7 8 20 "
		 "0 3 0 888 100\n", other);
	gp_loop_set_file(&loop, "/sys/class/kfd/kfd/proc/", list);
	gp_loop_set_file(&loop, stat_path, stat);
	CTL(GPREEMPT_CLASS_PARTIAL, "suspend %d %d " LEASE " --json", target,
	    other);
	rows = json_member(ctl_json(), "targets");
	ck_assert_uint_eq(json_object_array_length(rows), 2);
	ck_assert_int_eq(number(json_object_array_get_idx(rows, 0), "status"),
			 0);
	ck_assert_int_ne(number(json_object_array_get_idx(rows, 1), "status"),
			 0);
	holder();
	ck_assert(is_free(other));
	/* To resume what is not held is no mistake. */
	CTL(0, "resume %d %d", target, other);
	OUT_HAS_LINE("resumed %d: 2 queues", target);
	OUT_HAS_LINE("process %d is not held", other);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	expect_no_holder();
}
END_TEST

/*
 * A holder that cannot be made
 */

START_TEST(no_process_for_it)
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
END_TEST

START_TEST(no_place_for_its_lock)
{
	static char name[32];

	CTL(0, "status");
	snprintf(name, sizeof(name), "/%d.lock", target);
	ck_assert_int_eq(hold_dir_prepare(), 0);
	unit_path_fails = name;
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
END_TEST

/* A file in the place of the directory is not taken for it. */
START_TEST(no_directory)
{
	int fd = open(HOLD_DIR, O_CREAT | O_WRONLY, 0600);

	close(fd);
	CTL(GPREEMPT_CLASS_FAILED, "suspend %d", target);
	ERR_HAS("cannot make " HOLD_DIR);
	ERR_HAS("next: it must be a directory of root's");
	unlink(HOLD_DIR);
}
END_TEST

/*
 * Where the holder lives
 */

START_TEST(own_cgroup)
{
	char group[64];

	unit_cgroup_make_unused("/gpreempt-hold.77");
	unit_cgroup_make("/gpreempt-hold.78");
	unit_cgroup_make_unused("/system.slice");
	CTL(0, "suspend %d " LEASE, target);
	snprintf(group, sizeof(group), "/gpreempt-hold.%d",
		 (int)holder().guardian);
	ck_assert(unit_cgroup_entered(group));
	/* That of a holder that was killed goes; others do not. */
	ck_assert(!unit_cgroup_exists("/gpreempt-hold.77"));
	ck_assert(unit_cgroup_exists("/gpreempt-hold.78"));
	ck_assert(unit_cgroup_exists("/system.slice"));
	ck_assert(!unit_cgroup_entered(""));
	CTL(0, "resume %d", target);
	expect_no_holder();
	/* The last one leaves it for the root. */
	ck_assert(unit_cgroup_entered(""));
}
END_TEST

START_TEST(no_cgroup)
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
END_TEST

/* Frozen in there a holder could not be killed, nor its target. */
START_TEST(old_freezer)
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
END_TEST

/*
 * A holder of which the user knows nothing
 */

/* The command ends before it has printed anything. */
START_TEST(command_dies)
{
	struct hold_request request = { .verb = HOLD_SUSPEND };
	struct hold_owner none = { .pid = getpid() };
	int status;
	pid_t child;

	CTL(0, "status");
	ck_assert_int_eq(hold_dir_prepare(), 0);
	child = fork();
	if (!child) {
		struct hold_reply reply;
		int fd = hold_spawn_begin(hold_take(target, &none), target,
					  &request);

		if (fd < 0 || hold_spawn_end(fd, &reply) || reply.status ||
		    reply.queues != 2)
			_exit(1);
		holder();
		kill(getpid(), SIGKILL);
	}
	waitpid(child, &status, 0);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	expect_no_holder();
}
END_TEST

/* Both of it are killed: the next command finds the target free. */
START_TEST(holder_dies)
{
	struct hold_owner owner;

	CTL(0, "suspend %d " LEASE, target);
	owner = holder();
	kill(owner.guardian, SIGKILL);
	kill(owner.pid, SIGKILL);
	waitpid(owner.guardian, NULL, 0);
	while (!kill(owner.pid, 0))
		shr_sleep_ns(NSEC_PER_MSEC);
	CTL(0, "status");
	ck_assert_str_eq(ctl_out, "nothing is held\n");
	CTL(0, "resume %d", target);
	OUT_HAS("is not held");
	expect_no_holder();
}
END_TEST

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
	while (hold_read_owner(target, &owner) ||
	       owner.role != HOLD_ROLE_HOLDER)
		shr_sleep_ns(NSEC_PER_MSEC);
	what(command);
	_exit(0);
}

static void terminate(pid_t command)
{
	kill(command, SIGTERM);
}

/* A second command does not take it over, and resume ends it. */
static void suspend_and_resume(pid_t command)
{
	(void)command;
	do {
		if (ctl_line("status"))
			return;
	} while (!strstr(ctl_out, "\tforeground\t"));
	ctl_line("resume %d", target);
}

START_TEST(foreground)
{
	pid_t helper;

	/* It comes before the command waits for it, and is not lost. */
	block(SIGTERM);
	helper = when_held(terminate);
	CTL(0, "suspend %d --foreground " LEASE, target);
	OUT_HAS_LINE("it ends with gpreempt-ctl suspend --foreground (%d)\n",
		     getpid());
	waitpid(helper, NULL, 0);
	expect_no_holder();
}
END_TEST

START_TEST(foreground_resumed)
{
	pid_t helper = when_held(suspend_and_resume);
	int status;

	CTL(0, "suspend %d --foreground", target);
	waitpid(helper, &status, 0);
	ck_assert(WIFEXITED(status) && !WEXITSTATUS(status));
	expect_no_holder();
}
END_TEST

/* What another one holds does not end with this command. */
START_TEST(foreground_of_held)
{
	CTL(0, "suspend %d " LEASE, target);
	CTL(GPREEMPT_CLASS_BUSY, "suspend %d --foreground", target);
	ERR_HAS("is held by gpreempt-ctl suspend (");
	ERR_HAS("next: release it first: gpreempt-ctl resume ");
	CTL(0, "resume %d", target);
	expect_no_holder();
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, held_and_resumed);
	tcase_add_test(tc, as_json);
	tcase_add_test(tc, held_already);
	tcase_add_test(tc, some_are_not_there);
	tcase_add_test(tc, no_queues_yet);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, bad_grace);
	tcase_add_test(tc, not_root);
	tcase_add_test(tc, in_part);
	tcase_add_test(tc, no_process_for_it);
	tcase_add_test(tc, no_place_for_its_lock);
	tcase_add_test(tc, no_directory);
	tcase_add_test(tc, own_cgroup);
	tcase_add_test(tc, no_cgroup);
	tcase_add_test(tc, old_freezer);
	tcase_add_test(tc, command_dies);
	tcase_add_test(tc, holder_dies);
	tcase_add_test(tc, foreground);
	tcase_add_test(tc, foreground_resumed);
	tcase_add_test(tc, foreground_of_held);
	return unit_run("suspend, status and resume");
}
