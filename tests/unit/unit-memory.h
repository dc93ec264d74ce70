/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that cannot be had: malloc() and its like in the code under test. */
#ifndef UNIT_MEMORY_H
#define UNIT_MEMORY_H

#include <stdatomic.h>

/* The nth allocation from now fails, in whichever thread; 0: none. */
extern atomic_int unit_memory_fails;

#endif
