/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the fields of the driver's private structures are.
 *
 * GP_FIELDS is the one table of what this module knows of them, with GP_FIELDS_NODES
 * or GP_FIELDS_NO_NODES (see there) for a part of it. A row is X(rule, struct, field,
 * type, feature), with one of these rules:
 *
 *	F	a field, of the size of type
 *	A	an array of type, of any length
 *	S	a structure of that name, which has rows of its own
 *	P	a pointer to the structure of that name
 *	V	an array of such pointers, of any length
 *	H	a pointer to a function, which is declared as type says
 *
 * Without a row that one of GP_VIEW_FEATURES is off; without one that "must" be,
 * the module does not load. Sizes and what a pointer points to are checked, too: all
 * pointers have one size, and a function whose parameters changed has the old name.
 */

#ifndef GP_LAYOUT_H
#define GP_LAYOUT_H

#ifndef GP_LAYOUT_TABLE_ONLY /* tests/kmod/layout-of.c wants no more */

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/kasan-checks.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rwsem.h>
#include <linux/srcu.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <drm/drm_device.h>

#include <gpreempt/view.h>

#endif

/* clang-format off */
/* The functions that are called, as gp_btf_describe() puts them. */
#define GP_DUMP			"s4(*amdgpu_device,u4,u4,**[2]u4,*u4,u4)"
#define GP_DUMP_BEFORE		"s4(*amdgpu_device,u4,u4,**[2]u4,*u4)"
#define GP_OCCUPIED		"b1(*amdgpu_device,u8,u4,u4,u4)"
#define GP_OCCUPIED_BEFORE	"b1(*amdgpu_device,u8,u4,u4)"
#define GP_SDMA_DUMP		"s4(*amdgpu_device,u4,u4,**[2]u4,*u4)"
#define GP_WAIT_TIMES		"void(*amdgpu_device,*u4,u4)"
#define GP_STRIDE		"u8(*mqd_manager,*queue_properties)"
#define GP_WAVES		"void(*amdgpu_device,*kfd_cu_occupancy,*s4,u4)"

