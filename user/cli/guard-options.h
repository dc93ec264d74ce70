/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CLI_GUARD_OPTIONS_H
#define CLI_GUARD_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include <gpreempt/hold.h>

#include "shared/util.h"

/* Targets of a role. */
struct guard_words {
	const char *word[64];
	size_t n;
};

/* Values of guard's command line. */
struct guard_options {
	struct guard_words online_words;
	struct guard_words offline_words;
	uint64_t linger_ns;
	uint64_t max_hold_ns;
	uint64_t min_run_ns;
	uint64_t share; /* percent */
	uint64_t duty;	/* percent; 0: none */
	uint64_t gang;
	uint64_t follow; /* job control of offline processes */
	const char *poll;
	uint64_t cpu;	       /* and 1; 0: any */
	enum gpreempt_how how; /* offline processes go off the GPU */
	struct shr_ids uids;   /* users that may ask the guard; NULL: root */
	const char *samples;   /* files */
	const char *metrics;
	uint64_t json;
	uint64_t verbose;
};

#endif
