// SPDX-License-Identifier: LGPL-2.1-or-later
/* Asks the driver who may end a debug session. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kfd_ioctl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/backend/stranger.h"
#include "lib/core/bare.h"
#include "shared/clock.h"
#include "shared/macro.h"
#include "shared/macro.h"

#define WAIT_NS (2 * NSEC_PER_SEC)

/* The other process, until it is killed. */
static void have_kfd_open(void *arg)
{
	(void)arg;
	if (open(GP_KFD_DEVICE, O_RDWR | O_CLOEXEC) >= 0 &&
	    write(GP_BARE_PIPE, "", 1) == 1)
		for (;;)
			pause();
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

int gp_ask_disable(void)
{
	struct gp_bare other;
	int ret;

	ret = gp_bare_start(&other, have_kfd_open, NULL);
	if (ret)
		return ret;
	ret = gp_bare_wait(&other, WAIT_NS);
	/* It has ended: it cannot open the device. */
	if (ret == -EIO)
		ret = -ENODEV;
	if (!ret)
		ret = ask_of(other.pid);
	/* A driver that hangs can keep it; then it ends when the driver goes on. */
	gp_bare_end(&other, WAIT_NS);
	return ret;
}
