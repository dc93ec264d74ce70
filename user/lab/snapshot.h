/* SPDX-License-Identifier: GPL-2.0-only */
/* Snapshot: all facts of this moment, in a directory. docs/text.md lists them. */
#ifndef LAB_SNAPSHOT_H
#define LAB_SNAPSHOT_H

#include <stdio.h>

#include "cli/cli.h"

/* Unit tests have a host below another directory. */
#ifndef HOST_ROOT
#define HOST_ROOT ""
#endif

#define SNAPSHOT_INFO	 "info"
#define SNAPSHOT_NAME	 "gpreempt-snapshot"
#define SNAPSHOT_VERSION "1.0"
#define SNAPSHOT_PS	 "ps"
#define SNAPSHOT_LOG	 "kernel-log"

/* Open the kernel's log, from now on, or from the last clearing on. A descriptor or -errno. */
int snapshot_log_open(bool all);

/* Has that file of a snapshot, by its path in it, no name of the host, a user or a process? */
bool snapshot_is_nameless(const char *path);

/* Remove a snapshot and all that is in it. */
void snapshot_remove(const char *dir);

/*
 * Take a snapshot into a directory that must not exist yet, or be empty. It is made beside it, and
 * gets its name when it is whole.
 * With a log that was opened: the lines since the last snapshot. 0, or the exit status after a
 * message.
 */
int snapshot_take(const char *dir, const char *tag, int log);

#define SNAPSHOT_VIEW "/sys/kernel/debug/gpreempt"
#define SNAPSHOT_KFD  "/sys/class/kfd/kfd"

#endif
