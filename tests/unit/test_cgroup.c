// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a holder leaves its command's cgroup, and the freezer of cgroup v1; roles and shares
 * by cgroups.
 */
#include "hold/escape.h"
#include "hold/role.h"
#include "hold/run-dir.h"
#include "lib/see/words.h"
#include "shared/cgroup.h"
#include "unit-ctl.h"
#include "unit-host.h"

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
	unit_fail_path("/cgroup.procs", EACCES);
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
	unit_fail_path("-freezer/cgroup.procs", EACCES);
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

	unit_fail_path("/proc/self/cgroup", EMFILE);
	ck_assert_int_eq(freezer_v1_leave(&inside), -EMFILE);
	ck_assert(!inside);
	/* A kernel without cgroups. */
	unit_path_errno = ENOENT;
	ck_assert_int_eq(freezer_v1_leave(&inside), 0);
	/* The process is in one, and its mount is not known. */
	unit_cgroup_of(0, "7:freezer:/job\n0::/\n");
	unit_fail_path("/proc/self/mounts", ENFILE);
	ck_assert_int_eq(freezer_v1_leave(&inside), -ENFILE);
	ck_assert(inside);
}

/* A directory with a path of that length, and the file of a group in it. */
static void make_long(char *path, size_t len)
{
	size_t at;

	memset(path, 'a', len);
	path[len] = '\0';
	memcpy(path, LONG, strlen(LONG));
	for (at = strlen(LONG); at < len - 1; at += 50)
		path[at] = '/';
	ck_assert_int_eq(system(unit_text("mkdir -p %s && : >%s/cgroup.procs", path, path)), 0);
}

/* A path is taken whole or not at all. */
TEST(long_path)
{
	char path[2 * ROOM];
	bool inside;
	size_t len;

	unit_cgroup_of(0, "7:freezer:/job\n0::/\n");
	unit_freezer_stays = true;
	for (len = ROOM - 1; len <= ROOM; len++) {
		make_long(path, len);
		ck_assert_uint_eq(strlen(path), len);
		unit_mounts(unit_text("cgroup %s cgroup rw,freezer 0 0\n", path));
		ck_assert_int_eq(freezer_v1_leave(&inside), len < ROOM ? -EPERM : -ENOENT);
	}
	unit_freezer_stays = false;
}

#define OFFLINE "/gpreempt/offline"

/* A name is one part of a path, and none that a command line takes for an option. */
static const struct {
	const char *name;
	bool good;
} names[] = {
	{ "train", true },
	{ "a", true },
	{ "7b.v2_final-3", true },
	{ "", false },
	{ ".", false },
	{ "..", false },
	{ ".hidden", false },
	{ "-x", false },
	{ "a/b", false },
	{ "a b", false },
	{ "a\n", false },
	{ "\xc3\xa4", false },
	{ "0123456789012345678901234567890123456789012345678901234567890123", true },
	{ "01234567890123456789012345678901234567890123456789012345678901234", false },
};

TEST_EACH(named, ARRAY_SIZE(names))
{
	char path[ROLE_MAX_PATH] = "unchanged";
	int ret = role_path(GPREEMPT_ROLE_OFFLINE, names[_i].name, path);

	ck_assert_int_eq(ret, names[_i].good ? 0 : -EINVAL);
	ck_assert_str_eq(path,
			 names[_i].good ? unit_text(OFFLINE "/%s", names[_i].name) : "unchanged");
}

TEST(of_a_class)
{
	ck_assert_str_eq(role_cgroup(GPREEMPT_ROLE_ONLINE), "/gpreempt/online");
	ck_assert_str_eq(role_cgroup(GPREEMPT_ROLE_OFFLINE), OFFLINE);
}

