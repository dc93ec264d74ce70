/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the fields of the driver's private structures are.
 *
 * GP_FIELDS is the one table of what this module knows of them, with GP_FIELDS_NODES
 * or GP_FIELDS_NO_NODES (see there) for a part of it. For each row they call one of
 *
 *	F(struct, field, type)	a field, of the size of type
 *	O(struct, field, type, feature)	the same, but the module can do without:
 *				it turns that one of GP_VIEW_FEATURES off
 *	A(struct, field, type)	an array of type, of any length
 *	S(struct, field, of)	a structure that has rows of its own
 *	P(struct, field, of, feature)	a pointer to the structure of
 *	V(struct, field, of)	an array of such pointers, of any length
 *	H(struct, hook, feature)	a pointer to a function that is declared
 *				as GP_PROTO_<hook> says, in GP_FIELDS_NO_NODES as
 *				GP_PROTO_NO_NODES_<hook>
 *
 * where "must" in place of a feature means that the module can't do without.
 *
 * gp_layout_load() finds each by its name and checks its size, and what a
 * pointer points to: all pointers have one size, and a function whose
 * parameters changed has the old name. Code reads a field with gp_get() or
 * gp_peek(), or takes its address with gp_ptr(); they name structure and field
 * as the driver does.
 */

#ifndef GP_LAYOUT_H
#define GP_LAYOUT_H

#ifndef GP_LAYOUT_TABLE_ONLY /* tests/kmod/layout-of.c wants no more */

#include <linux/build_bug.h>
#include <linux/kasan-checks.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <drm/drm_device.h>

#include <gpreempt/view.h>

#endif

/* clang-format off */
/* The functions that are called, as gp_btf_describe() puts them. */
#define GP_PROTO_hqd_dump						\
	"s4(*amdgpu_device,u4,u4,**[2]u4,*u4,u4)"
#define GP_PROTO_hqd_is_occupied					\
	"b1(*amdgpu_device,u8,u4,u4,u4)"
#define GP_PROTO_hqd_sdma_dump						\
	"s4(*amdgpu_device,u4,u4,**[2]u4,*u4)"
#define GP_PROTO_get_iq_wait_times					\
	"void(*amdgpu_device,*u4,u4)"
#define GP_PROTO_mqd_stride						\
	"u8(*mqd_manager,*queue_properties)"
#define GP_PROTO_NO_NODES_hqd_dump					\
	"s4(*amdgpu_device,u4,u4,**[2]u4,*u4)"
#define GP_PROTO_NO_NODES_hqd_is_occupied				\
	"b1(*amdgpu_device,u8,u4,u4)"

