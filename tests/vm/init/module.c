// SPDX-License-Identifier: GPL-2.0-only
/* Kernel modules, in the order that the image's builder has worked out. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"

int module_load(const char *path, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, parameters, 0) && errno != EEXIST)
		ret = -errno;
	close(fd);
	return ret;
}

int module_load_list(const char *list)
{
	char path[256];
	FILE *f = fopen(list, "re");
	int ret = 0;

	if (!f)
		return -errno;
	while (!ret && fgets(path, sizeof(path), f)) {
		path[strcspn(path, "\n")] = '\0';
		ret = module_load(path, "");
		if (ret)
			fprintf(stderr, "init: insmod %s: %s\n", path, strerror(-ret));
	}
	fclose(f);
	return ret;
}
