// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "shared/clock.h"
#include "shared/macro.h"

static uint64_t read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

uint64_t shr_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t shr_boottime_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

uint64_t shr_thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void shr_sleep_ns(uint64_t ns)
{
	struct timespec ts = shr_timespec(ns);

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

#define FIRST_NS (10 * NSEC_PER_SEC)
#define LAST_NS	 (640 * NSEC_PER_SEC)

bool shr_report_due(struct shr_report_pause *p, uint64_t now)
{
	if (now < p->until_ns)
		return false;
	p->ns = p->ns ? 2 * p->ns : FIRST_NS;
	if (p->ns > LAST_NS)
		p->ns = LAST_NS;
	p->until_ns = now + p->ns;
	return true;
}
