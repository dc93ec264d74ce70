/* SPDX-License-Identifier: GPL-2.0-only */
/* The agents and the memory that ROCr offers. All return an hsa_status_t. */
#ifndef ROCM_GPUS_H
#define ROCM_GPUS_H

#include <stddef.h>
#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#define ROCM_MAX_GPUS 16

struct rocm_gpu {
	hsa_agent_t agent;
	hsa_amd_memory_pool_t vram;
	char name[64];
};

struct rocm_gpus {
	hsa_agent_t cpu;
	hsa_amd_memory_pool_t system; /* fine-grained: CPU and GPUs agree on it */
	unsigned int count;
	struct rocm_gpu gpu[ROCM_MAX_GPUS];
};

hsa_status_t rocm_find(struct rocm_gpus *gpus);

/* Zeroed memory that the CPU and all GPUs see. */
hsa_status_t rocm_host_alloc(const struct rocm_gpus *gpus, size_t size, void **ptr);
/* Memory of a GPU, that all GPUs see. */
hsa_status_t rocm_vram_alloc(const struct rocm_gpus *gpus, unsigned int gpu, size_t size,
			     void **ptr);

const char *rocm_error(hsa_status_t status);
/* Print a line about a call that failed. Returns -1. */
int rocm_wrong(const char *what, hsa_status_t status);

/* clang-format off */
#define TRY(call) \
	do { \
		hsa_status_t try_status = (call); \
\
		if (try_status) \
			return rocm_wrong(#call, try_status); \
	} while (0)
/* clang-format on */

/* CLOCK_MONOTONIC, ns */
uint64_t rocm_now_ns(void);
/* A signal cuts it short, which is wanted. */
void rocm_sleep_ns(uint64_t ns);

#endif
