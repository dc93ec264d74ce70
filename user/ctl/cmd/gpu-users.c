// SPDX-License-Identifier: GPL-2.0-only
/* Who uses a GPU: --gpu and --quiet of list. */
#include <stdlib.h>

#include "ctl/cmd/gpu-users.h"
#include "lib/select/clients.h"
#include "output/message.h"

static bool has_gpu(const struct gpreempt_nodes *nodes, uint32_t gpu_id)
{
	size_t i;

	for (i = 0; i < nodes->count; i++)
		if (nodes->nodes[i].gpu_id == gpu_id)
			return true;
	return false;
}

int ctl_check_gpus(struct gpreempt *g, const struct gpreempt_filter *which)
{
	struct gpreempt_nodes *nodes;
	struct gpreempt_error err;
	size_t i;

	if (!which->n_gpu_ids)
		return 0;
	if (gpreempt_nodes_read(g, &nodes, &err))
		return ctl_fail(&err);
	for (i = 0; i < which->n_gpu_ids; i++)
		if (!has_gpu(nodes, which->gpu_ids[i]))
			break;
	gpreempt_nodes_free(nodes);
	return i == which->n_gpu_ids ?
		       0 :
		       ctl_fail_text(GPREEMPT_CLASS_NO_TARGET, "gpreempt-ctl doctor shows the GPUs",
				     "there is no GPU 0x%x", which->gpu_ids[i]);
}

static int64_t uses(struct gpreempt *g, const struct gpreempt_filter *which, pid_t pid)
{
	return gp_uses_gpus(g, pid, which->gpu_ids, which->n_gpu_ids);
}

void ctl_keep_gpu_users(struct gpreempt *g, const struct gpreempt_filter *which,
			struct gpreempt_targets *list)
{
	size_t i, kept = 0;

	for (i = 0; i < list->count; i++)
		if (!which->n_gpu_ids || uses(g, which, list->targets[i].pid))
			list->targets[kept++] = list->targets[i];
	list->count = kept;
}

/* *open: one of which it is not known, so far. Returns whether this one does. */
static bool is_user(struct gpreempt *g, const struct gpreempt_filter *which, pid_t pid, pid_t *open)
{
	int64_t answer = uses(g, which, pid);

	if (answer == GPREEMPT_UNKNOWN)
		*open = pid;
	return answer == 1;
}

static int end(bool found, pid_t open)
{
	if (found)
		return GPREEMPT_CLASS_BUSY;
	if (!open)
		return 0;
	return ctl_fail_text(GPREEMPT_CLASS_FAILED,
			     "run it with sudo; gpreempt-ctl list shows more",
			     "whether process %d uses the GPU is not known", open);
}

/* KFD's own list has those that are hidden from us in /proc, too. */
static int has_any(struct gpreempt *g, const struct gpreempt_filter *which)
{
	struct gpreempt_error err;
	struct gp_pids pids;
	bool found = false;
	pid_t open = 0;
	size_t i;

	if (gp_kfd_pids(g, &pids, &err))
		return ctl_fail(&err);
	for (i = 0; i < pids.count && !found; i++)
		found = is_user(g, which, pids.items[i], &open);
	free(pids.items);
	return end(found, open);
}

int ctl_has_gpu_users(struct gpreempt *g, const struct gpreempt_filter *which,
		      const struct gpreempt_targets *list)
{
	bool found = false;
	pid_t open = 0;
	size_t i;

	if (!list)
		return has_any(g, which);
	for (i = 0; i < list->count && !found; i++)
		found = is_user(g, which, list->targets[i].pid, &open);
	return end(found, open);
}
