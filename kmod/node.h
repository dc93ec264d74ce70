/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_NODE_H
#define GP_NODE_H

#include <linux/bitmap.h>
#include <linux/ktime.h>
#include <linux/rwsem.h>
#include <linux/types.h>
#include <drm/drm_device.h>

#include <gpreempt/view.h>

/* Of the driver; only pointers to them are passed around. */
struct amdgpu_device;
struct mqd_manager;
struct queue_properties;

/* Most CP slots of an XCC that can be looked at; the driver has 128. */
#define GP_CP_SLOTS_MAX 256

/* What a register of a device that is lost reads as. */
#define GP_NO_ANSWER 0xffffffff

/* What get_cu_occupancy() adds to for each CP slot, as the driver has it (layout.c). */
struct kfd_cu_occupancy {
	u32 wave_cnt;
	u32 doorbell_off;
};

/**
 * struct gp_node - a KFD node for the time of one read
 * @node:	the kfd_node, or the kfd_dev of a driver without (layout.h)
 * @kfd:	its kfd_dev
 * @adev:	its device
 * @dqm:	its queue manager
 * @ddev:	the DRM device in @adev
 * @reset_sem:	held for writing while the device is in reset
 * @gpu_id:	KFD's id of the node
 * @gfx:	version of its graphics core (gfx_target_version), 0: not known
 * @xcc_mask:	its XCCs, as the driver numbers them
 * @n_queues:	CP queues of a pipe
 * @n_slots:	CP slots of an XCC
 * @cp_slots:	those of them that are KFD's
 * @n_nodes:	nodes of its device
 * @engines:	shader engines of an XCC
 * @waves_max:	waves that it has room for, 0: not known
 * @hqd_dump:	reads the registers of a CP slot
 * @hqd_dump_gpu: the same of a driver without kfd_node
 * @hqd_is_occupied: tests a CP slot for a ring; can be NULL
 * @hqd_is_occupied_gpu: the same of a driver without kfd_node
 * @hqd_sdma_dump: reads the registers of an SDMA engine's RLC; can be NULL
 * @get_iq_wait_times: reads one register of an XCC; can be NULL
 * @get_cu_occupancy: counts the waves in each CP slot of an XCC; can be NULL
 * @mqd_stride:	distance of a compute queue's MQDs; NULL of a node that was not
 *		loaded from a process, and of a driver without kfd_node, as one
 *		XCC has one MQD
 * @mqd_mgr:	for @mqd_stride
 * @reset_since:	when @reset_sem was taken
 * @sdma_first:	first SDMA engine of the node in the count of the device
 * @sdma_engines: how many it has
 * @sdma_rlcs:	slots of each
 * @sdma_by_doorbell: the driver does not know which of them has a queue
 * @answered:	its device did, since the node was loaded
 * @lost:	its device did not
 * @awake:	between gp_node_get_hw() and gp_node_put_hw()
 * @reads:	registers that were read since gp_node_get_hw()
 * @drm_idx:	of gp_node_get_hw()
 * @pm_held:	of gp_node_get_hw()
 *
 * The hooks are entries of tables of the driver, which calls through them
 * itself: legal targets for IBT and kCFI. They are declared here with the
 * prototypes that layout.h compares with the driver's, and each was found to lie
 * within amdgpu.
 */
struct gp_node {
	void *node;
	void *kfd;
	struct amdgpu_device *adev;
	void *dqm;
	struct drm_device *ddev;
	struct rw_semaphore *reset_sem;
	u32 gpu_id;
	u32 gfx;
	u32 xcc_mask;
	u32 n_queues;
	u32 n_slots;
	DECLARE_BITMAP(cp_slots, GP_CP_SLOTS_MAX);
	u32 n_nodes;
	u32 engines;
	u32 waves_max;
	union {
		int (*hqd_dump)(struct amdgpu_device *adev, uint32_t pipe_id,
				uint32_t queue_id, uint32_t (**dump)[2],
				uint32_t *n_regs, uint32_t inst);
		int (*hqd_dump_gpu)(struct amdgpu_device *adev,
				    uint32_t pipe_id, uint32_t queue_id,
				    uint32_t (**dump)[2], uint32_t *n_regs);
	};
	union {
		bool (*hqd_is_occupied)(struct amdgpu_device *adev,
					uint64_t queue_address,
					uint32_t pipe_id, uint32_t queue_id,
					uint32_t inst);
		bool (*hqd_is_occupied_gpu)(struct amdgpu_device *adev,
					    uint64_t queue_address,
					    uint32_t pipe_id,
					    uint32_t queue_id);
	};
	int (*hqd_sdma_dump)(struct amdgpu_device *adev, uint32_t engine_id,
			     uint32_t queue_id, uint32_t (**dump)[2],
			     uint32_t *n_regs);
	void (*get_iq_wait_times)(struct amdgpu_device *adev,
				  uint32_t *wait_times, uint32_t inst);
	void (*get_cu_occupancy)(struct amdgpu_device *adev,
				 struct kfd_cu_occupancy *counts,
				 int *max_waves_per_cu, uint32_t inst);
	uint64_t (*mqd_stride)(struct mqd_manager *mm,
			       struct queue_properties *p);
	struct mqd_manager *mqd_mgr;
	u32 sdma_first;
	u32 sdma_engines;
	u32 sdma_rlcs;
	bool sdma_by_doorbell;
	ktime_t reset_since;
	bool answered;
	bool lost;
	bool awake;
	u32 reads;
	int drm_idx;
	bool pm_held;
};

