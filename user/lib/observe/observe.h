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
int gp_view_text(const struct gpreempt *g, pid_t pid, const char *file, char **text, size_t *len);

/*
 * Does sysfs have to serve, after that answer of the module? It is not there, or not for
 * us; or it refuses a driver whose data contradict themselves.
 */
bool gp_sysfs_serves(int code);

/* Why a process's files were not read: is it there? Never 0. */
int gp_fail_view(struct gpreempt *g, int code, pid_t pid, const char *step,
		 struct gpreempt_error *err);

/* The same as records for free(), of which *(type **)records becomes the array. */
int gp_read_table(const struct gpreempt *g, pid_t pid, const char *file,
		  const struct gp_table *table, void *records, size_t *count);
/* The queues of a process, from the module alone. */
int gp_view_module(const struct gpreempt *g, pid_t pid, struct gpreempt_view **out);

/* Of the module's files, those that sysfs serves for, too. */
extern const struct gp_table gp_processes_table;
extern const struct gp_table gp_nodes_table;

/* Only such a queue has waves. */
bool gp_is_compute(const struct gpreempt_queue *queue);

/* What a view shows of queues that are to be off the hardware. */
struct gp_off {
	size_t off;	/* queues: seen off */
	bool on;	/* there is one that is not, says the driver */
	bool in_slot;	/* there is one that a slot holds */
	bool waves;	/* and one that none holds, with waves in flight */
	bool open;	/* there is something that was not seen */
	bool counted;	/* some waves were */
	bool uncounted; /* some of a compute queue were not */
};

/* Add a queue of the view. wanted: if it is off, is that what is to be verified? */
void gp_off_add(struct gp_off *off, const struct gpreempt_view *view,
		const struct gpreempt_queue *queue, bool wanted);
/* by: or NULL. */
enum gpreempt_verdict gp_off_verdict(const struct gp_off *off, enum gpreempt_verified_by *by);

/* The type of a queue in that directory of sysfs, as enum gpreempt_queue_type. */
int64_t gp_sysfs_queue_type(const struct gpreempt *g, const char *dir, const char *qid);

/* Without the module: see gp_table_list(). */
int gp_sysfs_processes(const struct gpreempt *g, void *records, size_t *count);
/* In the order of KFD's topology. */
int gp_sysfs_nodes(const struct gpreempt *g, void *records, size_t *count);

/* Of a node of KFD's topology, by its name. CPUs have the id 0. */
int gp_node_gpu_id(const struct gpreempt *g, const char *node, uint64_t *gpu_id);
int gp_node_property(const struct gpreempt *g, const char *node, const char *name, uint64_t *value);
/* The same of the node with that id. -ENODATA: there is none. */
int gp_gpu_property(const struct gpreempt *g, uint64_t gpu_id, const char *name, uint64_t *value);
/* One of those of gpreempt_process_gpus_read(): that with gpu->gpu_id. */
void gp_process_gpu_read(const struct gpreempt *g, pid_t pid, unsigned int figures,
			 struct gpreempt_process_gpu *gpu);
/*
 * How many evictions the driver counts of a process, on the GPU that has most: its queues
 * run there when it is 0. -errno: the module does not tell.
 */
int gp_evictions(const struct gpreempt *g, pid_t pid);
/*
 * Does the driver count pauses, so that one unpause does not undo two? 1 or 0; -errno:
 * it could not be asked. It is asked of a process that is made for this.
 */
int gp_pauses_count(const struct gpreempt *g);

/* Is this file of a process in sysfs about one of the GPUs that it may use? */
bool gp_is_vram(const char *name, uint64_t *gpu_id);

#endif
