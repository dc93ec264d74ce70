// SPDX-License-Identifier: GPL-2.0-only
/* A session over a made-up driver: opening, suspending, resuming, closing. */
#include <stdio.h>
#include <string.h>

#include "unit.h"

#define MODULE_FILE "/sys/kernel/debug/gpreempt/pid/4242/queues"

static struct gpreempt_session *s;
static struct gpreempt_outcome out;
static struct gpreempt_error err;

static void expect_refused(int code, enum gpreempt_reason reason)
{
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(gpreempt_session_open(g, PID, &s, &err), code);
	ck_assert_int_eq(err.reason, reason);
	ck_assert_int_eq(err.code, code);
	ck_assert_int_eq(err.pid, PID);
	ck_assert_ptr_nonnull(err.step);
}

static bool suspended(uint32_t qid)
{
	return gp_loop_queue(&loop, qid)->suspended;
}

static void open_with_queues(uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		gp_loop_add_queue(&loop, i);
	s = unit_open();
	unit_clear_trace();
}

START_TEST(open_and_close)
{
	gp_loop_add_queue(&loop, 0);
	s = unit_open();
	ck_assert(loop.debugged);
	ck_assert(!loop.queues[0].is_new);
	/* The first snapshot finds no room, the second acknowledges. */
	ck_assert_str_eq(loop.trace, "open version seize watch probe enable "
			 "snapshot snapshot ");
	unit_clear_trace();
	ck_assert_int_eq(gpreempt_session_close(s), 0);
	ck_assert_str_eq(loop.trace,
			 "disable interrupt unwatch wait detach ");
	ck_assert(!loop.debugged);
}
END_TEST

/* Never enable where a session is open: it would be taken from its owner. */
START_TEST(other_debugger)
{
	loop.debugged = true;
	expect_refused(-EALREADY, GPREEMPT_DEBUGGED);
	ck_assert_ptr_null(strstr(loop.trace, "enable"));
	ck_assert_ptr_null(strstr(loop.trace, "disable"));
	ck_assert_ptr_nonnull(strstr(loop.trace, "detach"));
	ck_assert(loop.debugged);
}
END_TEST

/* Never enable after exec: the driver would make a process and crash later. */
START_TEST(after_exec)
{
	loop.opened = false;
	expect_refused(-ESRCH, GPREEMPT_NOT_GPU);
	ck_assert_ptr_null(strstr(loop.trace, "enable"));
	ck_assert_ptr_nonnull(strstr(loop.trace, "detach"));
}
END_TEST

static const struct {
	const char *call;
	int code;
	enum gpreempt_reason reason;
} failures[] = {
	{ "open", -ENOENT, GPREEMPT_NO_KFD },
	{ "open", -ENODEV, GPREEMPT_NO_KFD },
	{ "open", -EACCES, GPREEMPT_NOT_ROOT },
	{ "version", -EIO, GPREEMPT_SYSTEM },
	{ "seize", -ESRCH, GPREEMPT_ENDED },
	{ "seize", -EPERM, GPREEMPT_TRACE_DENIED },
	{ "seize", -EIO, GPREEMPT_SYSTEM },
	{ "watch", -EAGAIN, GPREEMPT_SYSTEM },
	{ "probe", -EPERM, GPREEMPT_SYSTEM },
	{ "enable", -EALREADY, GPREEMPT_DEBUGGED },
	{ "enable", -EBUSY, GPREEMPT_GWS_BUSY },
	{ "enable", -ENODEV, GPREEMPT_GPU_OLD },
	{ "enable", -EINVAL, GPREEMPT_NO_HWS },
	{ "enable", -ESRCH, GPREEMPT_NOT_GPU },
	{ "enable", -ENOMEM, GPREEMPT_SYSTEM },
	{ "snapshot", -ESRCH, GPREEMPT_ENDED },
	{ "snapshot", -EFAULT, GPREEMPT_SYSTEM },
};

START_TEST(open_fails)
{
	gp_loop_fail(&loop, failures[_i].call, 0, failures[_i].code);
	expect_refused(failures[_i].code, failures[_i].reason);
	/* Whatever was begun is undone. */
	if (strstr(loop.trace, "watch "))
		ck_assert_ptr_nonnull(strstr(loop.trace, "detach"));
	if (!strcmp(failures[_i].call, "snapshot"))
		ck_assert_ptr_nonnull(strstr(loop.trace, "disable"));
	else
		ck_assert_ptr_null(strstr(loop.trace, "disable"));
	ck_assert(!loop.debugged);
}
END_TEST