#define GP_FIELDS(X)							\
	X(F, kfd_process, kfd_processes, struct hlist_node, must)	\
	X(F, kfd_process, mutex, struct mutex, must)			\
	X(P, kfd_process, lead_thread, task_struct, must)		\
	X(V, kfd_process, pdds, kfd_process_device, must)		\
	X(F, kfd_process, n_pdds, u32, must)				\
	X(S, kfd_process, pqm, process_queue_manager, must)		\
	X(F, kfd_process, debug_trap_enabled, bool, debug)		\
	X(F, kfd_process, context_id, u16, contexts)			\
	X(F, kfd_process, queues_paused, bool, pause)			\
	X(P, process_queue_manager, process, kfd_process, must)		\
	X(F, process_queue_manager, queues, struct list_head, must)	\
	X(P, process_queue_node, q, queue, must)			\
	X(F, process_queue_node, process_queue_list, struct list_head, must)	\
	X(F, queue, gart_mqd_addr, u64, must)				\
	X(S, queue, properties, queue_properties, must)			\
	X(P, queue, process, kfd_process, must)				\
	X(P, queue, device, kfd_node, must)				\
	X(F, queue_properties, type, u32, must)				\
	X(F, queue_properties, format, u32, must)			\
	X(F, queue_properties, queue_id, u32, must)			\
	X(F, queue_properties, queue_address, u64, must)		\
	X(F, queue_properties, queue_size, u64, must)			\
	X(F, queue_properties, priority, u32, must)			\
	X(F, queue_properties, queue_percent, u32, must)		\
	X(F, queue_properties, read_ptr, void *, must)			\
	X(F, queue_properties, write_ptr, void *, must)			\
	X(F, queue_properties, doorbell_off, u32, must)			\
	X(F, queue_properties, is_evicted, bool, must)			\
	X(F, queue_properties, is_active, bool, must)			\
	X(F, queue_properties, ctx_save_restore_area_address, u64, must)	\
	X(F, queue_properties, ctx_save_restore_area_size, u32, must)	\
	X(F, queue_properties, is_suspended, bool, debug)		\
	X(F, queue_properties, is_being_destroyed, bool, debug)		\
	X(F, queue_properties, exception_status, u64, debug)		\
	X(F, queue_properties, is_reset, bool, resets)			\
	X(F, queue_properties, sdma_engine_id, u32, sdma)		\
	X(F, queue_properties, sdma_queue_id, u32, sdma)		\
	X(P, kfd_process_device, dev, kfd_node, must)			\
	X(P, kfd_process_device, process, kfd_process, must)		\
	X(P, kfd_process_device, drm_file, file, must)			\
	X(F, kfd_process_device, drm_priv, void *, must)		\
	X(F, kfd_process_device, user_gpu_id, u32, must)		\
	X(F, kfd_process_device, last_evict_timestamp, u64, evictions)	\
	X(F, kfd_process_device, evict_duration_counter, atomic64_t, evictions)	\
	X(S, kfd_process_device, qpd, qcm_process_device, evictions)	\
	X(F, qcm_process_device, evicted, u32, evictions)		\
	X(F, qcm_process_device, queue_count, u32, evictions)		\
	X(P, kfd_node, adev, amdgpu_device, must)			\
	X(P, kfd_node, kfd2kgd, kfd2kgd_calls, must)			\
	X(F, kfd_node, id, u32, must)					\
	X(P, kfd_node, dqm, device_queue_manager, must)			\
	X(P, kfd_dev, adev, amdgpu_device, must)			\
	X(S, kfd_dev, shared_resources, kgd2kfd_shared_resources, must)	\
	X(S, kfd_dev, device_info, kfd_device_info, must)		\
	X(F, kfd_device_info, gfx_target_version, u32, nodes)		\
	X(F, kfd_device_info, num_sdma_queues_per_engine, u32, sdma)	\
	X(F, kgd2kfd_shared_resources, num_pipe_per_mec, u32, must)	\
	X(F, kgd2kfd_shared_resources, num_queue_per_pipe, u32, must)	\
	X(A, kgd2kfd_shared_resources, cp_queue_bitmap, unsigned long, must)	\
	X(F, kgd2kfd_shared_resources, enable_mes, bool, nodes)		\
	X(P, device_queue_manager, dev, kfd_node, must)			\
	X(V, device_queue_manager, mqd_mgrs, mqd_manager, must)		\
	X(F, device_queue_manager, sched_running, bool, must)		\
	X(F, device_queue_manager, lock_hidden, struct mutex, evictions)	\
	X(F, device_queue_manager, sched_policy, u32, nodes)		\
	X(F, device_queue_manager, processes_count, u32, nodes)		\
	X(F, device_queue_manager, active_queue_count, u32, nodes)	\
	X(F, device_queue_manager, total_queue_count, u32, nodes)	\
	X(S, device_queue_manager, packet_mgr, packet_manager, must)	\
	X(F, packet_manager, is_over_subscription, bool, nodes)		\
	X(P, packet_manager, priv_queue, kernel_queue, hiq)		\
	X(P, kernel_queue, queue, queue, hiq)				\
	X(P, mqd_manager, dev, kfd_node, must)				\
	X(H, kfd2kgd_calls, hqd_dump, GP_DUMP, must)			\
	X(H, kfd2kgd_calls, hqd_is_occupied, GP_OCCUPIED, occupied)	\
	X(H, kfd2kgd_calls, hqd_sdma_dump, GP_SDMA_DUMP, sdma)		\
	X(H, kfd2kgd_calls, get_iq_wait_times, GP_WAIT_TIMES, answers)	\
	X(H, kfd2kgd_calls, get_cu_occupancy, GP_WAVES, waves)		\
	X(F, kfd_cu_occupancy, wave_cnt, u32, waves)			\
	X(F, kfd_cu_occupancy, doorbell_off, u32, waves)		\
	X(F, kfd_topology_device, list, struct list_head, nodes)	\
	X(P, kfd_topology_device, gpu, kfd_node, nodes)			\
	X(F, amdgpu_device, ddev, struct drm_device, must)		\
	X(F, amdgpu_device, flags, unsigned long, must)			\
	X(F, amdgpu_device, no_hw_access, bool, must)			\
	X(P, amdgpu_device, reset_domain, amdgpu_reset_domain, must)	\
	X(S, amdgpu_device, sdma, amdgpu_sdma, must)			\
	X(S, amdgpu_device, virt, amdgpu_virt, must)			\
	X(S, amdgpu_device, gfx, amdgpu_gfx, must)			\
	X(S, amdgpu_device, pm, amdgpu_pm, must)			\
	X(F, amdgpu_sdma, num_instances, u32, sdma)			\
	X(F, amdgpu_virt, caps, u32, must)				\
	X(F, amdgpu_gfx, gfx_off_state, bool, must)			\
	X(F, amdgpu_gfx, gfx_off_req_count, u32, must)			\
	X(S, amdgpu_gfx, config, amdgpu_gfx_config, waves)		\
	X(S, amdgpu_gfx, cu_info, amdgpu_cu_info, waves)		\
	X(F, amdgpu_gfx_config, max_shader_engines, u32, waves)		\
	X(F, amdgpu_cu_info, number, u32, waves)			\
	X(F, amdgpu_cu_info, simd_per_cu, u32, waves)			\
	X(F, amdgpu_cu_info, max_waves_per_simd, u32, waves)		\
	X(F, amdgpu_pm, pp_feature, u32, must)				\
	X(F, amdgpu_reset_domain, sem, struct rw_semaphore, must)