#define GP_FIELDS(F, O, A, S, P, V, H)					\
	F(kfd_process,		kfd_processes,	struct hlist_node)	\
	F(kfd_process,		mutex,		struct mutex)		\
	P(kfd_process,		lead_thread,	task_struct, must)	\
	V(kfd_process,		pdds,		kfd_process_device)	\
	F(kfd_process,		n_pdds,		u32)			\
	S(kfd_process,		pqm,		process_queue_manager)	\
	O(kfd_process,		debug_trap_enabled, bool, debug)	\
	O(kfd_process,		context_id,	u16, contexts)		\
	O(kfd_process,		queues_paused,	bool, pause)		\
	P(process_queue_manager, process,	kfd_process, must)	\
	F(process_queue_manager, queues,	struct list_head)	\
	P(process_queue_node,	q,		queue, must)		\
	F(process_queue_node,	process_queue_list, struct list_head)	\
	F(queue,		gart_mqd_addr,	u64)			\
	S(queue,		properties,	queue_properties)	\
	P(queue,		process,	kfd_process, must)	\
	P(queue,		device,		kfd_node, must)		\
	F(queue_properties,	type,		u32)			\
	F(queue_properties,	format,		u32)			\
	F(queue_properties,	queue_id,	u32)			\
	F(queue_properties,	queue_address,	u64)			\
	F(queue_properties,	queue_size,	u64)			\
	F(queue_properties,	priority,	u32)			\
	F(queue_properties,	queue_percent,	u32)			\
	F(queue_properties,	read_ptr,	void *)			\
	F(queue_properties,	write_ptr,	void *)			\
	F(queue_properties,	doorbell_off,	u32)			\
	F(queue_properties,	is_evicted,	bool)			\
	F(queue_properties,	is_active,	bool)			\
	F(queue_properties,	ctx_save_restore_area_address, u64)	\
	F(queue_properties,	ctx_save_restore_area_size, u32)	\
	O(queue_properties,	is_suspended,	bool, debug)		\
	O(queue_properties,	is_being_destroyed, bool, debug)	\
	O(queue_properties,	exception_status, u64, debug)		\
	O(queue_properties,	is_reset,	bool, resets)		\
	O(queue_properties,	sdma_engine_id,	u32, sdma)		\
	O(queue_properties,	sdma_queue_id,	u32, sdma)		\
	P(kfd_process_device,	dev,		kfd_node, must)		\
	P(kfd_process_device,	process,	kfd_process, must)	\
	P(kfd_process_device,	drm_file,	file, must)		\
	F(kfd_process_device,	drm_priv,	void *)			\
	F(kfd_process_device,	user_gpu_id,	u32)			\
	P(kfd_node,		adev,		amdgpu_device, must)	\
	P(kfd_node,		kfd2kgd,	kfd2kgd_calls, must)	\
	F(kfd_node,		id,		u32)			\
	P(kfd_node,		dqm,		device_queue_manager, must) \
	P(kfd_dev,		adev,		amdgpu_device, must)	\
	S(kfd_dev,		shared_resources, kgd2kfd_shared_resources) \
	S(kfd_dev,		device_info,	kfd_device_info)	\
	O(kfd_device_info,	gfx_target_version, u32, nodes)		\
	F(kgd2kfd_shared_resources, num_pipe_per_mec, u32)		\
	F(kgd2kfd_shared_resources, num_queue_per_pipe, u32)		\
	A(kgd2kfd_shared_resources, cp_queue_bitmap, unsigned long)	\
	O(kgd2kfd_shared_resources, enable_mes, bool, nodes)		\
	P(device_queue_manager,	dev,		kfd_node, must)		\
	V(device_queue_manager,	mqd_mgrs,	mqd_manager)		\
	F(device_queue_manager,	sched_running,	bool)			\
	O(device_queue_manager,	sched_policy,	u32, nodes)		\
	O(device_queue_manager,	processes_count, u32, nodes)		\
	O(device_queue_manager,	active_queue_count, u32, nodes)		\
	O(device_queue_manager,	total_queue_count, u32, nodes)		\
	S(device_queue_manager,	packet_mgr,	packet_manager)		\
	O(packet_manager,	is_over_subscription, bool, nodes)	\
	P(packet_manager,	priv_queue,	kernel_queue, hiq)	\
	P(kernel_queue,		queue,		queue, hiq)		\
	P(mqd_manager,		dev,		kfd_node, must)		\
	H(kfd2kgd_calls,	hqd_sdma_dump,	sdma)			\
	H(kfd2kgd_calls,	get_iq_wait_times, answers)		\
	O(kfd_topology_device,	list,		struct list_head, nodes) \
	P(kfd_topology_device,	gpu,		kfd_node, nodes)	\
	F(amdgpu_device,	ddev,		struct drm_device)	\
	F(amdgpu_device,	flags,		unsigned long)		\
	F(amdgpu_device,	no_hw_access,	bool)			\
	P(amdgpu_device,	reset_domain,	amdgpu_reset_domain, must) \
	S(amdgpu_device,	sdma,		amdgpu_sdma)		\
	S(amdgpu_device,	virt,		amdgpu_virt)		\
	S(amdgpu_device,	gfx,		amdgpu_gfx)		\
	S(amdgpu_device,	pm,		amdgpu_pm)		\
	O(amdgpu_sdma,		num_instances,	u32, sdma)		\
	F(amdgpu_virt,		caps,		u32)			\
	F(amdgpu_gfx,		gfx_off_state,	bool)			\
	F(amdgpu_gfx,		gfx_off_req_count, u32)			\
	F(amdgpu_pm,		pp_feature,	u32)			\
	F(amdgpu_reset_domain,	sem,		struct rw_semaphore)

/*
 * What depends on whether the driver has a struct kfd_node, and on nothing else.
 *
 * Linux 6.5 took it out of struct kfd_dev, for GPUs with several XCCs, which can be
 * several nodes: queues, managers and the topology point to a node since then, and
 * hooks are given the XCC. An older driver (5.18 to 6.4) has one XCC and one node
 * for each GPU, which is its kfd_dev: there the rows of all tables that name
 * GP_NODE, or a pointer to it, are of GP_NODE_BEFORE.
 */
