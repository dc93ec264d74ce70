/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernels, and only that. The rest of the module is
 * written for the newest kernel. Nothing here asks for a version, which says
 * little about kernels that distributions patch: a prototype or a header does.
 */

#ifndef GP_COMPAT_H
#define GP_COMPAT_H

#include <linux/kernel.h>
#include <linux/pm_runtime.h>

/* bin2hex(), which linux/kernel.h had before. (Kbuild looks; sparse could not.) */
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

/*
 * pm_runtime_get_if_active() once had a second argument; without it a use count
 * was needed. Of the two calls one is of the kernel's function, and the other,
 * of these declarations, is not compiled.
 */
int gp_get_if_active_1(struct device *dev);
int gp_get_if_active_2(struct device *dev, bool ign_usage_count);

#define GP_HAS_2                                                       \
	__builtin_types_compatible_p(typeof(pm_runtime_get_if_active), \
				     typeof(gp_get_if_active_2))

/* clang-format off */
#define gp_pm_get_if_active(dev)					\
	__builtin_choose_expr(GP_HAS_2,					\
		__builtin_choose_expr(GP_HAS_2, pm_runtime_get_if_active, \
				      gp_get_if_active_2)(dev, true),	\
		__builtin_choose_expr(GP_HAS_2, gp_get_if_active_1,	\
				      pm_runtime_get_if_active)(dev))
/* clang-format on */

#endif /* GP_COMPAT_H */
