// SPDX-License-Identifier: GPL-2.0-only
/* Answers of a holder's worker, on the made-up driver, without its loop. */
#include "unit-pausable.h"
#include "unit-session.h"
#include "unit-worker.h"

#define START 777 /* start time of the made-up process */

static struct hold_worker w;

/* A worker with a session, without its loop. */
static void setup(void)
{
	struct gpreempt_error err;

	worker_setup();
	w = (struct hold_worker){
		.birth = &birth,
		.start = START,
		.owner = { .target = PID, .heartbeat = &w.heartbeat, .guarded = true },
	};
	ck_assert_int_eq(heartbeat_start(&w.heartbeat), 0);
	ck_assert_int_eq(owner_open(&w.owner, &err), 0);
}

static void teardown(void)
{
	owner_close(&w.owner);
	heartbeat_stop(&w.heartbeat);
	worker_teardown();
}

static void ask(enum hold_verb verb)
{
	request.verb = verb;
	memset(&reply, 0, sizeof(reply));
	hold_answer(&w, &request, &reply);
}

static void both_are(bool are)
{
	ck_assert(suspended(0) == are && suspended(1) == are);
}

TEST(suspend_and_resume)
{
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_DONE);
	ck_assert_uint_eq(reply.queues, 2);
	ck_assert_uint_eq(reply.lease_ns, 0);
	ck_assert_uint_eq(reply.worker, getpid());
	both_are(true);
	request.lease_ns = 3600 * NSEC_PER_SEC;
	ask(HOLD_SUSPEND);
	ask(HOLD_STATUS);
	ck_assert_uint_eq(reply.queues, 2);
	ck_assert_uint_gt(reply.lease_ns, 3500 * NSEC_PER_SEC);
	ck_assert_uint_le(reply.lease_ns, 3600 * NSEC_PER_SEC);
	request.lease_ns = 60 * NSEC_PER_SEC;
	ask(HOLD_EXTEND);
	ck_assert_uint_gt(reply.lease_ns, 0);
	ck_assert_uint_le(reply.lease_ns, 60 * NSEC_PER_SEC);
	ask(HOLD_RESUME);
	ck_assert_uint_eq(reply.queues, 2);
	ck_assert_uint_eq(reply.left, 0);
	ck_assert(w.over);
	ck_assert(!loop.debugged);
	both_are(false);
}

#define SUSPENDED "gpreempt-queues - version: 1.4\n# qid active suspended waves\n0 0 1 0\n1 0 1 0\n"

static void third_goes(struct gp_loop *l)
{
	(void)l;
	set_view(PID, SUSPENDED "2 0 1 0\n");
}

/* The driver reports a new queue when the hardware executes it already. */
static void third_comes(struct gp_loop *l)
{
	int fd = l->dbg_fd;

	l->dbg_fd = -1;
	gp_loop_add_queue(l, 2);
	l->dbg_fd = fd;
	set_view(PID, SUSPENDED "2 1 0 0\n");
	at("suspend", 1, third_goes);
}

/* A queue that came after the suspend is held, too, when that is verified. */
TEST(comes_after_the_suspend)
{
	at("suspend", 1, third_comes);
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.verdict, GPREEMPT_VERIFIED);
	ck_assert_uint_eq(reply.queues, 3);
	ck_assert(suspended(2));
}

/* The time that the host sleeps is part of a lease. */
TEST(lease_while_asleep)
{
	request.lease_ns = 3600 * NSEC_PER_SEC;
	ask(HOLD_SUSPEND);
	unit_slept_s = 3000;
	ask(HOLD_STATUS);
	ck_assert_uint_le(reply.lease_ns, 600 * NSEC_PER_SEC);
	ck_assert_uint_gt(reply.lease_ns, 500 * NSEC_PER_SEC);
	/* The lease is still one at its very end: 0 would be none. */
	unit_slept_s = 0;
	unit_frozen_ns = w.lease_end_ns;
	ask(HOLD_STATUS);
	ck_assert_uint_eq(reply.lease_ns, 1);
	unit_frozen_ns = 0;
}

