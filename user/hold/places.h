/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A limited number of places for the processes that a command is to hold. Those that have
 * queues come first, then each tenant gets as many as any other: a user that starts a
 * thousand processes takes none from the next one. Which processes with queues have no
 * place is in /run/gpreempt/PID.left, or in PID.left-online if guard is to protect them:
 * status, doctor and metrics read that.
 */
#ifndef HOLD_PLACES_H
#define HOLD_PLACES_H

#include <gpreempt/select.h>

#include "run-dir.h"
#include "lib/see/words.h"
#include "shared/util.h"

/* A process that a command is to hold. */
struct place_claim {
	struct gpreempt_target target; /* first: gp_compare_targets() */
	bool held;		       /* the process has a place already */
	bool queues;		       /* the process may have queues */
	bool given;		       /* the process gets a place, or keeps it */
	size_t turn;		       /* claims of its tenant that come before it */
	char tenant[GP_TENANT];
};

/*
 * Give this many places to @n claims: those with queues first; among them the first ones of all
 * tenants, then the second ones, and so on; those that are held before the others. Sorts the
 * claims.
 */
void place_claims_share(struct place_claim *claims, size_t n, size_t places);

/* Places of one command, look after look. All 0 but for the members that the caller sets. */
struct places {
	/* Set by the caller: */
	struct gpreempt *g;
	size_t most;
	enum hold_role role; /* role of this command */
	bool online;	     /* guard's online processes, which it protects */

	SHR_ARRAY(struct place_claim, now);
	SHR_ARRAY(struct place_claim, before); /* in the last look */
	bool lost;			       /* no memory: each claim has a place */
	size_t left;			       /* with queues and without a place, now */
	size_t waiting; /* without queues and without a place: they are asked again */
	bool ever;	/* some were left alone */
	struct shr_report_pause pause;
	uint64_t shared_ns;
	size_t written; /* left and waiting in the file */
};

void places_begin(struct places *p);
/* Claim a place for a process; several claims of one process are one. */
void places_claim(struct places *p, const struct gpreempt_target *target, bool held);
/* Share the places once all have claimed. True: report that some are left alone. */
bool places_share(struct places *p);
/* Has a process that has claimed a place got one? */
bool places_given(const struct places *p, const struct gpreempt_target *target);
/* Print for people how many processes have no place. */
void places_text(const struct places *p, char *text, size_t size);
void places_end(struct places *p);

/* Contents of the file in which a command lists the processes without a place. */
#define PLACES_LISTED 64

struct places_left {
	enum hold_role role;
	bool online;
	pid_t command;
	size_t most; /* places */
	size_t left;
	size_t waiting;
	pid_t pid[PLACES_LISTED]; /* the first processes that are left alone */
	size_t n;
};

/* Calls fn for each such command that lives, until it returns other than 0. */
int places_left_list(struct gpreempt *g, int (*fn)(void *arg, const struct places_left *left),
		     void *arg);
/* Print the text that the command itself prints. */
void places_left_text(const struct places_left *left, char *text, size_t size);

#endif
