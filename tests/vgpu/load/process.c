// SPDX-License-Identifier: GPL-2.0-only
/* From nothing to a process with queues on its GPUs, and back. */
#include "process.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int choose_gpus(struct load_process *proc, uint64_t mask)
{
	struct load_node nodes[LOAD_MAX_GPUS];
	int i, found;

	found = load_topology_read(nodes, LOAD_MAX_GPUS);
	if (found < 0)
		return found;
	for (i = 0; i < found; i++)
		if (mask & 1ULL << i)
			proc->gpus[proc->num_gpus++].node = nodes[i];
	/* "all" means those that are there; a list must be there. */
	if (mask != UINT64_MAX && found < LOAD_MAX_GPUS && mask >> found)
		return -ENODEV;
	return proc->num_gpus ? 0 : -ENODEV;
}

int load_process_open(struct load_process *proc, const struct load_args *args,
		      const char **what)
{
	unsigned int i;
	int ret;

	*proc = (struct load_process){ .kfd = -1 };
	proc->queues = calloc(LOAD_MAX_QUEUES, sizeof(*proc->queues));
	if (!proc->queues)
		return -ENOMEM;
	*what = "find the GPUs";
	ret = choose_gpus(proc, args->gpu_mask);
	if (ret)
		return ret;
	ret = load_kfd_open(&proc->kfd, what);
	if (ret)
		return ret;
	for (i = 0; i < proc->num_gpus; i++) {
		ret = load_gpu_acquire(proc->kfd, &proc->gpus[i], what);
		if (ret)
			return ret;
	}
	if (args->no_runtime)
		return 0;
	/* KFD refuses this once there is a queue. */
	*what = "enable the runtime";
	ret = load_runtime(proc->kfd, true);
	proc->runtime = !ret;
	return ret;
}

int load_process_add_queues(struct load_process *proc, const struct load_args *args,
			    enum load_queue_type type, unsigned int per_gpu,
			    const char **what)
{
	unsigned int gpu, i;
	int ret;

	for (i = 0; i < per_gpu; i++) {
		for (gpu = 0; gpu < proc->num_gpus; gpu++) {
			*what = "hold more queues";
			if (proc->num_queues == LOAD_MAX_QUEUES)
				return -ENOSPC;
			ret = load_queue_create(proc->kfd, &proc->gpus[gpu], type, args,
						&proc->queues[proc->num_queues], what);
			if (ret)
				return ret;
			proc->num_queues++;
		}
	}
	return 0;
}

int load_process_close(struct load_process *proc, const char **what)
{
	unsigned int i;
	int ret, first = 0;

	for (i = 0; i < proc->num_queues; i++) {
		ret = load_queue_destroy(proc->kfd, &proc->queues[i]);
		if (ret && !first) {
			*what = "destroy a queue";
			first = ret;
		}
	}
	if (proc->runtime) {
		ret = load_runtime(proc->kfd, false);
		if (ret && !first) {
			*what = "disable the runtime";
			first = ret;
		}
	}
	for (i = 0; i < proc->num_queues; i++)
		if (!proc->queues[i].exists)
			load_queue_free(proc->kfd, &proc->queues[i]);
	for (i = 0; i < proc->num_gpus; i++)
		load_gpu_release(&proc->gpus[i]);
	if (proc->kfd >= 0)
		close(proc->kfd);
	free(proc->queues);
	return first;
}
