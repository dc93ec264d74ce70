/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Readers of gpreempt.ko's files, or else of the driver's sysfs files. */
#ifndef LIB_SEE_SEE_H
#define LIB_SEE_SEE_H

#include <regex.h>

#include "lib/core/internal.h"
#include "lib/core/table.h"
#include "shared/util.h"
#include "words.h"

#define GP_TOPOLOGY "/sys/class/kfd/kfd/topology/nodes"
/* A bit of a node's capability (include/uapi/linux/kfd_sysfs.h). */
#define GP_CAP_TRAP_DEBUG 0x00008000

/*
 * The text of a file of the module, for free(): of a process, or with pid 0 of
 * all. Asks for a while when the driver holds the process's lock.
 */
int gp_view_text(const struct gpreempt *g, pid_t pid, const char *file, char **text, size_t *len);

/* Find the reason why a process's files were not read: is it there? Never 0. */
int gp_fail_view(struct gpreempt *g, int code, pid_t pid, const char *step,
		 struct gpreempt_error *err);

/* The queues of a process, from the module alone. */
int gp_view_module(const struct gpreempt *g, pid_t pid, struct gpreempt_view **out);
/* The same from the driver's sysfs: ids, GPUs and types, also of a process that has ended. */
int gp_view_sysfs(const struct gpreempt *g, pid_t pid, struct gpreempt_view **out);

/*
 * Has the process ended? False, too, if that cannot be known: /proc may hide it from us. *start is
 * when it started, or 0.
 */
bool gp_has_ended(const struct gpreempt *g, pid_t pid, uint64_t *start);

/* Tables of the module's files for which sysfs can serve, too. */
extern const struct gp_table gp_processes_table;
extern const struct gp_table gp_nodes_table;

/* Can the queue have waves? Only a compute queue can. */
bool gp_is_compute(const struct gpreempt_queue *queue);

/* Facts in a view about queues that are to be off the hardware. */
struct gp_off {
	size_t off;	/* queues that were seen off */
	bool on;	/* the driver reports that a queue is on */
	bool in_slot;	/* a slot holds a queue */
	bool waves;	/* no slot holds a queue that has waves in flight */
	bool open;	/* a queue was not seen, at least in part */
	bool counted;	/* waves of a queue were counted */
	bool uncounted; /* waves of a compute queue were not counted */
};

/* Add a queue of the view. wanted: the caller verifies that it is off. */
void gp_off_add(struct gp_off *off, const struct gpreempt_view *view,
		const struct gpreempt_queue *queue, bool wanted);
/* Return the verdict, and in *by who has verified it; by may be NULL. */
enum gpreempt_verdict gp_off_verdict(const struct gp_off *off, enum gpreempt_verified_by *by);

/* The type of a queue in that directory of sysfs, as enum gpreempt_queue_type. */
int64_t gp_sysfs_queue_type(const struct gpreempt *g, const char *dir, const char *qid);

/* List without the module: see gp_table_list(). */
int gp_sysfs_processes(const struct gpreempt *g, void *records, size_t *count);
/* List the nodes in the order of KFD's topology. */
int gp_sysfs_nodes(const struct gpreempt *g, void *records, size_t *count);

/* Read a property of a node in KFD's topology, by the node's name. CPUs have the id 0. */
int gp_node_gpu_id(const struct gpreempt *g, const char *node, uint64_t *gpu_id);
int gp_node_property(const struct gpreempt *g, const char *node, const char *name, uint64_t *value);
/* Read a property of the node with that id. -ENODATA: there is none. */
int gp_gpu_property(const struct gpreempt *g, uint64_t gpu_id, const char *name, uint64_t *value);
/* Read one entry of gp_process_gpus_read(): the GPU with gpu->gpu_id. */
void gp_process_gpu_read(const struct gpreempt *g, pid_t pid, unsigned int figures,
			 struct gpreempt_process_gpu *gpu);
/*
 * Returns the driver's count of evictions of a process, on the GPU that has most: its queues run
 * there when it is 0. -errno: the module does not report it.
 */
int gp_evictions(const struct gpreempt *g, pid_t pid);
/*
 * Does the driver count pauses, so that one unpause does not undo two? 1 or 0; -errno:
 * it could not be asked. It is asked of a process that is made for this.
 */
int gp_pauses_count(const struct gpreempt *g);

/* Is this file of a process in sysfs about one of the GPUs that it may use? */
bool gp_is_vram(const char *name, uint64_t *gpu_id);

/* Kinds of targets: declarations that the files of gpreempt_select() share. */

/* Directory in which containerd has the state of a task, by namespace and id. */
#define GP_CONTAINERD "/run/containerd/io.containerd.runtime.v2.task"

/*
 * Call fn with the path of each cgroup of a process, one in each hierarchy, and the
 * name of that ("": version 2), until it returns other than 0. That; 0, also when the
 * process is gone; or as gp_doubt().
 */
int gp_each_cgroup(const struct gpreempt *g, pid_t pid,
		   int (*fn)(void *arg, const char *hierarchy, const char *path), void *arg);

/* Is the process in this cgroup or below? 1, 0, or as gp_doubt(). */
int gp_in_cgroup(const struct gpreempt *g, pid_t pid, const char *cgroup);

/* Returns the user in whose slice a cgroup is, or GPREEMPT_UNKNOWN for the system's. */
int64_t gp_slice_user(const char *path);

/* The id of the outermost container in the path of a cgroup, which has room for such a one. */
bool gp_outer_container(const struct gpreempt *g, const char *path, char *id);

/*
 * A container. A user in its own slice, and root of a container in that, can make cgroups and
 * give one the name that another container's has: so the id alone does not tell.
 */
struct gp_box {
	char id[sizeof(((struct gp_container *)0)->id)];
	int64_t user; /* user in whose slice it is; unknown: the system's */
	char outer[sizeof(((struct gp_container *)0)->id)];
};

/*
 * Find the container by its name or the beginning of its id, among those of the processes. 0,
 * -ENOENT, -EEXIST when several ids begin so, -ENOTUNIQ when several containers have this name
 * or id, -ENOMEM.
 */
int gp_find_container(struct gpreempt *g, const struct gpreempt_targets *processes,
		      const char *name, struct gp_box *box);

/* Is it in that container, at any depth? 1, 0, or as gp_doubt(). */
int gp_in_container(const struct gpreempt *g, pid_t pid, const struct gp_box *box);

/* A user, with its ids in /etc/subuid. */
struct gp_user_ids {
	uid_t uid;
	SHR_ARRAY(
		struct gp_id_range {
			uint64_t first;
			uint64_t count;
		},
		ranges);
};

/* Look up a user in /etc/passwd. 0, -ENOENT, or another -errno of the read. */
int gp_user_by_name(const struct gpreempt *g, const char *name, uid_t *uid);

#endif
