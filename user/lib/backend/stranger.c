// SPDX-License-Identifier: LGPL-2.1-or-later
/* Asks the driver who may end a debug session. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/backend/stranger.h"
#include "lib/core/place.h"
#include "shared/macro.h"

#define WAIT_MS 2000

/* The other process, until it is killed. Only system calls. */
__attribute__((noreturn))
static void have_kfd_open(int told)
{
	char done = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Nothing of ours stays open if this one waits for the driver. */
	if (dup2(told, 0) || syscall(SYS_close_range, 1, ~0U, 0))
		_exit(1);
	if (open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC) >= 0 &&
	    write(0, &done, 1) == 1)
		for (;;)
			pause();
	_exit(1);
}

/* -ENODEV when it has ended, that is, cannot open the device. */
static int await(int asked)
{
	struct pollfd p = { .fd = asked, .events = POLLIN };
	char done;
	int ret;

	do {
		ret = poll(&p, 1, WAIT_MS);
	} while (ret < 0 && errno == EINTR);
	if (ret <= 0)
		return ret ? -errno : -ETIMEDOUT;
	return read(asked, &done, 1) == 1 ? 0 : -ENODEV;
}

static int ask_of(pid_t pid)
{
	struct kfd_ioctl_dbg_trap_args args = {
		.pid = pid,
		.op = KFD_IOC_DBG_TRAP_DISABLE,
	};
	__cleanup_fd int kfd = open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC);

	if (kfd < 0 || ioctl(kfd, AMDKFD_IOC_DBG_TRAP, &args))
		return -errno;
	return 0;
}

/* A driver that hangs can keep it; then it ends when the driver goes on. */
static void end(pid_t pid, int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	kill(pid, SIGKILL);
	poll(&p, 1, WAIT_MS);
	waitpid(pid, NULL, WNOHANG | __WALL);
}

int gp_ask_disable(void)
{
	__cleanup_fd int asked = -1, pidfd = -1;
	sigset_t all, before;
	int told[2], ret;
	pid_t pid;

	if (pipe2(told, O_CLOEXEC))
		return -errno;
	asked = told[0];
	/* A handler of ours must not run in the other. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pid = gp_clone_bare(&pidfd);
	if (!pid)
		have_kfd_open(told[1]);
	ret = pid < 0 ? -errno : 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(told[1]);
	if (ret)
		return ret;
	ret = await(asked);
	if (!ret)
		ret = ask_of(pid);
	end(pid, pidfd);
	return ret;
}
