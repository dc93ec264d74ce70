/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GP_STATS_H
#define GP_STATS_H

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/types.h>

#include <gpreempt/view.h>

#define GP_STAT_ENUM(key) GP_STAT_##key,

/* One counter for each key of the file stats, in its order. */
enum gp_stat {
	GP_VIEW_STATS(GP_STAT_ENUM) GP_STAT_COUNT,
};

/* The three counters of a lock stand together, this one first. */
#define GP_STAT_LOCK(lock) GP_STAT_##lock##_taken

extern atomic64_t gp_stats[GP_STAT_COUNT];

static inline void gp_stat_add(enum gp_stat stat, u64 n)
{
	atomic64_add(n, &gp_stats[stat]);
}

static inline void gp_stat_inc(enum gp_stat stat)
{
	atomic64_inc(&gp_stats[stat]);
}

/* Count that a lock of the driver, GP_STAT_LOCK(lock), was held since then. */
void gp_stat_locked(enum gp_stat lock, ktime_t since);

/* Count a node that was not read, if it does not answer. */
void gp_stat_unread(enum gp_view_hardware why);

#endif /* GP_STATS_H */
