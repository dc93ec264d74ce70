/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_STDDEF_H
#define SHIM_STDDEF_H

#include <stddef.h>
#include_next <linux/stddef.h>

#define offsetofend(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

#endif /* SHIM_STDDEF_H */
