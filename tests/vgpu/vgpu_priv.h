/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside the virtual GPU.  docs/vgpu.md tells the whole; in one sentence: the
 * driver's own code runs down to its register accesses, ring writes and memory
 * allocations, and what answers there is this module.
 */
#ifndef VGPU_PRIV_H
#define VGPU_PRIV_H

#include <linux/maple_tree.h>
#include <linux/module.h>
#include <linux/pci.h>
#include "amdgpu.h"
#include "amdgpu_amdkfd.h"
#include "amdgpu_reset.h"
#include "v9_structs.h"
#include "vgpu.h"
#include "vgpu_chip.h"
#include "vgpu_drift.h"
#include "vgpu_sched.h"

struct engine_launch;
struct kfd_process;
struct svm_range_bo;

/* Places of registers in an HQD register file, and of its copy in the MQD */
enum {
	HQD_ACTIVE = 2,
	HQD_VMID = 3,
	HQD_PIPE_PRIO = 5,
	HQD_QUEUE_PRIO = 6,
	HQD_PQ_BASE = 8,
	HQD_PQ_RPTR = 10,
	HQD_RPTR_REPORT = 11,
	HQD_WPTR_POLL = 13,
	HQD_DOORBELL = 15,
	HQD_PQ_CONTROL = 17,
	HQD_DEQUEUE = 24,
	HQD_PQ_WPTR = 54,
};
#define VGPU_HIQ_MEC	    1	/* the HIQ has pipe 0, queue 0 of this MEC */
#define VGPU_MQD_HQD_OFFSET 128 /* dwords of the MQD before its HQD copy */

/* Counters that user space reads; name, what is counted */
#define VGPU_COUNTERS(X)                                                      \
	X(set_resources, "SET_RESOURCES packets")                             \
	X(run_list, "RUN_LIST packets")                                       \
	X(map_process, "MAP_PROCESS packets")                                 \
	X(map_queues, "MAP_QUEUES packets")                                   \
	X(unmap_queues, "UNMAP_QUEUES packets")                               \
	X(query_status, "QUERY_STATUS packets")                               \
	X(write_data, "WRITE_DATA packets")                                   \
	X(nop, "NOP packets")                                                 \
	X(pm4_unknown, "PM4 packets not understood")                          \
	X(mes_set_resources, "SET_HW_RSRC frames to MES")                     \
	X(mes_add, "ADD_QUEUE frames")                                        \
	X(mes_remove, "REMOVE_QUEUE frames")                                  \
	X(mes_suspend, "SUSPEND frames")                                      \
	X(mes_resume, "RESUME frames")                                        \
	X(mes_misc, "MISC frames")                                            \
	X(mes_other, "other frames")                                          \
	X(mes_refused, "frames that were refused")                            \
	X(reg_reads, "register reads, all")                                   \
	X(reg_reads_hqd, "register reads in CP HQD files")                    \
	X(reg_reads_sdma, "register reads in SDMA RLC files")                 \
	X(reg_reads_occupancy, "register reads of wave counts")               \
	X(reg_reads_asleep, "register reads while it is runtime suspended")   \
	X(reg_writes, "register writes, all")                                 \
	X(dispatched, "AQL packets begun")                                    \
	X(retired, "AQL packets completed")                                   \
	X(saves, "packets saved in flight (CWSR)")                            \
	X(restores, "packets restored in flight (CWSR)")                      \
	X(rotations, "changes of the mapped set, over-subscribed")            \
	X(queue_resets, "queues reset through registers")                     \
	X(gpu_resets, "GPU resets")                                           \
	X(interrupts, "interrupts of signals and SDMA traps")                 \
	X(sdma_packets, "SDMA packets completed")                             \
	X(sdma_bytes, "bytes copied and filled by SDMA")                      \
	X(sdma_unknown, "SDMA packets not understood")                        \
	X(drain_irqs, "interrupt drains delivered")                           \
	X(foreign_calls, "calls of register hooks that are not the driver's") \
	X(bad_address, "accesses to unmapped user addresses")                 \
	X(code, "dispatches whose code was executed")                         \
	X(instructions, "instructions of their waves")                        \
	X(code_faults, "dispatches that ended because of their code")         \
	X(power_offs, "runtime suspends")                                     \
	X(power_ons, "runtime resumes")                                       \
	X(wakeups, "turns of the command processor for this GPU")

