/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A lock that lasts as long as a descriptor, however its process ends. */
#ifndef SHARED_LOCK_FILE_H
#define SHARED_LOCK_FILE_H

#include <stdbool.h>

/*
 * Make the file, for its owner alone, and lock it; who has the lock may remove the file. Never
 * waits. Returns a descriptor, -EWOULDBLOCK if another one has the lock, another -errno.
 */
int shr_lock_file(const char *path);

/* An owner may have removed the file since it was opened: is it there still? */
bool shr_lock_is_at(int fd, const char *path);

#endif
