// SPDX-License-Identifier: GPL-2.0-only
/* Who has started whom. */
#include <stdio.h>

#include "shared/proc-tree.h"
#include "shared/proc.h"

/* More than that is no family, but numbers that were given again. */
#define MAX_DEPTH 64

bool shr_is_below(pid_t pid, pid_t root)
{
	const char *state;
	char text[512];
	int depth;

	for (depth = 0; pid > 1 && depth < MAX_DEPTH; depth++) {
		if (pid == root)
			return true;
		shr_read_start(text, sizeof(text), "/proc/%d/stat", pid);
		state = shr_stat_state(text);
		if (!state || sscanf(state, "%*c %d", &pid) != 1)
			return false;
	}
	return false;
}
