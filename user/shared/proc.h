/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small files of /proc and sysfs. */
#ifndef SHARED_PROC_H
#define SHARED_PROC_H

#include <stddef.h>
#include <sys/types.h>

/* The start of a file, terminated. Its length, or -errno with an empty text. */
__attribute__((format(printf, 3, 4))) ssize_t shr_read_start(char *buf, size_t size,
							     const char *path_format, ...);

/*
 * What stands behind the name in the text of a process's or a thread's stat: first the
 * state, as one of R S D T t Z X. NULL: nothing does.
 */
const char *shr_stat_state(const char *stat);

#endif
