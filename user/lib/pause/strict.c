// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Drivers whose unpause crashes the host. restore_process_queues_cpsch() reads the
 * address space that the process has on each of its GPUs, and drivers before the debug
 * trap do not check that there is one; restore_process_queues_nocpsch() never does. A
 * process has none from opening /dev/kfd until its runtime has started, or for ever.
 *
 * So there gpreempt.ko must show that it has all, before and after, and that the driver has
 * paused this process: what it opened before it executed its program is of another one in the
 * driver, and a pause of that is not seen. That one is left as it is; without queues it does no
 * harm. Nor is unpaused what the view does not show as paused. The first descriptor that the
 * driver takes is enough, as these drivers know no further contexts.
 */
#include <string.h>

#include "lib/observe/observe.h"
#include "lib/pause/helper.h"

#define SCHED_POLICY "/sys/module/amdgpu/parameters/sched_policy"
#define GFX9	     90000 /* gfx_target_version */

enum {
	KIND_UNKNOWN,
	KIND_PLAIN,
	KIND_STRICT,
};

/*
 * 1, which ends the search, when this node is a GPU of a driver without debug trap, or
 * one that the driver runs without the hardware scheduler whatever its parameter says:
 * device_queue_manager_init() does so for Hawaii and Tonga, which are before gfx 9.
 */
static int is_strict_gpu(void *arg, const char *node)
{
	struct gpreempt *g = arg;
	uint64_t gpu_id, capability, version;

	if (gp_node_gpu_id(g, node, &gpu_id) || !gpu_id)
		return 0;
	if (!gp_node_property(g, node, "gfx_target_version", &version) && version < GFX9)
		return 1;
	if (gp_node_property(g, node, "capability", &capability))
		return 0;
	return !(capability & GP_CAP_TRAP_DEBUG);
}

static int find_kind(struct gpreempt *g)
{
	char policy[8] = "";

	gp_read_small(g, policy, sizeof(policy), SCHED_POLICY);
	if (*policy == '2' || g->ops->list_dir(g->be, GP_TOPOLOGY, is_strict_gpu, g) > 0)
		return KIND_STRICT;
	return KIND_PLAIN;
}

bool gp_pause_is_strict(struct gpreempt *g)
{
	if (g->pause_kind == KIND_UNKNOWN)
		g->pause_kind = find_kind(g);
	return g->pause_kind == KIND_STRICT;
}

/* Does the driver call it paused, as the module read it just now? -ENODATA: unknown. */
static int read_paused(struct gpreempt *g, pid_t pid)
{
	struct gpreempt_process_list *list;
	int ret = -ENODATA;
	size_t i;

	if (gpreempt_processes_read(g, &list, NULL))
		return ret;
	for (i = 0; i < list->count; i++) {
		const struct gpreempt_process *p = &list->processes[i];

		if (p->pid == pid && !p->age_ms && p->paused != GPREEMPT_UNKNOWN)
			ret = p->paused;
	}
	gpreempt_processes_free(list);
	return ret;
}

int gp_pause_look(struct gpreempt *g, pid_t pid, const char *step, bool *paused,
		  struct gpreempt_error *err)
{
	static const char not_seen[] = "gpreempt.ko does not show whether it is paused";
	int ret = gp_check_spaces(g, pid, step, err);

	if (ret)
		return ret;
	ret = read_paused(g, pid);
	if (ret < 0)
		return gp_error(err, -EOPNOTSUPP, GPREEMPT_PAUSE_UNSAFE, pid, not_seen);
	*paused = ret;
	return 0;
}

int gp_pause_begin_strict(struct gp_pause_job *job, bool *done)
{
	struct gp_pause_report *report = job->report;
	bool paused;
	int ret = gp_target_exists(job->g, job->pid, job->step, job->err);

	if (!ret)
		ret = gp_pause_look(job->g, job->pid, job->step, &paused, job->err);
	if (ret)
		return ret;
	*done = paused == job->pause;
	if (!*done)
		return 0;
	report->before = report->after = paused ? GP_PAUSED_YES : GP_PAUSED_NO;
	report->contexts = 1;
	return 0;
}

int gp_pause_judge_strict(struct gp_pause_job *job)
{
	int ret = job->pause ? job->help->pause_code : job->help->unpause_code;
	bool paused;

	/* Of another process; or to be unpaused, and not paused. */
	if (ret == -EBADF || (ret == -EINVAL && !job->pause))
		return -EBADF;
	if (ret)
		return gp_pause_fail_op(job, ret);
	job->report->before = job->pause ? GP_PAUSED_NO : GP_PAUSED_YES;
	ret = gp_pause_look(job->g, job->pid, job->step, &paused, job->err);
	if (!ret && paused != job->pause && !job->pause)
		return -EBADF;
	job->report->contexts = 1;
	if (ret || paused == job->pause)
		return ret;
	job->step = "its /dev/kfd is of a program that it ran before";
	return gp_pause_fail(job, -EOPNOTSUPP, GPREEMPT_PAUSE_UNSAFE);
}
