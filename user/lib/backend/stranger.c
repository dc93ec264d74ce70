// SPDX-License-Identifier: LGPL-2.1-or-later
/* Asks the driver who may end a debug session. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/backend/stranger.h"
#include "lib/core/apart.h"
#include "shared/macro.h"

#define STACK (16 * 1024)

struct question {
	pid_t target;
	int answer;
};

static int ask(void *arg)
{
	struct question *q = arg;
	struct kfd_ioctl_dbg_trap_args args = {
		.pid = q->target,
		.op = KFD_IOC_DBG_TRAP_DISABLE,
	};
	__cleanup_fd int kfd = open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC);

	q->answer = 0;
	if (kfd < 0 || ioctl(kfd, AMDKFD_IOC_DBG_TRAP, &args))
		q->answer = -errno;
	return 0;
}

/* The helper process. It has a child that asks, for it is no stranger to itself. */
static void be_asked_about(void *shared)
{
	struct question *q = shared;
	/* The helper's stack is shared with its child. */
	char stack[STACK] __attribute__((aligned(16)));
	pid_t asker;

	q->answer = -ENODEV;
	q->target = getpid();
	if (open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC) < 0 || !gp_apart_enter(q))
		return;
	asker = clone(ask, stack + STACK, 0, q);
	if (asker < 0)
		q->answer = -errno;
	else
		waitpid(asker, NULL, __WALL);
}

int gp_ask_disable(void *be)
{
	struct question *q;
	int place, ret;

	(void)be;
	/* With the caller's memory, the driver would take the helper for the caller. */
	if (gp_apart_own_memory())
		return -ETIMEDOUT;
	q = gp_apart_new();
	if (!q)
		return -ENOMEM;
	/* In all 2 s: a driver that hangs must not keep who only asks. */
	ret = gp_apart_run(q, -1, be_asked_about, GP_APART_WAIT_NS, &place);
	if (ret == -ETIMEDOUT)
		return ret;
	if (!ret)
		ret = q->answer;
	else if (ret == -EBUSY) /* it is an answer of the driver */
		ret = -ETIMEDOUT;
	gp_apart_free(q);
	return ret;
}