/* Cgroups without a process go, those of the other class stay. */
TEST(entered)
{
	unit_cgroup_make_unused("/gpreempt");
	unit_cgroup_make_unused(OFFLINE);
	unit_cgroup_make_unused(OFFLINE "/ended");
	unit_cgroup_make(OFFLINE "/busy");
	unit_cgroup_make_unused("/gpreempt/online");
	unit_cgroup_make_unused("/gpreempt/online/other");
	ck_assert_int_eq(role_enter(GPREEMPT_ROLE_OFFLINE, OFFLINE "/train"), 0);
	ck_assert(unit_cgroup_entered(OFFLINE "/train"));
	ck_assert(!unit_cgroup_exists(OFFLINE "/ended"));
	ck_assert(unit_cgroup_exists(OFFLINE "/busy"));
	ck_assert(unit_cgroup_exists("/gpreempt/online/other"));
	/* Enter once more, as the next program of that name does. */
	ck_assert_int_eq(role_enter(GPREEMPT_ROLE_OFFLINE, OFFLINE "/train"), 0);
}

TEST(fails)
{
	unit_fail_path("offline/train/cgroup.procs", EACCES);
	ck_assert_int_eq(role_enter(GPREEMPT_ROLE_OFFLINE, OFFLINE "/train"), -EACCES);
	unit_fail_path("/gpreempt", EROFS);
	ck_assert_int_eq(role_enter(GPREEMPT_ROLE_ONLINE, "/gpreempt/online/x"), -EROFS);
	unit_path_fails = NULL;
	unit_cgroups_mounted(false, false);
	ck_assert_int_eq(role_enter(GPREEMPT_ROLE_ONLINE, "/gpreempt/online/x"), -ENOENT);
}

static char roles[2 * SHR_CGROUP_PATH];

static int note_role(void *arg, const char *cgroup, const struct gp_role_value *value)
{
	(void)arg;
	sprintf(roles + strlen(roles), "%s%s%s %s\n", gp_role_name(value->role),
		*value->words ? " " : "", value->words, cgroup);
	return 0;
}

static int give(const char *cgroup, enum gpreempt_role role, const char *words)
{
	struct gp_role_value value = { .role = role };

	strcpy(value.words, words);
	return role_give(cgroup, &value);
}

static const char *all_roles(void)
{
	*roles = '\0';
	ck_assert_int_eq(role_each(note_role, NULL), 0);
	return roles;
}

TEST(given)
{
	unit_cgroup_make("/job");
	unit_cgroup_make("/job/step");
	ck_assert_str_eq(all_roles(), "");
	ck_assert_int_eq(give("/job/step", GPREEMPT_ROLE_OFFLINE, ""), 0);
	ck_assert_str_eq(all_roles(), "offline /job/step\n");
	CTL(0, "role --json");
	expect_text("roles.0.role", "offline");
	expect_text("roles.0.cgroup", "/job/step");
	ck_assert_ptr_null(strstr(ctl_out, "weight"));
	ck_assert_int_eq(give("/job/step", GPREEMPT_ROLE_OFFLINE, "weight=200"), 0);
	ck_assert_str_eq(all_roles(), "offline weight=200 /job/step\n");
	ck_assert_int_eq(give("job/step/", GPREEMPT_ROLE_ONLINE, ""), 0);
	ck_assert_str_eq(all_roles(), "online /job/step\n");
	ck_assert_int_eq(give("/job/step", GPREEMPT_ROLE_NONE, ""), 0);
	ck_assert_int_eq(give("/job/step", GPREEMPT_ROLE_NONE, ""), 0);
	ck_assert_str_eq(all_roles(), "");
}

