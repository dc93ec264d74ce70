// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "shared/cgroup.h"

int shr_cgroup_each(char *text,
		    int (*fn)(void *arg, const char *hierarchy,
			      const char *path),
		    void *arg)
{
	char *line, *rest = NULL;
	int ret = 0;

	for (line = strtok_r(text, "\n", &rest); line && !ret;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *hierarchy = strchr(line, ':');
		char *path = hierarchy ? strchr(hierarchy + 1, ':') : NULL;

		if (!path || path[1] != '/')
			continue;
		*path++ = '\0';
		ret = fn(arg, hierarchy + 1, path);
	}
	return ret;
}
