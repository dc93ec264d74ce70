/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of libkmod, which is loaded when it is needed: it brings libcrypto. */
#ifndef CTL_MODULE_KMOD_H
#define CTL_MODULE_KMOD_H

#include <libkmod.h>

#define KMOD_CALLS(CALL)                 \
	CALL(new)                        \
	CALL(unref)                      \
	CALL(set_log_priority)           \
	CALL(module_new_from_lookup)     \
	CALL(module_new_from_name)       \
	CALL(module_get_module)          \
	CALL(module_get_initstate)       \
	CALL(module_get_refcnt)          \
	CALL(module_probe_insert_module) \
	CALL(module_remove_module)       \
	CALL(module_unref)               \
	CALL(module_unref_list)

#define KMOD_POINTER(call) __typeof__(&kmod_##call) call;

/* Functions of libkmod, without "kmod_". Tests put their own there. */
extern struct kmod_calls {
	KMOD_CALLS(KMOD_POINTER)
} kmod;

#endif
