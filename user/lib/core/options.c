// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include "lib/core/options.h"

int gp_options_take(const void *from, size_t least, void *to, size_t size)
{
	const char *bytes = from;
	size_t given = *(const size_t *)from, i;

	if (given < least)
		return -EINVAL;
	for (i = size; i < given; i++)
		if (bytes[i])
			return -E2BIG;
	memset(to, 0, size);
	memcpy(to, from, given < size ? given : size);
	return 0;
}
