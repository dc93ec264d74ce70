/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of "follow". */
#ifndef CTL_FOLLOW_H
#define CTL_FOLLOW_H

#include <stdbool.h>
#include <sys/types.h>

#include "agent/cgroup.h"
#include "ctl/command/ctl.h"

/* The cgroup of a process, and whether it is frozen (cgroup.c). */
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

/*
 * Leave what would stop or freeze this process together with the target: a
 * cgroup that both are in, and its process group. 0, or the exit status after
 * saying why not. *moved is set when it is in a cgroup of its
 * own now.
 */
int follow_leave(pid_t target, bool *moved);

/* Follow one process until it ends. Returns the exit status. */
int follow_process(pid_t target, enum gpreempt_how how);

#endif
