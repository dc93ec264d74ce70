/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_NODE_H
#define GP_NODE_H

#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <drm/drm_device.h>

#include <gpreempt/view.h>

/* Types of the driver, of which only pointers are passed around */
struct amdgpu_device;
struct mqd_manager;
struct queue_properties;

struct gp_list;
struct gp_queue;

/* Most CP slots of an XCC that can be looked at; the driver has 128. */
#define GP_CP_SLOTS_MAX 256

/* Value of all registers of a device that is lost */
#define GP_NO_ANSWER 0xffffffff

/* Counts that get_cu_occupancy() adds to, one for each CP slot (compared in layout.c) */
struct kfd_cu_occupancy {
	u32 wave_cnt;
	u32 doorbell_off;
};

/*
 * A KFD node for the time of one read. The hooks are entries of tables of the driver, which calls
 * through them itself: legal targets for IBT and kCFI. They are declared here with the prototypes
 * that layout.h compares with the driver's, and each was found to lie within amdgpu. All but
 * hqd_dump can be NULL; those with _gpu are of a driver without kfd_node.
 */
struct gp_node {
	void *node; /* the kfd_node, or the kfd_dev of a driver without (layout.h) */
	void *kfd;  /* its kfd_dev */
	struct amdgpu_device *adev;	/* its device */
	void *dqm;			/* its queue manager */
	struct drm_device *ddev;	/* the DRM device in adev */
	struct rw_semaphore *reset_sem; /* held for writing while the device is in reset */
	u32 gpu_id;			/* KFD's id of the node */
	u32 gfx;      /* version of its graphics core (gfx_target_version), 0: not known */
	u32 xcc_mask; /* its XCCs, as the driver numbers them */
	u32 n_queues; /* CP queues of a pipe */
	u32 n_slots;  /* CP slots of an XCC, and KFD's among them */
	DECLARE_BITMAP(cp_slots, GP_CP_SLOTS_MAX);
	u32 n_nodes;   /* nodes of its device */
	u32 engines;   /* shader engines of an XCC */
	u32 waves_max; /* waves that it has room for, 0: not known */
	/* reads the registers of a CP slot */
	union {
		int (*hqd_dump)(struct amdgpu_device *adev, uint32_t pipe_id, uint32_t queue_id,
				uint32_t (**dump)[2], uint32_t *n_regs, uint32_t inst);
		int (*hqd_dump_gpu)(struct amdgpu_device *adev, uint32_t pipe_id, uint32_t queue_id,
				    uint32_t (**dump)[2], uint32_t *n_regs);
	};
	/* tests a CP slot for a ring */
	union {
		bool (*hqd_is_occupied)(struct amdgpu_device *adev, uint64_t queue_address,
					uint32_t pipe_id, uint32_t queue_id, uint32_t inst);
		bool (*hqd_is_occupied_gpu)(struct amdgpu_device *adev, uint64_t queue_address,
					    uint32_t pipe_id, uint32_t queue_id);
	};
	/* reads the registers of an SDMA engine's RLC */
	int (*hqd_sdma_dump)(struct amdgpu_device *adev, uint32_t engine_id, uint32_t queue_id,
			     uint32_t (**dump)[2], uint32_t *n_regs);
	/* reads one register of an XCC */
	void (*get_iq_wait_times)(struct amdgpu_device *adev, uint32_t *wait_times, uint32_t inst);
	/* counts the waves in each CP slot of an XCC */
	void (*get_cu_occupancy)(struct amdgpu_device *adev, struct kfd_cu_occupancy *counts,
				 int *max_waves_per_cu, uint32_t inst);
	/* distance of a compute queue's MQDs, of a node that was loaded from a process */
	uint64_t (*mqd_stride)(struct mqd_manager *mm, struct queue_properties *p);
	struct mqd_manager *mqd_mgr; /* for mqd_stride */
	u32 sdma_first;		     /* first SDMA engine of the node in the count of the device */
	u32 sdma_engines;	     /* how many it has */
	u32 sdma_rlcs;		     /* slots of each */
	bool sdma_by_doorbell;	     /* the driver does not know which of them has a queue */
	ktime_t reset_since;	     /* when reset_sem was taken */
	bool answered;		     /* its device did, since the node was loaded */
	bool lost;		     /* its device did not */
	bool awake;		     /* between gp_node_get_hw() and gp_node_put_hw() */
	u32 reads;		     /* registers that were read since gp_node_get_hw() */
	int drm_idx;		     /* set by gp_node_get_hw(), as pm_held */
	bool pm_held;
};

static inline u32 gp_node_first_xcc(const struct gp_node *n)
{
	return n->xcc_mask ? __ffs(n->xcc_mask) : 0;
}

/* How many nodes the process of a kfd_process out of gp_table_walk() may know. */
u32 gp_node_count(void *p);

/*
 * Find the process-device and the kfd_node of the i-th, which stay until the walk goes on. The node
 * is NULL without an address space there, and so without a queue. 0, -EUCLEAN.
 */
int gp_node_find(void *p, u32 i, void **pdd, void **node);

