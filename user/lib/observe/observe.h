/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading what gpreempt.ko shows, or else the driver's sysfs files. */
#ifndef GP_OBSERVE_H
#define GP_OBSERVE_H

#include "lib/core/internal.h"
#include "lib/core/table.h"

#define GP_TOPOLOGY "/sys/class/kfd/kfd/topology/nodes"
/* A bit of a node's capability (include/uapi/linux/kfd_sysfs.h). */
#define GP_CAP_TRAP_DEBUG 0x00008000

/*
 * The text of a file of the module, for free(): of a process, or with pid 0 of
 * all. Asks for a while when the driver holds the process's lock.
 */
int gp_view_text(const struct gpreempt *g, pid_t pid, const char *file,
		 char **text, size_t *len);

/* Of the module's files, those that sysfs serves for, too. */
extern const struct gp_table gp_processes_table;
extern const struct gp_table gp_nodes_table;

/* The type of a queue in that directory of sysfs, as enum gpreempt_queue_type. */
int64_t gp_sysfs_queue_type(const struct gpreempt *g, const char *dir,
			    const char *qid);

/* Without the module: see gp_table_list(). */
int gp_sysfs_processes(const struct gpreempt *g, void *records, size_t *count);
/* In the order of KFD's topology. */
int gp_sysfs_nodes(const struct gpreempt *g, void *records, size_t *count);

/* Of a node of KFD's topology, by its name. CPUs have the id 0. */
int gp_node_gpu_id(const struct gpreempt *g, const char *node,
		   uint64_t *gpu_id);
int gp_node_property(const struct gpreempt *g, const char *node,
		     const char *name, uint64_t *value);
/* The same of the node with that id. -ENODATA: there is none. */
int gp_gpu_property(const struct gpreempt *g, uint64_t gpu_id, const char *name,
		    uint64_t *value);
/* Is this file of a process in sysfs about one of the GPUs that it may use? */
bool gp_is_vram(const char *name, uint64_t *gpu_id);

#endif
