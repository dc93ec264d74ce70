/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a target can be, between the files of gpreempt_select(). */
#ifndef GP_SELECT_H
#define GP_SELECT_H

#include <regex.h>

#include "lib/internal.h"

/*
 * Call fn with the path of each cgroup of a process, one in each hierarchy,
 * and the name of that, until it returns other than 0. That, 0 or -errno.
 */
int gp_each_cgroup(const struct gpreempt *g, pid_t pid,
		   int (*fn)(void *arg, const char *hierarchy,
			     const char *path),
		   void *arg);

/* Is the process in this cgroup or below? */
bool gp_in_cgroup(const struct gpreempt *g, pid_t pid, const char *cgroup);

/*
 * Call fn with each container of a process, the outermost first, without
 * names, until it returns other than 0. path is that of the cgroup.
 */
int gp_each_container(const struct gpreempt *g, pid_t pid,
		      int (*fn)(void *arg,
				const struct gpreempt_container *container,
				const char *path),
		      void *arg);

/* Fill in the name, if the engine's files tell it. */
void gp_container_name(const struct gpreempt *g, const char *path,
		       struct gpreempt_container *container);

/*
 * The id of the container that is meant by a name or the beginning of an id,
 * among those of the processes. 0, -ENOENT, -EEXIST for several, -ENOMEM.
 */
int gp_find_container(const struct gpreempt *g,
		      const struct gpreempt_targets *processes,
		      const char *name, char *id, size_t size);

/* Is it in the container with this id, at any depth? */
bool gp_in_container(const struct gpreempt *g, pid_t pid, const char *id);

#endif
