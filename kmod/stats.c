// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the module itself costs. Counters only: no lock, from any context.
 */

#include <linux/build_bug.h>

#include "stats.h"

/* Where the counters of a lock stand, from GP_STAT_LOCK() on. */
enum { TAKEN, TOTAL_NS, MAX_NS };

atomic64_t gp_stats[GP_STAT_COUNT];

void gp_stat_locked(enum gp_stat lock, ktime_t since)
{
	s64 ns = ktime_to_ns(ktime_sub(ktime_get(), since));
	s64 max = atomic64_read(&gp_stats[lock + MAX_NS]);

	BUILD_BUG_ON(GP_STAT_process_max_ns != GP_STAT_LOCK(process) + MAX_NS);
	gp_stat_inc(lock + TAKEN);
	gp_stat_add(lock + TOTAL_NS, ns);
	while (ns > max && !atomic64_try_cmpxchg(&gp_stats[lock + MAX_NS], &max, ns))
		;
}

void gp_stat_unread(enum gp_view_hardware why)
{
	if (why == GP_VIEW_HARDWARE_LOST)
		gp_stat_inc(GP_STAT_unread_lost);
}
