// SPDX-License-Identifier: GPL-2.0-only
/* Time at which slots become inactive, seen by a thread; over a made-up driver. */
#include <stdatomic.h>

#include "lib/preempt/session.h"
#include "unit-session.h"

#define HEAD "gpreempt-queues - version: 1.0\n# qid active\n"

static atomic_bool held; /* by slots */
static atomic_int looks;

static const char *slots(struct gp_loop *l)
{
	(void)l;
	atomic_fetch_add(&looks, 1);
	return atomic_load(&held) ? HEAD "0 4\n1 4\n" : HEAD "0 0\n1 4\n";
}

/* The slots of queue 0 are released 10 ms before the driver returns. */
static void release(struct gp_loop *l, const char *call)
{
	(void)l;
	if (strcmp(call, "suspend"))
		return;
	usleep(10000);
	atomic_store(&held, false);
	usleep(10000);
}

static int set_mode(enum gpreempt_sampling mode)
{
	int ret = gp_session_sample_slots(s, mode);

	ck_assert_int_le(ret, 0);
	return ret;
}

static void sample(void)
{
	loop.view = slots;
	loop.before = release;
	set_view(PID, "");
	open_with_queues(2);
	ck_assert_int_eq(set_mode(GPREEMPT_SAMPLE_ON), 0);
	atomic_store(&looks, 0);
	atomic_store(&held, true);
}

