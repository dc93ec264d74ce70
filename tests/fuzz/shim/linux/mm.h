/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>

#define kvmalloc_array(n, size, flags) calloc(n, size)
#define kvfree			       free
