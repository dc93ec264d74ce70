/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_BACKEND_ENABLE_H
#define GP_BACKEND_ENABLE_H

#include <linux/kfd_ioctl.h>

/* The ioctl: 0 or -errno. */
typedef int (*gp_enable_fn)(void *data, struct kfd_ioctl_dbg_trap_args *args);

/*
 * KFD_IOC_DBG_TRAP_ENABLE of a process that is a KFD process, and stays so until the
 * ioctl is done. For a task that the caller traces the driver would make one
 * (kfd_ioctl_set_debug_trap()); when the process has just executed another program,
 * kernels up to 6.18 crash at its end. To ask before, and then to enable, is not
 * enough: it may execute the program in between. So the driver gets the number of a
 * thread that is not traced, which it looks up only. Without one, the process is
 * stopped for the ioctl: from then on nothing of it can execute a program.
 *
 * By the thread that traces it. Returns what ask() returned; -ESRCH when it is, or may
 * be, another program; -ETIMEDOUT when it does not stop; -errno. A stop that is not of
 * our making is left to be collected.
 */
int gp_enable_existing(struct kfd_ioctl_dbg_trap_args *args, gp_enable_fn ask, void *data);

#endif
