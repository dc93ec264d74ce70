/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The freezer of cgroup v1. It stops a process so that not even SIGKILL ends
 * it before the thaw: neither a watchdog's nor another process's. A process
 * that holds a target must not be in a cgroup that can be frozen so.
 */
#ifndef AGENT_FREEZER_V1_H
#define AGENT_FREEZER_V1_H

#include <stdbool.h>

/*
 * In a line of /proc/PID/cgroup, as "7:cpu,freezer:/path": the path, when the
 * line is of that freezer and the cgroup is not its root; or NULL.
 */
const char *freezer_v1_path(const char *line);

/*
 * Move this process to the root of that freezer, which cannot be frozen. 0,
 * also when there is nothing to leave, or -errno. @inside: it was in a cgroup of
 * that freezer; with an error it may still be there. False with an error: its
 * cgroups could not be read.
 */
int freezer_v1_leave(bool *inside);

#endif
