/* SPDX-License-Identifier: GPL-2.0-only */
/* Queues, and what the schedulers know of them: HWS with its HIQ, and MES. */
#ifndef VGPU_SCHED_H
#define VGPU_SCHED_H

#include <linux/list.h>
#include <linux/types.h>

#define VGPU_MAX_GPUS	     8
#define VGPU_MAX_XCCS	     8
#define VGPU_MAX_PARTS	     8
#define VGPU_PIPES	     4
#define VGPU_QUEUES_PER_PIPE 8
#define VGPU_KGD_QUEUES	     2 /* first queues of each pipe: the kernel's */
#define VGPU_MECS	     2
#define VGPU_HQD_REGS	     56 /* CP_MQD_BASE_ADDR .. CP_HQD_PQ_WPTR_HI */
#define VGPU_SDMA_ENGINES    8
#define VGPU_SDMA_QUEUES     8
#define VGPU_SDMA_STRIDE     0x60 /* registers of an RLC, at most */
#define VGPU_DOORBELL_NONE   U64_MAX
#define VGPU_BAR_ORDER	     9 /* doorbell BAR: 2 MiB */
#define VGPU_BAR_PAGES	     (1 << VGPU_BAR_ORDER)

/* A packet that the GPU works at */
struct vgpu_work {
	u32 magic;	 /* VGPU_WORK_MAGIC while there is one */
	u16 groups;	 /* workgroups in flight; 0: the shaders have nothing to do */
	u16 group_waves; /* waves of each */
	u64 left_ns;
	u64 signal;  /* user address of the completion signal or 0 */
	u64 address; /* user address of the counter or 0 */
	u64 addend;
	u64 start;    /* ns, CLOCK_MONOTONIC */
	u64 dispatch; /* number of a dispatch whose code is executed, or 0 */
	u32 words;    /* words of its state, when it is saved */
	u32 spare;
};
#define VGPU_WORK_MAGIC 0x6b726f77
#define VGPU_SAVE_BYTES 64 /* bytes of a control stack that a saved packet takes */

/* Fields of MAP_PROCESS for the waves of a process */
struct vgpu_shader {
	u64 tba, tma; /* trap handler, and its memory */
	u64 lds_base; /* aperture of LDS in flat addresses */
};

/* A queue of the run list.  All under vgpu.lock. */
struct vgpu_queue {
	struct list_head node;
	struct vgpu_part *part;
	u32 pasid;
	u32 doorbell; /* dword index in the BAR */
	u64 mqd_addr;
	void *mqd;  /* XCC 0's copy */
	u32 stride; /* bytes from one XCC's MQD to the next */
	bool sdma, aql;
	u8 engine, rlc; /* SDMA: which, as the device counts */
	s8 pipe, queue; /* slot, -1: waits for one */
	u8 vmid;
	u32 priority; /* pipe priority << 8 | queue priority */
	bool loaded;  /* in its slot or RLC */
	u64 ring, rptr_va, wptr_va;
	u32 dwords; /* compute: of what rptr counts; 0: its memory is not there */
	u32 ring_packets, ring_bytes;
	u64 rptr, wptr; /* AQL: packet index; PM4: dwords; SDMA: bytes; all count on */
	u64 time;	/* SDMA: ns, its engine has got to here */
	u64 doorbell_seen;
	bool moved;   /* since the registers were last brought up to date */
	u64 ready_at; /* ns: restored, runs from then on */
	struct vgpu_shader shader;
	struct vgpu_work work;
};

/**
 * struct vgpu_queue_args - a queue that a scheduler is given
 * @wptr_va: where its write index stands in the process; 0: its MQD has it
 */
struct vgpu_queue_args {
	u32 pasid, doorbell;
	u64 mqd_addr, wptr_va;
	bool sdma;
	struct vgpu_shader shader;
};

/* A ring of MES, and where the firmware has got to */
struct vgpu_mes_ring {
	u64 rptr;     /* dwords, counted on */
	u64 ready_at; /* ns: the frame at rptr is done then */
	bool begun;   /* the frame at rptr is under way */
};

struct vgpu_mes {
	bool on;	     /* has its resources */
	bool suspended;	     /* all gangs are */
	u32 sdma_mask[2];    /* queues of each engine that it may use */
	void *wb, *rings[2]; /* memory that the driver allocates for them */
	struct vgpu_mes_ring ring[2];
};

struct vgpu_hiq {
	bool on;     /* set by KIQ packets, without vgpu.lock */
	bool loaded; /* the command processor took it up */
	u64 mqd_addr[VGPU_MAX_XCCS];
	u32 doorbell;
	u64 rptr;	/* dwords, counted on */
	u64 ready_at;	/* ns: the packet at rptr is done then */
	bool unmapping; /* UNMAP_QUEUES at rptr is under way */
};

/**
 * struct vgpu_part - a partition of the device, a KFD node; all of it as a rule
 * @first_xcc: of the device's; it has vgpu_num_xcc() from there on
 *
 * Partitions share the engine: one packet at a time in the whole device.
 */
struct vgpu_part {
	u8 first_xcc;
	struct vgpu_hiq hiq;
	u64 queue_mask;
	u32 vmid_mask;
	u32 vmid_pasid[16];
};

#endif