/* Follow such a node, good as long as it is, and its hardware until gp_node_drop(). 0, -EUCLEAN. */
int gp_node_load(void *node, struct gp_node *n);

/* Follow a kfd_node that cannot be freed meanwhile, but not its queue manager. */
int gp_node_follow(void *node, struct gp_node *n);

/* A kfd_node has been made to its end. */
bool gp_node_is_whole(void *node);

/* Keep the device of a loaded node; false: it is on its way out, and not to be read. */
bool gp_node_hold(struct gp_node *n);

/* End that; may sleep, and holds no lock of the driver's. */
void gp_node_drop(struct gp_node *n);

/* Registers after which a reader makes way for a reset: 5 slots, or 5 XCCs' waves. */
#define GP_HOLD_READS 256

/*
 * Make sure that registers can be read until gp_node_put_hw(), without waiting. Wakes no device and
 * keeps none awake: one that sleeps or that no process uses, is in reset, is being removed, is
 * lost, has its scheduler stopped, may switch its core off or is a virtual function is left alone.
 * The device is asked for one register first, unless it has answered since the node was loaded.
 */
enum gp_view_hardware gp_node_get_hw(struct gp_node *n);

/* Let the device sleep and reset again, unless gp_node_rest() has. */
void gp_node_put_hw(struct gp_node *n);

/*
 * Make way for a reset after GP_HOLD_READS reads. 0, or -enum gp_view_hardware: not awake any more.
 */
int gp_node_rest(struct gp_node *n);

/* Count registers that were read of a node, at most. */
void gp_node_add_reads(struct gp_node *n, u32 registers);

/*
 * Ask an awake XCC by one register whether it answers. 0: the registers that were read before
 * can be relied upon; or the driver has no access to a single register and does not know the
 * device as lost.
 */
int gp_node_check(struct gp_node *n, u32 inst);

/* The driver knows that the device is lost: registers read as 0, by its doing, or as all ones. */
bool gp_node_is_lost(const struct gp_node *n);

/* Note that the device does not answer, and is not read any more: -GP_VIEW_HARDWARE_LOST. */
int gp_node_lose(struct gp_node *n);

/* Registers of a slot that show the queue in it */
struct gp_hqd {
	bool active;  /* the slot is active */
	u64 mqd;      /* GPU address of the MQD that it was loaded from; CP only */
	u64 ring;     /* user address of its ring; CP only */
	u32 vmid;     /* address space that it works in */
	u32 doorbell; /* index of its doorbell */
	u64 rptr;     /* read pointer, in dwords; of SDMA in bytes */
	u64 wptr;     /* write pointer, the same */
};

/*
 * Find the hardware slots that hold a queue now. The device of its node is held, and put to rest
 * afterwards. Sets hardware, active, rptr, wptr, first_slot and slot of the queue. Its slots, or
 * one record with the reason why not, are added to the kept records, as far as there is room.
 */
void gp_hqd_read(struct gp_node *n, struct gp_queue *q, struct gp_list *slots);

/* Read a CP slot of an awake node, pipe * queues of a pipe + queue. 0 or -enum gp_view_hardware. */
int gp_hqd_dump(struct gp_node *n, u32 slot, u32 inst, struct gp_hqd *hqd);

/* Count the active CP slots on the first XCC of an awake node. 0 or -enum gp_view_hardware. */
int gp_hqd_count(struct gp_node *n, int *active);

/*
 * Count the waves in flight of the queues of a node whose device is held and whose hardware was
 * read, and of their slots (waves.c). Without slots a queue's waves are those of its doorbell, and
 * its hardware becomes the reason when they are not known. There is room for GP_CP_SLOTS_MAX
 * counts.
 */
void gp_waves_count(struct gp_node *n, struct gp_list *list, struct gp_list *slots,
		    struct kfd_cu_occupancy *counts);

/* A KFD node in a line */
struct gp_host_node {
	struct gp_node n; /* its device is referenced while device is not empty */
	u32 node;	  /* number in KFD's topology */
	char device[32];  /* name of the device */
	int hardware;	  /* enum gp_view_hardware */
	u32 slots;	  /* CP slots of KFD on each XCC */
	u64 hiq_mqd;	  /* GPU address of the MQD of the driver's own queue, 0: it has none */
	u32 gpu_id, gfx, xccs, xcc_mask; /* facts of n */
	int slots_used; /* CP slots of KFD in use on the first XCC; -1, as below: not known */
	int hiq;	/* the driver's own queue is active */
	int scheduler;	/* enum gp_view_scheduler */
	s64 processes, queues, mapped; /* its counts */
	int oversubscribed;	       /* more than fits at once */
};

/* The nodes of the host, in the order of the topology. */
struct gp_host_nodes {
	u32 n;
	u32 room;
	struct gp_host_node h[];
};

/*
 * Read all nodes, to be freed with kvfree(), or as a pointer -EBUSY while nodes come or go,
 * -EUCLEAN, -ENOMEM; -EOPNOTSUPP when the feature is off.
 */
struct gp_host_nodes *gp_topology_take(void);

#endif /* GP_NODE_H */
