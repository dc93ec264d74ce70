/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ROCm's runtime, loaded when gpreempt-load starts: it is built on hosts without ROCm, too. Only
 * what the load calls is declared, with numbers in place of the names of its headers
 * (ROCR-Runtime); tests/vgpu/rocm/check_load.c compares them with Debian's copies of both.
 */
#ifndef TRIAL_RUNTIME_H
#define TRIAL_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RUNTIME_LIBRARY "libhsa-runtime64.so.1"

enum {
	RUNTIME_INFO_BREAK = 0x1,
	RUNTIME_NAME = 0,
	RUNTIME_DEVICE = 17,
	RUNTIME_DEVICE_CPU = 0,
	RUNTIME_DEVICE_GPU = 1,
	RUNTIME_COMPUTE_UNITS = 0xA002,
	RUNTIME_SIMDS_PER_CU = 0xA00B,
	RUNTIME_POOL_SEGMENT = 0,
	RUNTIME_POOL_FLAGS = 1,
	RUNTIME_POOL_MAY_ALLOCATE = 5,
	RUNTIME_POOL_KERNARG = 1,
	RUNTIME_POOL_FINE = 2,
	RUNTIME_POOL_COARSE = 4,
	RUNTIME_PROFILE_FULL = 1,
	RUNTIME_KERNEL_OBJECT = 22,
	RUNTIME_LESS_THAN = 2,
	RUNTIME_WAIT_BLOCKED = 0,
};

struct runtime_queue {
	uint32_t type;
	uint32_t features;
	void *base;
	uint64_t doorbell; /* a signal */
	uint32_t size;
	uint32_t reserved;
	uint64_t id;
};

/* A kernel dispatch in the user's ring. */
struct runtime_packet {
	uint32_t header; /* and setup, in the upper half: written last */
	uint16_t workgroup[3];
	uint16_t reserved0;
	uint32_t grid[3];
	uint32_t private_size;
	uint32_t group_size;
	uint64_t kernel;
	uint64_t kernarg;
	uint64_t reserved1;
	uint64_t signal;
};

/* A kernel dispatch with a barrier, and fences of the whole system at both ends. */
#define RUNTIME_DISPATCH (2 | 1 << 8 | 2 << 9 | 2 << 11 | 1 << 16)

/*
 * Fill in a packet, but not its header: the write index has moved, so the GPU may look at it. An
 * assignment of the struct can store a 0 there first, which is a packet of AMD's own.
 */
static inline void runtime_fill(void *place, const struct runtime_packet *packet)
{
	size_t skip = sizeof(packet->header);

	memcpy((char *)place + skip, (const char *)packet + skip, sizeof(*packet) - skip);
}

/* Handles are structs of one uint64_t there, which are passed as the number is. */
typedef int (*runtime_each)(uint64_t handle, void *data);
typedef void (*runtime_on_error)(int status, struct runtime_queue *queue, void *data);

/* clang-format off */
#define RUNTIME_CALLS(X)                                                                       \
	X(int, hsa_init, (void))                                                               \
	X(int, hsa_shut_down, (void))                                                          \
	X(int, hsa_status_string, (int, const char **))                                        \
	X(int, hsa_iterate_agents, (runtime_each, void *))                                     \
	X(int, hsa_agent_get_info, (uint64_t, int, void *))                                    \
	X(int, hsa_amd_agent_iterate_memory_pools, (uint64_t, runtime_each, void *))           \
	X(int, hsa_amd_memory_pool_get_info, (uint64_t, int, void *))                          \
	X(int, hsa_amd_memory_pool_allocate, (uint64_t, size_t, uint32_t, void **))            \
	X(int, hsa_amd_agents_allow_access, (uint32_t, const uint64_t *, const uint32_t *,     \
					     const void *))                                    \
	X(int, hsa_signal_create, (int64_t, uint32_t, const uint64_t *, uint64_t *))           \
	X(void, hsa_signal_store_screlease, (uint64_t, int64_t))                               \
	X(int64_t, hsa_signal_load_scacquire, (uint64_t))                                      \
	X(int64_t, hsa_signal_wait_scacquire, (uint64_t, int, int64_t, uint64_t, int))         \
	X(int, hsa_queue_create, (uint64_t, uint32_t, uint32_t, runtime_on_error, void *,      \
				  uint32_t, uint32_t, struct runtime_queue **))                \
	X(int, hsa_queue_destroy, (struct runtime_queue *))                                    \
	X(uint64_t, hsa_queue_add_write_index_relaxed, (const struct runtime_queue *, uint64_t)) \
	X(int, hsa_code_object_reader_create_from_memory, (const void *, size_t, uint64_t *))  \
	X(int, hsa_executable_create_alt, (int, int, const char *, uint64_t *))                \
	X(int, hsa_executable_load_agent_code_object, (uint64_t, uint64_t, uint64_t,           \
						       const char *, uint64_t *))              \
	X(int, hsa_executable_freeze, (uint64_t, const char *))                                \
	X(int, hsa_executable_get_symbol_by_name, (uint64_t, const char *, const uint64_t *,   \
						   uint64_t *))                                \
	X(int, hsa_executable_symbol_get_info, (uint64_t, int, void *))
/* clang-format on */

#define RUNTIME_POINTER(type, name, args) type(*name) args;

struct runtime {
	RUNTIME_CALLS(RUNTIME_POINTER)
	char gfx[64]; /* the GPU, as "gfx942" */
	uint64_t gpu;
	uint64_t system, vram; /* pools: the host's memory, the GPU's */
	uint64_t *pool;	       /* the one to look for */
	uint32_t units, simds;
	const char *why; /* the call that failed, or another reason */
	int status;
};

#endif
