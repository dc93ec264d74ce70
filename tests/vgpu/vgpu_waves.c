// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waves in flight: what the SPI's registers say of them, and what a test compares that with.
 *
 * A dispatch has as many waves as its workgroups make, at most as many as fit.  All
 * of them are in flight while its packet executes, and no others: a packet that waits
 * for its turn, a barrier and SDMA have none.  Workgroups go to the XCCs of the
 * partition in turn, from the one on that the queue's MQDs say, and on each XCC to the
 * shader engines in turn.
 *
 * All but the two functions of registers and the files under vgpu.lock.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "gc/gc_9_0_sh_mask.h"
#include "vgpu_priv.h"

/* In the descriptor of a kernel */
#define KERNEL_PROPERTIES 56 /* bytes */
#define KERNEL_WAVE32	  BIT(10)

/**
 * struct vgpu_usage - what a process has used of the GPU; it only grows
 * @busy_ns: time in which its packets have executed, SDMA too
 * @waves_ns: time in which it had waves in flight
 * @wave_ns: the sum of that time over the waves
 * @xcc_ns: time in which it had waves on an XCC
 */
struct vgpu_usage {
	u64 busy_ns, waves_ns, wave_ns, xcc_ns[VGPU_MAX_XCCS];
};

/* Waves that a shader engine has room for */
static u32 engine_holds(void)
{
	const struct vgpu_shaders *s = &vgpu_chip->shaders;

	return s->arrays * hweight16(s->cu_bitmap) * s->simds * s->waves;
}

/*
 * Work-items of a wave.  From gfx 10 on a kernel says which of two it was compiled for, in its
 * descriptor (LLVM's "User Guide for AMDGPU Backend").
 */
static u32 wave_items(struct vgpu *v, const struct vgpu_queue *q, const void *pkt)
{
	u32 usual = vgpu_chip->shaders.wave_size;
	u64 kernel = *(const u64 *)(pkt + AQL_KERNEL);
	u16 *properties = NULL;

	if (usual == 32 && kernel)
		properties = vgpu_user_ptr(v, q->pasid, kernel + KERNEL_PROPERTIES, 2);
	return properties && !(*properties & KERNEL_WAVE32) ? 64 : usual;
}

/* A dispatch begins: its workgroups that are in flight, and the waves of each */
void vgpu_waves_begin(struct vgpu *v, struct vgpu_queue *q, const void *pkt)
{
	const u16 *size = pkt + AQL_WORKGROUP;
	const u32 *grid = pkt + AQL_GRID;
	u32 room = engine_holds(), waves;
	u64 items = 1, groups = 1, side;
	int i, dims;

	dims = READ_ONCE(*(const u16 *)(pkt + AQL_SETUP)) & 3;
	for (i = 0; i < dims; i++) {
		side = max_t(u64, READ_ONCE(size[i]), 1);
		items *= side;
		groups *= DIV_ROUND_UP(max_t(u64, READ_ONCE(grid[i]), 1), side);
		groups = min_t(u64, groups, U16_MAX);
	}
	waves = min_t(u64, DIV_ROUND_UP(items, wave_items(v, q, pkt)), room);
	room = room / waves * vgpu_chip->shaders.engines * vgpu_num_xcc(v);
	q->work.groups = min_t(u64, groups, room);
	q->work.group_waves = waves;
}

static u32 work_waves(const struct vgpu_work *w)
{
	return (u32)w->groups * w->group_waves;
}

/*
 * Workgroups on the i-th XCC of the partition.  init_mqd_v9_4_3() numbers the XCCs for
 * each AQL queue, from another one on, and gives the workgroups to them one by one; a PM4
 * queue has one XCC.
 */
static u32 xcc_groups(struct vgpu *v, const struct vgpu_queue *q, int i)
{
	const struct v9_mqd *m = vgpu_xcc_mqd(q, i);
	int xccs = vgpu_num_xcc(v);

	if (xccs == 1)
		return q->work.groups;
	if (!vgpu_xcc_chunk(m))
		return i == vgpu_xcc_target(m) ? q->work.groups : 0;
	return q->work.groups / xccs + (vgpu_xcc_number(m) < q->work.groups % xccs);
}

static u32 engine_waves(struct vgpu *v, const struct vgpu_queue *q, int i, u32 engine)
{
	u32 groups = xcc_groups(v, q, i), engines = vgpu_chip->shaders.engines;

	if (engine >= engines)
		return 0;
	return (groups / engines + (engine < groups % engines)) * q->work.group_waves;
}

/*
 * The queue whose packet executes at this moment, or NULL.  The engine is as late as
 * the command processor's last turn, and a register is not.
 */
static struct vgpu_queue *executing(struct vgpu *v)
{
	u64 now = ktime_get_ns();

	if (!vgpu_engine_on(v))
		return NULL;
	vgpu_engine_run(v, now);
	/* When something was just saved or restored nothing executes until then. */
	if (!v->running || !v->running->work.magic || v->resume_at > now)
		return NULL;
	return v->running;
}

