/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHARED_PROC_TREE_H
#define SHARED_PROC_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* Is a process that one, or one that it has started, at whatever remove? */
bool shr_is_below(pid_t pid, pid_t root);

#endif
