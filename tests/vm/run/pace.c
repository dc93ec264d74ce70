// SPDX-License-Identifier: GPL-2.0-only
/*
 * How busy this host is: limits of time are multiplied by it. They are there so
 * that what hangs ends at last; a guest that gets a third of the processors
 * needs three times as long for the same work.
 */
#include <time.h>

#include "vmrun.h"

#define UNIT_NS 30000000LL	/* of processor time: some turns of the scheduler */
#define PACE_MAX 100

static long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* How many ns pass while a busy loop gets one ns of a processor; 1 or more. */
int pace_measure(void)
{
	long long cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	long long wall = clock_ns(CLOCK_MONOTONIC);
	long long used, pace;

	do
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	while (used < UNIT_NS);
	wall = clock_ns(CLOCK_MONOTONIC) - wall;
	pace = (wall + used - 1) / used;
	return pace > PACE_MAX ? PACE_MAX : pace;
}
