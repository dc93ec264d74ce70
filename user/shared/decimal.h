/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as text where there are many: printf() takes ten times as long. */
#ifndef SHARED_DECIMAL_H
#define SHARED_DECIMAL_H

#include <stdint.h>

#define SHR_DECIMAL_SIZE 24 /* for any int64_t, with its sign and its end */

/* Appends @value at @at and ends the text there. Returns its new end. */
char *shr_put_decimal(char *at, int64_t value);

#endif
