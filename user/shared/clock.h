/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHARED_CLOCK_H
#define SHARED_CLOCK_H

#include <stdint.h>

/* Nanoseconds since boot that no clock setting changes. */
uint64_t shr_now_ns(void);

/* Sleeps through signals. */
void shr_sleep_ns(uint64_t ns);

#endif
