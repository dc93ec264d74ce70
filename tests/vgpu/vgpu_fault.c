// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that a test reads and sets: /sys/kernel/debug/vgpu/<n>/ with counters, the state of the
 * queues, the times of the model and a switch for every failure. And the GPU reset, when the
 * driver asks.
 */
#include <linux/debugfs.h>
#include <linux/kthread.h>
#include <linux/pm_runtime.h>
#include <linux/seq_file.h>
#include "vgpu_drift_kfd.h"
#include "vgpu_priv.h"

static struct dentry *root;

static const struct {
	const char *name, *what;
} counters[] = {
#define VGPU_COUNTER_ROW(name, what) { #name, what },
	VGPU_COUNTERS(VGPU_COUNTER_ROW)
};

static int counters_show(struct seq_file *s, void *unused)
{
	struct vgpu *v = s->private;
	int i;

	for (i = 0; i < VGPU_CNT_MAX; i++)
		seq_printf(s, "%s %lld\n", counters[i].name, atomic64_read(&v->counter[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

static int state_show(struct seq_file *s, void *unused)
{
	struct vgpu *v = s->private;
	struct vgpu_queue *q;
	struct vgpu_part *p;

	mutex_lock(&v->lock);
	vgpu_for_each_part(v, p)
		seq_printf(s, "hiq %d queue_mask %#llx vmid_mask %#x\n", p->hiq.loaded,
			   p->queue_mask, p->vmid_mask);
	seq_puts(s, "# type pasid vmid pipe queue doorbell mqd priority rptr wptr busy\n");
	list_for_each_entry(q, &v->queues, node)
		seq_printf(s, "%s %u %u %d %d %#x %#llx %u %llu %llu %d\n",
			   q->sdma ? "sdma" :
			   q->aql  ? "aql" :
				     "pm4",
			   q->pasid, q->vmid, q->sdma ? q->engine : q->pipe,
			   q->sdma ? q->rlc : q->queue, q->doorbell, q->mqd_addr, q->priority,
			   q->rptr, q->wptr, !!q->work.magic);
	mutex_unlock(&v->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

/* Hold the lock under which the driver resets, as a reset that does not end */
static int reset_hold(void *data)
{
	struct amdgpu_reset_domain *domain = ((struct vgpu *)data)->adev.reset_domain;

	down_write(&domain->sem);
	atomic_set(&domain->in_gpu_reset, 1);
	while (!kthread_should_stop()) {
		set_current_state(TASK_IDLE);
		if (!kthread_should_stop())
			schedule();
		__set_current_state(TASK_RUNNING);
	}
	atomic_set(&domain->in_gpu_reset, 0);
	up_write(&domain->sem);
	return 0;
}

static int set_in_reset(struct vgpu *v, bool on)
{
	struct task_struct *t;

	if (!on) {
		kthread_stop(v->reset_holder);
		v->reset_holder = NULL;
		return 0;
	}
	t = kthread_run(reset_hold, v, "vgpu-reset-hold");
	if (IS_ERR(t))
		return PTR_ERR(t);
	v->reset_holder = t;
	return 0;
}

/* Runtime PM reports suspended, with any references held */
static int set_asleep(struct vgpu *v, bool on)
{
	struct device *dev = v->adev.dev;

	pm_runtime_disable(dev);
	if (on)
		pm_runtime_set_suspended(dev);
	else
		pm_runtime_set_active(dev);
	pm_runtime_enable(dev);
	return 0;
}

/* The driver's own stop and start of its scheduler, as at runtime suspend */
static int set_stopped(struct vgpu *v, bool on)
{
	if (!on)
		return vgpu_syms.amdgpu_amdkfd_resume(&v->adev, VGPU_KEEP_PROCESSES);
	vgpu_syms.amdgpu_amdkfd_suspend(&v->adev, VGPU_KEEP_PROCESSES);
	return 0;
}

/* A part whose graphics core may be off at any time, without a request */
static int set_gfxoff(struct vgpu *v, bool on)
{
	if (on)
		v->adev.pm.pp_feature |= PP_GFXOFF_MASK;
	else
		v->adev.pm.pp_feature &= ~PP_GFXOFF_MASK;
	return 0;
}

/* A virtual function, to those who ask */
static int set_sriov(struct vgpu *v, bool on)
{
	if (on)
		v->adev.virt.caps |= AMDGPU_SRIOV_CAPS_IS_VF;
	else
		v->adev.virt.caps &= ~AMDGPU_SRIOV_CAPS_IS_VF;
	return 0;
}

/* The scheduler is MES, to those who ask; set it for no longer than one look */
static int set_mes(struct vgpu *v, bool on)
{
	v->adev.kfd.dev->shared_resources.enable_mes = on;
	return 0;
}

#define RENOIR 90012 /* gfx_target_version of an APU with GFXOFF */

/* An APU of gfx 9, which has GFXOFF and whose graphics core is asked for */
static int set_apu(struct vgpu *v, bool on)
{
	struct amdgpu_device *adev = &v->adev;
	u32 *gfx = &adev->kfd.dev->device_info.gfx_target_version;

	if (on) {
		v->own_gfx_version = *gfx;
		*gfx = RENOIR;
		adev->flags |= AMD_IS_APU;
		adev->gfx.gfx_off_req_count++;
		adev->pm.pp_feature |= PP_GFXOFF_MASK;
	} else {
		adev->pm.pp_feature &= ~PP_GFXOFF_MASK;
		adev->gfx.gfx_off_req_count--;
		adev->flags &= ~AMD_IS_APU;
		*gfx = v->own_gfx_version;
	}
	return 0;
}

static int foreign_dump(VGPU_AND_INST(struct amdgpu_device *adev, u32 pipe, u32 queue,
				      u32 (**dump)[2], u32 *n_regs))
{
	vgpu_count(vgpu_of(adev), foreign_calls);
	return -EIO;
}

static bool foreign_is_occupied(VGPU_AND_INST(struct amdgpu_device *adev, u64 ring, u32 pipe,
					      u32 queue))
{
	vgpu_count(vgpu_of(adev), foreign_calls);
	return false;
}

/* The driver's hooks, or those in foreign_calls, made of them by the caller */
static int set_calls(struct vgpu *v, bool on)
{
	struct kfd_dev *kfd = v->adev.kfd.dev;
	int i;

	for (i = 0; i < vgpu_num_nodes(kfd); i++)
		WRITE_ONCE(*vgpu_node_calls(kfd, i), on ? &v->foreign_calls : v->own_calls);
	return 0;
}

static void copy_calls(struct vgpu *v)
{
	v->own_calls = *vgpu_node_calls(v->adev.kfd.dev, 0);
	v->foreign_calls = *v->own_calls;
}

/* Hooks at the right place, of the right prototype, that are not the driver's */
static int set_foreign_hook(struct vgpu *v, bool on)
{
	if (on) {
		copy_calls(v);
		v->foreign_calls.hqd_dump = foreign_dump;
		v->foreign_calls.hqd_is_occupied = foreign_is_occupied;
	}
	return set_calls(v, on);
}

/* A hook that is the driver's, and no code: its table of hooks */
static int set_data_hook(struct vgpu *v, bool on)
{
	if (on) {
		copy_calls(v);
#ifdef VGPU_HAS_XCC
		v->foreign_calls.get_iq_wait_times = (void *)v->own_calls;
#else /* there is none, as in 6.1 */
		v->foreign_calls.hqd_dump = (void *)v->own_calls;
#endif
	}
	return set_calls(v, on);
}

/* Hardware that says of a queue that it is unmapped and goes on with it */
static int set_keep_slot(struct vgpu *v, bool on)
{
	mutex_lock(&v->lock);
	v->faults.keep_slot = on;
	if (!on)
		vgpu_slots_clear(v);
	mutex_unlock(&v->lock);
	return 0;
}

/* Switches that do something when they are set */
/* clang-format off */
#define VGPU_STATE_SWITCHES(X) \
	X(in_reset) X(asleep) X(stopped) X(gfxoff) X(sriov) X(keep_slot) \
	X(mes) X(apu) X(foreign_hook) X(data_hook)
/* clang-format on */

/* clang-format off */
#define VGPU_STATE_ATTR(name) \
	static int name##_get(void *data, u64 *val) \
	{ \
		*val = ((struct vgpu *)data)->faults.name; \
		return 0; \
	} \
	static int name##_set(void *data, u64 val) \
	{ \
		struct vgpu *v = data; \
		int ret; \
\
		if (!!val == v->faults.name) \
			return 0; \
		ret = set_##name(v, val); \
		if (!ret) \
			v->faults.name = val; \
		return ret; \
	} \
	DEFINE_DEBUGFS_ATTRIBUTE(name##_fops, name##_get, name##_set, "%llu\n")
/* clang-format on */
VGPU_STATE_ATTR(in_reset);
VGPU_STATE_ATTR(asleep);
VGPU_STATE_ATTR(stopped);
VGPU_STATE_ATTR(gfxoff);
VGPU_STATE_ATTR(sriov);
VGPU_STATE_ATTR(keep_slot);
VGPU_STATE_ATTR(mes);
VGPU_STATE_ATTR(apu);
VGPU_STATE_ATTR(foreign_hook);
VGPU_STATE_ATTR(data_hook);

void vgpu_fault_init(struct vgpu *v)
{
	char name[4];

	snprintf(name, sizeof(name), "%d", v->id);
	v->debugfs = debugfs_create_dir(name, root);
	debugfs_create_file("counters", 0444, v->debugfs, v, &counters_fops);
	vgpu_usage_files(v);
	vgpu_power_files(v);
	debugfs_create_file("state", 0444, v->debugfs, v, &state_fops);
#define VGPU_TIME_FILE(name, def, what) debugfs_create_u64(#name, 0644, v->debugfs, &v->times.name);
	VGPU_TIMES(VGPU_TIME_FILE)
#define VGPU_STATE_FILE(name) debugfs_create_file_unsafe(#name, 0644, v->debugfs, v, &name##_fops);
	VGPU_STATE_SWITCHES(VGPU_STATE_FILE)
	debugfs_create_u32("fail_preempt", 0644, v->debugfs, &v->faults.fail_preempt);
	debugfs_create_bool("fail_fence", 0644, v->debugfs, &v->faults.fail_fence);
	debugfs_create_bool("fail_create", 0644, v->debugfs, &v->faults.fail_create);
	debugfs_create_u32("flip_saved", 0644, v->debugfs, &v->faults.flip_saved);
	debugfs_create_u32("drain", 0644, v->debugfs, &v->faults.drain);
	debugfs_create_bool("dead", 0644, v->debugfs, &v->faults.dead);
	debugfs_create_u32("slow", 0644, v->debugfs, &v->faults.slow);
	debugfs_create_bool("other_ring", 0644, v->debugfs, &v->faults.other_ring);
	debugfs_create_bool("no_access", 0644, v->debugfs, &v->adev.no_hw_access);
}

void vgpu_fault_fini(struct vgpu *v)
{
	debugfs_remove(v->debugfs);
	vgpu_power_fini(v);
	v->faults.slow = 0;
#define VGPU_STATE_END(name)                         \
	if (v->faults.name && !set_##name(v, false)) \
		v->faults.name = false;
	VGPU_STATE_SWITCHES(VGPU_STATE_END)
}

/*
 * The driver's reset work, in the driver's order, with this device in place of
 * the chip: what was mapped and what was in flight is lost.
 */
void vgpu_reset_work(struct work_struct *work)
{
	struct amdgpu_device *adev = container_of(work, struct amdgpu_device, kfd.reset_work);
	struct amdgpu_reset_context context = { .reset_req_dev = adev };
	struct vgpu *v = vgpu_of(adev);
	struct vgpu_part *p;

	vgpu_count(v, gpu_resets);
	atomic_set(&adev->reset_domain->in_gpu_reset, 1);
	down_write(&adev->reset_domain->sem);
	vgpu_pre_reset(adev, &context);
	mutex_lock(&v->lock);
	vgpu_for_each_part(v, p) {
		WRITE_ONCE(p->hiq.on, false);
		vgpu_hiq_reset(v, p);
	}
	if (vgpu_chip->mes)
		vgpu_mes_reset(v);
	mutex_unlock(&v->lock);
	vgpu_syms.amdgpu_amdkfd_post_reset(adev);
	atomic_set(&adev->reset_domain->in_gpu_reset, 0);
	up_write(&adev->reset_domain->sem);
}

void vgpu_debugfs_init(void)
{
	root = debugfs_create_dir("vgpu", NULL);
	debugfs_create_bool("short_of_memory", 0600, root, &vgpu_short_of_memory);
	vgpu_shader_files(root);
	vgpu_orders_init(root);
	vgpu_steps_init(root);
	vgpu_chaos_init(root);
	vgpu_nomem_init(root);
}

void vgpu_debugfs_exit(void)
{
	vgpu_steps_exit();
	vgpu_orders_exit();
	debugfs_remove(root);
	vgpu_nomem_exit();
}
