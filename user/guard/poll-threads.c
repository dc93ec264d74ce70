// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads of the poller, one of which polls at a time.
 *
 * A read of another process's memory may never end: the page may be one of userfaultfd or of a
 * FUSE file, and the kernel waits for whatever the process does to its address space. A second
 * thread, the stand-in, watches the one whose turn it is, and takes over when a read takes
 * long. When that read returns, the thread that waited for it is the next stand-in. Even
 * SIGKILL does not end a wait for a page of FUSE, so these threads share no descriptors with
 * the others: guard's socket and locks are closed when guard is killed.
 */
#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>

#include "guard/guard.h"
#include "shared/clock.h"
#include "shared/thread.h"
#include "shared/urgent.h"

/* Workers release their targets when the poller is away for longer. */
#ifndef GUARD_LATE_NS
#define GUARD_LATE_NS NSEC_PER_SEC
#endif
/* A read takes microseconds. */
#define STUCK_NS    (10 * NSEC_PER_MSEC)
#define STAND_IN_NS (3 * NSEC_PER_MSEC)
/* To end them all takes no longer than a sleep of one. */
#define END_NS (2 * NSEC_PER_SEC)

/* Wait until the one whose turn it is has to be relieved. False: the end. */
static bool stand_in(struct guard *guard, unsigned int me)
{
	struct guard_turn *turn = &guard->turn;
	bool taken = false;

	prctl(PR_SET_NAME, "guard-stand-in");
	while (!taken && !atomic_load(&guard->quit)) {
		shr_sleep_ns(STAND_IN_NS);
		pthread_mutex_lock(&guard->lock);
		taken = turn->since_ns && shr_now_ns() > turn->since_ns + STUCK_NS;
		if (taken) {
			turn->thread = me;
			turn->since_ns = 0;
			turn->stuck++;
			turn->has_stand_in = false;
		}
		pthread_mutex_unlock(&guard->lock);
	}
	if (taken)
		guard_poll_tend(guard);
	return taken;
}

/*
 * It does not poll any more: at the end of all, or because it was relieved and
 * its read has returned. True: it is the stand-in.
 */
static bool come_back(struct guard *guard, unsigned int me)
{
	struct guard_turn *turn = &guard->turn;
	bool wanted = false;

	pthread_mutex_lock(&guard->lock);
	if (turn->thread != me) {
		turn->stuck--;
		wanted = !turn->has_stand_in && !atomic_load(&guard->quit);
		turn->has_stand_in |= wanted;
	}
	pthread_mutex_unlock(&guard->lock);
	return wanted;
}

/* As long as it is its turn, or it is the stand-in. */
static void take_turns(struct guard *guard)
{
	struct guard_turn *turn = &guard->turn;
	unsigned int me;
	bool polls;

	/* The kernel rounds sleeps up by 50 us otherwise. */
	prctl(PR_SET_TIMERSLACK, 1);
	shr_ask_short_slices();
	pthread_mutex_lock(&guard->lock);
	me = ++turn->numbers;
	polls = !turn->thread;
	if (polls)
		turn->thread = me;
	pthread_mutex_unlock(&guard->lock);
	while (polls || stand_in(guard, me)) {
		guard_poll_turn(guard, me);
		polls = false;
		if (!come_back(guard, me))
			break;
	}
}

static void *poller_thread(void *arg)
{
	struct guard *guard = arg;
	int ret = guard_wake_keep_only(&guard->wakes);

	if (!ret)
		take_turns(guard);
	pthread_mutex_lock(&guard->lock);
	guard->turn.threads--;
	/* It was to be one; another can try. */
	if (ret)
		guard->turn.has_stand_in = false;
	pthread_mutex_unlock(&guard->lock);
	return NULL;
}

/* A thread starts on the CPUs of the one that makes it: pin that, for a moment. */
static int pin(const struct guard *guard, cpu_set_t *before)
{
	uint64_t cpu = guard->options->cpu;
	cpu_set_t set;

	if (!cpu)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu - 1, &set);
	if (sched_getaffinity(0, sizeof(*before), before) < 0 ||
	    sched_setaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	return 0;
}

static void unpin(const struct guard *guard, const cpu_set_t *before)
{
	if (guard->options->cpu)
		sched_setaffinity(0, sizeof(*before), before);
}

static int start_thread(struct guard *guard)
{
	cpu_set_t before;
	pthread_t thread;
	int ret;

	ret = pin(guard, &before);
	if (ret)
		return ret;
	pthread_mutex_lock(&guard->lock);
	ret = shr_thread_start(&thread, 0, true, poller_thread, guard);
	/* One that never returns from a read cannot be joined. */
	if (!ret)
		pthread_detach(thread);
	guard->turn.threads += !ret;
	pthread_mutex_unlock(&guard->lock);
	unpin(guard, &before);
	return ret;
}

int guard_poll_start(struct guard *guard)
{
	int ret;

	atomic_store(&guard->common->beat_ns, shr_now_ns());
	guard->common->late_ns = GUARD_LATE_NS + guard->poll_ns;
	guard->turn.wake = GPREEMPT_POLICY_NEVER;
	guard->turn.looked_ns = shr_now_ns();
	/* The first that runs polls. */
	guard->turn.has_stand_in = true;
	ret = start_thread(guard);
	if (ret)
		return ret;
	ret = start_thread(guard);
	if (ret)
		guard_poll_stop(guard);
	return ret;
}

void guard_poll_tend(struct guard *guard)
{
	struct guard_turn *turn = &guard->turn;
	bool wanted;

	pthread_mutex_lock(&guard->lock);
	wanted = !turn->has_stand_in && turn->threads <= GUARD_STUCK && !atomic_load(&guard->quit);
	turn->has_stand_in |= wanted;
	pthread_mutex_unlock(&guard->lock);
	if (!wanted || !start_thread(guard))
		return;
	pthread_mutex_lock(&guard->lock);
	turn->has_stand_in = false;
	pthread_mutex_unlock(&guard->lock);
}

void guard_poll_stop(struct guard *guard)
{
	uint64_t end = shr_now_ns() + END_NS;
	bool ended = false;

	atomic_store(&guard->quit, true);
	while (!ended && shr_now_ns() < end) {
		shr_sleep_ns(NSEC_PER_MSEC);
		pthread_mutex_lock(&guard->lock);
		ended = guard->turn.threads <= guard->turn.stuck;
		pthread_mutex_unlock(&guard->lock);
	}
}
