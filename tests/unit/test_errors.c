// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every call of a session fails, each in turn, with every error, in a life that
 * has all in it: whatever happens, nothing hangs, nothing leaks, an error has a
 * reason, and no queue stays suspended.
 */
#include <gpreempt/gang.h>
#include <gpreempt/view.h>
#include <sys/ptrace.h>
#include <sys/resource.h>

#include "lib/preempt/session.h"
#include "lib/see/words.h"
#include "unit-memory.h"
#include "unit-session.h"

static const char *const calls[] = {
	"open",	     "version", "seize",  "watch",   "probe",	  "enable", "snapshot",
	"suspend",   "resume",	"query",  "info",    "answer",	  "wait",   "cont",
	"interrupt", "unwatch", "detach", "disable", "subscribe",
};

static const int codes[] = {
	-EPERM,	 -ENOENT, -ESRCH,  -EINTR,  -EIO,    -EAGAIN,	-ENOMEM,    -EACCES,
	-EFAULT, -EBUSY,  -ENODEV, -EINVAL, -EMFILE, -EALREADY, -ETIMEDOUT,
};

#define NTH 6

static void expect_reason(int ret)
{
	const struct gpreempt_error *err = gpreempt_session_error(s);
	char text[512];

	if (ret >= 0 || ret == -ENOTCONN)
		return;
	ck_assert_int_ne(err->reason, GPREEMPT_OK);
	ck_assert_ptr_nonnull(err->step);
	ck_assert_int_gt(gpreempt_error_text(err, text, sizeof(text)), 10);
	ck_assert_int_gt(gpreempt_error_next(err, text, sizeof(text)), 10);
}

static void dispatch(void)
{
	int i;

	for (i = 0; i < 3; i++)
		expect_reason(gpreempt_session_dispatch(s));
	if (gpreempt_session_error(s)->reason == GPREEMPT_LOST)
		gp_session_renew(s);
}

static void live(void)
{
	struct gpreempt_error err = { 0 };
	int ret;

	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	ret = gpreempt_session_open(g, PID, &s, &err);
	if (ret) {
		ck_assert_int_eq(err.code, ret);
		ck_assert_int_ne(err.reason, GPREEMPT_OK);
		ck_assert_ptr_nonnull(err.step);
		return;
	}
	expect_reason(gpreempt_session_suspend(s, NULL, &out));
	gp_loop_add_queue(&loop, 2);
	dispatch();
	gp_loop_stop(&loop, SIGUSR1 << 8 | 0x7f);
	dispatch();
	expect_reason(gpreempt_session_resume(s, ONLY(1), &out));
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_DISABLED);
	dispatch();
	gp_loop_set_runtime(&loop, DEBUG_RUNTIME_STATE_ENABLED);
	dispatch();
	gp_loop_disable(&loop);
	dispatch();
	expect_reason(gpreempt_session_suspend(s, NULL, &out));
	expect_reason(gpreempt_session_resume(s, NULL, &out));
	expect_reason(gpreempt_session_suspend(s, NULL, &out));
	gpreempt_session_close(s);
}

/* The driver refused to end the session, or said that there is none. */
static bool session_may_stay(const char *call, int code)
{
	if (!strcmp(call, "disable"))
		return true;
	return code == -EINVAL && strstr("enable snapshot suspend resume query info answer", call);
}

TEST_EACH(every_error, ARRAY_SIZE(calls))
{
	const char *call = calls[_i];
	size_t code, i;
	int nth;

	for (code = 0; code < ARRAY_SIZE(codes); code++) {
		for (nth = 1; nth <= NTH; nth++) {
			unit_teardown();
			unit_setup();
			gp_loop_fail(&loop, call, nth, codes[code]);
			live();
			/* The session ends without that call rather than not at all. */
			if (!strcmp(call, "subscribe"))
				loop.exposed = false;
			if (session_may_stay(call, codes[code]))
				continue;
			ck_assert_msg(!loop.debugged, "%s %d: %s", call, nth,
				      strerror(-codes[code]));
			for (i = 0; i < loop.count; i++)
				ck_assert(!loop.queues[i].suspended);
		}
	}
}