/* A command gives words with a role; a wrong one changes nothing. */
TEST(with_words)
{
	static const struct {
		const char *line, *why;
	} wrong[] = {
		{ "offline height=2", "\"height=2\" is not known there" },
		{ "offline weight=0", "weight is a number from 1 to 10000" },
		{ "offline min=50% max=20%", "min is more than max" },
		{ "offline gang=1", "\"gang=1\" is not known there" },
		{ "online weight=2", "an online tenant has only a cost" },
		{ "none weight=2", "without a role there is no tenant" },
	};
	char words[2 * GP_ROLE_WORDS] = "";
	size_t i;

	unit_cgroup_make("/job=1");
	CTL(0, "role offline weight=200 max=50%% gang cgroup:/job=1");
	ck_assert_str_eq(all_roles(), "offline weight=200 max=50% gang /job=1\n");
	CTL(0, "role --json");
	expect_text("roles.0.words", "weight=200 max=50% gang");
	CTL(0, "role");
	ck_assert_str_eq(ctl_out,
			 "# role\tcgroup\twords\noffline\t/job=1\tweight=200 max=50% gang\n");
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		CTL(GPREEMPT_CLASS_USAGE, "role %s cgroup:/job=1", wrong[i].line);
		ERR_HAS(wrong[i].why);
		ERR_HAS("next: gpreempt-ctl role --help");
	}
	while (strlen(words) < GP_ROLE_WORDS)
		strcat(words, " weight=200");
	CTL(GPREEMPT_CLASS_USAGE, "role offline%s cgroup:/job=1", words);
	ERR_HAS("the words behind it are too long");
	CTL(GPREEMPT_CLASS_USAGE, "role offline weight=2\nmax=3%% cgroup:/job=1");
	ERR_HAS("or no plain text");
	CTL(GPREEMPT_CLASS_USAGE, "role offline weight=200");
	ERR_HAS("a cgroup:PATH or a PID has to follow");
	ck_assert_str_eq(all_roles(), "offline weight=200 max=50% gang /job=1\n");
	CTL(0, "role none cgroup:/job=1");
	ck_assert_str_eq(all_roles(), "");
}

/* A process stands for its cgroup; a target that is none changes nothing. */
TEST(targets)
{
	static const struct {
		const char *words, *why;
		int status;
	} wrong[] = {
		{ "batch cgroup:/job", "a role is online, offline or none", GPREEMPT_CLASS_USAGE },
		{ "offline job", "neither cgroup:PATH nor a PID", GPREEMPT_CLASS_USAGE },
		{ "offline 0", "neither cgroup:PATH nor a PID", GPREEMPT_CLASS_USAGE },
		{ "offline cgroup:/a/../b", "cannot have a role", GPREEMPT_CLASS_USAGE },
		{ "offline cgroup:/none", "no cgroup /none", GPREEMPT_CLASS_NO_TARGET },
	};
	size_t i;

	CTL(0, "role");
	ck_assert_str_eq(ctl_out, "# role\tcgroup\twords\n");
	unit_cgroup_make("/job");
	unit_cgroup_of(getpid(), "0::/job\n");
	CTL(0, "role online %d", getpid());
	ck_assert_str_eq(all_roles(), "online /job\n");
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		CTL(wrong[i].status, "role %s", wrong[i].words);
		ERR_HAS(wrong[i].why);
	}
	unit_cgroup_of(getpid(), "1:name=systemd:/job\n");
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "role offline %d", getpid());
	ERR_HAS("there is no cgroup v2 here");
	unit_cgroup_of(getpid(), UNIT_CGROUP_TOO_LONG);
	CTL(GPREEMPT_CLASS_FAILED, "role offline %d", getpid());
	ERR_HAS("next: name the cgroup: gpreempt-ctl role ROLE cgroup:PATH");
	ck_assert_str_eq(all_roles(), "online /job\n");
}

#define STATE(id, annotation) "{\"id\":\"" id "\",\"pid\":%d,\"annotations\":{" annotation "}}"
#define ROLE(text)	      "\"gpreempt.io/role\":\"" text "\""