START_TEST(interrupted_call)
{
	gp_loop_fail(&loop, "open", 1, -EINTR);
	gp_loop_fail(&loop, "open", 2, -EINTR);
	gp_loop_fail(&loop, "enable", 1, -EINTR);
	s = unit_open();
	ck_assert(!strncmp(loop.trace, "open open ", 10));
	ck_assert_ptr_nonnull(strstr(loop.trace, "enable enable"));
	gpreempt_session_close(s);
}
END_TEST

/* A signal that stays pending is no reason to try for ever. */
START_TEST(interrupted_for_ever)
{
	gp_loop_fail(&loop, "open", 0, -EINTR);
	expect_refused(-EINTR, GPREEMPT_SYSTEM);
}
END_TEST

START_TEST(old_driver)
{
	loop.minor = 12;
	expect_refused(-ENOTSUP, GPREEMPT_KFD_VERSION);
	ck_assert_uint_eq(err.minor, 12);
	ck_assert_ptr_null(strstr(loop.trace, "seize"));
}
END_TEST

START_TEST(activation_failed)
{
	loop.runtime = DEBUG_RUNTIME_STATE_ENABLED_ERROR;
	expect_refused(-EIO, GPREEMPT_RUNTIME_ERROR);
	ck_assert_ptr_nonnull(strstr(loop.trace, "disable"));
	loop.runtime = DEBUG_RUNTIME_STATE_ENABLED_BUSY;
	expect_refused(-EBUSY, GPREEMPT_RUNTIME_BUSY);
	ck_assert(!loop.debugged);
}
END_TEST

static void other_process(struct gp_loop *l, const char *call)
{
	if (!strcmp(call, "seize"))
		gp_loop_set_file(l, "/proc/4242/stat",
				 "4242 (x) S 1 4242 4242 0 -1 4194560 1 2 3 4 "
				 "5 6 7 8 20 0 3 0 999 100 200 1844\n");
}

START_TEST(reused_pid)
{
	loop.before = other_process;
	expect_refused(-ESRCH, GPREEMPT_ENDED);
	ck_assert_ptr_null(strstr(loop.trace, "enable"));
}
END_TEST

START_TEST(suspend_all)
{
	open_with_queues(3);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, &out), 0);
	ck_assert_str_eq(loop.trace, "suspend ");
	ck_assert_uint_eq(out.requested, 3);
	ck_assert_uint_eq(out.done, 3);
	ck_assert(suspended(0) && suspended(1) && suspended(2));
	/* What is suspended is not asked for again. */
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, &out), 0);
	ck_assert_str_eq(loop.trace, "suspend ");
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, 0, &out), 0);
	ck_assert_uint_eq(out.done, 3);
	ck_assert(!suspended(0) && !suspended(1) && !suspended(2));
	gpreempt_session_close(s);
}
END_TEST

static char busy_trace[256];

static void note_busy(void *data, bool busy)
{
	ck_assert_ptr_eq(data, busy_trace);
	strcat(busy_trace, busy ? "(" : ")");
}

/* Whoever watches us must know when the driver has us. */
START_TEST(busy_in_driver)
{
	struct gpreempt_options options = {
		.size = sizeof(options),
		.busy = note_busy,
		.data = busy_trace,
	};

	gpreempt_free(g);
	ck_assert_int_eq(gp_new_backend(&options, &gp_backend_loop, &loop, &g),
			 0);
	open_with_queues(1);
	busy_trace[0] = '\0';
	gpreempt_session_suspend(s, NULL, 0, &out);
	ck_assert_str_eq(busy_trace, "()");
	gpreempt_session_resume(s, NULL, 0, &out);
	gpreempt_session_close(s);
	ck_assert_str_eq(busy_trace, "()()()");
	options.size = 1;
	gpreempt_free(g);
	g = NULL;
	ck_assert_int_eq(gp_new_backend(&options, &gp_backend_loop, &loop, &g),
			 -EINVAL);
}
END_TEST

START_TEST(suspend_some)
{
	const uint32_t some[] = { 2, 0 }, more[] = { 0, 1 };

	open_with_queues(3);
	ck_assert_int_eq(gpreempt_session_suspend(s, some, 2, &out), 0);
	ck_assert_uint_eq(out.done, 2);
	ck_assert(suspended(0) && !suspended(1) && suspended(2));
	/* One of them is suspended already, and counts as done. */
	ck_assert_int_eq(gpreempt_session_suspend(s, more, 2, &out), 0);
	ck_assert_uint_eq(out.requested, 2);
	ck_assert_uint_eq(out.done, 2);
	ck_assert(suspended(1));
	ck_assert_int_eq(gpreempt_session_resume(s, some, 1, &out), 0);
	ck_assert(suspended(0) && suspended(1) && !suspended(2));
	gpreempt_session_close(s);
	ck_assert(!suspended(0) && !suspended(1));
}
END_TEST

