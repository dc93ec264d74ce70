// SPDX-License-Identifier: GPL-2.0-only
/* By the linker's --wrap, see unit.mk. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "unit-memory.h"

atomic_int unit_memory_fails;

static bool fails(void)
{
	if (!atomic_load(&unit_memory_fails) || atomic_fetch_sub(&unit_memory_fails, 1) != 1)
		return false;
	errno = ENOMEM;
	return true;
}

UNIT_WRAP(void *, malloc, (size_t size))
{
	return fails() ? NULL : __real_malloc(size);
}

UNIT_WRAP(void *, calloc, (size_t n, size_t size))
{
	return fails() ? NULL : __real_calloc(n, size);
}

UNIT_WRAP(void *, realloc, (void *old, size_t size))
{
	return fails() ? NULL : __real_realloc(old, size);
}

UNIT_WRAP(void *, reallocarray, (void *old, size_t n, size_t size))
{
	return fails() ? NULL : __real_reallocarray(old, n, size);
}

UNIT_WRAP(char *, strdup, (const char *text))
{
	return fails() ? NULL : __real_strdup(text);
}
