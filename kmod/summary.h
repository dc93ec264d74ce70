/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_SUMMARY_H
#define GP_SUMMARY_H

#include "proc.h"

/**
 * gp_summary_take() - read all GPU processes, and their slots
 *
 * Return: them by their pids, to be freed with kvfree(), or an error of
 * gp_proc_read() as a pointer.
 */
struct gp_summaries *gp_summary_take(void);

/**
 * gp_gpus_take() - read the nodes of a process
 * @proc:	the process
 * @usage:	and how much of them it uses: those on which it has an address space. With
 *		it, @proc can be NULL: of all processes, where they have queues
 *
 * Return: them, to be freed with kvfree(), or an error of gp_snapshot_take() as a pointer.
 */
struct gp_gpus *gp_gpus_take(struct gp_proc *proc, bool usage);

#endif /* GP_SUMMARY_H */
