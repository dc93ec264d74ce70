/* SPDX-License-Identifier: GPL-2.0-only */
/* Stand-ins for functions of the C library; memory that cannot be had. */
#ifndef UNIT_MEMORY_H
#define UNIT_MEMORY_H

#include <stdatomic.h>

/* The nth allocation from now fails, in whichever thread; 0: none. */
extern atomic_int unit_memory_fails;

/* In place of a function, by the linker's --wrap (unit.mk); the body follows. */
#define UNIT_WRAP(type, name, args) \
	type __real_##name args;    \
	type __wrap_##name args;    \
	type __wrap_##name args

#endif
