// SPDX-License-Identifier: LGPL-2.1-or-later
/* How the kernel shares a CPU among threads of ours that poll in the driver. */
#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/macro.h"
#include "shared/urgent.h"

#define SLICE_NS (100 * NSEC_PER_USEC)

static bool get_ordinary(pid_t tid, struct shr_sched *attr)
{
	*attr = (struct shr_sched){ 0 };
	return !syscall(SYS_sched_getattr, tid, attr, sizeof(*attr), 0) &&
	       attr->policy == SCHED_OTHER;
}

/*
 * The driver polls for the hardware and offers its CPU only in between
 * (amdkfd_fence_wait_timeout() in kfd_device_queue_manager.c). With the usual
 * slices of milliseconds each of us would keep a CPU for so long that others
 * could have made their call, where there are fewer CPUs than GPUs. From 6.12
 * on a thread can ask for shorter ones; before, the kernel ignores it.
 */
void shr_ask_short_slices(void)
{
	struct shr_sched attr;

	if (!get_ordinary(0, &attr))
		return;
	attr.runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

bool shr_urgent(pid_t tid, uint32_t level, struct shr_sched *before)
{
	struct shr_sched attr = {
		.size = sizeof(attr),
		.policy = SCHED_FIFO,
		/* A process that the thread makes meanwhile is an ordinary one. */
		.flags = SCHED_FLAG_RESET_ON_FORK,
		.priority = level,
	};

	return get_ordinary(tid, before) && !syscall(SYS_sched_setattr, tid, &attr, 0);
}

void shr_not_urgent(pid_t tid, const struct shr_sched *before)
{
	syscall(SYS_sched_setattr, tid, before, 0);
}
