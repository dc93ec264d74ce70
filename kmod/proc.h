/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_PROC_H
#define GP_PROC_H

#include <linux/dcache.h>
#include <linux/kref.h>

#include "snapshot.h"

/* A GPU process that has a directory */
struct gp_proc {
	struct kref ref;	/* one for the directory, one for each open file */
	struct pid *pid;	/* PID of its thread group: no other process ever has it */
	struct hlist_node link; /* in the table of proc.c */
	struct dentry *dir;	/* its directory */
	bool alive;		/* for proc.c */
	/* lock of last; taken before any lock of snapshot.c, and held while the hardware is read */
	struct mutex lock;
	struct gp_list *last; /* result of the last read, or NULL */
};

/* Take another reference to a process, or drop one. */
void gp_proc_get(struct gp_proc *proc);
void gp_proc_put(struct gp_proc *proc);

/* Read the queues of a process, NULL: of all, as gp_snapshot_take() does, or -ERESTARTSYS. */
int gp_proc_read(struct gp_proc *proc, unsigned int what, struct gp_snapshot *out);

/* Keep directories and lists fresh, as a file is read. */
void gp_proc_reader(void);

/* New and ended processes are reported by probes. */
bool gp_proc_has_events(void);

/*
 * Make the directories, and their files by fill(), whose reference to the process lasts longer;
 * with NULL fill() makes the files of dir. -ENOMEM: no file was made.
 */
int gp_proc_start(struct dentry *dir, void (*fill)(struct dentry *dir, struct gp_proc *proc));

/* Remove the directories of processes; open files stay usable. */
void gp_proc_stop(void);

#endif /* GP_PROC_H */
