// SPDX-License-Identifier: GPL-2.0-only
#include <sys/mman.h>

#include "unit-follow.h"

struct follow_step steps[MAX_STEPS];
struct follow_seen *seen;

/* Before the follower waits: it has done what the step before asked for. */
static void next_step(void)
{
	int n = atomic_load(&seen->done);

	/* Only the one that follows has a session. */
	if (!loop.debugged || n == MAX_STEPS || (!steps[n].stop && !steps[n].what))
		return;
	atomic_store(&seen->follower, getpid());
	atomic_store(&seen->group, getpgrp());
	seen->suspended[n] = loop.queues[0].suspended;
	atomic_store(&seen->done, n + 1);
	if (steps[n].what)
		steps[n].what();
	if (steps[n].stop)
		gp_loop_stop(&loop, steps[n].stop);
}

void interrupt(void)
{
	/* Send Ctrl-C's signal to the process that the user sees. */
	kill(getppid(), SIGTERM);
}

void die(void)
{
	kill(getpid(), SIGKILL);
}

void follow_setup(void)
{
	holder_setup();
	setpgid(target, target);
	seen = unit_share(sizeof(*seen));
	memset(steps, 0, sizeof(steps));
	unit_before_ppoll = next_step;
	unit_cgroup_make("/job");
	unit_cgroup_of(target, "0::/job\n");
}

void follow_teardown(void)
{
	struct hold_owner owner;

	ck_assert_int_eq(hold_read_owner(target, &owner), -ENOENT);
	holder_teardown();
}
