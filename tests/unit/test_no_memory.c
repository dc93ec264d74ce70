// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of the library fails, one after the other: the call returns
 * -ENOMEM, nothing leaks (the sanitizers see that), and nothing is suspended.
 */
#include <gpreempt/gang.h>
#include <gpreempt/view.h>

#include "lib/see/words.h"
#include "unit.h"
#include "unit-memory.h"

#define QUEUES "gpreempt-queues - version: 1.1\n# qid gpu_id active\n"

static void setup(void)
{
	unit_setup();
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	set_file("/proc/4194242/comm", "job\n");
	set_file("/proc/4194242/cmdline", "job");
}

/* Result of a work, checked afterwards: check itself needs memory. */
static bool as_expected;

static void expect(bool so)
{
	as_expected &= so;
}

static int parse_view(void)
{
	static const char text[] = QUEUES "0 0xf7bc 0\n1 0xf7bc 4\n";
	struct gpreempt_view *view;
	int ret = gp_view_parse(text, strlen(text), &view);

	if (ret)
		return ret;
	expect(view->count == 2);
	gpreempt_list_free(view);
	return 0;
}

static int select_it(void)
{
	static const char *const words[] = { "comm:job", "cmd:^job$" };
	struct gpreempt_targets *found;
	struct gpreempt_error err = { 0 };
	int ret = gpreempt_select(g, words, 2, NULL, NULL, &found, &err);

	if (ret) {
		expect(err.code == ret);
		return ret;
	}
	expect(found->count == 1);
	gpreempt_list_free(found);
	return 0;
}

static bool any_suspended(void)
{
	return gp_loop_queue(&loop, 0)->suspended || gp_loop_queue(&loop, 1)->suspended;
}

static int hold_it(void)
{
	struct gpreempt_session *s;
	struct gpreempt_error err = { 0 };
	int ret = gpreempt_session_open(g, PID, &s, &err);

	if (!ret) {
		ret = gpreempt_session_suspend(s, NULL, NULL);
		expect(ret || gp_loop_queue(&loop, 1)->suspended);
		gpreempt_session_close(s);
	}
	expect(!any_suspended());
	expect(!loop.debugged);
	return ret;
}

static int hold_in_a_gang(void)
{
	struct gpreempt_gang *gang;
	int ret = gpreempt_gang_new(g, &gang);

	if (ret)
		return ret;
	ret = gpreempt_gang_add(gang, PID, GPREEMPT_ROUTE_DEBUG, NULL);
	if (!ret)
		ret = gpreempt_gang_suspend(gang, NULL, NULL);
	gpreempt_gang_free(gang);
	expect(!any_suspended());
	expect(!loop.debugged);
	return ret;
}

static const struct {
	const char *name;
	int (*work)(void);
	/* Works also without some memory, if not as well. */
	bool does_without;
} works[] = {
	{ "view", parse_view, false },
	{ "select", select_it, true },
	{ "session", hold_it, true },
	{ "gang", hold_in_a_gang, true },
};

TEST_EACH(each_fails, ARRAY_SIZE(works))
{
	int nth = 0, failed = 0, ret;
	bool over;

	do {
		as_expected = true;
		unit_clear_trace();
		atomic_store(&unit_memory_fails, ++nth);
		ret = works[_i].work();
		/* The work makes fewer allocations than this. */
		over = atomic_exchange(&unit_memory_fails, 0);
		ck_assert_msg(as_expected, "%s: allocation %d", works[_i].name, nth);
		if (over)
			ck_assert_int_eq(ret, 0);
		else if (!works[_i].does_without || ret)
			ck_assert_msg(ret == -ENOMEM,
				      "%s: allocation %d "
				      "fails: %d",
				      works[_i].name, nth, ret);
		failed += ret == -ENOMEM;
	} while (!over);
	ck_assert_int_gt(failed, 0);
}

TEST_FIXTURE(setup, unit_teardown)
