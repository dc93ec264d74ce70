// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that the virtual GPU does not serve must fail as a call fails. Some are newer than the
 * headers that this is built with, so they are found by name.
 */
#include <dlfcn.h>
#include <string.h>

#include "check.h"

#define BIG (1ULL << 40) /* more than any GPU has */
/* Parts of the GPU's memory, more than the guest has. */
#define PART  (64ULL << 20)
#define PARTS 64
#define SIZE  65536

typedef hsa_status_t (*export_fn)(const void *ptr, size_t size, int *fd, uint64_t *offset);
typedef hsa_status_t (*reserve_fn)(void **va, size_t size, uint64_t address, uint64_t flags);
typedef hsa_status_t (*handle_fn)(hsa_amd_memory_pool_t pool, size_t size, int type, uint64_t flags,
				  uint64_t *handle);
typedef hsa_status_t (*map_fn)(void *va, size_t size, size_t offset, uint64_t handle,
			       uint64_t flags);

/* Print the result, which must not be a success. */
static int refused(const char *name, hsa_status_t status)
{
	printf("  %s: %s\n", name, rocm_error(status));
	return status ? 0 : -1;
}

static void *find(const char *name)
{
	void *function = dlsym(RTLD_DEFAULT, name);

	if (!function)
		printf("  %s: not in this ROCr\n", name);
	return function;
}

static int export_dmabuf(void *vram)
{
	export_fn export = (export_fn)find("hsa_amd_portable_export_dmabuf");
	uint64_t offset;
	int fd;

	return export ?
		       refused("hsa_amd_portable_export_dmabuf", export(vram, SIZE, &fd, &offset)) :
		       0;
}

static int export_ipc(void *vram)
{
	hsa_amd_ipc_memory_t handle;

	return refused("hsa_amd_ipc_memory_create", hsa_amd_ipc_memory_create(vram, SIZE, &handle));
}

static int svm(void *vram)
{
	hsa_amd_svm_attribute_pair_t pair = { HSA_AMD_SVM_ATTRIB_GLOBAL_FLAG,
					      HSA_AMD_SVM_GLOBAL_FLAG_FINE_GRAINED };

	return refused("hsa_amd_svm_attributes_set",
		       hsa_amd_svm_attributes_set(vram, SIZE, &pair, 1));
}

/* Address space may be had; memory for it must be refused at one of the steps. */
static int virtual_memory(struct check *c)
{
	reserve_fn reserve = (reserve_fn)find("hsa_amd_vmem_address_reserve");
	handle_fn create = (handle_fn)find("hsa_amd_vmem_handle_create");
	map_fn map = (map_fn)find("hsa_amd_vmem_map");
	uint64_t handle = 0;
	hsa_status_t status;
	void *va = NULL;

	if (!reserve || !create || !map)
		return 0;
	status = reserve(&va, 2 << 20, 0, 0);
	printf("  hsa_amd_vmem_address_reserve: %s\n", rocm_error(status));
	if (status)
		return 0;
	status = create(c->gpus.gpu[0].vram, 2 << 20, 0, 0, &handle);
	printf("  hsa_amd_vmem_handle_create: %s\n", rocm_error(status));
	if (status)
		return 0;
	return refused("hsa_amd_vmem_map", map(va, 2 << 20, 0, handle, 0));
}

/* All of the guest's memory, which is less than the GPU's: no process may end for it. */
static int parts(struct check *c)
{
	void *part[PARTS];
	hsa_status_t status = HSA_STATUS_SUCCESS;
	size_t n;

	for (n = 0; n < PARTS && !status; n += !status)
		status = rocm_vram_alloc(&c->gpus, 0, PART, &part[n]);
	printf("  %zu times 64 MiB\n", n);
	while (n)
		TRY(hsa_amd_memory_pool_free(part[--n]));
	return refused("and 64 MiB more", status);
}

static int too_much(struct check *c)
{
	void *ptr = NULL;

	return refused("hsa_amd_memory_pool_allocate of 1 TiB",
		       hsa_amd_memory_pool_allocate(c->gpus.gpu[0].vram, BIG, 0, &ptr)) ||
	       parts(c);
}

int check_unserved(struct check *c)
{
	void *vram;

	TRY(rocm_vram_alloc(&c->gpus, 0, SIZE, &vram));
	if (export_dmabuf(vram) || export_ipc(vram) || svm(vram) || virtual_memory(c) ||
	    too_much(c))
		return -1;
	TRY(hsa_amd_memory_pool_free(vram));
	/* All other calls still work. */
	return check_dispatch(c);
}
