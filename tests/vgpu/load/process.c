// SPDX-License-Identifier: GPL-2.0-only
/* From nothing to a process with queues on its GPUs, and back. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define LOAD_KICK "/sys/kernel/debug/vgpu/kick"

/* Takes in all GPUs of the host; those of @mask get queues. */
static int find_gpus(struct load_process *proc, uint64_t mask)
{
	struct load_node nodes[LOAD_MAX_GPUS];
	bool any = false;
	int i, found;

	found = load_topology_read(nodes, LOAD_MAX_GPUS);
	if (found < 0)
		return found;
	for (i = 0; i < found; i++) {
		proc->gpus[i] = (struct load_gpu){
			.node = nodes[i],
			.used = mask >> i & 1,
			.drm_fd = -1,
		};
		any |= proc->gpus[i].used;
	}
	proc->num_gpus = (unsigned int)found;
	/* "all" means those that are there; a list must be there. */
	if (mask != UINT64_MAX && found < LOAD_MAX_GPUS && mask >> found)
		return -ENODEV;
	return any ? 0 : -ENODEV;
}

/*
 * ROCm takes an address space on each GPU that it may use, whether or not the
 * program does. A driver that finds none crashed in its suspend (6.12.117), so
 * this is what a program must look like, and --acquire-used what it must not.
 */
static int acquire_gpus(struct load_process *proc, bool used_only, const char **what)
{
	unsigned int i;
	int ret;

	for (i = 0; i < proc->num_gpus; i++) {
		if (used_only && !proc->gpus[i].used)
			continue;
		ret = load_gpu_acquire(proc->kfd, &proc->gpus[i], what);
		/* A device cgroup may hide a GPU that is not asked for. */
		if (ret == -ENODEV && !proc->gpus[i].used)
			continue;
		if (ret)
			return ret;
	}
	return 0;
}

int load_process_open(struct load_process *proc, const struct load_args *args, const char **what)
{
	int ret;

	*proc = (struct load_process){ .kfd = -1, .kick = -1 };
	proc->queues = calloc(LOAD_MAX_QUEUES, sizeof(*proc->queues));
	if (!proc->queues)
		return -ENOMEM;
	*what = "open " LOAD_KICK;
	if (args->kick)
		proc->kick = open(LOAD_KICK, O_WRONLY | O_CLOEXEC);
	if (args->kick && proc->kick < 0)
		return -errno;
	*what = "find the GPUs";
	ret = find_gpus(proc, args->gpu_mask);
	if (ret)
		return ret;
	ret = load_kfd_open(&proc->kfd, what);
	if (ret)
		return ret;
	ret = acquire_gpus(proc, args->acquire_used, what);
	if (ret || args->no_runtime)
		return ret;
	/* KFD refuses this once there is a queue. */
	*what = "enable the runtime";
	ret = load_runtime(proc->kfd, true);
	proc->runtime = !ret;
	/* No such ioctl before 6.5: ROCr goes on without it, too. */
	return ret == -ENOTTY ? 0 : ret;
}

int load_process_add_queues(struct load_process *proc, const struct load_args *args,
			    enum load_queue_type type, unsigned int per_gpu, const char **what)
{
	unsigned int gpu, i;
	int ret;

	for (i = 0; i < per_gpu; i++) {
		for (gpu = 0; gpu < proc->num_gpus; gpu++) {
			if (!proc->gpus[gpu].used)
				continue;
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

int load_process_with_queue(struct load_process *proc, enum load_queue_type type, size_t bytes,
			    struct load_buffer *memory, const char **what)
{
	char *argv[] = { "load", "--queues", "1", "--sdma", "1", NULL };
	struct load_args args;
	char err[128];
	int ret;

	*what = "parse the arguments";
	ret = load_args_parse(&args, 5, argv, err, sizeof(err));
	if (!ret)
		ret = load_process_open(proc, &args, what);
	if (!ret)
		ret = load_process_add_queues(proc, &args, type, 1, what);
	if (ret)
		return ret;
	*what = "allocate memory";
	return load_buffer_alloc(proc->kfd, proc->queues[0].gpu, bytes, memory);
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
	if (proc->kick >= 0)
		close(proc->kick);
	for (i = 0; i < proc->num_queues; i++)
		free(proc->queues[i].requests.list);
	free(proc->queues);
	return first;
}
