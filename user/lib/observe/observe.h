/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading what gpreempt.ko shows, or else the driver's sysfs files. */
#ifndef GP_OBSERVE_H
#define GP_OBSERVE_H

#include "lib/core/internal.h"
#include "lib/core/table.h"

#define GP_TOPOLOGY "/sys/class/kfd/kfd/topology/nodes"

/*
 * The text of a file of the module, for free(): of a process, or with pid 0 of
 * all. Asks for a while when the driver holds the process's lock.
 */
int gp_view_text(const struct gpreempt *g, pid_t pid, const char *file,
		 char **text, size_t *len);

/* Of the module's files, but for the queues: see view-parse.c. */
extern const struct gp_table gp_processes_table;
extern const struct gp_table gp_nodes_table;
extern const struct gp_table gp_hqds_table;
extern const struct gp_table gp_version_table;
extern const struct gp_table gp_stats_table;

/* Records of which nothing is known. */
void gp_queue_unknown(struct gpreempt_queue *queue);
void gp_process_unknown(struct gpreempt_process *process);
void gp_node_unknown(struct gpreempt_node *node);

/* From the number in sysfs to enum gpreempt_queue_type. */
int64_t gp_sysfs_queue_type(int64_t type);

/* Without the module. 0 or -errno; the list is for free(). */
int gp_sysfs_processes(const struct gpreempt *g, struct gpreempt_process **out,
		       size_t *count);
int gp_sysfs_nodes(const struct gpreempt *g, struct gpreempt_node **out,
		   size_t *count);

/* Of a node of KFD's topology, by its name. CPUs have the id 0. */
int gp_node_gpu_id(const struct gpreempt *g, const char *node,
		   uint64_t *gpu_id);
int gp_node_property(const struct gpreempt *g, const char *node,
		     const char *name, uint64_t *value);

#endif
