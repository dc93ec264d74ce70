/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * System calls for which an older C library has no function: glibc has those of pidfd
 * from 2.36 on, and RHEL 9 has 2.34, Ubuntu 22.04 has 2.35. As the functions of the
 * same names: -1 and errno.
 */
#ifndef SHARED_SYSCALL_H
#define SHARED_SYSCALL_H

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int shr_pidfd_open(pid_t pid)
{
	return syscall(SYS_pidfd_open, pid, 0);
}

static inline int shr_pidfd_send_signal(int pidfd, int signal)
{
	return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

static inline int shr_pidfd_getfd(int pidfd, int fd)
{
	return syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

static inline int shr_close_range(unsigned int first, unsigned int last)
{
	return syscall(SYS_close_range, first, last, 0);
}

#endif
