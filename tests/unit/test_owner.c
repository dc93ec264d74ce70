// SPDX-License-Identifier: GPL-2.0-only
/* Owner of a target, by a session or by pauses: the leftovers of each failure. */
#include "hold/owner.h"
#include "hold/run-dir.h"
#include "unit-holder.h"
#include "unit-pausable.h"

static struct heartbeat heartbeat;
static struct owner owner;
static struct gpreempt_error err;
static struct gpreempt_outcome outcome;
static int losses;
static bool was_noted;

/* Look, before the driver pauses the process, at the state that a kill would leave now. */
static void look(struct gp_loop *l, const char *call)
{
	struct hold_owner as;
	struct pause_entry e;

	(void)l;
	if (!strcmp(call, "pause"))
		was_noted = !pause_journal_read(target, &e) && !hold_read_owner(target, &as) &&
			    as.role == HOLD_ROLE_GUARD;
}

static void note_loss(void *data, const struct gpreempt_error *e)
{
	ck_assert_ptr_eq(data, &losses);
	losses++;
	err = *e;
}

static void setup(void)
{
	const struct hold_owner as = { .role = HOLD_ROLE_GUARD, .pid = getpid() };

	pausable_setup();
	loop.before = look;
	ck_assert_int_eq(heartbeat_start(&heartbeat), 0);
	owner = (struct owner){
		.target = target,
		.heartbeat = &heartbeat,
		.as = as,
		.lost = note_loss,
		.data = &losses,
	};
	owner.lock = hold_take(target, &as);
	ck_assert_int_ge(owner.lock, 0);
}

static void teardown(void)
{
	ck_assert_int_eq(owner_close(&owner), 0);
	if (owner.lock >= 0)
		hold_drop(target, owner.lock);
	unit_wait_until_free(target);
	unit_expect_unpaused(target);
	heartbeat_stop(&heartbeat);
	holder_teardown();
}

static void open_by(enum gpreempt_how how)
{
	owner.how = how;
	ck_assert_int_eq(owner_open(&owner, &err), 0);
}

static int suspend(void)
{
	outcome = (struct gpreempt_outcome){ 0 };
	return owner_suspend(&owner, NULL, &outcome);
}

static int resume(void)
{
	outcome = (struct gpreempt_outcome){ 0 };
	return owner_resume(&owner, NULL, &outcome);
}

TEST(by_session)
{
	open_by(GPREEMPT_HOW_AUTO);
	ck_assert(loop.debugged);
	ck_assert_int_eq(suspend(), 0);
	ck_assert_uint_eq(outcome.done, 1);
	ck_assert(loop.queues[0].suspended && !loop.evicted);
	ck_assert_int_eq(resume(), 0);
	ck_assert(!loop.queues[0].suspended);
	ck_assert_int_ge(owner_dispatch(&owner), 0);
	ck_assert_int_eq(owner.why.reason, GPREEMPT_OK);
	ck_assert_int_eq(owner_close(&owner), 0);
	ck_assert(!loop.debugged);
	/* The lock is the caller's. */
	ck_assert_int_ge(owner.lock, 0);
}

TEST(by_pause)
{
	open_by(GPREEMPT_HOW_PAUSE);
	ck_assert(!loop.debugged && !loop.evicted);
	ck_assert_int_eq(suspend(), 0);
	ck_assert(was_noted && loop.evicted == 1);
	ck_assert_uint_eq(outcome.done, 1);
	ck_assert_uint_gt(outcome.ioctl_ns, 0);
	ck_assert_uint_gt(owner.method.pause.return_ns, 0);
	/* The call fails again, and the driver is not asked. */
	unit_clear_trace();
	ck_assert_int_eq(suspend(), 0);
	ck_assert_str_eq(loop.trace, "");
	ck_assert_int_eq(resume(), 0);
	ck_assert(!loop.evicted);
	ck_assert_uint_eq(outcome.done, 1);
	unit_clear_trace();
	ck_assert_int_eq(resume(), 0);
	ck_assert_str_eq(loop.trace, "");
	ck_assert_int_eq(owner_dispatch(&owner), 0);
	ck_assert_int_eq(losses, 0);
	/* The process runs after the end, too. */
	ck_assert_int_eq(suspend(), 0);
	ck_assert_int_eq(owner_close(&owner), 0);
	ck_assert_int_eq(owner.lock, -1);
}

/* The driver refuses it at the start. */
static bool is_ready(void)
{
	return owner.method.pause.ready.help;
}

