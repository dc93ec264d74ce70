/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels: Kbuild looks into the headers, and asks for no version. */
#ifndef GP_COMPAT_H
#define GP_COMPAT_H

#include <linux/kernel.h>
#include <linux/module.h>

/* bin2hex(), which linux/kernel.h had before. */
#ifdef GP_HAS_HEX_H
#include <linux/hex.h>
#endif

#ifndef CONFIG_KALLSYMS
#error "gpreempt finds the driver's symbols in its module: CONFIG_KALLSYMS"
#endif

/* The address lies in the code of a loaded module, and not in its data. */
static inline bool gp_is_code(unsigned long addr, const struct module *mod)
{
#ifdef GP_HAS_MEM_TYPE
	return within_module_mem_type(addr, mod, MOD_TEXT);
#else
	return addr - (unsigned long)mod->core_layout.base < mod->core_layout.text_size;
#endif
}

#endif /* GP_COMPAT_H */