/*
 * Fields that depend on whether the driver has a struct kfd_node. Linux 6.5 took it out of struct
 * kfd_dev, for GPUs with several XCCs, which can be several nodes: queues, managers and the
 * topology point to a node since then, and hooks are given the XCC. An older driver (5.18 to 6.4)
 * has one XCC and one node for each GPU, which is its kfd_dev. gp_name_before() is for the rows of
 * all tables.
 */
#define GP_FIELDS_NODES(X)						\
	X(F, kfd_process, debug_event_workarea, struct work_struct, must)	\
	X(F, kfd_node, node_id, u32, must)				\
	X(F, kfd_node, xcc_mask, u32, must)				\
	X(P, kfd_node, kfd, kfd_dev, must)				\
	X(V, kfd_dev, nodes, kfd_node, must)				\
	X(F, kfd_dev, num_nodes, u32, must)				\
	X(H, mqd_manager, mqd_stride, GP_STRIDE, must)

#define GP_FIELDS_NO_NODES(X)						\
	X(F, kfd_process, mmu_notifier, struct mmu_notifier, must)	\
	X(F, kfd_dev, init_complete, bool, must)			\
	X(S, amdgpu_device, kfd, amdgpu_kfd_dev, must)			\
	X(P, amdgpu_kfd_dev, dev, kfd_dev, must)

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

/*
 * Symbols of amdgpu that are looked up.
 *
 * X(id, symbol, type, feature): an object, which has the size of struct type, and
 *	what does not work without it; "must": the module
 * M(id, symbol, type, feature): the same, an array of them
 * F(id, symbol): a function, for a probe; without it the table is scanned
 */
#define GP_SYMBOLS(X, M, F)                                 \
	M(TABLE, kfd_processes_table, hlist_head, must)     \
	X(SRCU, kfd_processes_srcu, srcu_struct, must)      \
	F(CREATED, kfd_create_process)                      \
	F(RELEASED, kfd_process_notifier_release)           \
	X(TOPOLOGY, topology_device_list, list_head, nodes) \
	X(TOPOLOGY_LOCK, topology_lock, rw_semaphore, nodes)

/* clang-format on */

#define GP_NODE "kfd_node"

/* A structure's name or a hook's type of a row, in a driver without kfd_node */
static inline const char *gp_name_before(const char *name)
{
	return !strcmp(name, GP_NODE)	  ? "kfd_dev" :
	       !strcmp(name, GP_DUMP)	  ? GP_DUMP_BEFORE :
	       !strcmp(name, GP_OCCUPIED) ? GP_OCCUPIED_BEFORE :
					    name;
}

#ifndef GP_LAYOUT_TABLE_ONLY

struct gp_place {
	u32 offset; /* in bytes */
	u32 len;    /* number of elements, of an array */
};

/* The C type of a row's field, for the checks of gp_get(), which reads no S. */
#define GP_TYPE_F(t) t
#define GP_TYPE_A(t) t
#define GP_TYPE_S(t) struct gp_no_type
#define GP_TYPE_P(t) void *
#define GP_TYPE_V(t) void *
#define GP_TYPE_H(t) void *

#define GP_DECLARE_FIELD(rule, s, f, t, ft) \
	union {                             \
		struct gp_place at;         \
		GP_TYPE_##rule(t) * type;   \
	} s##__##f;
#define GP_DECLARE_ENUM(e, n) u32 n;

/* Places of the rows of all tables, with their type for sizeof() only, and values of GP_ENUMS */
struct gp_layout {
	bool has_nodes;

	GP_FIELDS(GP_DECLARE_FIELD)
	GP_FIELDS_NODES(GP_DECLARE_FIELD)
	GP_FIELDS_NO_NODES(GP_DECLARE_FIELD)
	GP_ENUMS(GP_DECLARE_ENUM)
};

extern struct gp_layout gp_layout;

/* Source of the layout: "btf" or "headers". */
extern const char *gp_layout_source;

/* Address of a field of the driver's structure at base. */
#define gp_ptr(base, s, f) ((void *)((unsigned long)(base) + gp_layout.s##__##f.at.offset))

