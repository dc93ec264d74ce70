/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the fields of the driver's private structures are.
 *
 * GP_FIELDS is the one table of what this module knows of them. For each row
 * it calls one of
 *
 *	F(struct, field, type)	a field, of the size of type
 *	O(struct, field, type)	the same, but the module can do without
 *	A(struct, field, type)	an array of type, of any length
 *	S(struct, field, of)	a structure that has rows of its own
 *
 * gp_layout_load() finds each by its name and checks its size. Code reads a
 * field with gp_get(), or takes its address with gp_ptr(); both name structure
 * and field as the driver does.
 */

#ifndef GP_LAYOUT_H
#define GP_LAYOUT_H

#include <linux/build_bug.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <drm/drm_device.h>

#define GP_FIELDS(F, O, A, S)						\
	F(kfd_process,		kfd_processes,	struct hlist_node)	\
	F(kfd_process,		mutex,		struct mutex)		\
	F(kfd_process,		lead_thread,	struct task_struct *)	\
	F(kfd_process,		mmu_notifier,	struct mmu_notifier)	\
	A(kfd_process,		pdds,		void *)			\
	F(kfd_process,		n_pdds,		u32)			\
	S(kfd_process,		pqm,		process_queue_manager)	\
	F(process_queue_manager, process,	void *)			\
	F(process_queue_manager, queues,	struct list_head)	\
	F(process_queue_node,	q,		void *)			\
	F(process_queue_node,	process_queue_list, struct list_head)	\
	F(queue,		gart_mqd_addr,	u64)			\
	S(queue,		properties,	queue_properties)	\
	F(queue,		process,	void *)			\
	F(queue,		device,		void *)			\
	F(queue_properties,	type,		u32)			\
	F(queue_properties,	format,		u32)			\
	F(queue_properties,	queue_id,	u32)			\
	F(queue_properties,	queue_address,	u64)			\
	F(queue_properties,	priority,	u32)			\
	F(queue_properties,	doorbell_off,	u32)			\
	F(queue_properties,	is_evicted,	bool)			\
	F(queue_properties,	is_suspended,	bool)			\
	O(queue_properties,	sdma_engine_id,	u32)			\
	O(queue_properties,	sdma_queue_id,	u32)			\
	F(kfd_process_device,	dev,		void *)			\
	F(kfd_process_device,	process,	void *)			\
	F(kfd_process_device,	drm_file,	void *)			\
	F(kfd_process_device,	drm_priv,	void *)			\
	F(kfd_process_device,	user_gpu_id,	u32)			\
	F(kfd_node,		node_id,	u32)			\
	F(kfd_node,		adev,		void *)			\
	F(kfd_node,		kfd2kgd,	void *)			\
	F(kfd_node,		id,		u32)			\
	F(kfd_node,		xcc_mask,	u32)			\
	F(kfd_node,		dqm,		void *)			\
	F(kfd_node,		kfd,		void *)			\
	F(kfd_dev,		adev,		void *)			\
	A(kfd_dev,		nodes,		void *)			\
	O(kfd_dev,		num_nodes,	u32)			\
	S(kfd_dev,		shared_resources, kgd2kfd_shared_resources) \
	F(kgd2kfd_shared_resources, num_pipe_per_mec, u32)		\
	F(kgd2kfd_shared_resources, num_queue_per_pipe, u32)		\
	A(kgd2kfd_shared_resources, cp_queue_bitmap, unsigned long)	\
	F(device_queue_manager,	dev,		void *)			\
	A(device_queue_manager,	mqd_mgrs,	void *)			\
	F(device_queue_manager,	sched_running,	bool)			\
	F(mqd_manager,		mqd_stride,	void *)			\
	F(mqd_manager,		dev,		void *)			\
	F(kfd2kgd_calls,	hqd_dump,	void *)			\
	O(kfd2kgd_calls,	hqd_is_occupied, void *)		\
	O(kfd2kgd_calls,	hqd_sdma_dump,	void *)			\
	F(amdgpu_device,	ddev,		struct drm_device)	\
	F(amdgpu_device,	reset_domain,	void *)			\
	S(amdgpu_device,	sdma,		amdgpu_sdma)		\
	O(amdgpu_sdma,		num_instances,	u32)			\
	F(amdgpu_reset_domain,	sem,		struct rw_semaphore)

