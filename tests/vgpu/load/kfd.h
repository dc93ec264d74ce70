/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOAD_KFD_H
#define LOAD_KFD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topology.h"

struct load_buffer {
	void *cpu; /* user address, which is the GPU address too */
	size_t size;
	uint64_t handle; /* KFD's, 0: not allocated */
	uint32_t gpu_id; /* GPU that sees it */
};

struct load_gpu {
	struct load_node node;
	bool used; /* gets queues */
	int drm_fd;
	uint8_t *doorbells; /* this process's slice, NULL until the first queue */
};

/* All functions return 0 or -errno; *what names the step that failed. */
int load_kfd_open(int *fd, const char **what);
int load_gpu_acquire(int kfd, struct load_gpu *gpu, const char **what);
void load_gpu_release(struct load_gpu *gpu);
int load_runtime(int kfd, bool enable);

/* Anonymous memory that the GPU sees at the same address, as one mapping. */
int load_buffer_alloc(int kfd, const struct load_gpu *gpu, size_t size, struct load_buffer *buf);
void load_buffer_free(int kfd, struct load_buffer *buf);

int load_kfd_ioctl(int kfd, unsigned long request, void *arg);

#endif
