// SPDX-License-Identifier: LGPL-2.1-or-later
#include <string.h>

#include "shared/decimal.h"

char *shr_put_decimal(char *at, int64_t value)
{
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
	char digits[SHR_DECIMAL_SIZE];
	size_t n = sizeof(digits);

	do {
		digits[--n] = '0' + rest % 10;
		rest /= 10;
	} while (rest);
	if (value < 0)
		digits[--n] = '-';
	memcpy(at, digits + n, sizeof(digits) - n);
	at += sizeof(digits) - n;
	*at = '\0';
	return at;
}
