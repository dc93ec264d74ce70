/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHARED_DEVICE_H
#define SHARED_DEVICE_H

#include <stdint.h>

/*
 * The number of the character device that a path leads to, as makedev(). dir and flags
 * as for statx(). The path may be a descriptor of a process that is not trusted, with a
 * file of a file system of its own behind it: no such server is asked, which may not
 * answer. 0, -ENODEV: it is something else, or -errno.
 */
int shr_device_at(int dir, const char *path, int flags, uint64_t *device);

#endif
