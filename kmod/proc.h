/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_PROC_H
#define GP_PROC_H

#include <linux/dcache.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>

#include "snapshot.h"

/* A GPU process that has a directory */
struct gp_proc {
	struct kref ref; /* one for the directory, one for each open file */
	/*
	 * of its thread group; no other process ever has this struct pid, even
	 * when it gets the same number
	 */
	struct pid *pid;
	struct hlist_node link; /* in the table of proc.c */
	struct dentry *dir;	/* its directory */
	bool alive;		/* for proc.c */
	/*
	 * of last; taken before any lock of snapshot.c, and held while the
	 * hardware is read: readers of a process take turns
	 */
	struct mutex lock;
	struct gp_list *last; /* what was read last, or NULL */
};

/**
 * gp_proc_get() - take another reference to a process
 * gp_proc_put() - drop one
 * @proc:	the process
 */
void gp_proc_get(struct gp_proc *proc);
void gp_proc_put(struct gp_proc *proc);

/**
 * gp_proc_read() - read the queues of a process
 * @proc:	the process; NULL: all
 * @what:	as gp_snapshot_take() has it
 * @out:	the result; end it with gp_snapshot_free()
 *
 * Return: 0, -ERESTARTSYS, or an error of gp_snapshot_take().
 */
int gp_proc_read(struct gp_proc *proc, unsigned int what, struct gp_snapshot *out);

/** gp_proc_reader() - a file is read: keep directories and lists fresh */
void gp_proc_reader(void);

/** gp_proc_has_events() - whether new and ended processes are reported by probes */
bool gp_proc_has_events(void);

/**
 * gp_proc_start() - make directories and files, now and from now on
 * @dir:	where
 * @fill:	makes the files of a process in its new directory, which ends
 *		before our reference to the process; and, with NULL, those in @dir
 *
 * Return: 0; -ENOMEM: no file was made.
 */
int gp_proc_start(struct dentry *dir, void (*fill)(struct dentry *dir, struct gp_proc *proc));

/** gp_proc_stop() - remove the directories of processes; open files stay usable */
void gp_proc_stop(void);

#endif /* GP_PROC_H */
