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

#endif
