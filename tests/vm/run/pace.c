// SPDX-License-Identifier: GPL-2.0-only
/*
 * How busy this host is: limits of time are multiplied by it. They are there so
 * that what hangs ends at last; a guest that gets a third of the processors
 * needs three times as long for the same work.
 *
 * A guest with a counted clock does not notice: each instruction takes it some ns,
 * and it does not wait for time to pass. Its limits stay; only ours are longer.
 */
#include <string.h>
#include <time.h>

#include "vmrun.h"

/* Processor time of the unit: the scheduler of a busy host has had its turns by then. */
#define UNIT_NS	 200000000LL
#define PACE_MAX 100
/* A counted guest that is busy may take so much longer than its clock says. */
#define COUNTED_SLOWNESS 10

static long long clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* How many ns pass while a busy loop gets one ns of a processor; rounded up from .1 on. */
int pace_measure(void)
{
	long long cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	long long wall = clock_ns(CLOCK_MONOTONIC);
	long long used, pace;

	do
		used = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	while (used < UNIT_NS);
	wall = clock_ns(CLOCK_MONOTONIC) - wall;
	pace = (wall + used * 9 / 10) / used;
	return pace > PACE_MAX ? PACE_MAX : pace;
}

int pace_inside(const struct bench *b)
{
	return b->counted ? b->slow : b->slow * b->pace;
}

int pace_outside(const struct bench *b)
{
	return b->slow * b->pace * (b->counted ? COUNTED_SLOWNESS : 1);
}

/* QEMU runs processors one after the other then: two would only wait longer. */
void bench_count(struct bench *b, int ns)
{
	b->processors = "1";
	b->counted = ns;
	strcpy(b->accel, "tcg");
}
