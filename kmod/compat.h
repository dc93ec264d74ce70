/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernels, and only that. The rest of the module is
 * written for the newest kernel. Nothing here asks for a version, which says
 * little about kernels that distributions patch: Kbuild looks into the headers.
 */

#ifndef GP_COMPAT_H
#define GP_COMPAT_H

#include <linux/kernel.h>
#include <linux/pm_runtime.h>

/* bin2hex(), which linux/kernel.h had before. */
#ifdef GP_HAS_HEX_H
#include <linux/hex.h>
#endif

/* A work queue of each CPU; newer kernels warn when that is not asked for. */
#ifdef GP_HAS_WQ_PERCPU
#define GP_WQ_BOUND WQ_PERCPU
#else
#define GP_WQ_BOUND 0
#endif

#ifndef CONFIG_KALLSYMS
#error "gpreempt finds the driver's symbols in its module: CONFIG_KALLSYMS"
#endif

/* This once had a second argument; without it a use count was needed. */
#ifdef GP_HAS_IGN_USAGE_COUNT
#define gp_pm_get_if_active(dev) pm_runtime_get_if_active(dev, true)
#else
#define gp_pm_get_if_active(dev) pm_runtime_get_if_active(dev)
#endif

#endif /* GP_COMPAT_H */
