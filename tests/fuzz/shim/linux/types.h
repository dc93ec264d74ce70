/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_TYPES_H
#define SHIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include_next <linux/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define U32_MAX	      UINT32_MAX
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif /* SHIM_TYPES_H */
