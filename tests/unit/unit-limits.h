/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included before all that unit tests are made of: limits of the product that a busy
 * host would break. All are long here; a test of what happens at one sets it, also for
 * processes that exist already.
 */
#ifndef UNIT_LIMITS_H
#define UNIT_LIMITS_H

#include <stdbool.h>

/* No wait for an event takes longer, on the busiest host: a test fails then. */
#define UNIT_LIMIT_S  120
#define UNIT_LIMIT_NS (UNIT_LIMIT_S * 1000000000ULL)
/* Shorter: what was silent is killed, and events of its end are waited for. */
#define UNIT_SILENCE_NS (UNIT_LIMIT_NS / 4)

enum unit_limit {
	UNIT_ANSWER,	    /* an answer of the command of --policy counts */
	UNIT_APART,	    /* a disposable process without progress */
	UNIT_BUSY,	    /* a heartbeat in the driver */
	UNIT_CHILD,	    /* memory of other processes, read by a child */
	UNIT_GUARD_FILE,    /* the last one is written */
	UNIT_GUARD_LATE,    /* the poller, for its workers */
	UNIT_GUARD_SILENCE, /* the watchdog of guard's main thread */
	UNIT_GUARD_WORD,    /* the child that looks for a word */
	UNIT_MUTE,	    /* a silent one, before it is killed */
	UNIT_READER,	    /* memory of a target, read by a thread */
	UNIT_SILENCE,	    /* a heartbeat */
	UNIT_TOP,	    /* guard's answer to top */
	UNIT_LIMITS
};

unsigned long long unit_limit(enum unit_limit which);
void unit_set_limit(enum unit_limit which, unsigned long long ns);
/* How often the product, in any process, has asked for it. */
unsigned int unit_limit_asked(enum unit_limit which);
/*
 * Set the patience with a child that asks: a busy host has all the time for the answer
 * (@answers), or no answer comes and a second is enough.
 */
void unit_answers(bool answers);
/* Make all limits long again. */
void unit_reset_limits(void);

#define SHR_CHILD_PATIENCE_MS (unit_limit(UNIT_CHILD) / 1000000)
#define GP_APART_WAIT_NS      unit_limit(UNIT_APART)
#define GUARD_ANSWER_NS	      unit_limit(UNIT_ANSWER)
#define GUARD_FILE_WAIT_NS    unit_limit(UNIT_GUARD_FILE)
#define GUARD_LATE_NS	      unit_limit(UNIT_GUARD_LATE)
#define GUARD_MUTE_NS	      unit_limit(UNIT_MUTE)
#define GUARD_SILENCE_NS      unit_limit(UNIT_GUARD_SILENCE)
#define GUARD_WORD_NS	      unit_limit(UNIT_GUARD_WORD)
#define GP_READER_NS	      unit_limit(UNIT_READER)
#define TOP_GUARD_NS	      unit_limit(UNIT_TOP)
#define HEARTBEAT_SILENCE_NS  unit_limit(UNIT_SILENCE)
#define HEARTBEAT_BUSY_NS     unit_limit(UNIT_BUSY)
/* Each look at a cgroup reads the path, however long the look before took. */
#define SHR_FREEZER_SHARE 0

#endif