START_TEST(no_queues)
{
	open_with_queues(0);
	/* The driver would take an empty list for all. */
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, &out), 0);
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, 0, &out), 0);
	ck_assert_uint_eq(out.requested, 0);
	ck_assert_str_eq(loop.trace, "");
	gpreempt_session_close(s);
}
END_TEST

START_TEST(refused_and_failed)
{
	const struct gpreempt_session_queue *queues;
	const uint32_t ids[] = { 0, 1, 2, 9 };
	size_t count;

	open_with_queues(3);
	gp_loop_queue(&loop, 1)->destroying = true;
	gp_loop_queue(&loop, 2)->broken = true;
	ck_assert_int_eq(gpreempt_session_suspend(s, ids, 4, &out), 0);
	ck_assert_uint_eq(out.requested, 4);
	ck_assert_uint_eq(out.done, 1);
	ck_assert_uint_eq(out.refused, 2);
	ck_assert_uint_eq(out.failed, 1);
	queues = gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(queues[0].result, GPREEMPT_RESULT_DONE);
	ck_assert_int_eq(queues[1].result, GPREEMPT_RESULT_REFUSED);
	ck_assert(!queues[1].held);
	ck_assert_int_eq(queues[2].result, GPREEMPT_RESULT_FAILED);
	/* The driver has it marked as suspended, so it must be resumed. */
	ck_assert(queues[2].held);
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, 0, &out), 0);
	ck_assert(!suspended(2));
	gpreempt_session_close(s);
}
END_TEST

START_TEST(runtime_off)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	open_with_queues(1);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, &out), -EPERM);
	ck_assert_int_eq(gpreempt_session_error(s)->reason,
			 GPREEMPT_RUNTIME_OFF);
	ck_assert_int_eq(gpreempt_error_class(gpreempt_session_error(s)),
			 GPREEMPT_CLASS_UNSUPPORTED);
	gpreempt_session_close(s);
}
END_TEST

START_TEST(process_ended)
{
	open_with_queues(1);
	gp_loop_fail(&loop, "suspend", 0, -ESRCH);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, &out), -ESRCH);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_ENDED);
	gpreempt_session_close(s);
}
END_TEST

START_TEST(session_lost)
{
	open_with_queues(2);
	gp_loop_disable(&loop);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, &out),
			 -ENOTCONN);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_LOST);
	/* It is known from then on; the driver is not asked again. */
	unit_clear_trace();
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, 0, &out),
			 -ENOTCONN);
	ck_assert_str_eq(loop.trace, "");
	/* Nor is it disabled, as it would be somebody else's by now. */
	gpreempt_session_close(s);
	ck_assert_ptr_null(strstr(loop.trace, "disable"));
	ck_assert_ptr_nonnull(strstr(loop.trace, "detach"));
}
END_TEST

START_TEST(too_many_ids)
{
	static uint32_t ids[1025];

	open_with_queues(1);
	ck_assert_int_eq(gpreempt_session_suspend(s, ids, 1025, &out),
			 -E2BIG);
	ck_assert_str_eq(loop.trace, "");
	gpreempt_session_close(s);
}
END_TEST

START_TEST(many_queues)
{
	uint32_t i;

	/* The order of the driver is not ours. */
	for (i = 0; i < 1000; i++)
		gp_loop_add_queue(&loop, i * 7 % 1000);
	s = unit_open();
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, &out), 0);
	ck_assert_uint_eq(out.done, 1000);
	for (i = 0; i < 1000; i++)
		ck_assert(suspended(i));
	gpreempt_session_close(s);
}
END_TEST

static void more_queues(struct gp_loop *l, const char *call)
{
	uint32_t i;

	if (strcmp(call, "snapshot") || l->count > 50)
		return;
	for (i = 0; i < 20; i++)
		gp_loop_add_queue(l, l->count);
}

/* Each snapshot finds more queues than there was room for. */
START_TEST(queues_while_opening)
{
	size_t count;

	loop.before = more_queues;
	s = unit_open();
	gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(count, loop.count);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, 0, &out), 0);
	ck_assert_uint_eq(out.done, count);
	gpreempt_session_close(s);
}
END_TEST

START_TEST(queue_types)
{
	const struct gpreempt_session_queue *queues;
	size_t count;

	gp_loop_add_queue(&loop, 0)->type = KFD_IOC_QUEUE_TYPE_COMPUTE;
	gp_loop_add_queue(&loop, 1)->type = KFD_IOC_QUEUE_TYPE_SDMA;
	gp_loop_add_queue(&loop, 2)->type = KFD_IOC_QUEUE_TYPE_COMPUTE_AQL;
	gp_loop_add_queue(&loop, 3)->type = KFD_IOC_QUEUE_TYPE_SDMA_XGMI;
	s = unit_open();
	queues = gpreempt_session_queues(s, &count);
	ck_assert_uint_eq(queues[0].type, GPREEMPT_QUEUE_COMPUTE_PM4);
	ck_assert_uint_eq(queues[1].type, GPREEMPT_QUEUE_SDMA);
	ck_assert_uint_eq(queues[2].type, GPREEMPT_QUEUE_COMPUTE_AQL);
	ck_assert_uint_eq(queues[3].type, GPREEMPT_QUEUE_SDMA_XGMI);
	gpreempt_session_close(s);
}
END_TEST

