/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SHARED_CLOCK_H
#define SHARED_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "shared/macro.h"

/* Nanoseconds since boot that no clock setting changes. */
uint64_t shr_now_ns(void);
/* The same, but time in suspend-to-RAM counts: CLOCK_BOOTTIME. */
uint64_t shr_boottime_ns(void);
/* Processor time that this thread has taken. */
uint64_t shr_thread_cpu_ns(void);

/* That time later; UINT64_MAX where it does not fit. */
static inline uint64_t shr_later_ns(uint64_t when_ns, uint64_t ns)
{
	return ns > UINT64_MAX - when_ns ? UINT64_MAX : when_ns + ns;
}

static inline struct timespec shr_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = ns / NSEC_PER_SEC,
		.tv_nsec = ns % NSEC_PER_SEC,
	};
}

/* Sleeps through signals. */
void shr_sleep_ns(uint64_t ns);

/*
 * Reports of what may come and go all the time: the second one comes 10 s after the first one
 * at the earliest, the third 20 s after that, and so on. All zero before the first.
 */
struct shr_report_pause {
	uint64_t until_ns;
	uint64_t ns; /* that grows with each report, up to 640 s */
};

/* True: report it now. */
bool shr_report_due(struct shr_report_pause *p, uint64_t now);

#endif
