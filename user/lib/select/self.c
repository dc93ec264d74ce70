// SPDX-License-Identifier: LGPL-2.1-or-later
/* The queues of the program that asks. */
#include <stdlib.h>
#include <string.h>

#include <gpreempt/select.h>

#include "lib/core/internal.h"

/* Our own number, as that /proc counts, and when we started. */
static int read_self(struct gpreempt *g, pid_t *pid, uint64_t *start)
{
	char text[64];
	ssize_t n = gp_read_small(g, text, sizeof(text), "/proc/self/stat");

	if (n < 0)
		return n;
	*pid = atoi(text);
	return gpreempt_start_time(g, *pid, start);
}

/*
 * KFD names a process as the host counts. If this /proc is the host's, our
 * number there is it; else the host's process of that number, if it is shown
 * here, has another start time. 0: not to be known here.
 */
static pid_t find_self(const struct gpreempt_targets *all, pid_t pid, uint64_t start)
{
	pid_t found = 0;
	size_t i;

	for (i = 0; i < all->count; i++) {
		if (all->targets[i].start != start)
			continue;
		if (all->targets[i].pid == pid)
			return pid;
		if (found)
			return 0; /* two that started at once */
		found = all->targets[i].pid;
	}
	return found;
}

int gpreempt_self_queues(struct gpreempt *g, struct gpreempt_view **out, struct gpreempt_error *err)
{
	static const char step[] = "looking for our own queues";
	struct gpreempt_targets *all;
	uint64_t start = 0;
	pid_t self = 0, pid;
	int ret = read_self(g, &self, &start);

	if (ret)
		return gp_error(err, ret, GPREEMPT_SYSTEM, 0, step);
	ret = gpreempt_processes(g, &all, err);
	if (ret)
		return ret;
	pid = find_self(all, self, start);
	gpreempt_targets_free(all);
	if (!pid)
		return gp_error(err, -ENODATA,
				getpid() == self ? GPREEMPT_NOT_GPU : GPREEMPT_PID_NAMESPACE, self,
				step);
	return gpreempt_view_read(g, pid, out, err);
}
