/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The client of holds, for suspend and resume: it asks the holder of a process, makes one, or
 * undoes a pause that has no owner. It alone knows lock, socket, journal and view together.
 */
#ifndef HOLD_CLIENT_H
#define HOLD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <gpreempt/core.h>

#include "lib/preempt/wire.h"

/* A process to suspend or resume. */
struct hold_job {
	/* Set by the caller: */
	pid_t pid;
	bool force; /* resume: undo a pause whose program has ended */
	struct hold_request request;
	/* Results: */
	struct hold_reply reply; /* .status; .text and .next if it is not 0 */
	bool held;		 /* before this command */
	bool answered;		 /* the reply has the figures of a change */
	int fd;			 /* connection to a new holder, for hold_confirm(); or -1 */
	pid_t asked;		 /* the holder's worker; 0: not known */
};

/*
 * Do all requests that have no reply.status yet: by the holder that there is, or by a new one,
 * all at once.
 */
void hold_suspend(struct gpreempt *g, struct hold_job *jobs, size_t count);
void hold_resume(struct gpreempt *g, struct hold_job *jobs, size_t count);

/* Refusals as a holder's reply: status, text and next step. */

__attribute__((format(printf, 4, 5))) void hold_refuse(struct hold_reply *out,
						       enum gpreempt_class class, const char *next,
						       const char *format, ...);
/* hold_take(), hold_lock() or pause_take() failed with this -errno. */
void hold_not_taken(struct hold_reply *out, int code, pid_t target);
/* pause_journal_write() failed with this -errno. */
void hold_not_noted(struct hold_reply *out, int code, pid_t target);
/* pause_guardian_start() failed with this -errno. */
void hold_no_guardian(struct hold_reply *out, int code, pid_t target);
/* Print one. Returns the exit status. */
int hold_fail(const struct hold_reply *why);
/*
 * Print a note that queues of a target ran while it was held, so that the other
 * figures do not cover all of that time.
 */
void hold_note_churn(pid_t target, uint64_t ran_ns, uint64_t window_ns);

/* Has the driver evicted all queues of the process for another reason than a pause? */
bool hold_is_evicted(struct gpreempt *g, pid_t target);

/* Print a note on a process that is so: it does not run, whatever is suspended or resumed. */
void hold_note_evicted(struct gpreempt *g, pid_t target);

#define TEXT_EVICTED                                                               \
	"the driver has evicted process %d, as it does when GPU memory is short: " \
	"it runs when the driver restores it"

#endif
