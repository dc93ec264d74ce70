// SPDX-License-Identifier: GPL-2.0-only
/* Who has started whom. */
#include <stdio.h>
#include <string.h>

#include "shared/proc-tree.h"

/* More than that is no family, but numbers that were given again. */
#define MAX_DEPTH 64

bool shr_is_below(pid_t pid, pid_t root)
{
	char path[64], line[512], *at;
	FILE *file;
	int depth;

	for (depth = 0; pid > 1 && depth < MAX_DEPTH; depth++) {
		if (pid == root)
			return true;
		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		file = fopen(path, "r");
		if (!file)
			return false;
		/* The name may hold anything; it ends at the last ")". */
		at = fgets(line, sizeof(line), file) ? strrchr(line, ')') :
						       NULL;
		fclose(file);
		if (!at || sscanf(at + 1, " %*c %d", &pid) != 1)
			return false;
	}
	return false;
}
