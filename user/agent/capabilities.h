/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of root's capabilities a process keeps that holds a target. It lives long, reads what
 * the target wrote, and runs no other program: a mistake in it must not be worth all of root.
 */
#ifndef AGENT_CAPABILITIES_H
#define AGENT_CAPABILITIES_H

#include <linux/capability.h>
#include <stdint.h>

#define CAPABILITY(name) (1ULL << CAP_##name)

/*
 * Of a holder, guard and follow: to trace the target, read its memory and open gpreempt.ko's
 * files (SYS_PTRACE); to pause it, by an ioctl that is made for checkpoints
 * (CHECKPOINT_RESTORE); to see in which system call a thread of another user's process waits,
 * and its descriptors, which are that user's (DAC_READ_SEARCH); to be scheduled in time and not
 * to be paged out (SYS_NICE, IPC_LOCK). Its own files, /dev/kfd, the root of the cgroups and
 * the files of container engines are root's, whose id it keeps.
 */
#define CAPABILITIES_HOLDER                                                                      \
	(CAPABILITY(SYS_PTRACE) | CAPABILITY(DAC_READ_SEARCH) | CAPABILITY(CHECKPOINT_RESTORE) | \
	 CAPABILITY(SYS_NICE) | CAPABILITY(IPC_LOCK))

/* Of guard with files to write, where the directory is another user's. */
#define CAPABILITIES_WRITER (CAPABILITIES_HOLDER | CAPABILITY(DAC_OVERRIDE) | CAPABILITY(FOWNER))

/*
 * Give up all others, for this thread and those that it makes later, and for all
 * programs that they start. Capabilities that are not there are not asked for; without
 * DAC_READ_SEARCH, DAC_OVERRIDE stands in for it.
 * 0 or -errno.
 */
int capabilities_keep(uint64_t kept);

#endif
