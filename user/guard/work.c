// SPDX-License-Identifier: GPL-2.0-only
/*
 * When online began and ended work, as events. The poller notes it, under the lock and
 * without a system call; the main thread prints it in its next step.
 */
#include <errno.h>
#include <stdlib.h>

#include "guard/guard.h"
#include "output/message.h"

int guard_work_open(struct guard *guard)
{
	if (!guard->options->json || !guard->options->verbose)
		return 0;
	guard->work = calloc(1, sizeof(*guard->work));
	return guard->work ? 0 : ctl_fail_reason(GPREEMPT_SYSTEM, -ENOMEM, 0);
}

static void add(struct guard_work *work, pid_t pid, bool busy, uint64_t ns)
{
	if (work->n == GUARD_WORKS)
		work->lost++;
	else
		work->note[work->at][work->n++] = (struct guard_note){ pid, busy, ns };
}

void guard_work_note(struct guard *guard, pid_t pid, int seen, uint64_t now)
{
	if (!guard->work)
		return;
	/* One that came and went was there since the last look. */
	if (seen == GUARD_PULSE)
		add(guard->work, pid, true, guard->turn.looked_ns);
	else if (seen == GUARD_BUSY)
		add(guard->work, pid, true, now);
	if (seen != GUARD_BUSY)
		add(guard->work, pid, false, now);
}

void guard_work_tell(struct guard *guard)
{
	struct guard_work *work = guard->work;
	const struct guard_note *told;
	size_t n, lost, i;

	if (!work)
		return;
	pthread_mutex_lock(&guard->lock);
	told = work->note[work->at];
	n = work->n;
	lost = work->lost;
	work->at = !work->at;
	work->n = work->lost = 0;
	pthread_mutex_unlock(&guard->lock);
	for (i = 0; i < n; i++)
		guard_tell_work(guard, &told[i]);
	if (lost)
		guard_tell_lost(lost);
}
