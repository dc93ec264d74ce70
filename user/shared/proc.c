// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shared/macro.h"
#include "shared/proc.h"

ssize_t shr_read_start(char *buf, size_t size, const char *path_format, ...)
{
	__cleanup_fd int fd = -1;
	char path[256];
	va_list ap;
	ssize_t n;

	va_start(ap, path_format);
	vsnprintf(path, sizeof(path), path_format, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, size - 1);
	buf[n > 0 ? n : 0] = '\0';
	return n < 0 ? -errno : n;
}

/* The name may have any letters, brackets among them. */
const char *shr_stat_state(const char *stat)
{
	const char *end = strrchr(stat, ')');

	return end && end[1] == ' ' && end[2] ? end + 2 : NULL;
}
