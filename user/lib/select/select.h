/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a target can be, between the files of gpreempt_select(). */
#ifndef GP_SELECT_H
#define GP_SELECT_H

#include <regex.h>

#include "lib/core/internal.h"
#include "lib/select/words.h"
#include "shared/array.h"

/* Where containerd has the state of a task, by namespace and id. */
#define GP_CONTAINERD "/run/containerd/io.containerd.runtime.v2.task"

/* What an error of such a question means: GP_DOUBT, or our own lack, as it is. */
int gp_doubt(int code);

/*
 * Call fn with the path of each cgroup of a process, one in each hierarchy, and the
 * name of that ("": version 2), until it returns other than 0. That; 0, also when the
 * process is gone; or as gp_doubt().
 */
int gp_each_cgroup(const struct gpreempt *g, pid_t pid,
		   int (*fn)(void *arg, const char *hierarchy, const char *path), void *arg);

/* Is the process in this cgroup or below? 1, 0, or as gp_doubt(). */
int gp_in_cgroup(const struct gpreempt *g, pid_t pid, const char *cgroup);

/* The user in whose slice a cgroup is, or GPREEMPT_UNKNOWN for the system's. */
int64_t gp_slice_user(const char *path);

/* The id of the outermost container in the path of a cgroup, which has room for such a one. */
bool gp_outer_container(const struct gpreempt *g, const char *path, char *id);

/* Fill in the name, if the files of root's engines have it. */
void gp_container_name(struct gpreempt *g, struct gp_container *container);

/*
 * A container. A user in its own slice, and root of a container in that, can make cgroups and
 * give one the name that another container's has: so the id alone does not tell.
 */
struct gp_box {
	char id[sizeof(((struct gp_container *)0)->id)];
	int64_t user; /* in whose slice it is; unknown: the system's */
	char outer[sizeof(((struct gp_container *)0)->id)];
};

/*
 * The container that is meant by a name or the beginning of an id, among those
 * of the processes. 0, -ENOENT, -EEXIST when ids of several begin so,
 * -ENOTUNIQ when several have that very name or id, -ENOMEM.
 */
int gp_find_container(struct gpreempt *g, const struct gpreempt_targets *processes,
		      const char *name, struct gp_box *box);

/* Is it in that container, at any depth? 1, 0, or as gp_doubt(). */
int gp_in_container(const struct gpreempt *g, pid_t pid, const struct gp_box *box);

/* A user, with the ids that /etc/subuid gives it. */
struct gp_user_ids {
	uid_t uid;
	SHR_ARRAY(
		struct gp_id_range {
			uint64_t first;
			uint64_t count;
		},
		ranges);
};

/* 0 or -errno; without that file there are none. It is for gp_user_ids_free(). */
int gp_user_ids_read(struct gpreempt *g, uid_t uid, struct gp_user_ids *out);
void gp_user_ids_free(struct gp_user_ids *ids);
/* Has it one of these ids, or is it in the user's slice? 1, 0, or as gp_doubt(). */
int gp_is_of_user(const struct gpreempt *g, pid_t pid, const struct gp_user_ids *ids);

/* As /etc/passwd has it. 0, -ENOENT or what reading that gave. */
int gp_user_by_name(const struct gpreempt *g, const char *name, uid_t *uid);

#endif
