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
int gp_list_names(const char *path, int (*fn)(void *arg, const char *name),
		  void *arg)
{
	char some[4096] __attribute__((aligned(_Alignof(struct entry))));
	__cleanup_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct entry *entry;
	int ret = 0;
	long at, n;

	if (dir < 0)
		return -errno;
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
