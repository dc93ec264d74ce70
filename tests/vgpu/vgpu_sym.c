// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driver functions by name.  amdgpu.ko exports nothing; a bench may ask
 * kallsyms, whose lookup function itself is found by a probe that is removed at once.
 */
#include <linux/kprobes.h>
#include <linux/workqueue.h>
#include "kfd_priv.h"
#include "vgpu_priv.h"

struct vgpu_syms vgpu_syms;
static unsigned long (*lookup)(const char *name);
static struct module *amdgpu;
static unsigned long processes, release_wq; /* addresses in the driver */

#define KFD_PROCESS_BUCKETS (1 << KFD_PROCESS_TABLE_SIZE)

static const struct {
	const char *name;
	size_t where;
} wanted[] = {
#define VGPU_SYM_ROW(name, ret, args) { #name, offsetof(struct vgpu_syms, name) },
	VGPU_SYMS(VGPU_SYM_ROW)
};

unsigned long vgpu_sym(const char *name)
{
	char full[80];

	snprintf(full, sizeof(full), "amdgpu:%s", name);
	return lookup(full);
}

/* One of the kernel's own that is not exported */
unsigned long vgpu_kernel_sym(const char *name)
{
	return lookup(name);
}

static int find_lookup(void)
{
	struct kprobe kp = { .symbol_name = "kallsyms_lookup_name" };
	int ret = register_kprobe(&kp);

	if (ret) {
		pr_err("vgpu: kallsyms_lookup_name not found (%d)\n", ret);
		return ret;
	}
	/* a probe on an IBT kernel sits behind the 4 bytes of ENDBR */
	lookup = (void *)((unsigned long)kp.addr & ~0xful);
	unregister_kprobe(&kp);
	return 0;
}

static int is_amdgpu(struct device_driver *drv, void *data)
{
	struct module **mod = data;

	if (strcmp(drv->name, "amdgpu"))
		return 0;
	if (try_module_get(drv->owner))
		*mod = drv->owner;
	return 1;
}

struct hlist_head *vgpu_kfd_processes(int bucket)
{
	return bucket < KFD_PROCESS_BUCKETS ? (struct hlist_head *)processes + bucket : NULL;
}

/*
 * Has any process /dev/kfd open?  Each has pointers to all GPUs, until the work
 * that releases it has run.
 */
bool vgpu_kfd_used(void)
{
	struct hlist_head *table = (void *)processes;
	int i;

	for (i = 0; i < KFD_PROCESS_BUCKETS; i++)
		if (!hlist_empty(&table[i]))
			return true;
	flush_workqueue(*(struct workqueue_struct **)release_wq);
	return false;
}

static int find_processes(void)
{
	processes = vgpu_sym("kfd_processes_table");
	release_wq = vgpu_sym("kfd_process_wq");
	if (processes && release_wq)
		return 0;
	pr_err("vgpu: amdgpu.ko has no kfd_processes_table or kfd_process_wq\n");
	return -ENOENT;
}

int vgpu_sym_init(void)
{
	unsigned long addr;
	size_t i;
	int ret;

	bus_for_each_drv(&pci_bus_type, NULL, &amdgpu, is_amdgpu);
	if (!amdgpu) {
		pr_err("vgpu: load amdgpu.ko first\n");
		return -ENODEV;
	}
	ret = find_lookup();
	if (ret)
		goto err_module;
	ret = find_processes();
	if (ret)
		goto err_module;
	for (i = 0; i < ARRAY_SIZE(wanted); i++) {
		addr = vgpu_sym(wanted[i].name);
		if (!addr) {
			pr_err("vgpu: amdgpu.ko has no %s\n", wanted[i].name);
			ret = -ENOENT;
			goto err_module;
		}
		*(unsigned long *)((char *)&vgpu_syms + wanted[i].where) = addr;
	}
	return 0;

err_module:
	module_put(amdgpu);
	return ret;
}

void vgpu_sym_exit(void)
{
	module_put(amdgpu);
}
