/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of the HSA queuing language that vgpu-load uses, written from the
 * HSA system architecture specification. Layouts are hardware ABI.
 */
#ifndef LOAD_AQL_H
#define LOAD_AQL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define AQL_TYPE_INVALID     1
#define AQL_TYPE_DISPATCH    2
#define AQL_TYPE_BARRIER_AND 3
#define AQL_BARRIER_BIT	     (1u << 8)		  /* starts when all before it are complete */
#define AQL_SYSTEM_FENCES    (2u << 9 | 2u << 11) /* acquire and release */

struct aql_dispatch {
	uint16_t header;
	uint16_t setup; /* number of dimensions */
	uint16_t workgroup[3];
	uint16_t reserved0;
	uint32_t grid[3];
	uint32_t private_segment;
	uint32_t group_segment;
	uint64_t kernel_object;
	uint64_t kernarg;
	uint64_t reserved1;
	uint64_t completion_signal;
};

struct aql_barrier {
	uint16_t header;
	uint16_t reserved0;
	uint32_t reserved1;
	uint64_t dep_signal[5];
	uint64_t reserved2;
	uint64_t completion_signal;
};

union aql_packet {
	uint16_t header;
	struct aql_dispatch dispatch;
	struct aql_barrier barrier;
	uint8_t bytes[64];
};

/* A signal as AMD's command processor knows it. */
#define AMD_SIGNAL_USER 1

struct amd_signal {
	int64_t kind;
	int64_t value;		/* decremented when the packet completes */
	uint64_t event_mailbox; /* 0: no thread sleeps on it */
	uint32_t event_id;
	uint32_t reserved0;
	uint64_t start_ts; /* GPU clock ticks */
	uint64_t end_ts;
	uint64_t reserved1[2];
};

static_assert(sizeof(union aql_packet) == 64, "an AQL packet has 64 bytes");
static_assert(offsetof(struct aql_dispatch, kernarg) == 40, "kernarg at 40");
static_assert(offsetof(struct aql_dispatch, completion_signal) == 56, "signal at 56");
static_assert(sizeof(struct amd_signal) == 64, "a signal has 64 bytes");
static_assert(offsetof(struct amd_signal, start_ts) == 32, "start_ts at 32");

#endif
