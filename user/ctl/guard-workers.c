// SPDX-License-Identifier: GPL-2.0-only
/* Workers of offline processes, as guard sees them. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "ctl/guard-worker.h"
#include "ctl/hold.h"
#include "shared/clock.h"

/* A client's connection, for one, must not stay open because we have it. */
static void close_others(const struct guard_job *job)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc/self/fd");

	while (dir && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != job->lock && fd != job->wake &&
		    fd != dirfd(dir))
			close(fd);
	}
	if (dir)
		closedir(dir);
}

/* Of its parent it has one thread, all memory, and none of its locks. */
__attribute__((noreturn))
static void child(const struct guard_worker *w, pid_t parent)
{
	/* Whatever becomes of guard: its targets run. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	close_others(&w->job);
	guard_work(&w->job, w->channel);
	_exit(0);
}

int guard_worker_start(const struct guard_job *job, struct guard_worker **out)
{
	struct guard_worker *w = calloc(1, sizeof(*w));
	pid_t parent = getpid();
	int ret;

	if (!w)
		return -ENOMEM;
	w->job = *job;
	w->channel = guard_channel_map(sizeof(*w->channel));
	w->job.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->channel && w->job.wake >= 0) {
		atomic_store(&w->channel->beat_ns, shr_now_ns());
		w->child = fork();
		if (!w->child)
			child(w, parent);
	}
	if (w->child <= 0) {
		ret = -errno;
		w->child = 0;
		guard_worker_free(w);
		return ret;
	}
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
	uint64_t limit = atomic_load(&w->channel->busy) ?
			 HEARTBEAT_BUSY_NS : HEARTBEAT_SILENCE_NS;

	return shr_now_ns() > atomic_load(&w->channel->beat_ns) + limit;
}

bool guard_worker_gone(struct guard_worker *w)
{
	if (w->child && waitpid(w->child, &w->status, WNOHANG) == w->child)
		w->child = 0;
	if (w->child && silent(w))
		kill(w->child, SIGKILL);
	return !w->child;
}

void guard_worker_why(const struct guard_worker *w, char *text, size_t size)
{
	if (WIFSIGNALED(w->status))
		snprintf(text, size, "its worker was killed by signal %d",
			 WTERMSIG(w->status));
	else
		gpreempt_error_text(&w->channel->error, text, size);
}

void guard_worker_free(struct guard_worker *w)
{
	if (w->job.wake >= 0)
		close(w->job.wake);
	if (w->channel)
		munmap(w->channel, sizeof(*w->channel));
	free(w);
}
