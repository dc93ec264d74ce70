/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processes use a GPU, and which only keep /dev/kfd open. */
#ifndef GP_SELECT_CLIENTS_H
#define GP_SELECT_CLIENTS_H

#include <gpreempt/gpreempt.h>

/* For free() of the items. */
struct gp_pids {
	pid_t *items;
	size_t count;
};

/*
 * The processes in KFD's list, in no order. One that has ended stays in it while another
 * process keeps its descriptor open.
 */
int gp_kfd_pids(struct gpreempt *g, struct gp_pids *out, struct gpreempt_error *err);
/* All processes of the host. 0 or -errno. */
int gp_all_pids(struct gpreempt *g, struct gp_pids *out);

/*
 * Has the process a descriptor of /dev/kfd, its own or one that it got? 1, 0, or -errno.
 * Call it where a file system that does not answer does no harm.
 */
int gp_has_kfd_open(struct gpreempt *g, pid_t pid);

/*
 * Has the process a queue or memory on one of these GPUs; with no ids, on any? 1, 0, or
 * GPREEMPT_UNKNOWN.
 */
int64_t gp_uses_gpus(struct gpreempt *g, pid_t pid, const uint32_t *gpu_ids, size_t n);

/* Does KFD let the process use that GPU? A cgroup of devices can forbid it. */
bool gp_may_use_gpu(struct gpreempt *g, pid_t pid, int64_t gpu_id);

/*
 * The GPU that a word means: a gpu_id in hexadecimal, the address of a PCI device, or the
 * number of a node. NULL: none.
 */
const struct gpreempt_node *gp_find_gpu(const struct gpreempt_nodes *nodes, const char *word);

#endif