/* Guard and follow pause again; a holder, which does not, keeps no process for it. */
TEST_EACH(is_ready_for_the_next, 2)
{
	if (_i)
		owner.as.role = HOLD_ROLE_HOLDER;
	open_by(GPREEMPT_HOW_PAUSE);
	ck_assert_int_eq(is_ready(), !_i);
	ck_assert_int_eq(suspend(), 0);
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert(!is_ready());
	ck_assert_int_eq(resume(), 0);
	ck_assert_int_eq(is_ready(), !_i);
	ck_assert_int_eq(suspend(), 0);
	ck_assert_int_eq(owner_close(&owner), 0);
}

TEST(refused)
{
	loop.minor = 12;
	owner.how = GPREEMPT_HOW_DEBUG;
	ck_assert_int_lt(owner_open(&owner, &err), 0);
	ck_assert_int_eq(err.reason, GPREEMPT_KFD_VERSION);
	ck_assert_int_ge(owner.lock, 0);
	open_by(GPREEMPT_HOW_AUTO);
	ck_assert_int_eq(owner.in_use, GPREEMPT_METHOD_PAUSE);
	ck_assert_int_eq(owner.why.reason, GPREEMPT_KFD_VERSION);
	ck_assert_int_eq(suspend(), 0);
	ck_assert_int_eq(loop.evicted, 1);
}

/* The session fails at the first suspend: a process with queues never gets its runtime. */
TEST_EACH(no_runtime, 2)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	open_by(_i ? GPREEMPT_HOW_AUTO : GPREEMPT_HOW_DEBUG);
	if (!_i) {
		ck_assert_int_eq(suspend(), -EPERM);
		ck_assert_int_eq(owner_error(&owner)->reason, GPREEMPT_RUNTIME_OFF);
		ck_assert(!strstr(loop.trace, "pause"));
		ck_assert_int_eq(owner_close(&owner), 0);
		return;
	}
	ck_assert_int_eq(suspend(), 0);
	ck_assert(loop.evicted == 1 && !loop.debugged && was_noted);
	ck_assert_int_eq(owner.why.reason, GPREEMPT_RUNTIME_OFF);
	ck_assert_int_eq(owner.in_use, GPREEMPT_METHOD_PAUSE);
}

/* The process is starting: its runtime and its queues are still to come. */
TEST(no_runtime_yet)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	gp_loop_remove_queue(&loop, 0);
	loop.view = NULL;
	set_view(target, "gpreempt-queues - version: 1.3\n"
			 "# qid gpu_id active slots suspended evicted state age_ms\n");
	open_by(GPREEMPT_HOW_AUTO);
	suspend();
	ck_assert_int_eq(owner.in_use, GPREEMPT_METHOD_DEBUG);
	ck_assert(!strstr(loop.trace, "pause"));
}

/* The method to which it changes fails, too: nothing is open then. */
TEST(no_way)
{
	loop.runtime = DEBUG_RUNTIME_STATE_DISABLED;
	open_by(GPREEMPT_HOW_AUTO);
	set_file("/dev/kfd", "512");
	ck_assert_int_lt(suspend(), 0);
	ck_assert_int_eq(owner_error(&owner)->reason, GPREEMPT_KFD_CLOSED);
	ck_assert_int_eq(owner.why.reason, GPREEMPT_RUNTIME_OFF);
	ck_assert_int_eq(owner_close(&owner), 0);
	ck_assert(!loop.debugged);
}

/* Another program has paused the process: that pause is not ours to end. */
TEST(paused_by_another)
{
	loop.paused = true;
	loop.evicted = 1;
	owner.how = GPREEMPT_HOW_PAUSE;
	ck_assert_int_eq(owner_open(&owner, &err), -EBUSY);
	ck_assert_int_eq(err.reason, GPREEMPT_PAUSED);
	loop.view = NULL;
	open_by(GPREEMPT_HOW_PAUSE);
	ck_assert_int_eq(suspend(), -EBUSY);
	ck_assert_int_eq(owner_error(&owner)->reason, GPREEMPT_PAUSED);
	ck_assert_int_eq(owner_close(&owner), 0);
	ck_assert_int_eq(loop.evicted, 1);
	loop.paused = false;
	loop.evicted = 0;
}

/* Another program ends our pause. */
TEST(unpaused_by_another)
{
	open_by(GPREEMPT_HOW_PAUSE);
	ck_assert_int_eq(suspend(), 0);
	loop.paused = false;
	loop.evicted = 0;
	ck_assert_int_eq(resume(), 0);
	ck_assert_int_eq(losses, 1);
	ck_assert_int_eq(err.reason, GPREEMPT_UNPAUSED);
}

