// SPDX-License-Identifier: GPL-2.0-only
/* A program's own queues, on the host and in PID namespaces. */
#include "unit.h"

#define STAT " (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "

static struct gpreempt_view *view;
static struct gpreempt_error err;

static void setup(void)
{
	unit_setup();
	view = NULL;
	set_file("/proc/4194242/stat", "4194242" STAT "777 20\n");
	set_file("/sys/kernel/debug/gpreempt/pid/4194242/queues",
		 "gpreempt-queues - version: 1.0\n# qid\n9\n");
}

static void teardown(void)
{
	gpreempt_list_free(view);
	unit_teardown();
}

TEST(on_the_host)
{
	set_file("/proc/self/stat", "4194242" STAT "777 20\n");
	ck_assert_int_eq(gpreempt_self_queues(g, &view, &err), 0);
	ck_assert_uint_eq(view->count, 1);
	ck_assert_int_eq(view->queues[0].qid, 9);
}

/* Number 17 in there is 4194242 here, by its start. */
TEST(by_start_time)
{
	set_file("/proc/self/stat", "17" STAT "777 20\n");
	set_file("/proc/17/stat", "17" STAT "777 20\n");
	ck_assert_int_eq(gpreempt_self_queues(g, &view, &err), 0);
	ck_assert_uint_eq(view->count, 1);
	ck_assert_int_eq(view->queues[0].qid, 9);
}

/* The host's process of that number is another one. */
TEST(not_to_be_known)
{
	set_file("/proc/self/stat", "17" STAT "888 20\n");
	set_file("/proc/17/stat", "17" STAT "888 20\n");
	ck_assert_int_eq(gpreempt_self_queues(g, &view, &err), -ENODATA);
	ck_assert_int_eq(err.reason, GPREEMPT_PID_NAMESPACE);
}

/* self without its own number has a reason, and not that it is no GPU process. */
TEST(empty_stat)
{
	set_file("/proc/self/stat", "");
	ck_assert_int_lt(gpreempt_self_queues(g, &view, &err), 0);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
	set_file("/proc/self/stat", NULL);
	ck_assert_int_eq(gpreempt_self_queues(g, &view, &err), -ENOENT);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
}

TEST(no_gpu_process)
{
	const char *own = unit_text("%d" STAT "999 20\n", getpid());

	set_file("/proc/self/stat", own);
	set_file(unit_text("/proc/%d/stat", getpid()), own);
	ck_assert_int_eq(gpreempt_self_queues(g, &view, &err), -ENODATA);
	ck_assert_int_eq(err.reason, GPREEMPT_NOT_GPU);
}

TEST_FIXTURE(setup, teardown)