/* Waves of a slot on an XCC, in the shader engine that GRBM_GFX_INDEX selects */
static u32 slot_waves(struct vgpu *v, int xcc, const struct vgpu_queue *q)
{
	u32 engine = REG_GET_FIELD(READ_ONCE(v->index[xcc]), GRBM_GFX_INDEX, SE_INDEX);

	if (!q || q->part != vgpu_part_of_xcc(v, xcc))
		return 0;
	return engine_waves(v, q, xcc - q->part->first_xcc, engine);
}

/* SPI_CSQ_WF_ACTIVE_STATUS: a bit for each queue that has waves */
u32 vgpu_waves_status(struct vgpu *v, int xcc)
{
	struct vgpu_queue *q;
	u32 map = 0;

	mutex_lock(&v->lock);
	q = executing(v);
	if (slot_waves(v, xcc, q))
		map = 1u << (q->pipe * vgpu_chip->queues_per_pipe + q->queue);
	mutex_unlock(&v->lock);
	return map;
}

/* SPI_CSQ_WF_ACTIVE_COUNT of a queue in the selected pipe */
u32 vgpu_waves_count(struct vgpu *v, int xcc, int pipe, int queue)
{
	struct vgpu_queue *q;
	u32 waves = 0;

	mutex_lock(&v->lock);
	q = executing(v);
	if (q && q->pipe == pipe && q->queue == queue)
		waves = slot_waves(v, xcc, q);
	mutex_unlock(&v->lock);
	return waves;
}

/*
 * Time that packets of a process have run here.  What a test says of a process
 * that is held is this figure, and not what some program believes.
 */
void vgpu_busy_add(struct vgpu *v, const struct vgpu_queue *q, u64 ns)
{
	struct amdgpu_vm *vm = vgpu_vm_of_pasid(&v->adev, q->pasid);
	u32 waves = work_waves(&q->work);
	struct vgpu_usage *use;
	int i;

	/* By PID: newer drivers have a PASID for each file, and sysfs has none. */
	if (!vm)
		return;
	use = xa_load(&v->usage, vgpu_task(vm)->tgid);
	if (!use) {
		use = kzalloc(sizeof(*use), GFP_KERNEL);
		if (!use)
			return;
		xa_store(&v->usage, vgpu_task(vm)->tgid, use, GFP_KERNEL);
	}
	use->busy_ns += ns;
	use->waves_ns += waves ? ns : 0;
	use->wave_ns += waves * ns;
	for (i = 0; waves && i < vgpu_num_xcc(v); i++)
		if (xcc_groups(v, q, i))
			use->xcc_ns[q->part->first_xcc + i] += ns;
}

static int vgpu_busy_show(struct seq_file *s, void *unused)
{
	struct vgpu *v = s->private;
	struct vgpu_usage *use;
	unsigned long pid;
	int i;

	seq_puts(s, "# pid busy_ns waves_ns wave_ns xcc_ns...\n");
	mutex_lock(&v->lock);
	xa_for_each(&v->usage, pid, use) {
		seq_printf(s, "%lu %llu %llu %llu", pid, use->busy_ns, use->waves_ns, use->wave_ns);
		for (i = 0; i < vgpu_xccs; i++)
			seq_printf(s, " %llu", use->xcc_ns[i]);
		seq_putc(s, '\n');
	}
	mutex_unlock(&v->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vgpu_busy);

static int vgpu_waves_show(struct seq_file *s, void *unused)
{
	struct vgpu *v = s->private;
	struct vgpu_queue *q, *now;
	struct amdgpu_vm *vm;
	u32 waves, first;

	seq_puts(s, "# pid pipe queue doorbell waves first_xcc\n");
	mutex_lock(&v->lock);
	now = executing(v);
	list_for_each_entry(q, &v->queues, node) {
		if (q->sdma || !q->loaded)
			continue;
		vm = vgpu_vm_of_pasid(&v->adev, q->pasid);
		waves = q == now ? work_waves(&q->work) : 0;
		first = waves ? xcc_groups(v, q, 0) * q->work.group_waves : 0;
		seq_printf(s, "%d %d %d %#x %u %u\n", vm ? vgpu_task(vm)->tgid : 0, q->pipe,
			   q->queue, q->doorbell, waves, first);
	}
	mutex_unlock(&v->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vgpu_waves);

void vgpu_usage_init(struct vgpu *v)
{
	xa_init(&v->usage);
}

/* Files of what processes use, and of waves now */
void vgpu_usage_files(struct vgpu *v)
{
	debugfs_create_file("busy", 0444, v->debugfs, v, &vgpu_busy_fops);
	debugfs_create_file("waves", 0444, v->debugfs, v, &vgpu_waves_fops);
}

void vgpu_usage_fini(struct vgpu *v)
{
	struct vgpu_usage *use;
	unsigned long pid;

	xa_for_each(&v->usage, pid, use)
		kfree(use);
	xa_destroy(&v->usage);
}