TEST(seen)
{
	sample();
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_uint_eq(out.done, 1);
	ck_assert_int_ge(out.slots_ns, 10000000);
	ck_assert_int_gt(out.resolution_ns, 0);
	/* The look was in time for the driver; the time at which it saw the slot is open. */
	ck_assert_int_lt(out.slots_ns - out.resolution_ns, out.ioctl_ns);
	ck_assert_int_ge(atomic_load(&looks), 2);
	atomic_store(&looks, 0);
	/* A resume measures nothing, also where one more queue is meant that runs. */
	ck_assert_int_eq(gpreempt_session_resume(s, NULL, &out), 0);
	ck_assert_int_eq(out.slots_ns, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(atomic_load(&looks), 0);
}

/* Held by no slot when it began: nothing to be measured. */
TEST(never_active)
{
	sample();
	atomic_store(&held, false);
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_uint_eq(out.done, 1);
	ck_assert_int_eq(out.slots_ns, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(out.resolution_ns, GPREEMPT_UNKNOWN);
}

/* A slot that stays active does not keep us for ever. */
TEST(always_active)
{
	sample();
	loop.before = NULL;
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_uint_eq(out.done, 2);
	ck_assert_int_eq(out.slots_ns, GPREEMPT_UNKNOWN);
}

TEST(on_and_off)
{
	sample();
	ck_assert_int_eq(set_mode(GPREEMPT_SAMPLE_ON), 0);
	ck_assert_int_eq(set_mode(GPREEMPT_SAMPLE_OFF), 0);
	ck_assert_int_eq(set_mode(GPREEMPT_SAMPLE_OFF), 0);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_int_eq(out.slots_ns, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(atomic_load(&looks), 0);
}

/* Whatever becomes of the call, the next one is measured again. */
TEST(failed_call)
{
	sample();
	gp_loop_fail(&loop, "suspend", 1, -EIO);
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), -EIO);
	atomic_store(&held, true);
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_int_gt(out.slots_ns, 0);
	/* The suspend has nothing to do: no call, no figure. */
	atomic_store(&held, true);
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_int_eq(out.slots_ns, GPREEMPT_UNKNOWN);
}

TEST(no_module)
{
	open_with_queues(1);
	ck_assert_int_eq(set_mode(GPREEMPT_SAMPLE_ON), -ENODATA);
	ck_assert_int_eq(gpreempt_session_error(s)->reason, GPREEMPT_NO_MODULE);
	ck_assert_int_eq(gpreempt_session_suspend(s, NULL, &out), 0);
	ck_assert_int_eq(out.slots_ns, GPREEMPT_UNKNOWN);
}

static atomic_bool called;

/* Show nothing before the driver is called. */
static const char *late_slots(struct gp_loop *l)
{
	while (!atomic_load(&called))
		usleep(100);
	return slots(l);
}

static void release_when_seen(struct gp_loop *l, const char *call)
{
	(void)l;
	if (strcmp(call, "suspend"))
		return;
	atomic_store(&called, true);
	while (!atomic_load(&looks))
		usleep(100);
	atomic_store(&held, false);
}

/* The suspend does not wait for the watching thread. */
TEST(beside)
{
	sample();
	ck_assert_int_eq(set_mode(GPREEMPT_SAMPLE_BESIDE), 0);
	loop.view = late_slots;
	loop.before = release_when_seen;
	atomic_store(&called, false);
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_int_gt(out.slots_ns, 0);
	ck_assert_int_eq(gpreempt_session_resume(s, ONLY(0), NULL), 0);
	/* A suspend that waits for the thread comes right after it. */
	ck_assert_int_eq(set_mode(GPREEMPT_SAMPLE_ON), 0);
	atomic_store(&held, true);
	loop.before = release;
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_int_ge(out.slots_ns, 10000000);
}

TEST(paused)
{
	sample();
	ck_assert_int_eq(set_mode(GPREEMPT_SAMPLE_PAUSE), 0);
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_int_eq(out.slots_ns, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(atomic_load(&looks), 0);
	ck_assert_int_eq(gpreempt_session_resume(s, ONLY(0), NULL), 0);
	ck_assert_int_eq(set_mode(GPREEMPT_SAMPLE_ON), 0);
	atomic_store(&held, true);
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_int_gt(out.slots_ns, 0);
}

static atomic_bool seen_once, seen_before;

static const char *slow_slots(struct gp_loop *l)
{
	const char *text = slots(l);

	usleep(30000);
	atomic_store(&seen_once, true);
	return text;
}

static void note_order(struct gp_loop *l, const char *call)
{
	if (!strcmp(call, "suspend"))
		atomic_store(&seen_before, atomic_load(&seen_once));
	release(l, call);
}

/* Else a slot that is released at once was never seen active. */
TEST(looked_at_first)
{
	int i;

	sample();
	loop.view = slow_slots;
	loop.before = note_order;
	for (i = 0; i < 2; i++) {
		atomic_store(&held, true);
		atomic_store(&seen_once, false);
		ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
		ck_assert(atomic_load(&seen_before));
		ck_assert_int_gt(out.slots_ns, 0);
		ck_assert_int_eq(gpreempt_session_resume(s, ONLY(0), NULL), 0);
	}
}

/* The thread gets no CPU from its second look on, until long after the call. */
static const char *starved_slots(struct gp_loop *l)
{
	const char *text = slots(l);

	if (atomic_load(&looks) == 2) {
		UNIT_WAIT(!atomic_load(&held));
		usleep(200000);
	}
	return text;
}

static void release_at_second_look(struct gp_loop *l, const char *call)
{
	(void)l;
	if (strcmp(call, "suspend"))
		return;
	UNIT_WAIT(atomic_load(&looks) >= 2);
	atomic_store(&held, false);
}

/* The sampler looks once more: the time is late, and the resolution shows that. */
TEST(starved)
{
	sample();
	loop.view = starved_slots;
	loop.before = release_at_second_look;
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_int_ge(out.slots_ns, 200000000);
	ck_assert_int_ge(out.resolution_ns, 200000000);
}

static const char *one_slot(struct gp_loop *l)
{
	(void)l;
	return atomic_load(&held) ? HEAD "0 1\n" : HEAD "0 0\n";
}

TEST(a_single_slot)
{
	sample();
	loop.view = one_slot;
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_int_ge(out.slots_ns, 10000000);
}

static const char *nothing(struct gp_loop *l)
{
	(void)l;
	atomic_fetch_add(&looks, 1);
	return "";
}

/* The module is unloaded: the sampler does not keep looking for it. */
TEST(module_gone)
{
	sample();
	loop.view = nothing;
	ck_assert_int_eq(gpreempt_session_suspend(s, ONLY(0), &out), 0);
	ck_assert_int_eq(out.slots_ns, GPREEMPT_UNKNOWN);
	ck_assert_int_eq(atomic_load(&looks), 1);
}

static struct gpreempt_gang *make_gang(void)
{
	struct gpreempt_gang *gang;

	loop.view = slots;
	set_view(PID, "");
	gp_loop_add_queue(&loop, 0);
	ck_assert_int_eq(gpreempt_gang_new(g, &gang), 0);
	ck_assert_int_eq(gpreempt_gang_add(gang, PID, GPREEMPT_METHOD_DEBUG, NULL), 0);
	ck_assert_int_eq(gpreempt_gang_sample_slots(gang, true), 0);
	atomic_store(&held, true);
	return gang;
}

TEST(in_a_gang)
{
	struct gpreempt_gang *gang = make_gang();
	struct gpreempt_member member;

	loop.before = release;
	ck_assert_int_eq(gpreempt_gang_suspend(gang, NULL, NULL), 0);
	gpreempt_gang_members(gang, &member, 1);
	ck_assert_int_gt(member.outcome.slots_ns, 0);
	ck_assert_int_eq(gpreempt_gang_sample_slots(gang, false), 0);
	gpreempt_gang_free(gang);
}

/* The call was never made: the slots are not watched for ever. */
TEST(a_gang_that_cannot)
{
	struct gpreempt_gang *gang = make_gang();
	int seen;

	/* Another debugger has the process now, for good. */
	gp_loop_fail(&loop, "enable", 0, -EALREADY);
	gp_loop_disable(&loop);
	ck_assert_int_lt(gpreempt_gang_suspend(gang, NULL, NULL), 0);
	ck_assert_int_lt(gpreempt_gang_suspend(gang, NULL, NULL), 0);
	seen = atomic_load(&looks);
	usleep(50000);
	ck_assert_int_eq(atomic_load(&looks), seen);
	gpreempt_gang_free(gang);
}

TEST_FIXTURE(session_setup, session_teardown)
