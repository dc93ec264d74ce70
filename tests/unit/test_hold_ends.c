// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hold by a session and by a pause, with real holders: what each end of it leaves. Each
 * process has the made-up driver for itself, so the end of a target that is traced, exec()
 * and a debugger that comes are in the virtual machine (suspend/, pause/) and in
 * test_owner, test_hold_answer and test_pause, which have one process.
 */
#include "hold/run-dir.h"
#include "unit-ctl.h"
#include "unit-holder.h"
#include "unit-pausable.h"

static void kill_nobody(const struct hold_owner *holder)
{
	(void)holder;
}

static void kill_worker(const struct hold_owner *holder)
{
	kill(holder->pid, SIGKILL);
}

static void kill_guardian(const struct hold_owner *holder)
{
	kill(holder->guardian, SIGKILL);
}

static void kill_both(const struct hold_owner *holder)
{
	/* Neither process sees the other's end. */
	kill(holder->pid, SIGSTOP);
	kill_guardian(holder);
	kill_worker(holder);
}

static void kill_target(const struct hold_owner *holder)
{
	(void)holder;
	unit_end(target);
}

static const struct {
	const char *how, *lease;
	void (*end)(const struct hold_owner *holder);
	bool entry; /* is left, for repair */
} rows[] = {
	{ "debug", "300ms", kill_nobody, false }, { "debug", "60s", kill_worker, false },
	{ "debug", "60s", kill_guardian, false }, { "debug", "60s", kill_both, false },
	{ "pause", "300ms", kill_nobody, false }, { "pause", "60s", kill_worker, false },
	{ "pause", "60s", kill_guardian, false }, { "pause", "60s", kill_both, true },
	{ "pause", "60s", kill_target, false },
};

static bool has_entry(void)
{
	struct pause_entry e;

	return pause_journal_read(target, &e) != -ENOENT;
}

TEST_EACH(leaves_nothing, ARRAY_SIZE(rows))
{
	bool paused = !strcmp(rows[_i].how, "pause");
	struct hold_owner owner;

	unit_make_pausable(target);
	CTL(0, "suspend %d --how %s --for %s", target, rows[_i].how, rows[_i].lease);
	owner = holder();
	ck_assert_int_eq(has_entry(), paused);
	rows[_i].end(&owner);
	expect_no_holder();
	ck_assert_int_eq(has_entry(), rows[_i].entry);
	CTL(0, "repair");
	ck_assert(!has_entry());
}

TEST_FIXTURE(holder_setup, holder_teardown)
