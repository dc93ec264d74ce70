/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Replace a file in one step: a reader sees the old file or the new one, never a part. Root may
 * do it in a directory of another user: no name that others could foresee is opened, no link is
 * followed, and nothing but a regular file is replaced.
 */
#ifndef SHARED_ATOMIC_FILE_H
#define SHARED_ATOMIC_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Can @path be replaced? Makes a new file beside it and removes that again.
 * Returns what shr_file_replace() would.
 */
int shr_file_check(const char *path);

/*
 * Replace @path, or make it, with that mode, whatever the umask is. May wait for the disk.
 *
 * Returns 0 or -errno, with these meanings of their own:
 * -ENOTSUP: a link is there; -ENXIO: a FIFO, socket or device is;
 * -EISDIR: a directory is. Nothing has changed then, and no file is left over.
 */
int shr_file_replace(const char *path, mode_t mode, const char *text, size_t size);

/* Why not, for people, from what the two return. */
const char *shr_file_reason(int code);

#endif
