/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_TABLE_H
#define GP_TABLE_H

#include <linux/pid.h>

/**
 * gp_table_walk() - call a function for each process that KFD knows
 * @fn:		gets the kfd_process, which stays until it returns; may sleep;
 *		what it returns ends the walk if it is not 0
 * @data:	for @fn
 *
 * Return: what @fn returned last.
 */
int gp_table_walk(int (*fn)(void *p, void *data), void *data);

/**
 * gp_table_pid() - whose kfd_process it is
 * @p:		from gp_table_walk()
 *
 * Return: the pid of its thread group with a reference, or NULL when that has
 * ended.
 */
struct pid *gp_table_pid(void *p);

#endif /* GP_TABLE_H */