/* The driver's structure that has this field at ptr. */
/* clang-format off */
#define gp_container(ptr, s, f)						\
	((void *)((unsigned long)(ptr) - gp_layout.s##__##f.at.offset))
/* clang-format on */

#define GP_FEATURE_ENUM(name) GP_FEATURE_##name,

enum gp_feature {
	GP_VIEW_FEATURES(GP_FEATURE_ENUM) GP_FEATURE_COUNT,
	GP_FEATURE_must = GP_FEATURE_COUNT, /* mark of a row: not a feature */
};

/* Name that each feature lacks, "struct.field" or a symbol; NULL: it is on */
extern const char *gp_features[GP_FEATURE_COUNT];

/* All the optional fields of a feature are there. */
#define gp_has(feature) (!gp_features[GP_FEATURE_##feature])

/*
 * Copy the driver's memory, alive by a lock, reference or read section. An address that leads
 * nowhere is -EFAULT and no oops. KASAN does not see copy_from_kernel_nofault(): it is asked here.
 */
static inline int gp_read(void *dst, const void *src, size_t size)
{
	kasan_check_read(src, size);
	return copy_from_kernel_nofault(dst, src, size);
}

/* Copy a field, or element i of an array, to *dst as gp_read() does. 0 when it worked. */
#define gp_get(base, s, f, dst) gp_get_at(base, s, f, 0, dst)

#define gp_get_at(base, s, f, i, dst)                                                    \
	({                                                                               \
		GP_CHECK_TYPE(s, f, dst);                                                \
		gp_read(dst, gp_ptr(base, s, f) + (i) * sizeof(*(dst)), sizeof(*(dst))); \
	})

/* A flag of an optional row: 1, 0, or -1 when the driver does not say. */
#define gp_get_flag(base, s, f, feature)                                     \
	({                                                                   \
		bool flag_;                                                  \
		int known_ = gp_has(feature) && !gp_get(base, s, f, &flag_); \
		known_ ? flag_ : -1;                                         \
	})

/* Copy a field of a structure that may have been freed: no more than a hint. */
#define gp_peek(base, s, f, dst)                                                   \
	({                                                                         \
		GP_CHECK_TYPE(s, f, dst);                                          \
		copy_from_kernel_nofault(dst, gp_ptr(base, s, f), sizeof(*(dst))); \
	})

#define GP_CHECK_TYPE(s, f, dst) BUILD_BUG_ON(sizeof(*(dst)) != sizeof(*gp_layout.s##__##f.type))

#define GP_STAT_ENUM(key) GP_STAT_##key,

/* Counters for each key of the file stats, in its order: the module's own cost */
enum gp_stat { GP_VIEW_STATS(GP_STAT_ENUM) GP_STAT_COUNT };

/* The first of the three counters of a lock, which stand together. */
#define GP_STAT_LOCK(lock) GP_STAT_##lock##_taken

extern atomic64_t gp_stats[GP_STAT_COUNT];

#define gp_stat_add(stat, n) atomic64_add(n, &gp_stats[stat])
#define gp_stat_inc(stat)    atomic64_inc(&gp_stats[stat])

/* Count that a lock of the driver, GP_STAT_LOCK(lock), was held since then. */
void gp_stat_locked(enum gp_stat lock, ktime_t since);

/* Count a node that was not read, if it does not answer. */
void gp_stat_unread(enum gp_view_hardware why);

/* Log, and count, that the driver's data breaks this rule. Return -EUCLEAN, always. */
int gp_broken(const char *what);

/* Fill gp_layout. 0, or an error after a line in the log that names the row that is not so. */
int gp_layout_load(void);

/* The driver's symbols (symbols.c); an optional one is NULL when not found. */
struct gp_symbols {
	struct module *amdgpu;	  /* the module, with a reference held */
	struct hlist_head *table; /* kfd_processes_table, and how many heads it has */
	unsigned int buckets;
	/* SRCU of table: a process is not freed before a read section ends */
	struct srcu_struct *srcu;
	void *created, *released; /* functions for a probe */
	struct list_head *topology;
	struct rw_semaphore *topology_lock; /* while it is held no node of the list is freed */
};

extern struct gp_symbols gp_symbols;

/* Pin amdgpu and fill gp_symbols: 0, -ENODEV, -EAGAIN, -EOPNOTSUPP, with a line in the log. */
int gp_symbols_load(void);
void gp_symbols_release(void);

/*
 * Call a function for each process that KFD knows (table.c); the kfd_process stays until it
 * returns. What it returns ends the walk if it is not 0, and is returned.
 */
int gp_table_walk(int (*fn)(void *p, void *data), void *data);

/* The pid of its thread group with a reference, or NULL when that has ended. */
struct pid *gp_table_pid(void *p);

#endif /* GP_LAYOUT_TABLE_ONLY */
#endif /* GP_LAYOUT_H */
