// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dirent.h>
#include <errno.h>

#include "lib/backend/names.h"

int gp_list_names(const char *path, int (*fn)(void *arg, const char *name),
		  void *arg)
{
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!ret) {
		errno = 0;
		entry = readdir(dir);
		if (!entry) {
			ret = -errno;
			break;
		}
		if (entry->d_name[0] != '.')
			ret = fn(arg, entry->d_name);
	}
	closedir(dir);
	return ret;
}
