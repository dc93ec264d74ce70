// SPDX-License-Identifier: GPL-2.0-only
/* The same parsers under libFuzzer, which looks where an input leads to. */
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_input in;

	if (size > sizeof(in.data))
		return 0;
	in.len = size;
	memcpy(in.data, data, size);
	fuzz_one(&in);
	return 0;
}