/* The process ends at any of these moments. */
static const char *doomed;

static void end_at(struct gp_loop *l, const char *call)
{
	if (strcmp(call, doomed))
		return;
	doomed = "";
	gp_loop_stop(l, PTRACE_EVENT_EXIT << 16 | 0x57f);
}

TEST_EACH(ends_at, ARRAY_SIZE(calls))
{
	doomed = calls[_i];
	loop.before = end_at;
	live();
	ck_assert(!loop.debugged);
}

/* Any step of the opening may get no descriptor: there is a reason, and no session. */
TEST(no_descriptors)
{
	struct rlimit old, few;
	int first = dup(STDERR_FILENO), n, ret;

	close(first);
	getrlimit(RLIMIT_NOFILE, &old);
	gp_loop_add_queue(&loop, 0);
	for (n = 0; n < 20; n++) {
		struct gpreempt_error err = { 0 };

		few = old;
		few.rlim_cur = first + n;
		setrlimit(RLIMIT_NOFILE, &few);
		ret = gpreempt_session_open(g, PID, &s, &err);
		setrlimit(RLIMIT_NOFILE, &old);
		if (!ret)
			break;
		ck_assert_int_eq(err.code, ret);
		ck_assert_int_ne(err.reason, GPREEMPT_OK);
		ck_assert(!loop.debugged);
	}
	ck_assert_int_gt(n, 3);
	ck_assert_int_eq(ret, 0);
	gpreempt_session_close(s);
}

/* A process has more queues than the driver takes ids in one call. */
TEST(too_many_queues)
{
	struct gpreempt_error err = { 0 };
	uint32_t qid;

	for (qid = 0; qid < 1025; qid++)
		gp_loop_add_queue(&loop, qid);
	ck_assert_int_eq(gpreempt_session_open(g, PID, &s, &err), -E2BIG);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
	ck_assert(!loop.debugged);
}

TEST_FIXTURE(unit_setup, unit_teardown)

#define QUEUES_HEAD "gpreempt-queues - version: 1.1\n# qid gpu_id active\n"

static void memory_setup(void)
{
	unit_setup();
	gp_loop_add_queue(&loop, 0);
	gp_loop_add_queue(&loop, 1);
	set_file("/proc/4194242/comm", "job\n");
	set_file("/proc/4194242/cmdline", "job");
}

/* Result of a work, checked afterwards: check itself needs memory. */
static bool as_expected;

static void holds_so(bool so)
{
	as_expected &= so;
}

static int parse_view(void)
{
	static const char text[] = QUEUES_HEAD "0 0xf7bc 0\n1 0xf7bc 4\n";
	struct gpreempt_view *view;
	int ret = gp_view_parse(text, strlen(text), &view);

	if (ret)
		return ret;
	holds_so(view->count == 2);
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
		holds_so(err.code == ret);
		return ret;
	}
	holds_so(found->count == 1);
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
		holds_so(ret || gp_loop_queue(&loop, 1)->suspended);
		gpreempt_session_close(s);
	}
	holds_so(!any_suspended());
	holds_so(!loop.debugged);
	return ret;
}

static int hold_in_a_gang(void)
{
	struct gpreempt_gang *gang;
	int ret = gpreempt_gang_new(g, &gang);

	if (ret)
		return ret;
	ret = gpreempt_gang_add(gang, PID, GPREEMPT_METHOD_DEBUG, NULL);
	if (!ret)
		ret = gpreempt_gang_suspend(gang, NULL, NULL);
	gpreempt_gang_free(gang);
	holds_so(!any_suspended());
	holds_so(!loop.debugged);
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

TEST_FIXTURE(memory_setup, unit_teardown)
