/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_DEBUGFS_H
#define GP_DEBUGFS_H

struct dentry;
struct gp_proc;

/**
 * gp_debugfs_start() - make the tree under /sys/kernel/debug
 *
 * Return: the directory for the processes.
 */
struct dentry *gp_debugfs_start(void);

/** gp_debugfs_stop() - remove it; the directories of processes are gone */
void gp_debugfs_stop(void);

/**
 * gp_debugfs_add_proc() - make the files of a process
 * @dir:	its directory
 * @proc:	the process; the caller's reference lasts longer than @dir
 */
void gp_debugfs_add_proc(struct dentry *dir, struct gp_proc *proc);

#endif /* GP_DEBUGFS_H */