enum vgpu_counter {
#define VGPU_COUNTER_ENUM(name, what) VGPU_CNT_##name,
	VGPU_COUNTERS(VGPU_COUNTER_ENUM)
#undef VGPU_COUNTER_ENUM
		VGPU_CNT_MAX
};

/* Timing model, ns; each a module parameter and a file per device */
#define VGPU_TIMES(X)                                                      \
	X(packet_ns, 100000, "duration of a dispatch without our kernarg") \
	X(barrier_ns, 1000, "duration of a barrier or vendor packet")      \
	X(instruction_ns, 100, "an instruction of a wave")                 \
	X(unmap_ns, 10000, "UNMAP_QUEUES with nothing in flight")          \
	X(save_ns, 30000, "added when a packet in flight is saved")        \
	X(restore_ns, 30000, "delay after RUN_LIST when one is restored")  \
	X(sdma_ns, 1000, "an SDMA packet")                                 \
	X(sdma_mib_ns, 50000, "added for each MiB that SDMA moves")        \
	X(poll_ns, 500000, "doorbells are looked at this often with work") \
	X(quantum_ns, 1000000, "turn of one queue among equals")           \
	X(rotate_ns, 10000000, "turn of a mapped set when over-subscribed")

struct vgpu_times {
#define VGPU_TIME_FIELD(name, def, what) u64 name;
	VGPU_TIMES(VGPU_TIME_FIELD)
#undef VGPU_TIME_FIELD
};
extern struct vgpu_times vgpu_default_times;

/* Failures on request, see vgpu_fault.c */
struct vgpu_faults {
	u32 fail_preempt; /* the next unmap leaves one queue of this PID in its slot; 1: of any */
	bool fail_fence;  /* QUERY_STATUS is not answered */
	bool fail_create; /* no memory for MQDs */
	u32 drain;	  /* 1: drain interrupt delivered, 2: and its VMID set */
	bool keep_slot;	  /* a slot stays active when its queue is unmapped */
	bool in_reset, asleep, stopped, gfxoff, sriov; /* states that are held */
	bool dead;				       /* every register reads as all ones */
	u32 slow;				       /* ms that each register read takes */
	u32 autosuspend;   /* ms until runtime PM suspends it; 0: never */
	u32 flip_saved;	   /* this bit of the first wave that is saved is wrong, from 1 on; once */
	bool other_ring;   /* PQ_BASE of every slot is another one's */
	bool mes, apu;	   /* the device's own answers */
	bool foreign_hook; /* two register hooks lie outside the driver */
	bool data_hook;	   /* a register hook is the address of data of the driver */
};

/**
 * struct vgpu - one simulated GPU
 * @adev: what the driver sees; first, so that a drm_device leads here
 * @lock: command processor, queues, register files' writers, VM contents
 */
struct vgpu {
	struct amdgpu_device adev;
	int id;
	struct mutex lock; /* lock of queues, slots, VM contents */
	struct vgpu_times times;
	struct vgpu_faults faults;
	struct dentry *debugfs;
	struct task_struct *reset_holder;
	struct kfd2kgd_calls foreign_calls; /* while either is on */
	const struct kfd2kgd_calls *own_calls;
	u32 own_gfx_version; /* while faults.apu */
	atomic64_t counter[VGPU_CNT_MAX];
	struct xarray usage; /* by PID: struct vgpu_usage; under lock */

	/* GART: address -> struct vgpu_gtt; has its own lock */
	struct maple_tree gtt;
	u64 gtt_next;
	struct page *bar, *mmio; /* doorbells; the page that flushes HDP */
	DECLARE_BITMAP(bar_used, VGPU_BAR_PAGES);

