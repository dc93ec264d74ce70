// SPDX-License-Identifier: GPL-2.0-only
/* Targets that guard cannot take, or has to leave: locks, workers that fail or are silent. */
#include "hold/run-dir.h"
#include "fake/guard.h"
#include "unit-host.h"

TEST(cannot_be_attached)
{
	fake_worker = WORKER_FAILS;
	name_offline("comm:train");
	add_serve_and_train();
	look_until("process 200 is left alone: ");
	ck_assert_uint_eq(printed("attaching to it"), 1);
	look(20);
	ck_assert_uint_eq(printed("process 200"), 1);
	/* The target is tried again, which works. */
	fake_worker = WORKER_OBEYS;
	look_until("process 200 is offline");
}

TEST(held_by_another)
{
	struct hold_owner owner = { .role = HOLD_ROLE_HOLDER, .pid = 77 };
	int lock = hold_lock(200);

	ck_assert_int_ge(lock, 0);
	ck_assert_int_eq(hold_write_owner(lock, &owner), 0);
	name_offline("comm:train");
	add_serve_and_train();
	look_until("process 200 is left alone: it is held by gpreempt-ctl "
		   "suspend (77)");
	close(lock);
	look_until("process 200 is offline");
}

/* There is no room for another process (pids.max): one report, and then it works. */
TEST(no_worker)
{
	int lock;

	name_offline("comm:train");
	add_serve_and_train();
	unit_fork_errno = EAGAIN;
	look_until("process 200 is left alone: its worker cannot be started: "
		   "Resource temporarily unavailable");
	look(100);
	ck_assert_uint_eq(printed("process 200"), 1);
	ck_assert_uint_eq(guard.n_offline + guard.n_going, 0);
	lock = hold_lock(200);
	ck_assert_msg(lock >= 0, "its lock was not given back");
	close(lock);
	unit_fork_errno = 0;
	look_until("process 200 is offline");
}

/* JSON has the same; a lock that cannot be had is not "held by". */
TEST(no_lock)
{
	args.json = 1;
	ck_assert_int_eq(mkdir(HOLD_DIR "/200.lock", 0700), 0);
	name_offline("comm:train");
	add_serve_and_train();
	look_until("{\"event\":\"refused\",");
	ck_assert_uint_eq(printed("\"pid\":200,\"text\":\"process 200 is left "
				  "alone: it cannot be locked in " HOLD_DIR
				  ": Is a directory\"}\n"),
			  1);
	ck_assert_int_eq(rmdir(HOLD_DIR "/200.lock"), 0);
	look_until("process 200 is offline");
}

/*
 * A worker that runs, and does not say that it is well: its own watchdog may
 * not see that. It is killed after 2 s, in the driver after 20; then its target
 * is free, and another worker takes it.
 */
TEST_EACH(silent_worker, 2)
{
	bool busy = _i;
	struct guard_channel *c;
	pid_t child;
	int i;

	fake_worker = WORKER_SILENT;
	name_offline("comm:train");
	add_serve_and_train();
	look_until("process 200 is offline");
	c = guard.offline[0].worker->channel;
	child = guard.offline[0].worker->child;
	unit_set_limit(UNIT_SILENCE, 2 * NSEC_PER_SEC);
	unit_frozen_ns = shr_now_ns();
	atomic_store(&c->busy, busy);
	for (i = 0; i < 20; i++) {
		/* A worker may be silent for longer in the driver. */
		atomic_store(&c->beat_ns, shr_now_ns() - (busy ? 3 * NSEC_PER_SEC : 0));
		look(1);
		ck_assert_int_eq(kill(child, 0), 0);
	}
	ck_assert_uint_eq(printed("left alone"), 0);
	fake_worker = WORKER_OBEYS;
	atomic_store(&c->beat_ns, shr_now_ns() - (busy ? 21 : 3) * NSEC_PER_SEC);
	look_until("process 200 is left alone: its worker was killed by "
		   "signal 9");
	ck_assert_int_lt(kill(child, 0), 0);
	unit_frozen_ns = 0;
	unit_reset_limits();
	forget_printed();
	look_until("process 200 is offline");
	ck_assert_int_ne(guard.offline[0].worker->child, child);
}

TEST_FIXTURE(guard_setup, guard_teardown)
