// SPDX-License-Identifier: GPL-2.0-only
/*
 * Orders of a test, each by one write to a file of /sys/kernel/debug/vgpu/: a GPU plugged or
 * unplugged, a process evicted, its debug session ended, KFD's facts about it changed to those
 * that another driver or process would have.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hw_breakpoint.h>
#include "vgpu_drift_kfd.h"
#include "vgpu_priv.h"

/* Whatever is written: look at the doorbells now, as hardware would */
static ssize_t kick_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	vgpu_cp_kick();
	return len;
}

static const struct file_operations kick_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = kick_write,
};

static int plug_set(void *data, u64 slot)
{
	return vgpu_pci_plug(slot);
}
DEFINE_DEBUGFS_ATTRIBUTE(plug_fops, NULL, plug_set, "%llu\n");

/* A GPU that a process has open stays */
static int unplug_set(void *data, u64 slot)
{
	struct vgpu *v;
	bool used;

	mutex_lock(&vgpu_devices_lock);
	v = slot < VGPU_MAX_GPUS ? vgpu_devices[slot] : NULL;
	used = v && atomic_read(&v->adev.ddev.open_count);
	mutex_unlock(&vgpu_devices_lock);
	return used || vgpu_kfd_used() ? -EBUSY : vgpu_pci_unplug(slot);
}
DEFINE_DEBUGFS_ATTRIBUTE(unplug_fops, NULL, unplug_set, "%llu\n");

static int evict_set(void *data, u64 pid)
{
	return vgpu_vm_evict(pid);
}
DEFINE_DEBUGFS_ATTRIBUTE(evict_fops, NULL, evict_set, "%llu\n");

static struct kfd_process *find_process(pid_t pid)
{
	struct hlist_head *head;
	struct kfd_process *p;
	int i;

	for (i = 0; (head = vgpu_kfd_processes(i)); i++)
		hlist_for_each_entry(p, head, kfd_processes)
			/* Not one that same_pid has made a context of it. */
			if (task_tgid_nr(p->lead_thread) == pid &&
			    (!p->lead_thread->mm || p->mm == p->lead_thread->mm))
				return p;
	return NULL;
}

/*
 * "A B": what KFD has of process B is one more of process A's from now on, as
 * newer drivers have several.  Only for processes that stay meanwhile.  These
 * drivers number the contexts of a process, the first as 0xffff; this one has no
 * such field, and the time of the last restore, which only delays evictions, takes
 * the numbers for a test whose BTF has it as context_id.  "A A" gives A a number.
 */
static ssize_t same_pid_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	static u16 number;
	struct kfd_process *a, *b;
	struct task_struct *was;
	char text[32] = "";
	pid_t of, pid;

	if (len >= sizeof(text) || copy_from_user(text, buf, len) ||
	    sscanf(text, "%d %d", &of, &pid) != 2)
		return -EINVAL;
	a = find_process(of);
	b = find_process(pid);
	if (!a || !b)
		return -ESRCH;
	was = b->lead_thread;
	WRITE_ONCE(b->lead_thread, get_task_struct(a->lead_thread));
	put_task_struct(was);
	WRITE_ONCE(a->last_restore_timestamp, 0xffff);
	WRITE_ONCE(b->last_restore_timestamp, ++number);
	return len;
}

static const struct file_operations same_pid_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = same_pid_write,
};

/*
 * End the debug session of a process, as KFD_IOC_DBG_TRAP_DISABLE of any other
 * process does on kernels that do not check who asks.
 */
static int end_session_set(void *data, u64 pid)
{
	struct kfd_process *p = find_process(pid);
	int ret;

	if (!p)
		return -ESRCH;
	mutex_lock(&p->mutex);
	ret = vgpu_end_session(p);
	mutex_unlock(&p->mutex);
	return ret;
}
DEFINE_DEBUGFS_ATTRIBUTE(end_session_fops, NULL, end_session_set, "%llu\n");

/*
 * A PID: what KFD has of that process has no MMU notifier, as a secondary context
 * of newer drivers has none.  0: it has it again, which it needs to end.
 */