static const struct {
	const char *text;
	enum gpreempt_verdict verdict;
} views[] = {
	{ NULL, GPREEMPT_NOT_CHECKED },
	{ "# qid active\n0 0\n1 0\n", GPREEMPT_VERIFIED },
	/* Queue 2 is not suspended: it may be active. */
	{ "# qid active\n0 0\n1 0\n2 4\n", GPREEMPT_VERIFIED },
	{ "# qid active\n0 0\n1 1\n2 4\n", GPREEMPT_CONTRADICTED },
	{ "# qid active\n0 0\n1 -\n", GPREEMPT_NOT_CHECKED },
	{ "# qid active\n0 0\n", GPREEMPT_NOT_CHECKED },
	{ "# qid suspended\n0 1\n1 1\n", GPREEMPT_NOT_CHECKED },
};

START_TEST(verify)
{
	const uint32_t ids[] = { 0, 1 };
	static char text[256];

	open_with_queues(3);
	gpreempt_session_suspend(s, ids, 2, NULL);
	if (views[_i].text) {
		snprintf(text, sizeof(text),
			 "gpreempt-queues - version: 1.0\n%s", views[_i].text);
		gp_loop_set_file(&loop, MODULE_FILE, text);
	}
	ck_assert_int_eq(gpreempt_session_verify(s), views[_i].verdict);
	gpreempt_session_close(s);
}
END_TEST

START_TEST(nothing_to_verify)
{
	open_with_queues(1);
	gp_loop_set_file(&loop, MODULE_FILE, "gpreempt-queues - version: 1.0\n"
			 "# qid active\n0 0\n");
	ck_assert_int_eq(gpreempt_session_verify(s), GPREEMPT_NOT_CHECKED);
	gpreempt_session_close(s);
}
END_TEST

START_TEST(close_without_answer)
{
	open_with_queues(1);
	gpreempt_session_suspend(s, NULL, 0, NULL);
	gp_loop_fail(&loop, "unwatch", 0, -ETIMEDOUT);
	/* The process does not stop for us, but its queues run. */
	ck_assert_int_eq(gpreempt_session_close(s), -ETIMEDOUT);
	ck_assert(!suspended(0));
	ck_assert_ptr_null(strstr(loop.trace, "detach"));
	ck_assert_int_eq(gpreempt_session_close(NULL), 0);
}
END_TEST

/* A signal that stopped the process just then is not lost. */
START_TEST(close_with_signal)
{
	open_with_queues(0);
	gp_loop_stop(&loop, 10 << 8 | 0x7f);
	ck_assert_int_eq(gpreempt_session_close(s), 0);
	ck_assert_int_eq(loop.last_signal, 10);
}
END_TEST

int main(void)
{
	TCase *tc = unit_case();

	tcase_add_checked_fixture(tc, unit_setup, unit_teardown);
	tcase_add_test(tc, open_and_close);
	tcase_add_test(tc, other_debugger);
	tcase_add_test(tc, after_exec);
	tcase_add_loop_test(tc, open_fails, 0, ARRAY_SIZE(failures));
	tcase_add_test(tc, interrupted_call);
	tcase_add_test(tc, interrupted_for_ever);
	tcase_add_test(tc, old_driver);
	tcase_add_test(tc, activation_failed);
	tcase_add_test(tc, reused_pid);
	tcase_add_test(tc, suspend_all);
	tcase_add_test(tc, busy_in_driver);
	tcase_add_test(tc, suspend_some);
	tcase_add_test(tc, no_queues);
	tcase_add_test(tc, refused_and_failed);
	tcase_add_test(tc, runtime_off);
	tcase_add_test(tc, process_ended);
	tcase_add_test(tc, session_lost);
	tcase_add_test(tc, too_many_ids);
	tcase_add_test(tc, many_queues);
	tcase_add_test(tc, queues_while_opening);
	tcase_add_test(tc, queue_types);
	tcase_add_loop_test(tc, verify, 0, ARRAY_SIZE(views));
	tcase_add_test(tc, nothing_to_verify);
	tcase_add_test(tc, close_without_answer);
	tcase_add_test(tc, close_with_signal);
	return unit_run("session");
}