	/* registers: what a select leads to.  Read without lock, as hardware is */
	u32 select[VGPU_MAX_XCCS]; /* GRBM_GFX_CNTL: a queue */
	u32 index[VGPU_MAX_XCCS];  /* GRBM_GFX_INDEX: a shader engine */
	u32 wait_times;
	u32 (*hqd)[VGPU_HQD_REGS];     /* [xcc][mec][pipe][queue] */
	u32 (*sdma)[VGPU_SDMA_STRIDE]; /* [engine][rlc] */

	/* command processor */
	struct vgpu_part part[VGPU_MAX_PARTS];
	struct list_head queues; /* run lists, each in order */
	struct vgpu_queue *running;
	bool idle; /* nothing was ready when it last looked */
	u64 time;  /* ns: the engine has got to here */
	u64 resume_at, quantum_end, rotate_at;
	u64 last_work; /* ns: a doorbell moved or a packet ran */
	u64 next_turn; /* ns: nothing is due before */
	u32 kiq_rptr[VGPU_MAX_XCCS];
	struct vgpu_mes mes;
};

#define vgpu_of(adev_)	    container_of(adev_, struct vgpu, adev)
#define vgpu_count(v, name) atomic64_inc(&(v)->counter[VGPU_CNT_##name])

static inline u64 vgpu_join64(const u32 *p)
{
	return p[0] | (u64)p[1] << 32;
}

/* No packet takes less: an engine always gets on */
static inline u64 vgpu_clamp_ns(u64 ns)
{
	return max(ns, 100ull);
}

#define VGPU_NOP_ONE_DWORD 0x3fff /* count of a NOP of PM4 without a second dword */

/* The MQD of a queue for the i-th XCC of its partition: for each packet, so inline */
static inline struct v9_mqd *vgpu_xcc_mqd(const struct vgpu_queue *q, int i)
{
	return q->mqd + (size_t)i * q->stride;
}

static inline u32 *vgpu_hqd(struct vgpu *v, int xcc, int mec, int pipe, int queue)
{
	return v->hqd[((xcc * VGPU_MECS + mec) * VGPU_PIPES + pipe) * VGPU_QUEUES_PER_PIPE + queue];
}

/* vgpu_main.c: parameters */
extern unsigned int vgpu_xccs, vgpu_parts;

/* XCCs of each partition */
static inline int vgpu_num_xcc(struct vgpu *v)
{
	return vgpu_xccs / vgpu_parts;
}

static inline struct vgpu_part *vgpu_part_of_xcc(struct vgpu *v, int xcc)
{
	return &v->part[xcc / vgpu_num_xcc(v)];
}

#define vgpu_for_each_part(v, p) for ((p) = (v)->part; (p) < (v)->part + vgpu_parts; (p)++)

/* vgpu_main.c: the devices that are there; written under vgpu_devices_lock */
extern struct vgpu *vgpu_devices[VGPU_MAX_GPUS];
extern struct mutex vgpu_devices_lock;

/* vgpu_pci.c: a PCI bus of our own with the GPUs on it */
int vgpu_pci_init(unsigned int gpus);
void vgpu_pci_exit(void);
int vgpu_pci_plug(unsigned int slot);
int vgpu_pci_unplug(unsigned int slot);

/* vgpu_dev.c: one device */
int vgpu_probe(struct pci_dev *pdev, const struct pci_device_id *id);
void vgpu_remove(struct pci_dev *pdev);

/* vgpu_profile.c: what the device says it is */
int vgpu_profile(struct vgpu *v);

/* vgpu_parts.c: partitions, for drivers that know them */
#ifdef VGPU_HAS_XCC
int vgpu_parts_init(struct vgpu *v);
void vgpu_parts_fini(struct vgpu *v);
#else
#define vgpu_parts_init(v) 0
#define vgpu_parts_fini(v) \
	do {               \
	} while (0)
#endif