static inline u32 gp_node_first_xcc(const struct gp_node *n)
{
	return n->xcc_mask ? __ffs(n->xcc_mask) : 0;
}

/**
 * gp_node_count() - how many nodes a process may know
 * @p:		kfd_process out of gp_table_walk()
 */
u32 gp_node_count(void *p);

/**
 * gp_node_load() - read one of the nodes that a process uses
 * @p:		kfd_process out of gp_table_walk()
 * @i:		less than gp_node_count()
 * @n:		to fill; good until the function called by the walk returns,
 *		and its hardware with gp_node_hold() until gp_node_drop()
 *
 * Return: 0, -ENOENT when the process has no address space on that node, and
 * so no queue, -EUCLEAN when the data contradicts itself.
 */
int gp_node_load(void *p, u32 i, struct gp_node *n);

/**
 * gp_node_hold() - keep the device of a node
 * @n:		a loaded node, which cannot be freed meanwhile
 *
 * Return: false when the device is on its way out: its registers are not to be
 * read.
 */
bool gp_node_hold(struct gp_node *n);

/** gp_node_drop() - end that; may sleep, and holds no lock of the driver's */
void gp_node_drop(struct gp_node *n);

/**
 * gp_node_is_whole() - whether a node has been made to its end
 * @node:	kfd_node that cannot be freed meanwhile
 */
bool gp_node_is_whole(void *node);

/**
 * gp_node_follow() - the same from a node alone
 * @node:	kfd_node that cannot be freed meanwhile
 * @n:		to fill, but for its queue manager, which is not looked at
 *
 * Return: 0, -EUCLEAN.
 */
int gp_node_follow(void *node, struct gp_node *n);

/* After so many registers a reader makes way for a reset: 5 slots, or 5 XCCs' waves. */
#define GP_HOLD_READS 256

/**
 * gp_node_get_hw() - make sure that registers can be read, without waiting
 * @n:		a node whose device is held
 *
 * Wakes no device and keeps none awake: one that sleeps or that no process uses, is in
 * reset, is being removed, is lost, has its scheduler stopped, may switch its core
 * off or is a virtual function is left alone. The device is asked for one register
 * first, unless it has answered since the node was loaded.
 *
 * Return: GP_VIEW_HARDWARE_READ when they can be, until gp_node_put_hw();
 * otherwise why not.
 */
enum gp_view_hardware gp_node_get_hw(struct gp_node *n);

/** gp_node_put_hw() - end that, unless gp_node_rest() has */
void gp_node_put_hw(struct gp_node *n);

/**
 * gp_node_rest() - make way for a reset, after GP_HOLD_READS reads
 * @n:		a node, awake
 *
 * Return: 0, or -enum gp_view_hardware: the node is not awake any more.
 */
int gp_node_rest(struct gp_node *n);

/** gp_node_add_reads() - count registers that were read of a node, at most */
void gp_node_add_reads(struct gp_node *n, u32 registers);

/**
 * gp_node_check() - ask an XCC whether it answers, by one register
 * @n:		a node, awake
 * @inst:	XCC
 *
 * Return: 0: it does, and what was read before can be relied upon; or the driver has
 * no way to a single register, and does not know that the device is lost. As
 * gp_node_lose().
 */
int gp_node_check(struct gp_node *n, u32 inst);

/**
 * gp_node_lose() - note that the device of a node does not answer
 * @n:		the node, which is not read any more
 *
 * Return: -GP_VIEW_HARDWARE_LOST.
 */
int gp_node_lose(struct gp_node *n);

#endif /* GP_NODE_H */
