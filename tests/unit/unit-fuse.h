/* SPDX-License-Identifier: GPL-2.0-only */
/* File systems that never answer: not even SIGKILL ends a wait for one. */
#ifndef UNIT_FUSE_H
#define UNIT_FUSE_H

#include <stdatomic.h>
#include <sys/types.h>

/*
 * One of that user's, whose root has this mode, on a file or a directory; seen
 * by this process and what it starts. Returns a descriptor or -errno.
 */
int unit_fuse_mount(const char *path, mode_t mode, uid_t user);
/*
 * Take requests and answer none, until it is unmounted or all is killed; asked
 * is set when there was one.
 */
void unit_fuse_serve_nothing(int fd, atomic_int *asked);
/* A file that can be opened; asked is set when it is read from. */
void unit_fuse_serve_file(int fd, size_t size, atomic_int *asked);

#endif