#define GP_NODE		"kfd_node"
#define GP_NODE_BEFORE	"kfd_dev"

#define GP_FIELDS_NODES(F, O, A, S, P, V, H)				\
	F(kfd_process,		debug_event_workarea, struct work_struct) \
	F(kfd_node,		node_id,	u32)			\
	F(kfd_node,		xcc_mask,	u32)			\
	P(kfd_node,		kfd,		kfd_dev, must)		\
	V(kfd_dev,		nodes,		kfd_node)		\
	O(kfd_dev,		num_nodes,	u32, sdma)		\
	H(mqd_manager,		mqd_stride,	must)			\
	H(kfd2kgd_calls,	hqd_dump,	must)			\
	H(kfd2kgd_calls,	hqd_is_occupied, occupied)

#define GP_FIELDS_NO_NODES(F, O, A, S, P, V, H)				\
	F(kfd_process,		mmu_notifier,	struct mmu_notifier)	\
	F(kfd_dev,		init_complete,	bool)			\
	S(amdgpu_device,	kfd,		amdgpu_kfd_dev)		\
	P(amdgpu_kfd_dev,	dev,		kfd_dev, must)		\
	H(kfd2kgd_calls,	hqd_dump,	must)			\
	H(kfd2kgd_calls,	hqd_is_occupied, occupied)

/* X(enum, enumerator) for each of the driver's constants that is used. */
#define GP_ENUMS(X)							\
	X(kfd_queue_type,	KFD_QUEUE_TYPE_COMPUTE)			\
	X(kfd_queue_type,	KFD_QUEUE_TYPE_SDMA)			\
	X(kfd_queue_type,	KFD_QUEUE_TYPE_SDMA_XGMI)		\
	X(kfd_queue_format,	KFD_QUEUE_FORMAT_AQL)			\
	X(KFD_MQD_TYPE,		KFD_MQD_TYPE_CP)			\
	X(kfd_sched_policy,	KFD_SCHED_POLICY_NO_HWS)		\
	X(PP_FEATURE_MASK,	PP_GFXOFF_MASK)				\
	X(amd_chip_flags,	AMD_IS_APU)

/* clang-format on */
#ifndef GP_LAYOUT_TABLE_ONLY

#define GP_DECLARE_OFFSET(s, f, ...) u32 s##__##f;
#define GP_DECLARE_ARRAY(s, f, t) \
	u32 s##__##f;             \
	u32 s##__##f##_len;
#define GP_DECLARE_ENUM(e, n) u32 n;

#define GP_DECLARE_NOTHING(s, f, t)

/**
 * struct gp_layout - what gp_layout_load() found
 * @has_nodes:	the driver has a struct kfd_node: the rows of GP_FIELDS_NODES count,
 *		else those of GP_FIELDS_NO_NODES
 *
 * For each row of the tables the offset in bytes, for arrays their number of
 * elements beside it; for each row of GP_ENUMS the value. A hook has one place in
 * both tables. Written once, before anything reads it.
 */
struct gp_layout {
	bool has_nodes;

	GP_FIELDS(GP_DECLARE_OFFSET, GP_DECLARE_OFFSET, GP_DECLARE_ARRAY,
		  GP_DECLARE_OFFSET, GP_DECLARE_OFFSET, GP_DECLARE_ARRAY,
		  GP_DECLARE_OFFSET)
	GP_FIELDS_NODES(GP_DECLARE_OFFSET, GP_DECLARE_OFFSET, GP_DECLARE_ARRAY,
			GP_DECLARE_OFFSET, GP_DECLARE_OFFSET, GP_DECLARE_ARRAY,
			GP_DECLARE_OFFSET)
	GP_FIELDS_NO_NODES(GP_DECLARE_OFFSET, GP_DECLARE_OFFSET,
			   GP_DECLARE_ARRAY, GP_DECLARE_OFFSET,
			   GP_DECLARE_OFFSET, GP_DECLARE_ARRAY,
			   GP_DECLARE_NOTHING)
	GP_ENUMS(GP_DECLARE_ENUM)
};

extern struct gp_layout gp_layout;

/* Where that came from: "btf" or "headers". */
extern const char *gp_layout_source;