static const char *show_pause(struct gp_loop *l)
{
	return l->paused ? "gpreempt-queues - version: 1.3\n"
			   "# qid gpu_id evicted state age_ms\n"
			   "0 0xf7bc 1 evicted,paused 0\n" :
			   "gpreempt-queues - version: 1.3\n"
			   "# qid gpu_id evicted state age_ms\n"
			   "0 0xf7bc 0 active 0\n";
}

static void end_pause(void)
{
	loop.paused = false;
	loop.evicted = 0;
	owner.looked_ns = 0;
}

/*
 * Another program ends our pause, which is seen: the pause is made again, and reported once each
 * time.
 */
TEST(paused_again)
{
	open_by(GPREEMPT_HOW_PAUSE);
	ck_assert_int_eq(suspend(), 0);
	loop.view = show_pause;
	ck_assert_int_eq(owner_dispatch(&owner), 0);
	ck_assert_int_eq(losses, 0);
	end_pause();
	ck_assert_int_eq(owner_dispatch(&owner), 0);
	ck_assert(loop.paused);
	ck_assert_int_eq(loop.evicted, 1);
	ck_assert_int_eq(losses, 1);
	ck_assert_int_eq(err.reason, GPREEMPT_UNPAUSED);

	/* The other program still traces the process. */
	owner.looked_ns = 0;
	ck_assert_int_eq(owner_dispatch(&owner), 0);
	end_pause();
	gp_loop_fail(&loop, "seize", 3, -EPERM);
	ck_assert_int_eq(owner_dispatch(&owner), 0);
	ck_assert(!loop.paused);
	ck_assert_int_eq(losses, 2);
	/* The pause is not made again before the next look. */
	ck_assert_int_eq(owner_dispatch(&owner), 0);
	ck_assert(!loop.paused);
	owner.looked_ns = 0;
	ck_assert_int_eq(owner_dispatch(&owner), 0);
	ck_assert(loop.paused);
	ck_assert_int_eq(losses, 2);
	ck_assert_int_eq(resume(), 0);
	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_int_eq(losses, 2);
}

/* The module refuses the driver's data: the pause goes on by the facts of sysfs. */
TEST(contradiction)
{
	set_file(unit_text("/sys/kernel/debug/gpreempt/pid/%d/queues", target), gp_loop_unclean);
	ck_assert_int_eq(owner_check(g, target, GPREEMPT_HOW_PAUSE, &err), 0);
	open_by(GPREEMPT_HOW_PAUSE);
	ck_assert_int_eq(suspend(), 0);
	ck_assert(loop.paused);
	ck_assert_int_eq(resume(), 0);
}

static const char *show_evicted(struct gp_loop *l)
{
	(void)l;
	return "gpreempt-queues - version: 1.3\n"
	       "# qid gpu_id evicted state age_ms\n0 0xf7bc 1 evicted 0\n";
}

/*
 * criu dump ends a pause of ours, or the driver fails to make one: it is off the GPU, and
 * then for good, or not.
 */
TEST_EACH(stays_off, 2)
{
	struct pause_entry e;
	int i;

	open_by(GPREEMPT_HOW_PAUSE);
	gp_loop_fail(&loop, "pause", 1, -ETIME);
	loop.view = show_evicted;
	set_file(unit_text("/sys/kernel/debug/gpreempt/pid/%d/gpus", target),
		 "gpreempt-gpus - version: 2.0\n"
		 "# gpu_id vm context evictions\n0xf7bc 1 - 2\n0x1 1 - 1\n");
	ck_assert_int_eq(suspend(), -ETIME);
	ck_assert_int_eq(owner_error(&owner)->reason, GPREEMPT_PAUSE_OFF);
	ck_assert_int_eq(suspend(), 0);
	loop.paused = false;
	ck_assert_int_eq(resume(), -EIO);
	ck_assert_int_eq(owner_error(&owner)->reason, GPREEMPT_PAUSE_OFF);
	ck_assert_int_eq(losses, 0);
	/* The holder sees it: reported once, and not paused again. */
	ck_assert_str_eq(owner_error(&owner)->name, "2 evictions are left");
	ck_assert_int_eq(suspend(), 0);
	loop.paused = false;
	for (i = 0; i < 3; i++) {
		owner.looked_ns = 0;
		ck_assert_int_eq(owner_dispatch(&owner), 0);
	}
	ck_assert(!loop.paused);
	ck_assert_int_eq(losses, 1);
	ck_assert_int_eq(err.reason, GPREEMPT_PAUSE_OFF);
	ck_assert_int_eq(resume(), -EIO);
	/* Nothing has to be undone, and the process is as it was left. */
	if (_i) {
		loop.view = NULL;
		loop.evicted = 0;
	}
	ck_assert_int_eq(owner_close(&owner), _i ? 0 : -EIO);
	if (!_i)
		ck_assert_int_eq(owner.error.reason, GPREEMPT_PAUSE_OFF);
	ck_assert_int_eq(pause_journal_read(target, &e), -ENOENT);
	loop.evicted = 0;
}

