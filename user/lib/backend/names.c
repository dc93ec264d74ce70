// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/backend/names.h"
#include "shared/macro.h"

/* The kernel's struct linux_dirent64, which has no header. */
struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

/* opendir() takes memory, which the copy of a process with threads must not. */
int gp_list_opened(int dir, int (*fn)(void *arg, const char *name), void *arg)
{
	char some[4096] __attribute__((aligned(_Alignof(struct entry))));
	const struct entry *entry;
	int ret = 0;
	long at, n;

	while ((n = syscall(SYS_getdents64, dir, some, sizeof(some))) > 0) {
		for (at = 0; at < n && !ret; at += entry->len) {
			entry = (const struct entry *)(some + at);
			if (entry->name[0] != '.')
				ret = fn(arg, entry->name);
		}
		if (ret)
			return ret;
	}
	return n < 0 ? -errno : 0;
}

int gp_list_names(const char *path, int (*fn)(void *arg, const char *name), void *arg)
{
	__cleanup_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? -errno : gp_list_opened(dir, fn, arg);
}

ssize_t gp_read_opened(int fd, char *buf, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, buf + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used += n;
	}
	return used;
}
