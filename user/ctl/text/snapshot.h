/* SPDX-License-Identifier: GPL-2.0-only */
/* Everything about now, in a directory. docs/text.md says what is in it. */
#ifndef CTL_TEXT_SNAPSHOT_H
#define CTL_TEXT_SNAPSHOT_H

#include <stdio.h>

#include "ctl/command/ctl.h"

#define SNAPSHOT_INFO	 "info"
#define SNAPSHOT_NAME	 "gpreempt-snapshot"
#define SNAPSHOT_VERSION "1.0"
#define SNAPSHOT_PS	 "ps"
#define SNAPSHOT_LOG	 "kernel-log"

/* The kernel's log, and how far it was read. -1: not to be had. */
struct snapshot_log {
	int fd;
};

/* From now on, or all since it was last cleared. */
void snapshot_log_open(struct snapshot_log *log, bool all);
void snapshot_log_close(struct snapshot_log *log);

/*
 * Take one into a directory that must not exist yet; those above it may be
 * missing, too. With a log that was opened: the lines that came since it was
 * last given. 0, or the exit status after saying why not.
 */
int snapshot_take(const char *dir, const char *tag, struct snapshot_log *log);

/*
 * snapshot-files.c: files by their names below the directory; directories that a name
 * needs are made. Only root may read elsewhere what is in them, so only their owner may
 * here. Each says why it fails, and returns the exit status, or 0.
 */
int snapshot_fail(const char *what, int err);
/* The snapshot's own directory, which must be new, or empty. */
int snapshot_make(const char *dir);
/* One in it, which may be there. */
int snapshot_make_dir(const char *dir, const char *name);
/* A new file, or NULL, which end_file() takes, too. */
FILE *snapshot_create(const char *dir, const char *name);
int snapshot_end_file(FILE *file, const char *dir, const char *name);
/* A file of the system as it is. -errno: it cannot be read. */
int snapshot_copy(const char *from, const char *dir, const char *name);

#define SNAPSHOT_VIEW "/sys/kernel/debug/gpreempt"
#define SNAPSHOT_KFD  "/sys/class/kfd/kfd"

/*
 * snapshot-host.c: the files of this host that list, queues, monitor and doctor read,
 * each at its own path below the snapshot, where their --from reads them. One that is
 * not there is left out. 0, or the exit status.
 */
int snapshot_save_host(const char *dir);
/* Who traces the processes. g reads the snapshot. */
int snapshot_save_tracers(const char *dir, struct gpreempt *g,
			  const struct gpreempt_targets *targets);

#endif