/* The hook of a container engine. A container starts whatever is wrong. */
TEST(hook)
{
	static const struct {
		const char *state, *roles, *note;
	} rows[] = {
		{ "", "", "stdin is no state of a container" },
		{ "{\"id\":\"c1\"}", "", "stdin is no state of a container" },
		{ STATE("c1", ROLE("batch")), "", "neither online nor offline" },
		{ STATE("c1", "\"other\":\"offline\""), "", "" },
		{ STATE("c1", ROLE("offline weight=200")), "offline weight=200 /pods/c1\n", "" },
		{ STATE("c1", ROLE("online weight=200")), "online /pods/c1\n", "do not count" },
		{ STATE("c2", ROLE("online")), "online /pods/c1\n", "no part of the path" },
	};
	char path[] = "/tmp/gpreempt-state-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	size_t i;

	unit_cgroup_make("/pods/c1/sub");
	unit_cgroup_of(getpid(), "0::/pods/c1/sub\n");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ck_assert_ptr_nonnull(freopen(path, "w", file));
		fprintf(file, rows[i].state, getpid());
		fflush(file);
		ck_assert_ptr_nonnull(freopen(path, "r", stdin));
		CTL(0, "role --oci");
		ck_assert_str_eq(all_roles(), rows[i].roles);
		if (*rows[i].note)
			ERR_HAS(rows[i].note);
		else
			ck_assert_str_eq(ctl_err, "");
	}
	fclose(file);
	unlink(path);
}

/* ".." is a component; a name may have it. */
TEST(dots)
{
	unit_cgroup_make("/a..b");
	ck_assert_int_eq(give("/a..b", GPREEMPT_ROLE_OFFLINE, ""), 0);
	ck_assert_str_eq(all_roles(), "offline /a..b\n");
	ck_assert_int_eq(give("/a..b/..", GPREEMPT_ROLE_ONLINE, ""), -EINVAL);
}

/* A role below level 32 would never be looked at; to look for all goes no deeper. */
TEST(deep)
{
	char path[256] = "";
	int open;

	unit_cgroup_long(path, 2 * SHR_CGROUP_LEVELS + 4, 1);
	unit_cgroup_role(path, "offline");
	ck_assert_int_eq(give(path, GPREEMPT_ROLE_OFFLINE, ""), -E2BIG);
	path[2 * SHR_CGROUP_LEVELS] = '\0';
	ck_assert_int_eq(give(path, GPREEMPT_ROLE_OFFLINE, ""), 0);
	open = unit_count_descriptors();
	ck_assert_str_eq(all_roles(), unit_text("offline %s\n", path));
	ck_assert_int_eq(unit_count_descriptors(), open);
}

/* However long the path is. */
TEST(long_path_of_role)
{
	char path[SHR_CGROUP_PATH] = "/u";

	unit_cgroup_long(path, 4094, 190);
	ck_assert_int_eq(give(path, GPREEMPT_ROLE_OFFLINE, ""), 0);
	ck_assert_str_eq(all_roles(), unit_text("offline %s\n", path));
	/* A path that is longer by a byte can be another one, which the kernel has cut. */
	strcat(path, "m");
	unit_cgroup_make(path);
	ck_assert_int_eq(give(path, GPREEMPT_ROLE_OFFLINE, ""), -E2BIG);
}

/* A path that is no cgroup gets no role, and all of them together get none. */
TEST(not_given)
{
	static const struct {
		const char *cgroup;
		int code;
	} wrong[] = {
		{ "", -EINVAL },	 { "/", -EINVAL },
		{ "/../etc", -EINVAL },	 { "/job/../../etc", -EINVAL },
		{ "/nothing", -ENOENT }, { "/job/cgroup.procs", -ENOTDIR },
	};
	size_t i;

	unit_cgroup_make("/job");
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		ck_assert_int_eq(give(wrong[i].cgroup, GPREEMPT_ROLE_OFFLINE, ""), wrong[i].code);
	ck_assert_str_eq(all_roles(), "");
}

TEST_FIXTURE(unit_cgroups_start, teardown)
