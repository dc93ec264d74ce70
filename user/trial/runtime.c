// SPDX-License-Identifier: GPL-2.0-only
/* ROCm's runtime by dlopen(), one GPU of it, and a kernel. */
#include <dlfcn.h>
#include <string.h>

#include "runtime.h"

const char *runtime_load(struct runtime *rt)
{
	void *library = dlopen(RUNTIME_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return dlerror();
#define RUNTIME_FIND(type, name, args)                 \
	*(void **)(&rt->name) = dlsym(library, #name); \
	if (!rt->name)                                 \
		return dlerror();
	RUNTIME_CALLS(RUNTIME_FIND)
	return NULL;
}

/* Data that the runtime's iterators give to their callbacks. */
struct search {
	struct runtime *rt;
	uint32_t wanted, unwanted; /* flags of a pool */
	uint64_t *pool;
};

static int look_at_pool(uint64_t pool, void *data)
{
	const struct search *s = data;
	uint32_t segment = 1, flags = 0;
	bool may = false;

	s->rt->hsa_amd_memory_pool_get_info(pool, RUNTIME_POOL_SEGMENT, &segment);
	if (segment)
		return 0;
	s->rt->hsa_amd_memory_pool_get_info(pool, RUNTIME_POOL_FLAGS, &flags);
	s->rt->hsa_amd_memory_pool_get_info(pool, RUNTIME_POOL_MAY_ALLOCATE, &may);
	if (!may || (flags & s->wanted) != s->wanted || flags & s->unwanted)
		return 0;
	*s->pool = pool;
	return RUNTIME_INFO_BREAK;
}

static void find_pool(struct runtime *rt, uint64_t agent, uint32_t wanted, uint32_t unwanted,
		      uint64_t *pool)
{
	struct search s = { rt, wanted, unwanted, pool };

	rt->hsa_amd_agent_iterate_memory_pools(agent, look_at_pool, &s);
}

static int look_at_agent(uint64_t agent, void *data)
{
	struct runtime *rt = data;
	uint32_t type = RUNTIME_DEVICE_CPU;

	rt->hsa_agent_get_info(agent, RUNTIME_DEVICE, &type);
	if (type == RUNTIME_DEVICE_CPU && !rt->cpu) {
		rt->cpu = agent;
		find_pool(rt, agent, RUNTIME_POOL_FINE, RUNTIME_POOL_KERNARG, &rt->system);
	}
	if (type != RUNTIME_DEVICE_GPU || rt->seen++ != rt->wanted)
		return 0;
	rt->gpu = agent;
	find_pool(rt, agent, RUNTIME_POOL_COARSE, 0, &rt->vram);
	rt->hsa_agent_get_info(agent, RUNTIME_NAME, rt->gfx);
	rt->hsa_agent_get_info(agent, RUNTIME_COMPUTE_UNITS, &rt->units);
	rt->hsa_agent_get_info(agent, RUNTIME_SIMDS_PER_CU, &rt->simds);
	return 0;
}

const char *runtime_start(struct runtime *rt, uint64_t gpu, int *status)
{
	rt->wanted = gpu;
	*status = rt->hsa_init();
	if (*status)
		return "hsa_init";
	*status = rt->hsa_iterate_agents(look_at_agent, rt);
	if (*status || !rt->gpu || !rt->system || !rt->vram)
		return "hsa_iterate_agents: is there a GPU with that number?";
	return NULL;
}

void *runtime_host(struct runtime *rt, size_t size)
{
	void *memory = NULL;

	if (rt->hsa_amd_memory_pool_allocate(rt->system, size, 0, &memory) ||
	    rt->hsa_amd_agents_allow_access(1, &rt->gpu, NULL, memory))
		return NULL;
	memset(memory, 0, size);
	return memory;
}

int runtime_vram(struct runtime *rt, size_t size)
{
	void *memory;

	return rt->hsa_amd_memory_pool_allocate(rt->vram, size, 0, &memory);
}

const char *runtime_kernel(struct runtime *rt, const void *code, size_t size, const char *symbol,
			   uint64_t *object, int *status)
{
	uint64_t reader, executable, found;
	uint32_t private_size = 0;

	*status = rt->hsa_code_object_reader_create_from_memory(code, size, &reader);
	if (*status)
		return "hsa_code_object_reader_create_from_memory";
	*status = rt->hsa_executable_create_alt(RUNTIME_PROFILE_FULL, 0, NULL, &executable);
	if (*status)
		return "hsa_executable_create_alt";
	*status =
		rt->hsa_executable_load_agent_code_object(executable, rt->gpu, reader, NULL, NULL);
	if (*status)
		return "hsa_executable_load_agent_code_object";
	*status = rt->hsa_executable_freeze(executable, NULL);
	if (*status)
		return "hsa_executable_freeze";
	*status = rt->hsa_executable_get_symbol_by_name(executable, symbol, &rt->gpu, &found);
	if (*status)
		return "hsa_executable_get_symbol_by_name";
	*status = rt->hsa_executable_symbol_get_info(found, RUNTIME_KERNEL_OBJECT, object);
	rt->hsa_executable_symbol_get_info(found, RUNTIME_KERNEL_PRIVATE, &private_size);
	if (*status || private_size)
		return "hsa_executable_symbol_get_info: is the kernel without private memory?";
	return NULL;
}
