// SPDX-License-Identifier: GPL-2.0-only
/*
 * follow --how: a real process that is stopped and continued, and a made-up driver. It is
 * off the GPU while it is stopped, and nothing is left in the end.
 */
#include <sys/mman.h>

#include "hold/owner.h"
#include "unit-follow.h"
#include "unit-pausable.h"

/* Steps of the test with the target, in order. */
struct step {
	bool evicted; /* wait until it is, or is not */
	void (*what)(void);
};

static struct step script[8];

static void stop(void)
{
	kill(target, SIGSTOP);
}

static void go_on(void)
{
	kill(target, SIGCONT);
}

static void end(void)
{
	kill(target, SIGKILL);
}

/* Do the next step in the follower, before it waits. */
static void next_step(void)
{
	const struct step *s = &script[atomic_load(&seen->done)];
	struct hold_owner owner;

	if (hold_read_owner(target, &owner) || owner.pid != (uint64_t)getpid() || !s->what ||
	    s->evicted != !!loop.evicted)
		return;
	atomic_store(&seen->follower, getpid());
	atomic_fetch_add(&seen->done, 1);
	s->what();
}

static void setup(void)
{
	follow_setup();
	unit_make_pausable(target);
	memset(script, 0, sizeof(script));
	unit_before_ppoll = next_step;
}

static void teardown(void)
{
	unit_before_ppoll = NULL;
	unit_wait_until_free(target);
	unit_expect_unpaused(target);
	follow_teardown();
}

TEST(stopped_and_continued)
{
	script[0] = (struct step){ false, stop };
	script[1] = (struct step){ true, go_on };
	script[2] = (struct step){ false, stop };
	script[3] = (struct step){ true, go_on };
	script[4] = (struct step){ false, end };
	CTL(0, "follow --how pause %d", target);
	OUT_LINE("suspended %d: it is stopped, 1 of 1 queues, ioctl ", target);
	OUT_LINE("resumed %d: it is continued, 1 of 1 queues, ioctl ", target);
	OUT_LINE("ended %d: 2 suspensions\n", target);
	ck_assert_int_eq(atomic_load(&seen->done), 5);
}

TEST(refused)
{
	loop.minor = 12;
	CTL(GPREEMPT_CLASS_UNSUPPORTED, "follow --how debug %d", target);
	ck_assert(!strstr(loop.trace, "pause"));
	script[0] = (struct step){ false, end };
	CTL(0, "follow %d", target);
	OUT_LINE("ended %d: 0 suspensions\n", target);
}

/* The first time that it is paused a debugger has it, and then no more. */
static void trace_once(struct gp_loop *l, const char *call)
{
	static int calls;

	if (strcmp(call, "seize"))
		return;
	gp_loop_set_file(l, unit_text("/proc/%d/status", target),
			 unit_text("Name:\tjob\nState:\tS (sleeping)\nTgid:\t%d\n"
				   "Pid:\t%d\nTracerPid:\t%d\nThreads:\t3\n",
				   target, target, calls++ ? 0 : 99));
}

/* The target is suspended when the debugger goes. */
TEST(traced)
{
	set_file("/proc/99/comm", "gdb\n");
	loop.before = trace_once;
	gp_loop_fail(&loop, "seize", 1, -EPERM);
	script[0] = (struct step){ false, stop };
	script[1] = (struct step){ true, go_on };
	script[2] = (struct step){ false, end };
	CTL(0, "follow --how pause %d", target);
	ERR_LINE("process %d is being traced by another process; its queues are "
		 "suspended when that ends\n",
		 target);
	OUT_LINE("ended %d: 1 suspensions\n", target);
}

TEST_FIXTURE(setup, teardown)
