/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The policy of the scheduler, by tables: its input at a time, and the answer
 * that is expected. Times are in milliseconds.
 */
#ifndef UNIT_POLICY_H
#define UNIT_POLICY_H

#include <gpreempt/policy.h>

#include "lib/preempt/policy.h"
#include "unit.h"

#define MS    NSEC_PER_MSEC
#define NEVER GPREEMPT_POLICY_NEVER

enum what {
	STEP, /* nothing else happens */
	BUSY,
	IDLE,
	BEGIN,
	END,
	RELEASE, /* until value; -1: for good */
	FAILED,	 /* again at value */
	RAN,	 /* for value, although it was to be held */
	NODES,
	ADD_ON,
	ADD_OFF,
	ADD_JOB, /* offline, of job 1 */
	REMOVE,
};

/*
 * A line of a table: what happens, and what a step then answers, or NULL: there is
 * none. A word for each entity: its letter (a is 0), "-" or "+" for suspend and
 * resume, and the reason's first letter; then the next wake-up in ms, or "never".
 */
struct line {
	double ms;
	enum what what;
	int entity;
	int value;
	const char *want;
};

/* The policy under test. */
extern struct gpreempt_policy *p;

/* Linger 2 ms, hold 100 ms at most, a tenth for offline work. */
struct gpreempt_policy_options figures(void);
void begin(const struct gpreempt_policy_options *options);
/*
 * From the beginning; options NULL: figures(). With a pair online 0 and offline 1,
 * on node 1, are there already.
 */
void run_table(const struct gpreempt_policy_options *options, bool pair, const struct line *lines,
	       size_t count);

#define RUN_BARE(options, lines) run_table(options, false, lines, ARRAY_SIZE(lines))
#define RUN_WITH(options, lines) run_table(options, true, lines, ARRAY_SIZE(lines))
#define RUN(lines)		 RUN_WITH(NULL, lines)

#endif