/* A debugger traces it just now: another try is possible. */
TEST(traced)
{
	open_by(GPREEMPT_HOW_PAUSE);
	gp_loop_fail(&loop, "seize", 1, -EPERM);
	ck_assert_int_lt(suspend(), 0);
	ck_assert_int_eq(loop.evicted, 0);
	ck_assert_int_ne(owner_error(&owner)->reason, GPREEMPT_OK);
	ck_assert_int_eq(owner_dispatch(&owner), 0);
	ck_assert_int_eq(owner_error(&owner)->reason, GPREEMPT_OK);
	ck_assert_int_eq(suspend(), 0);
	ck_assert_int_eq(loop.evicted, 1);
}

/* The driver's error: it runs, or the driver is asked to let it run. */
TEST(fails)
{
	open_by(GPREEMPT_HOW_PAUSE);
	gp_loop_fail(&loop, "pause", 1, -EIO);
	ck_assert_int_eq(suspend(), -EIO);
	ck_assert(strstr(loop.trace, "pause unpause") || strstr(loop.trace, "unpause "));
	ck_assert_ptr_null(strstr(strstr(loop.trace, " pause ") + 1, " pause "));
	ck_assert_int_eq(loop.evicted, 0);
}

/* A pause that cannot be noted is refused before the driver is asked. */
TEST(no_journal_no_pause)
{
	owner.how = GPREEMPT_HOW_PAUSE;
	unit_fail_path(".pause.new", ENOSPC);
	ck_assert_int_eq(owner_open(&owner, &err), -ENOSPC);
	unit_path_fails = NULL;
	ck_assert_ptr_null(strstr(loop.trace, "pause"));
}

/* The owner fails before it touches another program's pause. */
TEST(cannot_attach)
{
	loop.view = NULL;
	open_by(GPREEMPT_HOW_PAUSE);
	loop.paused = true;
	loop.evicted = 1;
	gp_loop_fail(&loop, "seize", 1, -EPERM);
	ck_assert_int_lt(suspend(), 0);
	ck_assert_int_eq(owner_close(&owner), 0);
	ck_assert_int_eq(loop.evicted, 1);
	loop.paused = false;
	loop.evicted = 0;
}

/* The pause cannot be ended: the entry stays, and its keepers try again. */
TEST(cannot_be_unpaused)
{
	struct pause_entry e;

	open_by(GPREEMPT_HOW_PAUSE);
	ck_assert_int_eq(suspend(), 0);
	gp_loop_fail(&loop, "unpause", 2, -EIO);
	ck_assert_int_eq(owner_close(&owner), -EIO);
	ck_assert_int_eq(owner.lock, -1);
	ck_assert_int_eq(pause_journal_read(target, &e), 0);
	/* The process runs again, as the keepers would see it. */
	ck_assert_int_eq(pause_journal_remove(target), 0);
	loop.evicted = 0;
}

static void show_age(int age_ms)
{
	set_file("/sys/kernel/debug/gpreempt/processes",
		 unit_text("gpreempt-processes - version: 1.1\n# pid age_ms paused\n%d %d 0\n",
			   target, age_ms));
}

static void be_busy(struct gp_loop *l, const char *call)
{
	(void)l;
	if (!strcmp(call, "pause"))
		show_age(40);
}

/*
 * A driver without debug trap has paused the process, and is busy with it since: the module cannot
 * show it. The pause is not forgotten.
 */
TEST(cannot_be_seen)
{
	struct pause_entry e;

	unit_one_gpu("capability 0\n");
	set_file(unit_text("/sys/kernel/debug/gpreempt/pid/%d/gpus", target),
		 "gpreempt-gpus - version: 1.1\n# gpu_id vm context\n0xf7bc 1 -\n");
	show_age(0);
	open_by(GPREEMPT_HOW_PAUSE);
	loop.before = be_busy;
	ck_assert_int_eq(suspend(), -EOPNOTSUPP);
	ck_assert_int_eq(owner_close(&owner), -EOPNOTSUPP);
	ck_assert_int_eq(pause_journal_read(target, &e), 0);
	ck_assert_int_eq(pause_journal_remove(target), 0);
	loop.paused = false;
	loop.evicted = 0;
}

