// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A file of its own: the kernel's structure is used, as not each C library has a statx(), and
 * the two clash where both are included.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util.h"

int shr_device_at(int dir, const char *path, int flags, uint64_t *device)
{
	struct statx st;

	if (syscall(SYS_statx, dir, path, flags | AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0)
		return -errno;
	if ((st.stx_mode & S_IFMT) != S_IFCHR)
		return -ENODEV;
	*device = makedev(st.stx_rdev_major, st.stx_rdev_minor);
	return 0;
}
