// SPDX-License-Identifier: GPL-2.0-only
/* A gang's process that is paused, without a session. */
#include <poll.h>

#include <gpreempt/gang.h>
#include <gpreempt/view.h>

#include "lib/preempt/pause.h"
#include "unit.h"

#define VIEW "/sys/kernel/debug/gpreempt/pid/4194242/queues"
#define HEAD                               \
	"gpreempt-queues - version: 1.3\n" \
	"# qid gpu_id active slots suspended evicted state age_ms\n"

static struct gpreempt_gang *gang;
static struct gpreempt_gang_outcome out;
static struct gpreempt_error err;
static struct gpreempt_member member;

static void setup(void)
{
	unit_setup();
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	gp_loop_set_file(&loop, "/dev/kfd", "511");
	gp_loop_set_file(&loop, "/proc/4194242/fd/", "7\n");
	gp_loop_set_file(&loop, "/proc/4194242/fd/7", "511");
	gp_loop_set_file(&loop, VIEW,
			 HEAD "0 0xf7bc 4 4 0 0 active 0\n"
			      "1 0xf7bc 4 4 0 0 active 0\n");
	ck_assert_int_eq(gpreempt_gang_new(g, &gang), 0);
}

static void teardown(void)
{
	gpreempt_gang_free(gang);
	/* No process of ours stays paused, whatever happened. */
	ck_assert_int_eq(loop.seized, 0);
	unit_teardown();
}

static int add(void)
{
	return gpreempt_gang_add(gang, PID, GPREEMPT_ROUTE_PAUSE, &err);
}

static void look(void)
{
	ck_assert_uint_eq(gpreempt_gang_members(gang, &member, 1), 1);
}

TEST(pauses_and_resumes)
{
	int i;

	ck_assert_int_eq(add(), 0);
	ck_assert(!strstr(loop.trace, "seize"));
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), 0);
		ck_assert_int_eq(loop.evicted, 1);
		ck_assert_uint_eq(out.requested, 2);
		ck_assert_uint_eq(out.done, 2);
		ck_assert_uint_eq(out.succeeded, 1);
		look();
		ck_assert_int_eq(member.route, GPREEMPT_ROUTE_PAUSE);
		ck_assert_uint_gt(member.outcome.ioctl_ns, 0);
		ck_assert_int_eq(member.outcome.slots_ns, GPREEMPT_UNKNOWN);
		ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
		ck_assert_int_eq(loop.evicted, 0);
		ck_assert_uint_eq(out.done, 2);
	}
	/* No debug session was ever asked for. */
	ck_assert(!strstr(loop.trace, "enable"));
}

/* A request that comes twice is done once, also where the driver counts. */
TEST(twice)
{
	loop.pause_counts = true;
	ck_assert_int_eq(add(), 0);
	gpreempt_gang_suspend(gang, NULL, &out);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 2);
	ck_assert_int_eq(loop.evicted, 1);
	gpreempt_gang_resume(gang, NULL, &out);
	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_int_eq(gpreempt_gang_resume(gang, NULL, &out), 0);
	ck_assert_int_eq(loop.evicted, 0);
}

/* The process runs at the end, however it comes. */
TEST_EACH(runs_at_the_end, 2)
{
	ck_assert_int_eq(add(), 0);
	gpreempt_gang_suspend(gang, NULL, &out);
	ck_assert_int_eq(loop.evicted, 1);
	if (_i) {
		ck_assert_int_eq(gpreempt_gang_remove(gang, PID), 0);
	} else {
		gpreempt_gang_free(gang);
		gang = NULL;
	}
	ck_assert_int_eq(loop.evicted, 0);
}

/* The caller must know that the process is still paused. */
TEST(cannot_be_unpaused)
{
	ck_assert_int_eq(add(), 0);
	gpreempt_gang_suspend(gang, NULL, &out);
	gp_loop_fail(&loop, "seize", 0, -EPERM);
	ck_assert_int_ne(gpreempt_gang_resume(gang, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 0);
	ck_assert_int_ne(gpreempt_gang_remove(gang, PID), 0);
	ck_assert_int_eq(loop.evicted, 1);
}

static const uint32_t ids[] = { 0 };
static const struct gpreempt_filter parts[] = {
	{ .ids = ids, .n_ids = 1 },
	{ .by_priority = true, .priority_max = 7 },
	{ .gpu_ids = ids, .n_gpu_ids = 1 },
};

TEST_EACH(not_for_a_part, ARRAY_SIZE(parts))
{
	ck_assert_int_eq(add(), 0);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, &parts[_i], &out), -EINVAL);
	look();
	ck_assert_int_eq(member.error.reason, GPREEMPT_PAUSE_WHOLE);
	ck_assert_int_eq(loop.evicted, 0);
	gpreempt_gang_suspend(gang, NULL, &out);
	ck_assert_int_eq(gpreempt_gang_resume(gang, &parts[_i], &out), -EINVAL);
	ck_assert_int_eq(loop.evicted, 1);
}

/* CRIU's, seen before or only by the driver's answer: it stays as it is. */
TEST_EACH(paused_by_another, 2)
{
	loop.paused = true;
	loop.evicted = 1;
	if (_i) {
		gp_loop_set_file(&loop, VIEW, HEAD "0 0xf7bc 0 4 0 1 paused 0\n");
		ck_assert_int_eq(add(), -EBUSY);
		ck_assert_int_eq(err.reason, GPREEMPT_PAUSED);
	} else {
		ck_assert_int_eq(add(), 0);
		ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), -EBUSY);
		look();
		ck_assert_int_eq(member.error.reason, GPREEMPT_PAUSED);
		ck_assert_int_eq(gpreempt_gang_remove(gang, PID), 0);
	}
	ck_assert_int_eq(loop.evicted, 1);
}

