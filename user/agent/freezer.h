/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AGENT_FREEZER_H
#define AGENT_FREEZER_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent/cgroup.h"

/* The cgroup of a process, and whether it is frozen. */
struct freezer {
	pid_t pid;
	char path[CGROUP_MAX_PATH]; /* below the mount; "": no cgroup v2 */
	int events;		    /* -1: it cannot be frozen */
	bool frozen;
};

/*
 * 0; -ENOTSUP: it is in a cgroup of the old freezer, whose path is then in
 * path; -ESRCH: it is gone; or -errno.
 */
int freezer_open(struct freezer *f, pid_t pid);
/*
 * Learn whether it is frozen, and whether it has moved to another cgroup.
 * f->events, which may be another one then, has POLLPRI when there is news.
 * As freezer_open().
 */
int freezer_read(struct freezer *f);
void freezer_close(struct freezer *f);

#endif
