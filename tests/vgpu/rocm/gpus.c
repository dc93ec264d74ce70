// SPDX-License-Identifier: GPL-2.0-only
/* Finding agents and memory pools, and taking memory from them. */
#include "gpus.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000ULL

struct pool_search {
	uint32_t wanted; /* flags */
	uint32_t unwanted;
	hsa_amd_memory_pool_t *pool;
};

static hsa_status_t look_at_pool(hsa_amd_memory_pool_t pool, void *data)
{
	struct pool_search *search = data;
	hsa_amd_segment_t segment;
	bool can_alloc = false;
	uint32_t flags = 0;

	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
				     &can_alloc);
	if (!can_alloc || (flags & search->wanted) != search->wanted || flags & search->unwanted)
		return HSA_STATUS_SUCCESS;
	*search->pool = pool;
	return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t find_pool(hsa_agent_t agent, uint32_t wanted, uint32_t unwanted,
			      hsa_amd_memory_pool_t *pool)
{
	struct pool_search search = { wanted, unwanted, pool };
	hsa_status_t status;

	status = hsa_amd_agent_iterate_memory_pools(agent, look_at_pool, &search);
	if (status == HSA_STATUS_INFO_BREAK)
		return HSA_STATUS_SUCCESS;
	return status ? status : HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
}

static hsa_status_t add_gpu(hsa_agent_t agent, struct rocm_gpus *gpus)
{
	struct rocm_gpu *gpu = &gpus->gpu[gpus->count];

	if (gpus->count == ROCM_MAX_GPUS)
		return HSA_STATUS_SUCCESS;
	gpu->agent = agent;
	hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, gpu->name);
	gpus->count++;
	return find_pool(agent, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED, 0, &gpu->vram);
}

static hsa_status_t look_at_agent(hsa_agent_t agent, void *data)
{
	struct rocm_gpus *gpus = data;
	hsa_device_type_t type;
	hsa_status_t status;

	status = hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	if (status)
		return status;
	if (type == HSA_DEVICE_TYPE_GPU)
		return add_gpu(agent, gpus);
	if (type != HSA_DEVICE_TYPE_CPU || gpus->cpu.handle)
		return HSA_STATUS_SUCCESS;
	gpus->cpu = agent;
	return find_pool(agent, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
			 HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT, &gpus->system);
}

hsa_status_t rocm_find(struct rocm_gpus *gpus)
{
	hsa_status_t status;

	memset(gpus, 0, sizeof(*gpus));
	status = hsa_iterate_agents(look_at_agent, gpus);
	if (status)
		return status;
	return gpus->count && gpus->cpu.handle ? HSA_STATUS_SUCCESS :
						 HSA_STATUS_ERROR_INVALID_AGENT;
}

static hsa_status_t let_gpus_see(const struct rocm_gpus *gpus, void *ptr)
{
	hsa_agent_t agents[ROCM_MAX_GPUS];
	unsigned int i;

	for (i = 0; i < gpus->count; i++)
		agents[i] = gpus->gpu[i].agent;
	return hsa_amd_agents_allow_access(gpus->count, agents, NULL, ptr);
}

static hsa_status_t alloc(const struct rocm_gpus *gpus, hsa_amd_memory_pool_t pool, size_t size,
			  void **ptr)
{
	hsa_status_t status;

	status = hsa_amd_memory_pool_allocate(pool, size, 0, ptr);
	if (status)
		return status;
	status = let_gpus_see(gpus, *ptr);
	if (status)
		hsa_amd_memory_pool_free(*ptr);
	return status;
}

hsa_status_t rocm_host_alloc(const struct rocm_gpus *gpus, size_t size, void **ptr)
{
	hsa_status_t status;

	status = alloc(gpus, gpus->system, size, ptr);
	if (!status)
		memset(*ptr, 0, size);
	return status;
}

hsa_status_t rocm_vram_alloc(const struct rocm_gpus *gpus, unsigned int gpu, size_t size,
			     void **ptr)
{
	return alloc(gpus, gpus->gpu[gpu].vram, size, ptr);
}

const char *rocm_error(hsa_status_t status)
{
	const char *text = NULL;

	if (hsa_status_string(status, &text) || !text)
		return "unknown status";
	return text;
}

int rocm_wrong(const char *what, hsa_status_t status)
{
	printf("  %s: %s\n", what, rocm_error(status));
	return -1;
}

uint64_t rocm_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

void rocm_sleep_ns(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S) };

	nanosleep(&ts, NULL);
}
