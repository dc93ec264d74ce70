// SPDX-License-Identifier: GPL-2.0-only
/* How a holder leaves its command's cgroup, and the freezer of cgroup v1. */
#include "hold/escape.h"
#include "hold/run-dir.h"
#include "unit-host.h"
#include "unit.h"

#define LONG HOLD_DIR "-long"
/* The longest path of a mount that there is room for, and one more. */
#define ROOM 256

static void teardown(void)
{
	unit_path_fails = NULL;
	unit_cgroups_stop();
	ck_assert_int_eq(system("rm -rf " LONG), 0);
}

TEST(own_group)
{
	ck_assert(hold_cgroup_enter(77));
	ck_assert(unit_cgroup_exists("/gpreempt-hold/77"));
	ck_assert(unit_cgroup_entered("/gpreempt-hold/77"));
	ck_assert(!unit_cgroup_entered(""));
	hold_cgroup_leave();
	ck_assert(unit_cgroup_entered(""));
}

/* A group that it can make and not enter does not stay behind. */
TEST(cannot_enter)
{
	unit_path_fails = "/cgroup.procs";
	unit_path_errno = EACCES;
	ck_assert(!hold_cgroup_enter(77));
	ck_assert(!unit_cgroup_exists("/gpreempt-hold/77"));
}

TEST(no_mount)
{
	unit_cgroups_mounted(false, false);
	ck_assert(!hold_cgroup_enter(77));
	hold_cgroup_leave();
	ck_assert(!unit_cgroup_exists("/gpreempt-hold/77"));
}

TEST(not_in_a_freezer)
{
	bool inside;

	unit_cgroups_mounted(true, true);
	ck_assert_int_eq(freezer_v1_leave(&inside), 0);
	unit_cgroup_of(0, "7:freezer:/\n0::/job\n");
	ck_assert_int_eq(freezer_v1_leave(&inside), 0);
	ck_assert(!inside);
	ck_assert(!unit_freezer_left());
}

TEST(freezer)
{
	bool inside;

	unit_cgroup_of(0, "7:freezer:/job\n0::/\n");
	ck_assert_int_eq(freezer_v1_leave(&inside), -ENOENT);
	unit_cgroups_mounted(true, true);
	/* A process that stays in the cgroup is an error, not success. */
	unit_path_fails = "-freezer/cgroup.procs";
	unit_path_errno = EACCES;
	ck_assert_int_eq(freezer_v1_leave(&inside), -EACCES);
	unit_path_fails = NULL;
	unit_freezer_stays = true;
	ck_assert_int_eq(freezer_v1_leave(&inside), -EPERM);
	ck_assert(inside);
	unit_freezer_stays = false;
	ck_assert_int_eq(freezer_v1_leave(&inside), 0);
}

/* The process's cgroup of the freezer is not known. */
TEST(not_readable)
{
	bool inside = true;

	unit_path_fails = "/proc/self/cgroup";
	unit_path_errno = EMFILE;
	ck_assert_int_eq(freezer_v1_leave(&inside), -EMFILE);
	ck_assert(!inside);
	/* A kernel without cgroups. */
	unit_path_errno = ENOENT;
	ck_assert_int_eq(freezer_v1_leave(&inside), 0);
	/* The process is in one, and its mount is not known. */
	unit_cgroup_of(0, "7:freezer:/job\n0::/\n");
	unit_path_fails = "/proc/self/mounts";
	unit_path_errno = ENFILE;
	ck_assert_int_eq(freezer_v1_leave(&inside), -ENFILE);
	ck_assert(inside);
}

/* A directory with a path of that length, and the file of a group in it. */
static void make_long(char *path, size_t len)
{
	char command[3 * ROOM];
	size_t at;

	memset(path, 'a', len);
	path[len] = '\0';
	memcpy(path, LONG, strlen(LONG));
	for (at = strlen(LONG); at < len - 1; at += 50)
		path[at] = '/';
	snprintf(command, sizeof(command),
		 "mkdir -p %.300s && : >%.300s"
		 "/cgroup.procs",
		 path, path);
	ck_assert_int_eq(system(command), 0);
}

/* A path is taken whole or not at all. */
TEST(long_path)
{
	char path[2 * ROOM], text[3 * ROOM];
	bool inside;
	size_t len;

	unit_cgroup_of(0, "7:freezer:/job\n0::/\n");
	unit_freezer_stays = true;
	for (len = ROOM - 1; len <= ROOM; len++) {
		make_long(path, len);
		ck_assert_uint_eq(strlen(path), len);
		snprintf(text, sizeof(text), "cgroup %s cgroup rw,freezer 0 0\n", path);
		unit_mounts(text);
		ck_assert_int_eq(freezer_v1_leave(&inside), len < ROOM ? -EPERM : -ENOENT);
	}
	unit_freezer_stays = false;
}

TEST_FIXTURE(unit_cgroups_start, teardown)
