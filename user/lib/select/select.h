/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a target can be, between the files of gpreempt_select(). */
#ifndef GP_SELECT_H
#define GP_SELECT_H

#include <regex.h>

#include "lib/core/internal.h"
#include "lib/core/place.h"

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

/*
 * Fill in the name, if the engine's files have it: those of a user, or with
 * GPREEMPT_UNKNOWN those of the system.
 */
void gp_container_name(const struct gpreempt *g, int64_t user,
		       struct gpreempt_container *container);

/*
 * A container. A user in its own slice, and root of a container in that, can
 * make cgroups and give one the name that another container's has: so the id
 * alone does not tell.
 */
struct gp_box {
	char id[sizeof(((struct gpreempt_container *)0)->id)];
	int64_t user; /* in whose slice it is; unknown: the system's */
	char outer[sizeof(((struct gpreempt_container *)0)->id)];
};

/*
 * The container that is meant by a name or the beginning of an id, among those
 * of the processes. 0, -ENOENT, -EEXIST when ids of several begin so,
 * -ENOTUNIQ when several have that very name or id, -ENOMEM.
 */
int gp_find_container(const struct gpreempt *g,
		      const struct gpreempt_targets *processes,
		      const char *name, struct gp_box *box);

/* Is it in that container, at any depth? */
bool gp_in_container(const struct gpreempt *g, pid_t pid,
		     const struct gp_box *box);

/* A user of this system. */
struct gp_user {
	uid_t uid;
	gid_t gid;
	char name[64];
	char home[128];
};

/* 0, -ENOENT or what reading /etc/passwd gave. */
int gp_user_by_name(const struct gpreempt *g, const char *name,
		    struct gp_user *out);
int gp_user_by_uid(const struct gpreempt *g, uid_t uid, struct gp_user *out);

/* What a file says of containers: their names by their ids, for example. */
struct gp_name {
	char key[80];
	char name[128];
};

struct gp_names {
	struct gp_name *list;
	size_t count;
};

/* From a text, with a 0 at its end; names are empty before. */
typedef void gp_parse_names(const char *text, size_t len,
			    struct gp_names *names);

void gp_names_add(struct gp_names *names, const char *key, const char *name);
/* NULL: there is none. */
const char *gp_names_find(const struct gp_names *names, const char *key);

/*
 * What the place says, up to a second old, and up to 0.2 s if key is not in
 * it. Valid until the next call. Empty when it says nothing.
 */
const struct gp_names *gp_place_names(const struct gpreempt *g,
				      const struct gp_place *place,
				      gp_parse_names *parse, const char *key);

#endif
