// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driver functions that the virtual GPU answers itself: the ones that own
 * memory (GART, doorbell BAR, process VMs) and a doorbell write.  One ftrace
 * handler changes the instruction pointer, and only when the first argument
 * belongs to a virtual GPU, so that a real one beside it is left alone.
 */
#include <linux/ftrace.h>
#include "vgpu_priv.h"

#define VGPU_HOOKS_MAX 40

static struct vgpu_hook *hooks[VGPU_HOOKS_MAX];
static unsigned long addrs[VGPU_HOOKS_MAX];
static unsigned int nhooks;

/* The traced instruction is the first, or stands behind ENDBR */
static void notrace vgpu_thunk(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	unsigned int i;

	for (i = 0; i < nhooks; i++) {
		/* A function may have two hooks, for devices of different states. */
		if (ip - hooks[i]->addr > 4 || !hooks[i]->ours(vgpu_first_argument(fregs)))
			continue;
		vgpu_set_ip(fregs, (unsigned long)hooks[i]->to);
		return;
	}
}

static struct ftrace_ops vgpu_ops = {
	.func = vgpu_thunk,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DYNAMIC |
		 FTRACE_OPS_FL_PERMANENT,
};

bool notrace vgpu_is_adev(unsigned long adev)
{
	int i;

	for (i = 0; i < VGPU_MAX_GPUS; i++)
		if (adev && adev == (unsigned long)READ_ONCE(vgpu_devices[i]))
			return true;
	return false;
}

struct vgpu *notrace vgpu_of_bdev(struct ttm_device *bdev)
{
	struct amdgpu_device *adev = amdgpu_ttm_adev(bdev);

	return vgpu_is_adev((unsigned long)adev) ? vgpu_of(adev) : NULL;
}

static bool notrace is_bo(struct amdgpu_bo *bo)
{
	return bo && bo->tbo.bdev && vgpu_of_bdev(bo->tbo.bdev);
}

bool notrace vgpu_is_bo_ptr(unsigned long bo_ptr)
{
	return is_bo(*(struct amdgpu_bo **)bo_ptr);
}

/* A buffer of a process */
bool notrace vgpu_is_bo(unsigned long bo)
{
	return is_bo((struct amdgpu_bo *)bo) && ((struct amdgpu_bo *)bo)->kfd_bo;
}

bool notrace vgpu_is_mem(unsigned long mem)
{
	return is_bo(((struct kgd_mem *)mem)->bo);
}

static int hooks_find(struct vgpu_hook *h)
{
	for (; h->name; h++) {
		h->addr = vgpu_sym(h->name);
		if (!h->addr) {
			pr_err("vgpu: amdgpu.ko has no %s\n", h->name);
			return -ENOENT;
		}
		if (nhooks == VGPU_HOOKS_MAX)
			return -ENOSPC;
		addrs[nhooks] = h->addr;
		hooks[nhooks++] = h;
	}
	return 0;
}

int vgpu_hook_init(void)
{
	int ret;

	ret = hooks_find(vgpu_mem_hooks);
	ret = ret ?: hooks_find(vgpu_doorbell_hooks);
	ret = ret ?: hooks_find(vgpu_bo_hooks);
	ret = ret ?: hooks_find(vgpu_vm_hooks);
	ret = ret ?: hooks_find(vgpu_dev_hooks);
#ifdef VGPU_HAS_MES_RINGS
	ret = ret ?: hooks_find(vgpu_mes_hooks);
#endif
	if (ret)
		return ret;
	ret = ftrace_set_filter_ips(&vgpu_ops, addrs, nhooks, 0, 1);
	if (ret)
		return ret;
	ret = register_ftrace_function(&vgpu_ops);
	if (ret) {
		pr_err("vgpu: functions can't be replaced (%d)\n", ret);
		ftrace_free_filter(&vgpu_ops);
	}
	return ret;
}

void vgpu_hook_exit(void)
{
	unregister_ftrace_function(&vgpu_ops);
	ftrace_free_filter(&vgpu_ops);
}
