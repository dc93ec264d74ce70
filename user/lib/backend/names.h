/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GP_BACKEND_NAMES_H
#define GP_BACKEND_NAMES_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Call fn for each name in a directory of the system, but for those that begin with
 * ".", until it returns another value than 0, which comes back. -errno.
 */
int gp_list_names(const char *path, int (*fn)(void *arg, const char *name), void *arg);

/* The same for a directory that was opened. */
int gp_list_opened(int dir, int (*fn)(void *arg, const char *name), void *arg);

/* Up to size bytes of a file. Returns how many, or -errno. */
ssize_t gp_read_opened(int fd, char *buf, size_t size);

/* The number of a device, which is the text of its file in a snapshot: n bytes, or -errno. */
int gp_parse_device(char *text, ssize_t n, uint64_t *device);
#define GP_DEVICE_TEXT 32

#endif
