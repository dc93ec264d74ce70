// SPDX-License-Identifier: GPL-2.0-only
/* Command lines of processes whose memory does not answer. */
#include "lib/see/words.h"
#include "cli/program.h"
#include "lib/core/internal.h"
#include "unit.h"

#define COUNT 12

static struct gpreempt *lib;
static struct gpreempt_target targets[COUNT];
static struct gpreempt_targets list = { .targets = targets };
static struct ctl_described *all;
static pid_t first_mute, last_mute, gone;

static ssize_t put(char *buf, size_t size, const char *text)
{
	size_t len = strlen(text);

	ck_assert_uint_lt(len, size);
	memcpy(buf, text, len);
	return len;
}

/* Read a file of /proc, where some processes keep the reader of their memory for ever. */
static ssize_t read_file(void *be, const char *path, char *buf, size_t size)
{
	char name[32];
	int pid;

	(void)be;
	ck_assert_int_eq(sscanf(path, "/proc/%d/%31s", &pid, name), 2);
	if (pid == gone)
		return -ENOENT;
	if (!strcmp(name, "stat"))
		return put(buf, size,
			   "1 (a) S 1 2 3 0 -1 4 1 2 3 4 5 6 7 8 20 "
			   "0 3 0 777 100 200\n");
	if (!strcmp(name, "status"))
		return put(buf, size,
			   "Name:\tjob\nState:\tS\nTgid:\t1\n"
			   "TracerPid:\t0\nUid:\t7\t7\t7\t7\nThreads:\t1\n");
	if (!strcmp(name, "comm"))
		return put(buf, size, "job\n");
	ck_assert_str_eq(name, "cmdline");
	unit_answers(pid < first_mute || pid > last_mute);
	return put(buf, size, "job --now");
}

static const struct gp_backend_ops ops = {
	.read_file = read_file,
};

static void setup(void)
{
	size_t i;

	ck_assert_int_eq(gp_new_backend(NULL, &ops, NULL, &lib), 0);
	for (i = 0; i < COUNT; i++)
		targets[i].pid = 100 + i;
	list.count = 4;
	first_mute = last_mute = gone = 0;
}

static void teardown(void)
{
	ctl_described_free(all, &list);
	ctl_described_free(NULL, &list);
	gpreempt_free(lib);
}

static void is_described(size_t i, bool mute)
{
	ck_assert_int_eq(all[i].code, 0);
	ck_assert_int_eq(all[i].mute, mute);
	ck_assert_str_eq(all[i].who.comm, "job");
	ck_assert_str_eq(all[i].who.command, mute ? "" : "job --now");
	ck_assert_uint_eq(all[i].who.uid, 7);
	ck_assert_uint_eq(all[i].who.start, 777);
}

TEST_EACH(all_answer, 2)
{
	size_t i;

	gone = 102;
	all = ctl_describe_all(lib, &list, _i);
	ck_assert_ptr_nonnull(all);
	for (i = 0; i < list.count; i++)
		if (i == 2)
			ck_assert_int_eq(all[i].code, -ESRCH);
		else
			is_described(i, false);
	/* Its child has ended, and was waited for. */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

TEST(none)
{
	list.count = 0;
	all = ctl_describe_all(lib, &list, true);
	ck_assert_ptr_nonnull(all);
}

/* One hangs in the middle, and one at the end: the others have their command lines. */
TEST_EACH(one_is_mute, 2)
{
	first_mute = last_mute = _i ? 103 : 101;
	all = ctl_describe_all(lib, &list, true);
	ck_assert_ptr_nonnull(all);
	is_described(0, false);
	is_described(1, !_i);
	is_described(2, false);
	is_described(3, _i);
}

/* No further command line is read after some that hang. */
TEST(many_are_mute)
{
	size_t i;

	list.count = COUNT;
	first_mute = 101;
	last_mute = 108;
	all = ctl_describe_all(lib, &list, true);
	ck_assert_ptr_nonnull(all);
	is_described(0, false);
	for (i = 1; i < COUNT; i++)
		is_described(i, true);
}

TEST(identify)
{
	struct gpreempt_description who;

	first_mute = last_mute = 100;
	gone = 101;
	memset(&who, 'x', sizeof(who));
	ck_assert_int_eq(gp_identify(lib, 100, &who), 0);
	ck_assert_str_eq(who.command, "");
	ck_assert_str_eq(who.comm, "job");
	ck_assert_int_eq(gp_identify(lib, 101, &who), -ESRCH);
}

TEST_FIXTURE(setup, teardown)
