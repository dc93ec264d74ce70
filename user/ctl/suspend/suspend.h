/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTL_SUSPEND_H
#define CTL_SUSPEND_H

#include "holder/holder.h"

/* One target of a suspend. */
struct suspend_job {
	pid_t pid;
	struct hold_request request;
	struct hold_reply reply; /* .status: what came of it */
	char *next;		 /* what to do next, in the reply; or NULL */
	bool already;		 /* it was held before */
	int fd; /* of a new holder, for hold_confirm(); or -1 */
};

/*
 * Have all requests done that have no reply.status yet: by the holder that
 * there is, or by a new one. All begin before the first is waited for.
 */
void suspend_all(struct gpreempt *g, struct suspend_job *jobs, size_t count);

/*
 * Stay until a signal asks for the end, or until no holder is left. Their end
 * comes with that of this process at the latest.
 */
void suspend_stay(struct suspend_job *jobs, size_t count);

#endif
