// SPDX-License-Identifier: GPL-2.0-only
/* Numbers and layouts that gpreempt-load has of its own, against those of ROCm's headers. */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "../../../user/trial/runtime.h"

#define SAME(ours, theirs)	    _Static_assert((int)(ours) == (int)(theirs), #ours)
#define PLACE(ours, at, theirs, as) SAME(offsetof(ours, at), offsetof(theirs, as))

SAME(RUNTIME_INFO_BREAK, HSA_STATUS_INFO_BREAK);
SAME(RUNTIME_NAME, HSA_AGENT_INFO_NAME);
SAME(RUNTIME_DEVICE, HSA_AGENT_INFO_DEVICE);
SAME(RUNTIME_DEVICE_CPU, HSA_DEVICE_TYPE_CPU);
SAME(RUNTIME_DEVICE_GPU, HSA_DEVICE_TYPE_GPU);
SAME(RUNTIME_COMPUTE_UNITS, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT);
SAME(RUNTIME_SIMDS_PER_CU, HSA_AMD_AGENT_INFO_NUM_SIMDS_PER_CU);
SAME(RUNTIME_POOL_SEGMENT, HSA_AMD_MEMORY_POOL_INFO_SEGMENT);
SAME(0, HSA_AMD_SEGMENT_GLOBAL);
SAME(RUNTIME_POOL_FLAGS, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS);
SAME(RUNTIME_POOL_MAY_ALLOCATE, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED);
SAME(RUNTIME_POOL_KERNARG, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT);
SAME(RUNTIME_POOL_FINE, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED);
SAME(RUNTIME_POOL_COARSE, HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED);
SAME(RUNTIME_PROFILE_FULL, HSA_PROFILE_FULL);
SAME(0, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT);
SAME(0, HSA_QUEUE_TYPE_MULTI);
SAME(RUNTIME_KERNEL_OBJECT, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT);
SAME(RUNTIME_LESS_THAN, HSA_SIGNAL_CONDITION_LT);
SAME(RUNTIME_WAIT_BLOCKED, HSA_WAIT_STATE_BLOCKED);
SAME(RUNTIME_DISPATCH, HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
			       1 << HSA_PACKET_HEADER_BARRIER |
			       HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			       HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE |
			       1 << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS));

SAME(sizeof(struct runtime_packet), sizeof(hsa_kernel_dispatch_packet_t));
PLACE(struct runtime_packet, workgroup, hsa_kernel_dispatch_packet_t, workgroup_size_x);
PLACE(struct runtime_packet, grid, hsa_kernel_dispatch_packet_t, grid_size_x);
PLACE(struct runtime_packet, group_size, hsa_kernel_dispatch_packet_t, group_segment_size);
PLACE(struct runtime_packet, kernel, hsa_kernel_dispatch_packet_t, kernel_object);
PLACE(struct runtime_packet, kernarg, hsa_kernel_dispatch_packet_t, kernarg_address);
PLACE(struct runtime_packet, signal, hsa_kernel_dispatch_packet_t, completion_signal);
PLACE(struct runtime_queue, base, hsa_queue_t, base_address);
PLACE(struct runtime_queue, doorbell, hsa_queue_t, doorbell_signal);
PLACE(struct runtime_queue, size, hsa_queue_t, size);
PLACE(struct runtime_queue, id, hsa_queue_t, id);
SAME(sizeof(uint64_t), sizeof(hsa_signal_t));
SAME(sizeof(uint64_t), sizeof(hsa_amd_memory_pool_t));