/* vgpu_sym.c: driver functions by name; vgpu_hook.c: those we replace */
#define VGPU_SYMS(X)                                                             \
	X(amdgpu_amdkfd_device_probe, void, (struct amdgpu_device *))            \
	X(amdgpu_amdkfd_device_init, void, (struct amdgpu_device *))             \
	X(amdgpu_amdkfd_device_fini_sw, void, (struct amdgpu_device *))          \
	X(amdgpu_amdkfd_interrupt, void, (struct amdgpu_device *, const void *)) \
	X(amdgpu_amdkfd_post_reset, int, (struct amdgpu_device *))               \
	X(amdgpu_amdkfd_suspend, void, (struct amdgpu_device *, bool))           \
	X(amdgpu_amdkfd_resume, int, (struct amdgpu_device *, bool))             \
	X(amdgpu_amdkfd_fence_create, struct amdgpu_amdkfd_fence *,              \
	  (u64, struct mm_struct *, vgpu_fence_owner))                           \
	VGPU_DRIFT_SYMS(X)                                                       \
	X(amdgpu_reset_create_reset_domain, struct amdgpu_reset_domain *,        \
	  (enum amdgpu_reset_domain_type, char *))                               \
	X(amdgpu_reset_destroy_reset_domain, void, (struct kref *))              \
	X(amdgpu_info_ioctl, int, (struct drm_device *, void *, struct drm_file *))

struct vgpu_syms {
#define VGPU_SYM_FIELD(name, ret, args) ret(*name) args;
	VGPU_SYMS(VGPU_SYM_FIELD)
#undef VGPU_SYM_FIELD
};
extern struct vgpu_syms vgpu_syms;
int vgpu_sym_init(void);
void vgpu_sym_exit(void);
unsigned long vgpu_sym(const char *name);
unsigned long vgpu_kernel_sym(const char *name);
bool vgpu_kfd_used(void);
struct hlist_head *vgpu_kfd_processes(int bucket);

/**
 * struct vgpu_hook - a driver function that the virtual GPU answers
 * @name: of the function in amdgpu.ko
 * @to: what runs instead, same signature
 * @ours: of the first argument: does it belong to a virtual GPU?
 */
struct vgpu_hook {
	const char *name;
	void *to;
	bool (*ours)(unsigned long arg0);
	unsigned long addr;
};
int vgpu_hook_init(void);
void vgpu_hook_exit(void);
bool vgpu_is_adev(unsigned long adev);
bool vgpu_is_mem(unsigned long mem);
bool vgpu_is_bo_ptr(unsigned long bo_ptr);
bool vgpu_is_bo(unsigned long bo);
extern struct vgpu_hook vgpu_mem_hooks[], vgpu_doorbell_hooks[], vgpu_bo_hooks[], vgpu_vm_hooks[],
	vgpu_dev_hooks[], vgpu_mes_hooks[];

/* vgpu_gtt.c: GART */
void vgpu_gtt_init(struct vgpu *v);
void vgpu_gtt_fini(struct vgpu *v);
void *vgpu_gtt_ptr(struct vgpu *v, u64 addr, size_t len);
int vgpu_gtt_alloc(struct vgpu *v, size_t size, void **handle, u64 *addr, void **cpu);
void vgpu_gtt_free(struct vgpu *v, void **handle);

/* vgpu_doorbell.c: the BAR of doorbells */
int vgpu_bar_init(struct vgpu *v);
void vgpu_bar_fini(struct vgpu *v);
u64 __iomem *vgpu_doorbell(struct vgpu *v, u32 dword);

/* vgpu_drm.c: render node; vgpu_bo.c: buffers; vgpu_vm.c: process memory */
extern const struct drm_driver vgpu_drm_driver;
extern const struct file_operations vgpu_drm_fops;

/* A buffer of a process.  Freed by the last reference of its GEM object. */
struct vgpu_mem {
	struct kgd_mem mem; /* first: what KFD holds */
	struct amdgpu_bo bo;
	struct page **pages; /* pinned user pages, else NULL */
	unsigned long npages;
	void *kva; /* kernel mapping; NULL: has no memory here */
	u64 gart;  /* its address in GART while it has one */
};

