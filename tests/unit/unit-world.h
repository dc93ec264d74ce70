/* SPDX-License-Identifier: GPL-2.0-only */
/* A made-up world of online and offline processes, for the policy's simulator. */
#ifndef UNIT_WORLD_H
#define UNIT_WORLD_H

#include <gpreempt/policy.h>

#include "unit.h"

#define US	 NSEC_PER_USEC
#define MS	 NSEC_PER_MSEC
#define NEVER	 GPREEMPT_POLICY_NEVER
#define ENTITIES 24

/* A process of the made-up world, and what is watched of it. */
struct process {
	int number; /* at the policy; -1: it is not there */
	enum gpreempt_role role;
	unsigned int job;
	uint64_t nodes;
	uint64_t next; /* when something happens to it */
	/* Online. */
	bool busy;
	unsigned int requests;
	uint64_t last_active; /* end of its last work or request */
	/* Offline. */
	bool suspended;
	uint64_t until;	  /* released until then */
	uint64_t blocked; /* an action failed: not before then */
	uint64_t since;	  /* when it was switched */
	uint64_t seen;	  /* up to when the next three are right */
	uint64_t ran;
	double lead; /* ran, less its share of the time */
	double best; /* largest lead so far */
	bool forced; /* runs because of its share */
	uint64_t forced_ran;
	bool owed;	  /* started because of its share */
	uint64_t told;	  /* time that it ran in holds, reported so far */
	bool ran_in_hold; /* ran in the present hold */
};

struct world {
	struct gpreempt_policy_options options;
	struct gpreempt_policy *policy;
	struct process process[ENTITIES];
	unsigned int seed;
	unsigned int state;
	uint64_t now;
	uint64_t late; /* the caller is late by up to that */
	unsigned int fail_percent;
	bool churn; /* processes come and go */
	uint64_t mean_busy;
	uint64_t mean_idle;
	uint64_t switches;
};

extern struct world w;

/* Not ck_assert(): that writes to a file each time. */
#define HOLDS(condition)                                                                         \
	do {                                                                                     \
		if (!(condition))                                                                \
			ck_abort_msg("seed %u, at %.6f s: %s", w.seed, w.now / 1e9, #condition); \
	} while (0)

unsigned int draw(unsigned int below);
/* Between nothing and twice the mean. */
uint64_t draw_ns(uint64_t mean);
bool is_active(const struct process *a);
/* Was there online work on these nodes within the last so many ns? */
bool wanted_within(uint64_t nodes, uint64_t ns);
/* The nodes of all of a job that are not released; its own if it is alone. */
uint64_t nodes_of_job(const struct process *a);
/* Begin or end the process's work, and report that to the policy. */
void tell_busy(struct process *a, bool busy);
/* Do all that is due with the process. */
void happen(struct process *a);

#endif
