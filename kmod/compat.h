/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernels, and only that. The rest of the module is
 * written for the newest kernel and has no version test in it.
 */

#ifndef GP_COMPAT_H
#define GP_COMPAT_H

#include <linux/pm_runtime.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
#error "gpreempt needs Linux 5.15 or newer"
#endif

#ifndef CONFIG_KALLSYMS
#error "gpreempt finds the driver's symbols in its module: CONFIG_KALLSYMS"
#endif

#ifndef CONFIG_MMU_NOTIFIER
#error "amdkfd needs CONFIG_MMU_NOTIFIER, and so does gpreempt"
#endif

/* 6.9 took the second argument away; without it a use count is needed. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
static inline int gp_pm_runtime_get_if_active(struct device *dev)
{
	return pm_runtime_get_if_active(dev, true);
}

#define pm_runtime_get_if_active gp_pm_runtime_get_if_active
#endif

#endif /* GP_COMPAT_H */
