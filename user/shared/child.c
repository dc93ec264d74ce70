// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared/child.h"
#include "util.h"

#define MAX_KEPT 64
#define TICK_MS	 20

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

void shr_close_others(unsigned int from, const int *keep, size_t n)
{
	int sorted[MAX_KEPT];
	size_t i;

	for (i = 0; i < n; i++)
		sorted[i] = keep[i];
	qsort(sorted, n, sizeof(*sorted), compare_fds);
	for (i = 0; i < n; i++) {
		unsigned int fd = sorted[i];

		if (sorted[i] < 0)
			continue;
		if (fd > from)
			shr_close_range(from, fd - 1);
		from = fd >= from ? fd + 1 : from;
	}
	shr_close_range(from, ~0U);
}

pid_t shr_child_start(int (*work)(void *arg), void *arg, const int *keep, size_t n_keep)
{
	pid_t parent = getpid(), child;

	if (n_keep > MAX_KEPT)
		return -EINVAL;
	child = fork();
	if (child < 0)
		return -errno;
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	/* A client's connection, for one, must not stay open in the child. */
	shr_close_others(STDERR_FILENO + 1, keep, n_keep);
	_exit(work(arg));
}

int shr_child_run(int (*work)(void *arg), void *arg, const atomic_uint *steps,
		  void (*beat)(void *data), void *data)
{
	pid_t child = shr_child_start(work, arg, NULL, 0);
	__cleanup_fd int fd = child < 0 ? -1 : shr_pidfd_open(child);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	unsigned int now, seen = 0;
	uint64_t since = 0;
	int status = 0, ret = -errno;

	if (child < 0)
		return child;
	if (fd < 0) {
		shr_child_abandon(child);
		return ret;
	}
	do {
		if (beat)
			beat(data);
		now = atomic_load(steps);
		/* Until the first it looks for what there is. */
		if (!now || now != seen)
			since = shr_now_ns();
		seen = now;
		if (poll(&p, 1, TICK_MS) <= 0)
			continue;
		waitpid(child, &status, 0);
		return WIFEXITED(status) ? 0 : -EIO;
	} while (shr_now_ns() - since < SHR_CHILD_PATIENCE_MS * NSEC_PER_MSEC);
	shr_child_abandon(child);
	return -ETIMEDOUT;
}

void shr_child_abandon(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, WNOHANG);
}

bool shr_child_gone(pid_t *child, int *status)
{
	if (*child && waitpid(*child, status, WNOHANG) == *child)
		*child = 0;
	return !*child;
}
