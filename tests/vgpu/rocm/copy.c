// SPDX-License-Identifier: GPL-2.0-only
/* Copies by SDMA whose data is compared. */
#include "copy.h"

#include <string.h>

hsa_status_t rocm_copy_create(const struct rocm_gpus *gpus, unsigned int gpu, size_t size,
			      struct rocm_copy *copy)
{
	hsa_status_t status;

	*copy = (struct rocm_copy){ .gpus = gpus, .gpu = gpu, .size = size };
	status = rocm_host_alloc(gpus, size, (void **)&copy->from);
	if (!status)
		status = rocm_host_alloc(gpus, size, (void **)&copy->to);
	if (!status)
		status = rocm_vram_alloc(gpus, gpu, size, &copy->vram);
	if (!status)
		status = hsa_signal_create(0, 0, NULL, &copy->signal);
	if (status)
		rocm_copy_destroy(copy);
	return status;
}

void rocm_copy_destroy(struct rocm_copy *copy)
{
	if (copy->signal.handle)
		hsa_signal_destroy(copy->signal);
	if (copy->vram)
		hsa_amd_memory_pool_free(copy->vram);
	if (copy->to)
		hsa_amd_memory_pool_free(copy->to);
	if (copy->from)
		hsa_amd_memory_pool_free(copy->from);
	*copy = (struct rocm_copy){};
}

/* Another pattern each round, so that old data does not pass for new. */
static void fill_pattern(struct rocm_copy *copy)
{
	size_t i;

	for (i = 0; i < copy->size / sizeof(*copy->from); i++)
		copy->from[i] = (copy->done + 1) * 0x9e3779b97f4a7c15ULL + i;
	memset(copy->to, 0, copy->size);
}

static hsa_status_t begin(struct rocm_copy *copy, bool back)
{
	hsa_agent_t cpu = copy->gpus->cpu, gpu = copy->gpus->gpu[copy->gpu].agent;
	hsa_status_t status;

	hsa_signal_store_screlease(copy->signal, 1);
	if (back) {
		status = hsa_amd_memory_async_copy(copy->to, cpu, copy->vram, gpu, copy->size, 0,
						   NULL, copy->signal);
	} else {
		fill_pattern(copy);
		status = hsa_amd_memory_async_copy(copy->vram, gpu, copy->from, cpu, copy->size, 0,
						   NULL, copy->signal);
	}
	copy->back = back;
	copy->busy = !status;
	return status;
}

hsa_status_t rocm_copy_step(struct rocm_copy *copy, bool start)
{
	if (copy->busy) {
		if (hsa_signal_load_scacquire(copy->signal) > 0)
			return HSA_STATUS_SUCCESS;
		copy->busy = false;
		copy->done++;
		if (!copy->back)
			return begin(copy, true);
		copy->differ += memcmp(copy->from, copy->to, copy->size) != 0;
	}
	return start ? begin(copy, false) : HSA_STATUS_SUCCESS;
}