/* Its end is seen while nothing is asked for, paused or not. */
TEST_EACH(ends, 2)
{
	ck_assert_int_eq(add(), 0);
	if (_i)
		gpreempt_gang_suspend(gang, NULL, &out);
	gp_loop_end_process(&loop);
	unit_readable(gpreempt_gang_fd(gang));
	look();
	ck_assert_int_eq(member.events, GPREEMPT_EVENT_ENDED);
	ck_assert_int_eq(member.error.reason, GPREEMPT_ENDED);
	unit_clear_trace();
	ck_assert_int_eq(gpreempt_gang_remove(gang, PID), 0);
	ck_assert(!strstr(loop.trace, "unpause"));
}

TEST(no_such_process_or_route)
{
	ck_assert_int_eq(gpreempt_gang_add(gang, 77, GPREEMPT_ROUTE_PAUSE, &err), -ESRCH);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_PROCESS);
	ck_assert_int_eq(gpreempt_gang_add(gang, PID, GPREEMPT_ROUTES, &err), -EINVAL);
	ck_assert_int_eq(add(), 0);
	ck_assert_int_eq(add(), -EEXIST);
	ck_assert_int_eq(gpreempt_gang_add(gang, PID, GPREEMPT_ROUTE_DEBUG, &err), -EEXIST);
}

static const char *off(struct gp_loop *l)
{
	return l->evicted ? HEAD "0 0xf7bc 0 4 0 1 paused 0\n"
				 "1 0xf7bc 0 4 0 1 paused 0\n" :
			    HEAD "0 0xf7bc 4 4 0 0 active 0\n"
				 "1 0xf7bc 4 4 0 0 active 0\n";
}

/* The time when the slots became empty is there, and the verdict. */
TEST_EACH(slots, 2)
{
	loop.view = off;
	if (_i)
		ck_assert_int_eq(gpreempt_gang_sample_slots(gang, true), 0);
	ck_assert_int_eq(add(), 0);
	if (!_i)
		ck_assert_int_eq(gpreempt_gang_sample_slots(gang, true), 0);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), 0);
	gpreempt_gang_verify(gang);
	look();
	ck_assert_int_gt(member.outcome.slots_ns, 0);
	ck_assert_int_gt(member.outcome.resolution_ns, 0);
	ck_assert_int_eq(member.verdict, GPREEMPT_VERIFIED);
	gpreempt_gang_resume(gang, NULL, &out);
	gpreempt_gang_verify(gang);
	look();
	ck_assert_int_eq(member.verdict, GPREEMPT_NOT_CHECKED);
	/* A pause that fails has no slots, and ends all the same. */
	gp_loop_fail(&loop, "pause", 2, -EIO);
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, &out), -EIO);
	look();
	ck_assert_int_eq(member.outcome.slots_ns, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(gpreempt_gang_sample_slots(gang, false), 0);
	gpreempt_gang_suspend(gang, NULL, &out);
	look();
	ck_assert_int_eq(member.outcome.slots_ns, GPREEMPT_UNKNOWN);
}

TEST(slots_without_the_module)
{
	gp_loop_set_file(&loop, VIEW, NULL);
	ck_assert_int_eq(add(), 0);
	ck_assert_int_eq(gpreempt_gang_sample_slots(gang, true), -ENODATA);
	look();
	ck_assert_int_eq(member.error.reason, GPREEMPT_NO_MODULE);
}

#define NOTHING GPREEMPT_BY_NOTHING

static const struct {
	const char *row;
	enum gpreempt_verdict verdict;
	enum gpreempt_verified_by by;
} rows[] = {
	{ "0 0xf7bc 0 4 0 1 paused 0\n", GPREEMPT_VERIFIED, GPREEMPT_BY_SLOTS },
	{ "0 0xf7bc 1 4 0 1 paused 0\n", GPREEMPT_CONTRADICTED, GPREEMPT_BY_SLOTS },
	{ "0 0xf7bc 1 4 0 - paused 0\n", GPREEMPT_CONTRADICTED, GPREEMPT_BY_SLOTS },
	/* The driver has not even taken it off. */
	{ "0 0xf7bc 0 4 0 0 active 0\n", GPREEMPT_CONTRADICTED, NOTHING },
	{ "0 0xf7bc 1 4 0 1 paused 9\n", GPREEMPT_NOT_CHECKED, NOTHING },
	{ "0 0xf7bc 0 4 0 1 paused 9\n", GPREEMPT_NOT_CHECKED, NOTHING },
	{ "0 0xf7bc - 4 0 1 paused 0\n", GPREEMPT_NOT_CHECKED, NOTHING },
	{ "0 0xf7bc 0 4 0 - paused 0\n", GPREEMPT_NOT_CHECKED, NOTHING },
	{ "", GPREEMPT_NOT_CHECKED, NOTHING },
};

TEST_EACH(verdicts, ARRAY_SIZE(rows))
{
	size_t queues = 77;
	enum gpreempt_verified_by by;
	char text[256];

	snprintf(text, sizeof(text), HEAD "%s", rows[_i].row);
	gp_loop_set_file(&loop, VIEW, text);
	ck_assert_int_eq(gp_pause_verify(g, PID, &queues, &by), rows[_i].verdict);
	ck_assert_int_eq(by, rows[_i].by);
	ck_assert_uint_eq(queues, *rows[_i].row ? 1 : 0);
}

TEST_FIXTURE(setup, teardown)
