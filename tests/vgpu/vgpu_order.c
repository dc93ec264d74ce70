// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a test orders once, by a write to a file of /sys/kernel/debug/vgpu/: a GPU
 * plugged or unplugged, a process evicted, its debug session ended, what KFD has of
 * it changed to what another driver or process would have.
 */
#include <linux/debugfs.h>
#include "vgpu_drift_kfd.h"
#include "vgpu_priv.h"

/* Whatever is written: look at the doorbells now, as hardware would */
static ssize_t kick_write(struct file *file, const char __user *buf, size_t len,
			  loff_t *pos)
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
			    (!p->lead_thread->mm ||
			     p->mm == p->lead_thread->mm))
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
static ssize_t same_pid_write(struct file *file, const char __user *buf,
			      size_t len, loff_t *pos)
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
static ssize_t secondary_write(struct file *file, const char __user *buf,
			       size_t len, loff_t *pos)
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

void vgpu_orders_init(struct dentry *root)
{
	debugfs_create_file_unsafe("plug", 0200, root, NULL, &plug_fops);
	debugfs_create_file_unsafe("unplug", 0200, root, NULL, &unplug_fops);
	debugfs_create_file_unsafe("evict", 0200, root, NULL, &evict_fops);
	debugfs_create_file_unsafe("end_session", 0200, root, NULL,
				   &end_session_fops);
	debugfs_create_file("same_pid", 0200, root, NULL, &same_pid_fops);
	debugfs_create_file("secondary", 0200, root, NULL, &secondary_fops);
	debugfs_create_file("kick", 0200, root, NULL, &kick_fops);
}