/* A buffer in one VM */
struct vgpu_attach {
	struct kfd_mem_attachment att;
	struct amdgpu_bo_va bo_va;
	struct amdgpu_bo_va_mapping map;
};

struct vgpu *vgpu_of_bdev(struct ttm_device *bdev);
void *vgpu_user_ptr(struct vgpu *v, u32 pasid, u64 va, size_t len);
void vgpu_vm_detach(struct amdgpu_vm *vm);
int vgpu_vm_evict(pid_t pid);
extern bool vgpu_short_of_memory;

/* vgpu_reg.c: registers */
u32 vgpu_rreg(struct amdgpu_device *adev, u32 addr);
void vgpu_wreg(struct amdgpu_device *adev, u32 addr, u32 val);
void vgpu_reg_tables(struct vgpu *v);
u32 *vgpu_rlc(struct vgpu *v, int engine, int rlc);

/* vgpu_kiq.c: the ring through which the driver starts its HIQ */
int vgpu_kiq_init(struct vgpu *v);
void vgpu_kiq_fini(struct vgpu *v);
void vgpu_hiq_stop(struct vgpu *v, int xcc);

/* vgpu_cp.c: command processor; vgpu_slot.c: slots; vgpu_aql.c: packets */
int vgpu_cp_init(void);
void vgpu_cp_exit(void);
void vgpu_cp_kick(void);
void vgpu_cp_drop_all(struct vgpu *v);
void vgpu_hiq_reset(struct vgpu *v, struct vgpu_part *p);
void vgpu_slots_assign(struct vgpu *v, struct vgpu_part *p);
void vgpu_slot_sync(struct vgpu *v, struct vgpu_queue *q);
void vgpu_queue_unload(struct vgpu *v, struct vgpu_queue *q);
void vgpu_slots_clear(struct vgpu *v);
void vgpu_queue_reset(struct vgpu *v, int xcc, u32 select);
void vgpu_rotate(struct vgpu *v, u64 now);
struct vgpu_queue *vgpu_queue_new(struct vgpu *v, struct vgpu_part *p,
				  const struct vgpu_queue_args *args);
void vgpu_slot_place(struct vgpu *v, struct vgpu_queue *q);
void vgpu_vmid_release(struct vgpu *v, struct vgpu_part *p, u32 pasid);

/* vgpu_rlc.c: SDMA queues in their RLCs */
bool vgpu_rlc_init(struct vgpu *v, struct vgpu_queue *q);
void vgpu_rlc_sync(struct vgpu *v, struct vgpu_queue *q);
void vgpu_rlc_load(struct vgpu *v, struct vgpu_queue *q);
void vgpu_rlc_unload(struct vgpu *v, struct vgpu_queue *q);
void vgpu_doorbell_arm(struct vgpu_queue *q, u64 *doorbell);

/* vgpu_mes.c: the scheduler of gfx 11 and 12, in place of the HIQ */
#ifdef VGPU_HAS_MES_RINGS
int vgpu_mes_init(struct vgpu *v);
int vgpu_mes_start(struct vgpu *v);
void vgpu_mes_fini(struct vgpu *v);
u64 vgpu_mes_step(struct vgpu *v, u64 now);
void vgpu_mes_reset(struct vgpu *v);
#else /* no row of vgpu_chip.c has MES */
#define vgpu_mes_init(v)  0
#define vgpu_mes_start(v) 0
#define vgpu_mes_fini(v) \
	do {             \
	} while (0)
#define vgpu_mes_step(v, now) U64_MAX
#define vgpu_mes_reset(v) \
	do {              \
	} while (0)
#endif
void vgpu_queue_free(struct vgpu *v, struct vgpu_queue *q);
bool vgpu_any_busy(struct vgpu *v);
bool vgpu_engine_on(struct vgpu *v);
void vgpu_engine_run(struct vgpu *v, u64 until);
u64 vgpu_engine_next(struct vgpu *v, u64 now);
void vgpu_engine_poll(struct vgpu *v, u64 now);

