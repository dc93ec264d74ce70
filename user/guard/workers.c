// SPDX-License-Identifier: GPL-2.0-only
/* Workers of offline processes, as guard sees them. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "agent/heartbeat.h"
#include "guard/worker.h"
#include "shared/child.h"
#include "shared/clock.h"
#include "shared/macro.h"

static int work(void *arg)
{
	const struct guard_worker *w = arg;

	guard_work(&w->job, w->channel);
	return 0;
}

int guard_worker_start(const struct guard_job *job, struct guard_worker **out)
{
	const int keep[] = { job->lock, job->wake };
	struct guard_worker *w = calloc(1, sizeof(*w));
	pid_t child = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->job = *job;
	w->channel = guard_channel_map(sizeof(*w->channel));
	if (w->channel) {
		atomic_store(&w->channel->beat_ns, shr_now_ns());
		child = shr_child_start(work, w, keep, ARRAY_SIZE(keep));
	}
	if (child < 0) {
		guard_worker_free(w);
		return child;
	}
	w->child = child;
	*out = w;
	return 0;
}

static void wake(struct guard_worker *w)
{
	uint64_t one = 1;
	ssize_t n;

	do {
		n = write(w->job.wake, &one, sizeof(one));
	} while (n < 0 && errno == EINTR);
}

void guard_worker_order(struct guard_worker *w, const struct guard_order *order)
{
	guard_channel_order(w->channel, order);
	wake(w);
}

void guard_worker_quit(struct guard_worker *w)
{
	atomic_store(&w->channel->quit, true);
	wake(w);
}

static bool silent(const struct guard_worker *w)
{
	uint64_t limit = atomic_load(&w->channel->busy) ? HEARTBEAT_BUSY_NS : HEARTBEAT_SILENCE_NS;

	return shr_now_ns() > atomic_load(&w->channel->beat_ns) + limit;
}

bool guard_worker_gone(struct guard_worker *w)
{
	if (shr_child_gone(&w->child, &w->status))
		return true;
	if (silent(w))
		kill(w->child, SIGKILL);
	return false;
}

void guard_worker_why(const struct guard_worker *w, char *text, size_t size)
{
	if (WIFSIGNALED(w->status))
		snprintf(text, size, "its worker was killed by signal %d", WTERMSIG(w->status));
	else
		gpreempt_error_text(&w->channel->error, text, size);
}

void guard_worker_free(struct guard_worker *w)
{
	if (w->channel)
		munmap(w->channel, sizeof(*w->channel));
	free(w);
}
