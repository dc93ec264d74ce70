// SPDX-License-Identifier: GPL-2.0-only
/* Names and command lines are others' bytes: make them harmless. */
#include "output/table.h"
#include "shared/clean.h"

char *out_clean(const char *text, bool controls)
{
	return shr_clean_copy(text, controls);
}