TEST(some_queues)
{
	request.count = 1;
	request.ids[0] = 1;
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.queues, 1);
	ck_assert(!suspended(0) && suspended(1));
	/* The answer names the queue that is not there; the other queue is held. */
	request.count = 2;
	request.ids[1] = 9;
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_PARTIAL);
	ck_assert_ptr_nonnull(strstr(reply.text, "queue 9 of process 4194242 is "
						 "not suspended: there is no such queue"));
	request.count = 1;
	request.ids[0] = 9;
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_FAILED);
	request.ids[0] = 1;
	ask(HOLD_RESUME);
	ck_assert(w.over);
}

/* The driver does not suspend it: no failure, unless it was asked for by number. */
TEST(being_destroyed)
{
	gp_loop_queue(&loop, 1)->destroying = true;
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_DONE);
	ck_assert_uint_eq(reply.queues, 1);
	ck_assert_uint_eq(reply.destroying, 1);
	ck_assert_str_eq(reply.text, "");
	request.count = 1;
	request.ids[0] = 1;
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_FAILED);
	ck_assert_uint_eq(reply.destroying, 0);
	ck_assert_ptr_nonnull(strstr(reply.text, "queue 1 of process 4194242 is "
						 "not suspended: its process is destroying"));
}

/* The holder stays for the queues that are left. */
TEST(resume_some)
{
	ask(HOLD_SUSPEND);
	request.count = 1;
	request.ids[0] = 0;
	ask(HOLD_RESUME);
	ck_assert_uint_eq(reply.queues, 1);
	ck_assert_uint_eq(reply.left, 1);
	ck_assert(!w.over);
	ck_assert(!suspended(0) && suspended(1));
}

/*
 * Another process ends the session while a request is carried out: the request is done, and the
 * reply shows it.
 */
static const char *const lost_calls[] = {
	"snapshot",
	"suspend",
	"query",
	"probe",
};

TEST_EACH(lost_in_a_request, ARRAY_SIZE(lost_calls))
{
	at(lost_calls[_i], 1, gp_loop_disable);
	ask(HOLD_SUSPEND);
	ck_assert_msg(reply.status == GPREEMPT_CLASS_DONE && reply.queues == 2,
		      "%s: status %d, %d queues: %s", lost_calls[_i], (int)reply.status,
		      (int)reply.queues, reply.text);
	both_are(true);
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.queues, 2);
}

TEST(lost_in_a_resume)
{
	ask(HOLD_SUSPEND);
	at("resume", 1, gp_loop_disable);
	request.count = 1;
	ask(HOLD_RESUME);
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_DONE);
	ck_assert_uint_eq(reply.left, 1);
	ck_assert(!suspended(0) && suspended(1));
}

/* A process that is held cannot be held by the other method; nor a part of a paused one. */
TEST(other_method)
{
	struct gpreempt_error err;

	ask(HOLD_SUSPEND);
	request.how = GPREEMPT_HOW_PAUSE;
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.reason, GPREEMPT_HELD);
	ck_assert_int_eq(reply.code, -EBUSY);
	both_are(true);
	owner_close(&w.owner);
	unit_make_pausable(PID);
	w.owner.how = GPREEMPT_HOW_PAUSE;
	ck_assert_int_eq(owner_open(&w.owner, &err), 0);
	request.count = 1;
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.reason, GPREEMPT_PAUSE_WHOLE);
	ck_assert_int_eq(loop.evicted, 0);
}

TEST(another_process)
{
	request.start = START + 1;
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_NO_TARGET);
	both_are(false);
}

TEST(gpu_hangs)
{
	gp_loop_queue(&loop, 1)->broken = true;
	ask(HOLD_SUSPEND);
	ck_assert_uint_eq(reply.status, GPREEMPT_CLASS_PARTIAL);
	ck_assert_uint_eq(reply.queues, 1);
	ck_assert_ptr_nonnull(strstr(reply.text, "queue 1 of process 4194242 is "
						 "not suspended: the GPU did not"));
	/* The queue waits for a resume all the same. */
	request.count = 1;
	request.ids[0] = 0;
	ask(HOLD_RESUME);
	ck_assert_uint_eq(reply.left, 1);
}

TEST_FIXTURE(setup, teardown)