/* Never instantiated: the C type of each field, for the checks of gp_get(). */
#define GP_DECLARE_TYPE(s, f, t, ...) t s##__##f;
#define GP_DECLARE_POINTER(s, f, ...) void *s##__##f;
struct gp_layout_types {
	GP_FIELDS(GP_DECLARE_TYPE, GP_DECLARE_TYPE, GP_DECLARE_TYPE,
		  GP_DECLARE_NOTHING, GP_DECLARE_POINTER, GP_DECLARE_POINTER,
		  GP_DECLARE_POINTER)
	GP_FIELDS_NODES(GP_DECLARE_TYPE, GP_DECLARE_TYPE, GP_DECLARE_TYPE,
			GP_DECLARE_NOTHING, GP_DECLARE_POINTER,
			GP_DECLARE_POINTER, GP_DECLARE_POINTER)
	GP_FIELDS_NO_NODES(GP_DECLARE_TYPE, GP_DECLARE_TYPE, GP_DECLARE_TYPE,
			   GP_DECLARE_NOTHING, GP_DECLARE_POINTER,
			   GP_DECLARE_POINTER, GP_DECLARE_NOTHING)
};

/* Address of a field of the driver's structure at base. */
#define gp_ptr(base, s, f) \
	((void *)((unsigned long)(base) + gp_layout.s##__##f))

/* The driver's structure that has this field at ptr. */
/* clang-format off */
#define gp_container(ptr, s, f)						\
	((void *)((unsigned long)(ptr) - gp_layout.s##__##f))
/* clang-format on */

#define GP_FEATURE_ENUM(name) GP_FEATURE_##name,

enum gp_feature {
	GP_VIEW_FEATURES(GP_FEATURE_ENUM) GP_FEATURE_COUNT,
	GP_FEATURE_must = GP_FEATURE_COUNT, /* of rows: not a feature */
};

/* What each feature lacks, "struct.field" or a symbol; NULL: it is on. */
extern const char *gp_features[GP_FEATURE_COUNT];

/* Whether all the optional fields of a feature are there. */
#define gp_has(feature) (!gp_features[GP_FEATURE_##feature])

/**
 * gp_read() - copy the driver's memory, which the caller knows to be alive
 * @dst:	takes it
 * @src:	whose lock, reference or read section is held
 * @size:	bytes
 *
 * An address that leads nowhere makes this -EFAULT and not an oops. KASAN does
 * not see copy_from_kernel_nofault(), so it is asked here: in its builds memory
 * that was freed is reported.
 *
 * Return: 0, -EFAULT.
 */
static inline int gp_read(void *dst, const void *src, size_t size)
{
	kasan_check_read(src, size);
	return copy_from_kernel_nofault(dst, src, size);
}

/*
 * Copy a field, or element i of an array, to *dst as gp_read() does. 0 when it
 * worked.
 */
#define gp_get(base, s, f, dst) gp_get_at(base, s, f, 0, dst)

#define gp_get_at(base, s, f, i, dst)                                   \
	({                                                              \
		GP_CHECK_TYPE(s, f, dst);                               \
		gp_read(dst, gp_ptr(base, s, f) + (i) * sizeof(*(dst)), \
			sizeof(*(dst)));                                \
	})

/* The same of a structure that may have been freed: no more than a hint. */
#define gp_peek(base, s, f, dst)                                  \
	({                                                        \
		GP_CHECK_TYPE(s, f, dst);                         \
		copy_from_kernel_nofault(dst, gp_ptr(base, s, f), \
					 sizeof(*(dst)));         \
	})

#define GP_CHECK_TYPE(s, f, dst)       \
	BUILD_BUG_ON(sizeof(*(dst)) != \
		     sizeof(((struct gp_layout_types *)0)->s##__##f))

/**
 * gp_broken() - report that the driver's data is not what it should be
 * @what:	the rule that does not hold
 *
 * Return: -EUCLEAN, always.
 */
int gp_broken(const char *what);

/**
 * gp_layout_load() - fill gp_layout from the running kernel's BTF, or from what
 * was made of amdgpu's headers
 *
 * Return: 0, or an error after a line in the kernel log that names what is
 * missing or has another size.
 */
int gp_layout_load(void);

#endif /* GP_LAYOUT_TABLE_ONLY */
#endif /* GP_LAYOUT_H */
