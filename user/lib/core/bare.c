// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/core/bare.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "shared/syscall.h"

/* The other process. */
__attribute__((noreturn)) static void become(void (*work)(void *arg), void *arg,
					     int pipe_end)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Nothing of ours stays open if this one waits for ever. */
	if (dup2(pipe_end, GP_BARE_PIPE) == GP_BARE_PIPE &&
	    !shr_close_range(GP_BARE_PIPE + 1, ~0U))
		work(arg);
	_exit(EXIT_FAILURE);
}

int gp_bare_start(struct gp_bare *b, void (*work)(void *arg), void *arg)
{
	sigset_t all, before;
	int ends[2], ret = 0;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	sigfillset(&all);
	/* A handler of ours must not run in the other. */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	b->pid = syscall(SYS_clone, CLONE_PIDFD, NULL, &b->pidfd, NULL, 0);
	if (!b->pid)
		become(work, arg, ends[1]);
	if (b->pid < 0)
		ret = -errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(ends[1]);
	b->answer = ends[0];
	if (ret)
		close(b->answer);
	return ret;
}

static bool wait_for(int fd, uint64_t ns)
{
	uint64_t end = shr_now_ns() + ns, now;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	while ((now = shr_now_ns()) < end) {
		int ret = poll(&p, 1,
			       (end - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);

		if (ret > 0)
			return true;
	}
	return false;
}

int gp_bare_wait(const struct gp_bare *b, uint64_t ns)
{
	char done;

	if (!wait_for(b->answer, ns))
		return -ETIMEDOUT;
	return read(b->answer, &done, 1) == 1 ? 0 : -EIO;
}

bool gp_bare_reap(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG | __WALL) != 0;
}

bool gp_bare_end(struct gp_bare *b, uint64_t ns)
{
	bool ended;

	kill(b->pid, SIGKILL);
	ended = wait_for(b->pidfd, ns) && gp_bare_reap(b->pid);
	close(b->pidfd);
	close(b->answer);
	return ended;
}