/* X(enum, enumerator) for each of the driver's constants that is used. */
#define GP_ENUMS(X)							\
	X(kfd_queue_type,	KFD_QUEUE_TYPE_COMPUTE)			\
	X(kfd_queue_type,	KFD_QUEUE_TYPE_SDMA)			\
	X(kfd_queue_type,	KFD_QUEUE_TYPE_SDMA_XGMI)		\
	X(kfd_queue_format,	KFD_QUEUE_FORMAT_AQL)			\
	X(KFD_MQD_TYPE,		KFD_MQD_TYPE_CP)

/* Offset of an optional field that this driver does not have. */
#define GP_ABSENT	U32_MAX

#define GP_DECLARE_OFFSET(s, f, t)	u32 s##__##f;
#define GP_DECLARE_ARRAY(s, f, t)	u32 s##__##f; u32 s##__##f##_len;
#define GP_DECLARE_ENUM(e, n)		u32 n;

/**
 * struct gp_layout - what gp_layout_load() found
 *
 * For each row of GP_FIELDS the offset in bytes, for arrays their number of
 * elements beside it; for each row of GP_ENUMS the value. Written once, before
 * anything reads it.
 */
struct gp_layout {
	GP_FIELDS(GP_DECLARE_OFFSET, GP_DECLARE_OFFSET, GP_DECLARE_ARRAY,
		  GP_DECLARE_OFFSET)
	GP_ENUMS(GP_DECLARE_ENUM)
};

extern struct gp_layout gp_layout;

/* Never instantiated: the C type of each field, for the checks of gp_get(). */
#define GP_DECLARE_TYPE(s, f, t)	t s##__##f;
#define GP_DECLARE_NOTHING(s, f, t)
struct gp_layout_types {
	GP_FIELDS(GP_DECLARE_TYPE, GP_DECLARE_TYPE, GP_DECLARE_TYPE,
		  GP_DECLARE_NOTHING)
};

/* Address of a field of the driver's structure at base. */
#define gp_ptr(base, s, f)						\
	((void *)((unsigned long)(base) + gp_layout.s##__##f))

/* The driver's structure that has this field at ptr. */
#define gp_container(ptr, s, f)						\
	((void *)((unsigned long)(ptr) - gp_layout.s##__##f))

/* Whether an optional field is there. */
#define gp_has(s, f)	(gp_layout.s##__##f != GP_ABSENT)

/*
 * Copy a field, or element i of an array, to *dst. A pointer that leads
 * nowhere makes this -EFAULT and not an oops. 0 when it worked.
 */
#define gp_get(base, s, f, dst)	gp_get_at(base, s, f, 0, dst)

#define gp_get_at(base, s, f, i, dst) ({				\
	BUILD_BUG_ON(sizeof(*(dst)) !=					\
		     sizeof(((struct gp_layout_types *)0)->s##__##f));	\
	copy_from_kernel_nofault(dst, gp_ptr(base, s, f) +		\
				 (i) * sizeof(*(dst)), sizeof(*(dst)));	\
})

/**
 * gp_broken() - report that the driver's data is not what it should be
 * @what:	the rule that does not hold
 *
 * Return: -EUCLEAN, always.
 */
int gp_broken(const char *what);

/**
 * gp_layout_load() - fill gp_layout from the running kernel's BTF
 *
 * Return: 0, or an error after a line in the kernel log that names what is
 * missing or has another size.
 */
int gp_layout_load(void);

#endif /* GP_LAYOUT_H */