/* vgpu_waves.c: waves in flight, and what processes have used */
/* Places in a dispatch packet, from the HSA specification, in bytes */
#define AQL_SETUP     2	 /* bits 1:0: dimensions */
#define AQL_WORKGROUP 4	 /* work-items, three of 16 bits */
#define AQL_GRID      12 /* work-items, three of 32 bits */
#define AQL_KERNEL    32 /* address of the kernel's descriptor */
void vgpu_waves_begin(struct vgpu *v, struct vgpu_queue *q, const void *pkt);
u32 vgpu_waves_status(struct vgpu *v, int xcc);
u32 vgpu_waves_count(struct vgpu *v, int xcc, int pipe, int queue);
void vgpu_busy_add(struct vgpu *v, const struct vgpu_queue *q, u64 ns);
void vgpu_usage_init(struct vgpu *v);
void vgpu_usage_fini(struct vgpu *v);
void vgpu_usage_files(struct vgpu *v);

/* vgpu_shader.c: dispatches whose code is executed, by an engine in QEMU's process */
#define VGPU_UNTIL_OVER (1ull << 62) /* ns left of a packet whose end is not known */
int vgpu_shader_init(void);
void vgpu_shader_exit(void);
void vgpu_shader_files(struct dentry *root);
bool vgpu_shader_there(void);
bool vgpu_shader_begin(struct vgpu *v, struct vgpu_queue *q, const struct engine_launch *launch);
u64 vgpu_shader_run(struct vgpu *v, struct vgpu_queue *q, u64 ns);
void vgpu_shader_save(struct vgpu *v, struct vgpu_queue *q);
void vgpu_shader_restore(struct vgpu *v, struct vgpu_queue *q);
void vgpu_shader_drop(struct vgpu *v, struct vgpu_queue *q);
void vgpu_shader_unmapped(void);

/* vgpu_irq.c: interrupts; vgpu_sdma.c: SDMA packets */
void vgpu_sdma_run(struct vgpu *v, struct vgpu_queue *q, u64 until);
bool vgpu_poll_holds(u32 function, u32 val, u32 ref);
void vgpu_store(struct vgpu *v, struct vgpu_queue *q, u64 addr, u64 val, size_t bytes);

/* vgpu_pm4.c: PM4 packets of user queues */
bool vgpu_pm4_begin(struct vgpu *v, struct vgpu_queue *q);
void vgpu_pm4_end(struct vgpu *v, struct vgpu_queue *q);
void vgpu_irq_signal(struct vgpu *v, struct vgpu_queue *q, u32 event);
void vgpu_irq_sdma(struct vgpu *v, struct vgpu_queue *q, u32 context);

/* vgpu_fault.c: counters, times, switches in debugfs; GPU reset */
void vgpu_fault_init(struct vgpu *v);
void vgpu_fault_fini(struct vgpu *v);
void vgpu_reset_work(struct work_struct *work);
void vgpu_debugfs_init(void);
void vgpu_nomem_init(struct dentry *root);
void vgpu_nomem_exit(void);
void vgpu_returns(void);
void vgpu_debugfs_exit(void);

/* vgpu_power.c: runtime PM */
extern const struct dev_pm_ops vgpu_pm_ops;
void vgpu_power_files(struct vgpu *v);
void vgpu_power_fini(struct vgpu *v);

/* vgpu_order.c: what a test orders once */
void vgpu_orders_init(struct dentry *root);
void vgpu_orders_exit(void);

/* vgpu_steps.c */
void vgpu_steps_init(struct dentry *root);
void vgpu_steps_exit(void);

/* vgpu_chaos.c: threads are switched at pseudo-random times */
void vgpu_chaos_init(struct dentry *root);
int vgpu_chaos_start(void);
void vgpu_chaos_exit(void);

#endif
