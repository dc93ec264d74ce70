/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_SUMMARY_H
#define GP_SUMMARY_H

#include <linux/sched.h>
#include <linux/types.h>

#include <gpreempt/view.h>

/**
 * struct gp_summary - one GPU process in a line
 * @pid:	as the host counts
 * @ns_pid:	in its innermost namespace
 * @comm:	name of its leader, empty when that has ended
 * @gpus:	nodes on which it has an address space, -1: not known
 * @queues:	how many; -1: not known, and nothing that follows is
 * @by_type:	the same of each type
 * @active:	slots that hold its queues, -1: not known
 * @slots:	slots that they take when mapped
 * @suspended:	how many of its queues are, -1: the driver has no debug interface
 * @evicted:	how many of its queues are
 * @debugged:	a debugger holds it, -1: not known
 * @paused:	the same: it is paused
 * @age_ms:	the largest age of what is known of its queues
 */
struct gp_summary {
	int pid;
	int ns_pid;
	char comm[TASK_COMM_LEN];
	int gpus;
	int queues;
	int by_type[GP_VIEW_QUEUE_TYPE_COUNT];
	int active;
	int slots;
	int suspended;
	int evicted;
	int debugged;
	int paused;
	s64 age_ms;
};

/**
 * struct gp_summaries - all GPU processes
 * @n:		how many
 * @s:		in the order of their birth
 */
struct gp_summaries {
	u32 n;
	struct gp_summary s[];
};

/**
 * gp_summary_take() - read all GPU processes
 * @out:	the result; free it with kvfree()
 *
 * Return: 0, -EINTR, -ENOMEM.
 */
int gp_summary_take(struct gp_summaries **out);

#endif /* GP_SUMMARY_H */