TEST(ends)
{
	open_by(GPREEMPT_HOW_PAUSE);
	ck_assert_int_eq(suspend(), 0);
	unit_end(target);
	ck_assert_int_eq(owner_dispatch(&owner), GPREEMPT_EVENT_ENDED);
	ck_assert_int_eq(owner_error(&owner)->reason, GPREEMPT_ENDED);
	loop.evicted = 0;
	unit_clear_trace();
	ck_assert_int_eq(owner_close(&owner), 0);
	ck_assert(!strstr(loop.trace, "pause"));
	ck_assert_int_eq(owner_open(&owner, &err), -ESRCH);
	ck_assert_int_eq(err.reason, GPREEMPT_NO_PROCESS);
}

/* The process is not paused without keepers. */
TEST(no_keepers)
{
	owner.how = GPREEMPT_HOW_PAUSE;
	unit_fork_fails = 1;
	ck_assert_int_lt(owner_open(&owner, &err), 0);
	ck_assert_int_eq(err.reason, GPREEMPT_SYSTEM);
	ck_assert(strstr(err.step, "guardian"));
	ck_assert_int_eq(owner.lock, -1);
	ck_assert(!strstr(loop.trace, "pause"));
}

/* The guardian was killed, and there is room for no other one. */
TEST(no_other_keepers)
{
	open_by(GPREEMPT_HOW_PAUSE);
	ck_assert_int_eq(suspend(), 0);
	ck_assert_int_eq(kill(owner.pause.guardian_pid, SIGKILL), 0);
	unit_readable(owner.pause.guardian);
	unit_fork_errno = EAGAIN;
	ck_assert_int_lt(owner_dispatch(&owner), 0);
	ck_assert_str_eq(owner_error(&owner)->step, "starting the guardian of its pause");
	unit_fork_errno = 0;
}

TEST(job_control)
{
	open_by(GPREEMPT_HOW_PAUSE);
	ck_assert(!owner_is_stopped(&owner));
	kill(target, SIGSTOP);
	UNIT_WAIT(owner_is_stopped(&owner));
	kill(target, SIGCONT);
	UNIT_WAIT(!owner_is_stopped(&owner));
}

static const struct {
	const char *properties;
	bool paused;
} parts[] = {
	{ "gfx_target_version 90000\ncapability 32768\n", true },
	{ "gfx_target_version 90010\ncapability 32768\n", false },
	{ "gfx_target_version 90402\ncapability 32768\n", false },
	{ "gfx_target_version 100300\ncapability 32768\n", true },
	{ "gfx_target_version 110000\ncapability 32768\n", true },
	{ "gfx_target_version 110501\ncapability 32768\n", false },
	{ "gfx_target_version 120001\ncapability 32768\n", false },
};

/* A process for which an open session has a cost is paused at once. */
TEST_EACH(by_what_the_session_costs, ARRAY_SIZE(parts))
{
	unit_one_gpu(parts[_i].properties);
	open_by(GPREEMPT_HOW_AUTO);
	ck_assert_int_eq(owner_is_paused(&owner), parts[_i].paused);
	ck_assert_int_eq(owner.why.reason, GPREEMPT_OK);
	ck_assert_int_eq(suspend(), 0);
	ck_assert_int_eq(loop.evicted, parts[_i].paused);
	ck_assert_int_eq(owner_close(&owner), 0);
	ck_assert_int_eq(loop.evicted, 0);
}

/* follow pauses at once: a debugger may want the stopped process. */
TEST_EACH(follow_pauses, 2)
{
	owner.as.role = HOLD_ROLE_FOLLOW;
	set_file("/dev/kfd", _i ? "512" : "511");
	open_by(GPREEMPT_HOW_AUTO);
	ck_assert_int_eq(owner.in_use, _i ? GPREEMPT_METHOD_DEBUG : GPREEMPT_METHOD_PAUSE);
}

/* The end needs neither a descriptor nor a runtime. */
TEST(by_session_without_descriptor)
{
	unit_one_gpu("gfx_target_version 110000\ncapability 32768\n");
	set_file("/dev/kfd", "512");
	open_by(GPREEMPT_HOW_AUTO);
	ck_assert_int_eq(owner.in_use, GPREEMPT_METHOD_DEBUG);
	ck_assert_int_eq(suspend(), 0);
	ck_assert(loop.queues[0].suspended);
}

TEST_FIXTURE(setup, teardown)