static ssize_t secondary_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	static struct kfd_process *changed;
	static struct mm_struct *mm;
	struct kfd_process *p;
	pid_t pid;
	int ret;

	ret = kstrtoint_from_user(buf, len, 0, &pid);
	if (ret)
		return ret;
	if (!pid && changed) {
		WRITE_ONCE(changed->mmu_notifier.mm, mm);
		changed = NULL;
		return len;
	}
	p = find_process(pid);
	if (!p || changed)
		return p ? -EBUSY : -ESRCH;
	mm = p->mmu_notifier.mm;
	changed = p;
	WRITE_ONCE(p->mmu_notifier.mm, NULL);
	return len;
}

static const struct file_operations secondary_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = secondary_write,
};

/*
 * "PID MS": the driver waits for so long behind each write to what it notes of evictions of
 * that process from its first GPU: that it is evicted, and for how long it was in all. A
 * debug register finds the write, so that no instruction's place has to be known.  "0 0"
 * ends it.  Reading: how often it waited.
 */
static struct perf_event *__percpu *slow_writes[2];
static unsigned int slow_ms;
static atomic_t slow_count;

static void slow_write_done(struct perf_event *event, struct perf_sample_data *data,
			    struct pt_regs *regs)
{
	atomic_inc(&slow_count);
	mdelay(slow_ms);
}

static void stop_slow_evict(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(slow_writes); i++)
		if (!IS_ERR_OR_NULL(slow_writes[i])) {
			unregister_wide_hw_breakpoint(slow_writes[i]);
			slow_writes[i] = NULL;
		}
}

static int watch_write(int i, void *field, int len)
{
	struct perf_event_attr attr;

	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)field;
	attr.bp_len = len;
	attr.bp_type = HW_BREAKPOINT_W;
	slow_writes[i] = register_wide_hw_breakpoint(&attr, slow_write_done, NULL);
	return PTR_ERR_OR_ZERO(slow_writes[i]);
}

static ssize_t slow_evict_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct kfd_process_device *pdd;
	struct kfd_process *p;
	char text[32] = "";
	int ret;
	pid_t pid;

	if (len >= sizeof(text) || copy_from_user(text, buf, len) ||
	    sscanf(text, "%d %u", &pid, &slow_ms) != 2)
		return -EINVAL;
	stop_slow_evict();
	atomic_set(&slow_count, 0);
	if (!pid)
		return len;
	p = find_process(pid);
	if (!p)
		return -ESRCH;
	pdd = p->pdds[0];
	ret = watch_write(0, &pdd->qpd.evicted, HW_BREAKPOINT_LEN_4) ?:
		      watch_write(1, &pdd->evict_duration_counter, HW_BREAKPOINT_LEN_8);
	if (ret)
		stop_slow_evict();
	return ret ?: len;
}

static ssize_t slow_evict_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	char text[16];
	int n = scnprintf(text, sizeof(text), "%d\n", atomic_read(&slow_count));

	return simple_read_from_buffer(buf, len, pos, text, n);
}

static const struct file_operations slow_evict_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = slow_evict_read,
	.write = slow_evict_write,
};

void vgpu_orders_exit(void)
{
	stop_slow_evict();
}

void vgpu_orders_init(struct dentry *root)
{
	debugfs_create_file_unsafe("plug", 0200, root, NULL, &plug_fops);
	debugfs_create_file_unsafe("unplug", 0200, root, NULL, &unplug_fops);
	debugfs_create_file_unsafe("evict", 0200, root, NULL, &evict_fops);
	debugfs_create_file_unsafe("end_session", 0200, root, NULL, &end_session_fops);
	debugfs_create_file("same_pid", 0200, root, NULL, &same_pid_fops);
	debugfs_create_file("secondary", 0200, root, NULL, &secondary_fops);
	debugfs_create_file("kick", 0200, root, NULL, &kick_fops);
	debugfs_create_file("slow_evict", 0600, root, NULL, &slow_evict_fops);
}
